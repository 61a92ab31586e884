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
    make_classes,
    warnings_on,
)
from affectlab.cli.evaluate._classes_show import draw_figures, flat, show_result, show_soft_labels
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import ClassificationResult
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

    with out.progress("judging"):
        made = make_classes(
            ratings,
            models,
            truth=truth,
            mapping=mapping,
            classes=classes,
            scores=score,
            rule=rule,
            ties=ties,
            min_people=min_people,
            seed=seed,
            multilabel=multilabel,
            agree=agree,
            threshold=threshold,
            truth_threshold=truth_threshold,
        )
        found = evaluate_classification(
            made, costs=costs, missing=missing, n_boot=n_boot, seed=seed
        )
        soft: Estimates | None = None
        why_not: list[str] = []
        if truth == "people" and mapping is None and not (multilabel or score) and found.models:
            soft, why_not = _soft_labels(found, ratings, models, n_boot, seed)
    if to is not None:
        write_csv(found.to_frame(), to)
    if answers_out is not None:
        write_csv(flat(found.classes.to_frame()), answers_out)
    if figures is not None:
        draw_figures(found, figures)
    show_result(found, out)
    if soft is not None:
        show_soft_labels(soft, out)
    if to is not None:
        out.show(f"metrics written to {to}")
    if answers_out is not None:
        out.show(f"truth and answers written to {answers_out}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(
        {
            "truth": found.classes.truth_said,
            "n_stimuli": found.classes.n_stimuli,
            "classes": found.classes.labels,
            "costs": None
            if found.costs is None
            else {"kind": found.costs.kind, "labels": found.costs.labels,
                  "matrix": found.costs.matrix},
            "sentences": found.sentences,
            "metrics": found.to_frame(),
            "people": found.people_frame(),
            "per_class": found.per_class,
            "confusions": {
                rater: {"labels": seen.labels, "counts": seen.counts}
                for rater, seen in found.confusions.items()
            },
            "coverage": found.coverage,
            "soft_labels": None if soft is None else soft.to_frame(),
            "notes": found.notes,
        },
        (*found.notes, *why_not, *warnings_on(ratings, truth)),
    )  # fmt: skip


def _soft_labels(
    found: ClassificationResult,
    ratings: Ratings,
    models: Ratings | None,
    n_boot: int,
    seed: int,
) -> tuple[Estimates | None, list[str]]:
    """Distances from the distribution of people's answers, or why there are none."""
    from affectlab.core.errors import InputError
    from affectlab.evaluation import soft_label_metrics

    metrics = ["jensen_shannon", "brier"]
    if found.costs is not None:
        metrics.insert(1, "earth_movers_distance")
    try:
        soft = soft_label_metrics(
            ratings,
            models,
            taxonomy=found.classes.taxonomy,
            costs=found.costs,
            metrics=metrics,
            n_boot=n_boot,
            seed=seed,
        )
    except InputError as error:
        return None, [f"the distribution of people's answers is not compared: {error}"]
    return soft, []
