"""``affectlab stimuli prompts``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.stimuli.prompts import FacePrompts, PromptPlan, Undecided

__all__ = ["prompts"]


def prompts(
    out: Output,
    number: Count | None = None,
    *,
    to: Path = Path("prompts.csv"),
    taxonomy: str = "emonet_face",
    labels: str | None = None,
    neutral: bool = False,
    words: Count | None = None,
    plan: Path | None = None,
    fill: Path | None = None,
    target: Count | None = None,
    decisions: Path | None = None,
    undecided: str = "coming",
    coverage: Path | None = None,
    seed: int = 0,
) -> None:
    """Make prompts for pictures of faces: labels, genders, ages and ethnicities in exact shares.

    With --fill and --target it aims at what accepted pictures lack, label by label and group by
    group, and the names go on from those of the manifest.

    Parameters
    ----------
    number
        How many prompts; with --fill, what is lacking says it.
    to
        CSV file of prompts to write.
    taxonomy
        Labels and their words: a name or a TOML file.
    labels
        Only these labels, separated by commas; Shame=2,Awe=1 gives them weights.
    neutral
        Faces without emotion.
    words
        Descriptor words drawn for each prompt; without it all.
    plan
        TOML file with sentences, ages and shares.
    fill
        Manifest of pictures: make prompts for what they lack of --target.
    target
        With --fill: accepted pictures wanted of each label.
    decisions
        With --fill: what a review decided; only pictures that it kept count.
    undecided
        With --fill: pictures that await a review count as coming, or as lacking.
    coverage
        Write labels against ethnicities to this CSV file.
    """
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.stimuli import face_prompts, load_prompt_plan, neutral_prompts

    told = load_prompt_plan(plan)
    if (fill is None) == (number is None):
        raise InputError("expected either the number of prompts, or --fill with --target")
    if (fill is None) != (target is None) or (decisions is not None and fill is None):
        raise InputError("--fill and --target go together, and --decisions goes with them")
    if fill is not None and neutral:
        raise InputError("--fill has no neutral faces; leave out --neutral")
    if neutral and (labels or words):
        raise InputError("--neutral has no labels and no words; leave out --labels and --words")
    waiting = 0
    with out.progress("prompts"):
        if fill is not None and target is not None:
            made, waiting = _filled(
                fill,
                target,
                decisions,
                taxonomy,
                labels,
                told,
                words,
                seed,
                # A way that is not known is refused there.
                cast("Undecided", undecided),
            )
        elif number is not None and neutral:
            made = neutral_prompts(number, plan=told, seed=seed)
        else:
            made = face_prompts(
                number or 0,
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
    if waiting:
        out.show(
            f"{plural(waiting, 'picture')} not yet settled by the review, counted as {undecided}"
        )
    out.show(f"{len(made):,} prompts written to {to}")
    if coverage is not None:
        out.show(f"labels against ethnicities written to {coverage}")
    found: dict[str, Any] = {
        "n_prompts": len(made),
        "balance": balance,
        "prompts": to,
        "seed": seed,
    }
    if fill is not None:
        found["n_awaiting_review"] = waiting
    out.finish(found)


def _filled(
    manifest: Path,
    target: int,
    decisions: Path | None,
    taxonomy: str,
    labels: str | None,
    plan: PromptPlan,
    words: int | None,
    seed: int,
    undecided: Undecided,
) -> tuple[FacePrompts, int]:
    """Make prompts for what a manifest lacks, and count the pictures that await a review.

    Names of failed prompts are taken, too.
    """
    from affectlab.core.errors import InputError
    from affectlab.stimuli.generation import read_manifest
    from affectlab.stimuli.generation.manifest import read_failed
    from affectlab.stimuli.prompts import awaiting_review, fill_prompts
    from affectlab.stimuli.review import read_decisions

    wanted = _weights(labels)
    if wanted is not None and set(wanted.values()) != {1.0}:
        raise InputError("--labels: with --fill labels have no weights; --target says how many")
    failed = read_failed(manifest)
    images = read_manifest(manifest)
    decided = None if decisions is None else read_decisions(decisions)
    made = fill_prompts(
        images,
        target,
        decisions=decided,
        undecided=undecided,
        labels=None if wanted is None else list(wanted),
        taxonomy=taxonomy,
        plan=plan,
        words=words,
        taken=() if failed is None else failed["stimulus"].to_list(),
        seed=seed,
    )
    return made, awaiting_review(images, decided).height


def _weights(text: str | None) -> dict[str, float] | None:
    """Read labels with weights; 1 where none is given."""
    from affectlab.core.errors import InputError

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
