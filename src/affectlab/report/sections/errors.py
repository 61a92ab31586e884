"""How often models see the class that people see, and how bad their mistakes are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError
from affectlab.report.page import Block, Bullets, Picture, Section, Skipped
from affectlab.report.statistics import Study

if TYPE_CHECKING:
    from affectlab.evaluation.classification import ClassificationResult

__all__ = ["errors_section"]

_MOST_CLASSES = 60
_MOST_NAMED = 8


def errors_section(study: Study) -> Section | Skipped:
    """Accuracy and severity of mistakes, beside people, with the confusion of the best model."""
    from affectlab.evaluation import evaluate_classification

    title = "Errors"
    numeric = study.numeric
    if numeric is None or study.people is None or study.models is None:
        return Skipped(title, "this needs people and models among the raters.")
    if study.flow is not None:
        return Skipped(title, "votes that stop at a no say who was asked, not what is true.")
    kind = numeric.scale.kind
    several = kind == "binary" and numeric.n_labels > 1
    if kind != "nominal" and not several:
        return Skipped(title, "the answers are points of a scale, not classes.")
    ratings, models = study.sources
    if models is not None and several and models.scale.kind != "binary":
        ratings, models = study.ratings, None
    try:
        found = evaluate_classification(
            ratings,
            models,
            multilabel=several,
            soft_labels=False,
            n_boot=study.n_boot,
            seed=study.seed,
        )
    except InputError as error:
        return Skipped(title, f"{error}.")
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
