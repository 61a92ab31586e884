"""``affectlab evaluate classification``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._classes import (
    AgreeOption,
    ClassesOption,
    CostsOption,
    MappingOption,
    MinPeopleOption,
    MissingOption,
    RuleOption,
    ScoreOption,
    ThresholdOption,
    TiesOption,
    TruthOption,
    TruthThresholdOption,
    warnings_on,
)
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["classification"]


@reads_ratings("evaluate classification", models=True)
def classification(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    truth: TruthOption = "people",
    costs: CostsOption = None,
    mapping: MappingOption = None,
    classes: ClassesOption = None,
    score: ScoreOption = None,
    missing: MissingOption = "common",
    multilabel: Annotated[
        bool,
        Option("--multilabel", help="A stimulus has a set of classes, rather than one."),
    ] = False,
    threshold: ThresholdOption = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all metrics to this CSV file.", show_default=False),
    ] = None,
    answers_out: Annotated[
        Path | None,
        Option(
            "--answers-out",
            help="Write truth and answers, one row per stimulus, to this CSV file.",
            show_default=False,
        ),
    ] = None,
    rule: RuleOption = None,
    ties: TiesOption = "leave_out",
    min_people: MinPeopleOption = 1,
    agree: AgreeOption = "0.5",
    truth_threshold: TruthThresholdOption = None,
    seed: SeedOption = 0,
) -> None:
    """Judge models as classifiers: how often they are right, and how bad their mistakes are.

    ECC counts a mistake the less, the further it is from the truth; EMC looks at mistakes alone.
    People are judged as well, each by the others, so that a model can be read beside them.

    Example: affectlab evaluate classification people.csv --models model.csv --taxonomy mikels
    """
    from affectlab.evaluation import evaluate_classification
    from affectlab.report import save_figures

    with out.progress("judging"):
        found = evaluate_classification(
            ratings,
            models,
            truth=truth,
            taxonomy=classes,
            costs=costs,
            mapping=mapping,
            scores=score or None,
            missing=missing,
            multilabel=multilabel,
            threshold=threshold,
            truth_threshold=truth_threshold,
            rule=rule,
            agree=agree,
            min_people=min_people,
            ties=ties,
            n_boot=n_boot,
            seed=seed,
        )
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.to_frame(), to)
    if answers_out is not None:
        write_csv(found.to_frame("answers"), answers_out)
    if figures is not None:
        save_figures(found, figures)
    out.show(found)
    if to is not None:
        out.show(f"metrics written to {to}")
    if answers_out is not None:
        out.show(f"truth and answers written to {answers_out}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(found.to_dict(), warnings_on(ratings, truth))
