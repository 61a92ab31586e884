"""``affectlab evaluate difference``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["difference"]


@reads_ratings("evaluate difference", models=True)
def difference(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    by: Annotated[
        str | None,
        Option(help="Stimulus attributes to look into, such as kind,actor.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        Option(
            help="Stimulus attribute whose stimuli are drawn together, such as actor: intervals "
            "are then about others of its kind.",
            show_default=False,
        ),
    ] = None,
    score: Annotated[
        Literal["mean", "reml", "p910", "mle"],
        Option(help="How ratings become scores: mean, or a subject model."),
    ] = "mean",
    label: Annotated[
        str | None,
        Option(help="Label that is scored, where there are several.", show_default=False),
    ] = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    ceiling: Annotated[
        bool,
        Option("--ceiling", help="Also how well two halves of the people agree."),
    ] = False,
    splits: Annotated[int, Option(help="Random halves for the ceiling.", min=1)] = 50,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all figures of merit to this CSV file."),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for scatter plots (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Say how well metrics predict scores of people: rank and linear correlation, and errors.

    Metrics are raters of FILE that are models, or of the files given with --models, where a column
    per metric will do. PLCC fit and RMSE fit come after a monotone logistic curve.

    Example: affectlab evaluate difference ratings.csv --models metrics.csv --by kind
    """
    from affectlab.evaluation import difference_metrics
    from affectlab.report import save_figures

    with out.progress("correlations and errors"):
        found = difference_metrics(
            ratings,
            models,
            by=[] if by is None else [name.strip() for name in by.split(",") if name.strip()],
            clusters=cluster,
            score=score,
            label=label,
            comparison=True,
            ceiling=ceiling,
            n_splits=splits,
            n_boot=n_boot,
            seed=seed,
        )
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None and found.figures:
        save_figures(found, figures)
    out.show(found)
    if to is not None:
        out.show("", f"figures of merit written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    out.finish(found.to_dict(), ratings.warnings)
