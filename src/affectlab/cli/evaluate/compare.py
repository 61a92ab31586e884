"""``affectlab evaluate compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._classes import (
    ClassesOption,
    CostsOption,
    MappingOption,
    MinPeopleOption,
    MissingOption,
    RuleOption,
    ScoreOption,
    TiesOption,
    TruthOption,
    warnings_on,
)
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["compare"]


@reads_ratings("evaluate compare", models=True)
def compare(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    model_a: Annotated[
        str | None,
        Argument(metavar="MODEL_A", help="A model; without, all are compared with all."),
    ] = None,
    model_b: Annotated[
        str | None,
        Argument(metavar="MODEL_B", help="Another; without, all others."),
    ] = None,
    truth: TruthOption = "people",
    costs: CostsOption = None,
    mapping: MappingOption = None,
    classes: ClassesOption = None,
    score: ScoreOption = None,
    missing: MissingOption = "common",
    margin: Annotated[
        float | None,
        Option(help="Difference up to which two models count as equivalent.", show_default=False),
    ] = None,
    alpha: Annotated[float, Option(help="Level of the tests.")] = 0.05,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all differences to this CSV file.", show_default=False),
    ] = None,
    rule: RuleOption = None,
    ties: TiesOption = "leave_out",
    min_people: MinPeopleOption = 1,
    seed: SeedOption = 0,
) -> None:
    """Compare models as classifiers, pair by pair: which is better on what.

    Differences have paired intervals and paired tests; p values are adjusted (Holm) over
    all pairs and metrics, and decide the verdict.

    Example: affectlab evaluate compare people.csv big small --models big.csv --models small.csv
    """
    from affectlab.evaluation import compare_models

    with out.progress("comparing"):
        found = compare_models(
            ratings,
            models,
            a=model_a,
            b=model_b,
            truth=truth,
            taxonomy=classes,
            costs=costs,
            mapping=mapping,
            scores=score or None,
            missing=missing,
            margin=margin,
            alpha=alpha,
            rule=rule,
            min_people=min_people,
            ties=ties,
            n_boot=n_boot,
            seed=seed,
        )
    if to is not None:
        write_csv(found.to_frame(), to)
    out.show(found)
    if to is not None:
        out.show(f"differences written to {to}")
    out.finish(found.to_dict(), warnings_on(ratings, truth))
