"""``affectlab evaluate soft-labels``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import AbsentOption, SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._costs import TaxonomyCostsOption, taxonomy_costs
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["soft_labels"]

_DISTRIBUTIONS = "Distributions"
_CALIBRATION = "Calibration"


@reads_ratings("evaluate soft-labels", models=True)
def soft_labels(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    costs: TaxonomyCostsOption = None,
    metric: Annotated[
        list[str] | None,
        Option(
            "--metric",
            help="jensen_shannon, earth_movers_distance, cross_entropy, kullback_leibler, brier, "
            "jensen_shannon_distance, mean_absolute_difference; may be given again. By default the "
            "first three.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    by_person: Annotated[
        bool, Option("--by-person", help="A row for every person, against the others.")
    ] = False,
    rule: Annotated[
        Literal["choices", "votes", "intensity", "top"] | None,
        Option(
            help="How answers become shares: answers to one question; labels chosen; mean "
            "intensity; or each rater's strongest label. By default as the scale says.",
            group=_DISTRIBUTIONS,
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        Option(
            "--label",
            help="Label to use; may be given again.",
            group=_DISTRIBUTIONS,
            show_default=False,
        ),
    ] = None,
    absent: AbsentOption = None,
    smoothing: Annotated[
        float,
        Option(help="People that are added to every label.", min=0, group=_DISTRIBUTIONS),
    ] = 0.0,
    floor: Annotated[
        float,
        Option(
            help="Smallest share that a prediction gives a label in the cross-entropy.",
            min=0,
            group=_DISTRIBUTIONS,
        ),
    ] = 0.01,
    truth: Annotated[
        Literal["distribution", "majority"],
        Option(
            help="What a model's confidence is held against: the share of people who say the same, "
            "or whether most people do.",
            group=_CALIBRATION,
        ),
    ] = "distribution",
    bins: Annotated[
        int | None,
        Option(
            help="Bins of confidence; by default 15, or fewer where stimuli are few.",
            min=1,
            group=_CALIBRATION,
            show_default=False,
        ),
    ] = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    splits: Annotated[int, Option(help="Random halves of the people.", min=1)] = 10,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all distances to this CSV file.", show_default=False),
    ] = None,
    shares_out: Annotated[
        Path | None,
        Option(
            "--shares-out",
            help="Write people's shares of each label to this CSV file, to train with.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Compare models with how people's answers are spread: not one truth, but a share per label.

    Distances say how near a model comes, beside what people reach when they are judged alike;
    calibration whether it is as sure as people are united. Without models, the shares themselves.

    Example: affectlab evaluate soft-labels people.csv --models net.csv --taxonomy mikels
    """
    from affectlab.evaluation import evaluate_soft_labels
    from affectlab.report.pictures import pictures_of, save_pictures

    with out.progress("judging"):
        found = evaluate_soft_labels(
            ratings,
            models,
            costs=taxonomy_costs(costs),
            metrics=metric,
            rule=rule,
            labels=label,
            # Unless it is said, answers without any zero list what was chosen.
            absent=absent or "auto",
            smoothing=smoothing,
            floor=floor,
            truth=truth,
            by_person=by_person,
            n_splits=splits,
            n_bins=bins,
            n_boot=n_boot,
            seed=seed,
        )
    if to is not None:
        write_csv(found.to_frame(), to)
    if shares_out is not None:
        write_csv(found.people.to_frame(), shares_out)
    if figures is not None:
        save_pictures(pictures_of(found), figures)
    out.show(found)
    if to is not None:
        out.show(f"distances written to {to}")
    if shares_out is not None:
        out.show(f"people's shares written to {shares_out}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(found.to_dict(), _warnings(ratings))


def _warnings(ratings: Ratings) -> tuple[str, ...]:
    """Leave out the warning that categories were inferred: shares need no order."""
    return tuple(text for text in ratings.warnings if not text.startswith("The categories are"))
