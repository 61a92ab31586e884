"""``affectlab evaluate alignment`` and ``published``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.result import Result
    from affectlab.ratings import Ratings

__all__ = ["alignment", "published"]

ExcludeOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--exclude", help="Label to leave out; may be given again.", show_default=False),
]
TruncateOption = Annotated[
    bool,
    typer.Option("--truncate", help="Drop fractions of models for kappa, in place of rounding."),
]
FiguresOption = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="Folder for figures (PNG, SVG).", show_default=False),
]


@reads_ratings("evaluate alignment", models=True)
def alignment(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    margin: Annotated[
        float,
        typer.Option(help="Largest difference of agreement that does not matter; state it first."),
    ] = 0.05,
    epsilon: Annotated[
        float,
        typer.Option(
            help="What a model may lose in the alternative-annotator test for being cheaper: 0.2 "
            "beside experts, 0.15 beside skilled people, 0.1 beside crowd workers."
        ),
    ] = 0.2,
    resample: Annotated[
        Literal["both", "units", "raters"],
        typer.Option(help="What is drawn: stimuli and people, stimuli, or people."),
    ] = "both",
    n_boot: Annotated[int, typer.Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    exclude: ExcludeOption = None,
    truncate: TruncateOption = False,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write one row per model to this CSV file."),
    ] = None,
    figures: FiguresOption = None,
    seed: SeedOption = 0,
) -> None:
    """Say for each model whether it agrees with people as people do, and what that rests on.

    Agreement of models with people is compared with that of people with one another, with a
    bootstrap over stimuli and people, a test of equivalence, and the alternative-annotator test.

    Example: affectlab evaluate alignment people.csv --scale 0-7 --models model.csv --margin 0.05
    """
    from affectlab.evaluation import alignment as compute

    with out.progress("models beside people"):
        result = compute(
            ratings,
            models,
            margin=margin,
            epsilon=epsilon,
            resample=resample,
            exclude=exclude or (),
            truncate=truncate,
            n_boot=n_boot,
            seed=seed,
        )
    _write(result, to, figures)
    out.show(result)
    if to is not None:
        out.show("", f"one row per model written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    out.finish(result.to_dict(), _warnings(ratings, models))


@reads_ratings("evaluate published", models=True)
def published(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    groups: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Attribute of models that makes groups, such as family or prompt.",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        Literal["labels", "cells"],
        typer.Option(help="What the SD of the rater table runs over."),
    ] = "labels",
    exclude: ExcludeOption = None,
    truncate: TruncateOption = False,
    n_boot: Annotated[int, typer.Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write one row per rater to this CSV file."),
    ] = None,
    figures: FiguresOption = None,
    seed: SeedOption = 0,
) -> None:
    """Give the tables that EmoNet-Face published of people and models, to compare with its own.

    Raters with people, kinds of pairs, groups of models, correlation with the median of people,
    alpha, and how much higher people rate. Verdicts should rest on `evaluate alignment`.

    Example: affectlab evaluate published people.csv --scale 0-7 --models model.csv
    """
    from affectlab.evaluation import published_tables

    with out.progress("pairs of raters"):
        result = published_tables(
            ratings,
            models,
            groups=groups,
            over=over,
            exclude=exclude or (),
            truncate=truncate,
            n_boot=n_boot,
            seed=seed,
        )
    _write(result, to, figures)
    out.show(result)
    if to is not None:
        out.show("", f"one row per rater written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    out.finish(result.to_dict(), _warnings(ratings, models))


def _write(result: Result, to: Path | None, figures: Path | None) -> None:
    """Write files first: who reads the output may leave early, as in ``… | head``."""
    if to is not None:
        write_csv(result.to_frame(), to)
    if figures is not None:
        from affectlab.report.drawing import save_figures

        save_figures(result, figures)


def _warnings(ratings: Ratings, models: Ratings | None) -> list[str]:
    # That a table of models holds no people is as it should be; the notes speak of its scale.
    of_models = [] if models is None else models.warnings
    known = ("No rater is human", "The scale ")
    warnings = [*ratings.warnings, *(text for text in of_models if not text.startswith(known))]
    return list(dict.fromkeys(warnings))
