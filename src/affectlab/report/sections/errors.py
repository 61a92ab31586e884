"""How often models see the class that people see, and how bad their mistakes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import count, number, percent, plural, shown
from affectlab.report.figures import fig_confusion
from affectlab.report.page import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Picture,
    Section,
    Skipped,
    Table,
)
from affectlab.report.sections.labels import label_groups
from affectlab.report.statistics import Study

if TYPE_CHECKING:
    from affectlab.evaluation import ClassificationResult

__all__ = ["errors_section"]

_MOST_CLASSES = 60
_MOST_NAMED = 8
_SHOWN = {
    "accuracy": "Accuracy",
    "acc2": "ACC2",
    "ecc": "ECC",
    "emc": "EMC",
    "exact_match": "Exact match",
    "macro_f1": "Macro F1",
    "micro_f1": "Micro F1",
}
_BEST_BY = ("ecc", "accuracy", "micro_f1")


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
            ratings, models, multilabel=several, n_boot=study.n_boot, seed=study.seed
        )
    except InputError as error:
        return Skipped(title, f"{error}.")
    best = _best(found)
    blocks: list[Block] = [_sentences(found)]
    if len(found.classes.labels) <= _MOST_CLASSES and best is not None:
        blocks.append(_picture(study, found, best))
    blocks += _tables(found, study)
    return Section("errors", title, tuple(blocks))


def _sentences(found: ClassificationResult) -> Block:
    sentences = found.sentences
    if len(sentences) == 1:
        return Paragraph(sentences[0])
    more = (
        (f"The other {len(sentences) - _MOST_NAMED} models are in the table.",)
        if len(sentences) > _MOST_NAMED
        else ()
    )
    return Bullets(sentences[:_MOST_NAMED] + more)


def _best(found: ClassificationResult) -> str | None:
    """Name the model with the mildest mistakes, or the one that is right most often."""
    frame = found.to_frame().filter(pl.col("role") == "model", pl.col("value").is_not_nan())
    for metric in _BEST_BY:
        part = frame.filter(metric=metric).sort("value", descending=True, maintain_order=True)
        if part.height:
            return str(part["rater"][0])
    return None


def _picture(study: Study, found: ClassificationResult, model: str) -> Picture:
    confusion = found.confusions[model]
    labels = list(confusion.labels)
    counts = np.asarray(confusion.counts, dtype=np.float64)
    wrong = counts - np.diag(np.diag(counts))
    words = f"{plural(int(counts.sum()), 'answer')} of {shown(model, 40)}, by what people say"
    if wrong.any():
        row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
        share = wrong[row, column] / counts[row].sum()
        words += (
            f"; most often {labels[row]} is taken for {labels[column]} "
            f"({count(float(wrong[row, column]))} times, {percent(float(share))})"
        )
    groups = label_groups(study.ratings, labels)
    which = "the model" if len(found.models) == 1 else "the model with the best answers"
    sets = (
        " Where a stimulus has several labels, each true one is set against each answered one."
        if found.classes.multilabel
        else ""
    )
    return Picture(
        "confusion",
        f"What {shown(model, 40)} takes for what",
        f"Rows: {found.classes.truth_said}; columns: {which}; colours: shares of a row.{sets}",
        words + ".",
        fig_confusion(
            counts,
            labels,
            groups=groups,
            true_name="label by people",
            predicted_name=f"label by {shown(model, 30)}",
        ),
    )


def _tables(found: ClassificationResult, study: Study) -> list[Block]:
    frame = found.to_frame()
    present = [name for name in _SHOWN if (frame["metric"] == name).any()]
    wide = frame.select("rater", "role", "n_items").unique(["rater", "role"], maintain_order=True)
    columns = [Column("rater", "Rater", "name"), Column("role", "Kind")]
    for name in present:
        part = frame.filter(metric=name).select(
            "rater", "role", **{name: "value", f"{name}_low": "low", f"{name}_high": "high"}
        )
        wide = wide.join(part, on=["rater", "role"], how="left", maintain_order="left")
        columns.append(Column(name, _SHOWN[name], "number"))
        if study.n_boot and name in ("accuracy", "ecc", "micro_f1"):
            columns.append(Column(name, "95 % interval", "interval"))
    columns.append(Column("n_items", "Stimuli", "count"))
    notes = [
        "ACC2: the share of answers in the right group (polarity, unless the taxonomy says "
        "otherwise). ECC: accuracy in which a near miss counts in part. EMC: how mild the mistakes "
        "are. All are better when higher.",
        *(note[0].upper() + note[1:] + "." for note in found.notes),
    ]
    if found.costs is not None:
        notes.insert(1, f"Costs of mistakes: {_said(found)}.")
    table = Table(
        "classification",
        f"Answers as classes; the truth is {found.classes.truth_said}.",
        wide,
        tuple(columns),
        folded=wide.height > 6,
        notes=tuple(notes),
    )
    every = Table(
        "classification_by_class",
        "Precision, recall and F1 of every rater and class.",
        found.per_class,
        (),
        limit=0,
    )
    return [table, every] if found.per_class.height else [table]


def _said(found: ClassificationResult) -> str:
    costs = found.costs
    if costs is None:
        return "none"
    off = costs.matrix[~np.eye(len(costs.labels), dtype=bool)]
    low, high = number(float(off.min()), 0), number(float(off.max()), 0)
    return f"{low} to {high} ({found.classes.taxonomy.name}: {costs.kind})"
