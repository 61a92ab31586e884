"""``affectlab stimuli prompts``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv

__all__ = ["prompts"]


def prompts(
    number: Annotated[int, typer.Argument(help="How many prompts.", min=1, show_default=False)],
    to: Annotated[
        Path, typer.Option("--out", help="CSV file of prompts to write.", metavar="FILE")
    ] = Path("prompts.csv"),
    taxonomy: Annotated[
        str, typer.Option(help="Labels and their words: a name or a TOML file.")
    ] = "emonet_face",
    labels: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Only these labels, separated by commas; Shame=2,Awe=1 gives them weights.",
            show_default=False,
        ),
    ] = None,
    neutral: Annotated[bool, typer.Option("--neutral", help="Faces without emotion.")] = False,
    words: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Descriptor words drawn for each prompt; without it all.",
            min=1,
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="TOML file with sentences, ages and shares.", show_default=False),
    ] = None,
    coverage: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write labels against ethnicities to this CSV file.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Make prompts for pictures of faces: labels, genders, ages and ethnicities in exact shares.

    Example: affectlab stimuli prompts 1000 --out prompts.csv
    """
    from affectlab.errors import InputError
    from affectlab.stimuli import face_prompts, load_prompt_plan, neutral_prompts

    out = Output("stimuli prompts", as_json=as_json, quiet=quiet)
    told = load_prompt_plan(plan)
    if neutral and (labels or words):
        raise InputError("--neutral has no labels and no words; leave out --labels and --words")
    with out.progress("prompts"):
        if neutral:
            made = neutral_prompts(number, plan=told, seed=seed)
        else:
            made = face_prompts(
                number,
                taxonomy=taxonomy,
                plan=told,
                weights=_weights(labels),
                words=words,
                seed=seed,
            )
    write_csv(made.to_frame(), to)
    if coverage is not None:
        write_csv(made.coverage(), coverage)
    balance = made.balance()
    for attribute in balance["attribute"].unique(maintain_order=True):
        counts = balance.filter(attribute=attribute)["n"]
        low, high = min(counts), max(counts)
        spread = f"{low:,} each" if low == high else f"{low:,} to {high:,} each"
        values = balance.filter(attribute=attribute).select("value", "n").rows()
        text = (
            ", ".join(f"{value} {n:,}" for value, n in values)
            if attribute == "gender"
            else f"{len(values)}, {spread}"
        )
        out.show(f"{attribute:<12}{text}")
    out.show(f"{len(made):,} prompts written to {to}")
    if coverage is not None:
        out.show(f"labels against ethnicities written to {coverage}")
    out.finish({"n_prompts": len(made), "balance": balance, "prompts": to, "seed": seed})


def _weights(text: str | None) -> dict[str, float] | None:
    """Read labels with weights; 1 where none is given."""
    from affectlab.errors import InputError

    if text is None:
        return None
    weights: dict[str, float] = {}
    for piece in text.split(","):
        label, _, weight = (part.strip() for part in piece.partition("="))
        try:
            weights[label] = float(weight or 1)
        except ValueError:
            raise InputError(
                f"--labels: {weight!r} is no weight of {label}; expected a number above 0"
            ) from None
    return weights
