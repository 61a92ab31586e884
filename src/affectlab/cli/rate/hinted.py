"""``affectlab rate hinted``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output

if TYPE_CHECKING:
    from affectlab.models.hinted import HintedPlan, HintedRun
    from affectlab.models.hinted._annotator import Annotator

__all__ = ["hinted"]

_MODEL = "Model"


def hinted(
    plan: Annotated[
        Path,
        typer.Argument(
            help="TOML file of the loop: target, initial or images, decoys, budget, …",
            metavar="PLAN",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for pictures, answers and tables, from which a run goes on.",
            metavar="FOLDER",
            show_default=False,
        ),
    ],
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Model string of the annotator, as for rate vlm.",
            rich_help_panel=_MODEL,
            show_default=False,
        ),
    ] = None,
    annotator: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Annotator that a package adds, instead of a model.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    generator: Annotated[
        str,
        typer.Option(
            help="drawn, diffusers:FOLDER_OR_NAME, or a generator that a package adds.",
            metavar="NAME",
        ),
    ] = "drawn",
    settings: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--set",
            help="Setting of the generator, such as size=512; may be given again.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Rounds of hints, instead of the plan's.", min=0, show_default=False),
    ] = None,
    budget: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="Pictures made at most, instead of the plan's.", min=0),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="How a model is asked: a name or a file.", rich_help_panel=_MODEL)
    ] = "intensity",
    structured: Annotated[
        bool,
        typer.Option(
            "--structured",
            help="Let the provider hold the model to the schema.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Address of the server, such as http://localhost:8000/v1.",
            rich_help_panel=_MODEL,
            show_default=False,
        ),
    ] = None,
    key_env: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Variable of the environment with the key; without it, the provider's own.",
            rich_help_panel=_MODEL,
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(help="Questions under way at once.", min=1, rich_help_panel=_MODEL)
    ] = 8,
    budget_usd: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            help="Most dollars, all runs of FOLDER together.",
            rich_help_panel=_MODEL,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--seed", help="Seed, instead of the plan's.", min=0, show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make and annotate pictures until every label has enough ratings (emonet-face, B.1).

    Labels that a model names too rarely get pictures of their own, and the model a hint; how often
    hints are followed, right ones and wrong ones, is counted. A run that was stopped goes on with
    the same command.

    Example: affectlab rate hinted plan.toml --out big --model openai/gpt-4o-mini
    """
    from affectlab.cli._settings import read_settings
    from affectlab.cli._warned import caught_warnings
    from affectlab.errors import InputError
    from affectlab.models.hinted import annotate_until, load_hinted_plan, load_image_annotator

    out = Output("rate hinted", as_json=as_json, quiet=quiet)
    if (model is None) == (annotator is None):
        raise InputError("expected either --model or --annotator")
    told = load_hinted_plan(plan).changed(rounds=rounds, budget=budget, seed=seed)
    asked: Annotator
    if annotator is not None:
        asked = load_image_annotator(annotator)
    else:
        asked = _of_model(
            str(model), told, to, protocol, structured, base_url, key_env, concurrency, budget_usd
        )
    with caught_warnings() as doubts, out.progress("pictures") as progress:
        run = annotate_until(
            told,
            generator,
            asked,
            to,
            settings=read_settings(settings or []),
            progress=progress,
        )
    _show(out, run)
    if run.given_up:
        doubts.append(f"given up, since hints were rarely followed: {', '.join(run.given_up)}")
    out.show(f"ratings: {to / 'ratings.parquet'}")
    out.finish(run.as_dict() | {"ratings": to / "ratings.parquet"}, doubts=doubts)


def _of_model(
    model: str,
    plan: HintedPlan,
    folder: Path,
    protocol: str,
    structured: bool,
    base_url: str | None,
    key_env: str | None,
    concurrency: int,
    usd: float | None,
) -> Annotator:
    """Make an annotator of a vision-language model; its ledger is beside the folder's own."""
    from affectlab.models.vlm import AskSettings, Budget, VlmAnnotator, VlmRater

    return VlmAnnotator(
        VlmRater(
            model,
            protocol,
            folder.with_name(f"{folder.name}.vlm"),
            at_most=plan.at_most,
            structured=structured,
            shuffle=plan.seed,
            settings=AskSettings(base_url=base_url, api_key_env=key_env),
            budget=Budget(usd=usd),
            concurrency=concurrency,
        )
    )


def _show(out: Output, run: HintedRun) -> None:
    from affectlab._words import percent, plural

    met = run.coverage.filter(run.coverage["status"] == "met").height
    out.head(
        f"{met} of {plural(run.coverage.height, 'label')} covered after "
        f"{plural(run.n_rounds, 'round')}: {run.stopped}"
    )
    out.show_frame(
        run.coverage,
        ["label", "n", "n_hinted", "target", "made", "acceptance", "status"],
        more="coverage.csv has all of them",
    )
    words = {"hinted": "hints followed", "decoy": "wrong hints followed"}
    for quantity, text in words.items():
        found = run.acceptance["all", quantity]
        if found.ok:
            out.show(
                f"{text}: {percent(found.value)} of {plural(found.n_items, 'picture')} "
                f"({percent(found.low)} to {percent(found.high)})"
            )
    unprompted = run.acceptance["all", "unprompted"]
    if unprompted.ok:
        out.show(f"the same labels without the wrong hint: {percent(unprompted.value)}")
