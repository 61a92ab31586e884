"""``affectlab evaluate fairness``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._costs import TaxonomyCostsOption, taxonomy_costs

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["fairness"]

_TESTING = "Testing"


@reads_ratings("evaluate fairness", models=True)
def fairness(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="Attribute that makes the groups: stimulus.gender, rater.age, or crossed, "
            "'rater.gender x rater.age'.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            help="mae, bias, spearman, quadratic_kappa, mean, alpha; for classes accuracy, acc2, "
            "ecc, emc, macro_f1, …; or one that an installed package adds."
        ),
    ] = "mae",
    against: Annotated[
        str,
        typer.Option(
            help="What a group is held against: rest, a group by name, or largest for the two "
            "groups furthest apart.",
            metavar="rest|largest|GROUP",
        ),
    ] = "rest",
    edges: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--edges",
            help="Where to cut an attribute that is a number: age=30,50.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--label", help="Label to use; may be given again.", show_default=False),
    ] = None,
    by_label: Annotated[
        bool, typer.Option("--by-label", help="Judge each label by itself.")
    ] = False,
    cluster: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Attribute within which answers depend on each other, such as stimulus.actor.",
            show_default=False,
        ),
    ] = None,
    people: Annotated[
        bool, typer.Option("--people", help="Judge people beside models, too.")
    ] = False,
    truth: Annotated[
        str,
        typer.Option(
            help="For classes: people; attribute:NAME of the stimuli; rater:NAME; or a file.",
            metavar="people|attribute:NAME|rater:NAME|FILE",
        ),
    ] = "people",
    costs: TaxonomyCostsOption = None,
    min_gap: Annotated[
        float,
        typer.Option(
            "--min-gap", help="Smallest gap that matters: smaller estimates get no flag.", min=0
        ),
    ] = 0.0,
    min_items: Annotated[
        int,
        typer.Option(
            "--min-items",
            help="Stimuli, or people, that a group needs to be tested.",
            min=1,
            rich_help_panel=_TESTING,
        ),
    ] = 5,
    alpha: Annotated[
        float, typer.Option(help="Error rate over all gaps.", rich_help_panel=_TESTING)
    ] = 0.05,
    correction: Annotated[
        Literal["holm", "bh", "none"],
        typer.Option(help="Correction for many tests.", rich_help_panel=_TESTING),
    ] = "holm",
    n_boot: Annotated[int, typer.Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    n_permutations: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Permutations of a test; as many as needed when not given, 0 for no test.",
            min=0,
            rich_help_panel=_TESTING,
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write groups and gaps to this CSV file.", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Compare groups of stimuli or of people by a metric, and flag the gaps that are shown.

    Without models, people are judged: each person beside the other people.

    Example: affectlab evaluate fairness people.csv --models net.csv --by stimulus.gender
    """
    from affectlab.evaluation import fairness as compute

    with out.progress("judging groups"):
        found = compute(
            ratings,
            models,
            by=by,
            metric=metric,
            against=against,
            edges=edges or None,
            labels=label or None,
            by_label=by_label,
            cluster=cluster,
            truth=truth,
            costs=taxonomy_costs(costs),
            people=True if people else None,
            min_items=min_items,
            min_gap=min_gap,
            alpha=alpha,
            correction=correction,
            n_boot=n_boot,
            n_permutations=n_permutations,
            seed=seed,
        )
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        from affectlab.report.drawing import save_figures

        save_figures(found, figures)
    out.show(found)
    if to is not None:
        out.show(f"groups and gaps written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(found.to_dict(), ratings.warnings)
