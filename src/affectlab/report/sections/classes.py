"""Classes that models give beside those of people: mistakes, and whole distributions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from affectlab.core.errors import InputError
from affectlab.evaluation import soft_label_metrics
from affectlab.evaluation.classification import ClassificationResult
from affectlab.evaluation.soft_labels import model_calibration
from affectlab.ratings import model_tables
from affectlab.report.page import Block, Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import Study

_MOST_CLASSES = 60
_MOST_NAMED = 8


def errors_section(study: Study) -> Section | Skipped:
    """Accuracy and severity of mistakes, beside people, with the confusion of the best model."""
    title, found = "Errors", study.classified
    if isinstance(found, str):
        return Skipped(title, found)
    return Section("errors", title, tuple(_blocks(found)))


def _blocks(found: ClassificationResult) -> Iterator[Block]:
    said = found.sentences
    more = len(found.models) - _MOST_NAMED
    if more > 0:
        said = (*said[:_MOST_NAMED], f"The other {more} models are in the table.", said[-1])
    yield Bullets(said)
    confusions = [figure for figure in found.figures if figure.kind == "confusion"]
    if confusions and len(found.classes.labels) <= _MOST_CLASSES:
        yield Picture.drawn(replace(confusions[0], name="confusion"), found.table("confusion"))
    table = found.table("classification")
    notes = (f"{note[0].upper()}{note[1:]}." for note in found.notes)
    yield replace(table, notes=(*table.notes, *notes))
    for every in found.tables:
        if every.name == "per_class":
            yield replace(every, name="classification_by_class")


# The whole distribution of people's answers: who predicts it, and how sure models should be.


_METRICS = ("jensen_shannon", "cross_entropy", "earth_movers_distance")
_WHY = "A model that knows how people differ predicts the whole distribution of their answers."
_MOST_DIAGRAMS = 3


def soft_section(study: Study) -> Section | Skipped:
    """Models against the distribution of people's answers, and the calibration of models."""
    title = "Soft labels"
    if study.numeric is None or study.people is None or study.models is None:
        return Skipped(title, "this needs people and models among the raters.")
    if study.numeric.scale.kind not in ("nominal", "binary") or (
        study.numeric.scale.kind == "binary" and study.numeric.n_labels < 2
    ):
        return Skipped(title, "the answers are points of a scale, not choices among labels.")
    if study.flow is not None:
        return Skipped(title, "votes that stop at a no give no distribution of answers.")
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
        return Skipped(title, f"nothing can be compared ({found.frame['status'][0]}).")
    blocks: list[Block] = [
        Paragraph(" ".join((_WHY, *found.sentences))),
        Picture.of(found, f"soft_labels_{_METRICS[0]}"),
        replace(found.table("distances"), name="soft_labels", folded=True),
        *_calibration(study),
    ]
    return Section("soft-labels", title, tuple(blocks))


def _calibration(study: Study) -> list[Block]:
    """Calibration of the models that give probabilities."""
    ratings, models = study.sources
    graded = any(table.scale.kind not in ("nominal", "binary") for table in model_tables(models))
    if not graded:
        return [
            Paragraph(
                "Calibration is not shown, because the models give answers, not probabilities."
            )
        ]
    try:
        found = model_calibration(
            ratings, models, cluster=study.cluster, n_boot=study.n_boot, seed=study.seed
        )
    except InputError as error:
        return [Paragraph(f"Calibration is not given: {error}.")]
    drawn = [Picture.of(found, figure.name) for figure in found.figures[:_MOST_DIAGRAMS]]
    return [Paragraph(" ".join(found.sentences)), *drawn, found.table()]
