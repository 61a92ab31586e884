"""Classes that models give beside those of people: mistakes, and whole distributions."""

from __future__ import annotations

from collections.abc import Iterator

from affectlab.core.errors import InputError
from affectlab.evaluation import soft_label_metrics
from affectlab.evaluation.classification import ClassificationResult
from affectlab.evaluation.soft_labels import model_calibration
from affectlab.ratings import model_tables
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Section, Skipped, placed
from affectlab.report.statistics import Study

_MOST_CLASSES = 60


def errors_section(study: Study) -> Section | Skipped:
    """Accuracy and severity of mistakes, beside people, with the confusion of the best model."""
    title, found = "Errors", study.classified
    if isinstance(found, str):
        return Skipped(title, found)
    return Section("errors", title, tuple(_blocks(found)))


def _blocks(found: ClassificationResult) -> Iterator[Block]:
    confusions = [figure.name for figure in found.figures if figure.kind == "confusion"]
    few = len(found.classes.labels) <= _MOST_CLASSES
    yield from placed(
        found,
        figures={confusions[0]: "confusion_of_models"} if confusions and few else {},
        tables={"classification": "classification", "per_class": "classification_by_class"},
    )


# The whole distribution of people's answers: who predicts it, and how sure models should be.


_METRICS = ("jensen_shannon", "cross_entropy", "earth_movers_distance")
_MOST_DIAGRAMS = 3


def soft_section(study: Study) -> Section | Skipped:
    """Models against the distribution of people's answers, and the calibration of models."""
    title = "Soft labels"
    if study.numeric is None or study.people is None or study.models is None:
        return Skipped(title, wording.NEEDS_BOTH)
    if study.numeric.scale.kind not in ("nominal", "binary") or (
        study.numeric.scale.kind == "binary" and study.numeric.n_labels < 2
    ):
        return Skipped(title, wording.NO_CHOICES)
    if study.flow is not None:
        return Skipped(title, wording.STOPPED_NO_DISTRIBUTION)
    ratings, models = study.sources
    try:
        found = soft_label_metrics(
            ratings,
            models,
            metrics=_METRICS,
            cluster=study.cluster,
            n_boot=study.n_boot,
            seed=study.seed,
        )
    except InputError as error:
        return Skipped(title, f"{error}.")
    drawn = [figure.name for figure in found.figures]
    if f"soft_labels_{_METRICS[0]}" not in drawn:
        return Skipped(title, wording.nothing_compared(found.frame["status"][0]))
    figure = {f"soft_labels_{_METRICS[0]}": f"soft_labels_{_METRICS[0]}"}
    blocks = placed(found, figures=figure, tables={"distances": "soft_labels"}, folded=True)
    first = Paragraph(wording.SOFT_LABELS)
    return Section("soft-labels", title, (first, *blocks, *_calibration(study)))


def _calibration(study: Study) -> tuple[Block, ...]:
    """Calibration of the models that give probabilities."""
    ratings, models = study.sources
    graded = any(table.scale.kind not in ("nominal", "binary") for table in model_tables(models))
    if not graded:
        return (Paragraph(wording.NO_PROBABILITIES),)
    try:
        found = model_calibration(
            ratings, models, cluster=study.cluster, n_boot=study.n_boot, seed=study.seed
        )
    except InputError as error:
        return (Paragraph(f"{error}."),)
    drawn = {figure.name: figure.name for figure in found.figures[:_MOST_DIAGRAMS]}
    return placed(found, figures=drawn, tables={found.tables[0].name: found.tables[0].name})
