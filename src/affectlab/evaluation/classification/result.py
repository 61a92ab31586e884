"""How models do as classifiers, beside people: tables, sentences and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import polars.selectors as cs

from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Share, Table, Text
from affectlab.core.words import file_part, shown
from affectlab.evaluation.classes import Classes
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.confusion import Confusion, MultilabelConfusion
from affectlab.evaluation.classification.metrics import CLASSIFICATION_METRICS
from affectlab.taxonomy import CostMatrix

if TYPE_CHECKING:
    pass

PEOPLE = "people"
"""Name, and role, of the rows in which the answers of all people are taken together."""
KEYS = ("rater", "metric")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClassificationResult(Result):
    """How models, and people, do as classifiers; made by :func:`evaluate_classification`.

    Its tables are ``metrics`` (by rater and metric, with ``role``: model, person, people for all of
    them together, or baseline; and ``better``: higher or lower), ``classification`` (the same, one
    row per rater), ``per_class`` (precision, recall and F1 of every rater and class),
    ``confusion`` (how often each rater takes each class for each), ``people`` (mean, SD and range
    of the metrics of people, each counting once), ``coverage`` (see ``Classes.coverage``),
    ``answers`` (see ``Classes.to_frame``) and ``soft_labels``; those that hold nothing are
    absent. There is a sentence for each model.
    """

    classes: Classes
    """Truth and answers, stimulus by stimulus."""
    costs: CostMatrix | None
    """Costs of mistakes, where they are known."""
    confusions: Mapping[str, Confusion | MultilabelConfusion]
    """Confusion matrix of each model and person, and of ``people`` together."""
    missing: str
    """What was done with stimuli that a model did not answer."""
    confidence: float
    """Coverage of the intervals."""
    n_common: int
    """Stimuli with a truth that all models answered."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the table."""
        return self.classes.raters

    @property
    def estimates(self) -> Estimates:
        """The first table, by ``rater`` and ``metric``."""
        return Estimates(self.tables[:1])


def classification_result(
    classes: Classes,
    costs: CostMatrix | None,
    metrics: pl.DataFrame,
    per_class: pl.DataFrame,
    confusions: Mapping[str, Confusion | MultilabelConfusion],
    more: Sequence[Table],
    notes: Sequence[str],
    settings: Mapping[str, Any],
    asked: Sequence[str] | None = None,
) -> ClassificationResult:
    """Lay out how models and people do.

    Parameters
    ----------
    classes, costs
        What was judged, and what mistakes cost.
    metrics, per_class, confusions
        What was computed of each rater.
    more
        Further tables that people are shown.
    notes
        What was left out or assumed.
    settings
        What was asked for: ``missing``, ``n_boot``, ``confidence``.
    asked
        Metrics that were asked for, which people are shown in place of the usual ones.
    """
    (estimates,) = Estimates.of(metrics, KEYS).tables
    shown = [
        replace(estimates, name="metrics", caption="All metrics.", limit=0),
        _by_rater(metrics, classes, settings["confidence"], asked),
        *_matrices(classes, confusions),
    ]
    result = ClassificationResult(
        (*shown, *more, *_rest(metrics, per_class, confusions, classes)),
        notes=tuple(notes),
        settings={**settings_of(classes, costs), **settings},
        classes=classes,
        costs=costs,
        confusions=confusions,
        missing=settings["missing"],
        confidence=settings["confidence"],
        n_common=int(classes.common.sum()) if classes.raters else 0,
    )
    sentences = [_sentence_on(result, model) for model in result.models]
    return replace(
        result,
        sentences=(*classes.trained, *sentences, about(classes, costs)),
        figures=(*_metric_figures(result), *_confusion_figures(result)),
    )


def about(classes: Classes, costs: CostMatrix | None) -> str:
    """Say what the truth is, and what mistakes cost."""
    priced = "" if costs is None or classes.multilabel else f"{costs.kind}, {_reach(costs)}"
    return wording.truth(classes.truth_said, classes.n_stimuli, len(classes.labels), priced)


def _reach(costs: CostMatrix) -> str:
    off = costs.matrix[~np.eye(len(costs.labels), dtype=bool)]
    return f"{off.min():.3g} to {off.max():.3g}" if off.size else "none"


def settings_of(classes: Classes, costs: CostMatrix | None) -> dict[str, Any]:
    """Give what the answers were judged by."""
    priced = costs and {
        "kind": costs.kind,
        "labels": list(costs.labels),
        "matrix": costs.matrix.tolist(),
    }
    return {
        "truth": classes.truth_said,
        "n_stimuli": classes.n_stimuli,
        "classes": list(classes.labels),
        "costs": priced,
    }


# How a classification result is laid out.


_OF_CLASSES = ("accuracy", "acc2", "ecc", "emc", "macro_f1")
_OF_SETS = ("exact_match", "macro_f1", "micro_f1")
_NARROW = ("acc2", "macro_f1")
"""Metrics of classes whose intervals only the table of metrics holds."""
_MOST_MODELS = 3
"""Models whose confusions are shown as a matrix."""
_MOST_PEOPLE = 12
"""People who have a row of their own where people look."""
_ROLES = ("model", PEOPLE, "baseline", "person")
_REST: dict[str, tuple[str, tuple[Column, ...]]] = {
    "per_class": (
        "Precision, recall and F1 of every rater and class.",
        (
            Key("rater"),
            Key("label", "class"),
            *map(Number, ("precision", "recall", "f1")),
            Count("support", "true"),
            Count("predicted"),
            Text("status"),
        ),
    ),
    "confusion": (
        "How often each rater takes each class for each.",
        (Key("rater"), Key("true"), Key("predicted"), Count("count"), Share("share")),
    ),
    "people": (
        "Metrics of people, each counting once.",
        (Key("metric"), *map(Number, ("mean", "sd", "lowest", "highest")), Count("people")),
    ),
    "coverage": (
        "Stimuli that were answered.",
        (
            Key("rater"),
            Text("role", "kind"),
            Count("answered"),
            Count("of"),
            Share("share"),
            Count("ties"),
        ),
    ),
    "answers": ("Truth and answers.", (Key("stimulus"), Text("truth"))),
}
"""Tables that only files hold: caption and columns."""


def _matrices(
    classes: Classes, confusions: Mapping[str, Confusion | MultilabelConfusion]
) -> Iterator[Table]:
    """Give what the first models take for what, as people read it."""
    seen = [name for name in classes.raters if name in confusions][:_MOST_MODELS]
    for rater in () if classes.multilabel else seen:
        table = confusions[rater].tables[-1]
        caption = f"{rater}: {table.caption[0].lower()}{table.caption[1:]}"
        yield replace(table, name=file_part(f"{table.name}_{rater}"), caption=caption)


def _rest(
    metrics: pl.DataFrame,
    per_class: pl.DataFrame,
    confusions: Mapping[str, Confusion | MultilabelConfusion],
    classes: Classes,
) -> list[Table]:
    """Give the tables that only files hold."""
    pairs = [
        seen.to_frame().filter(pl.col("count") > 0).select(pl.lit(rater).alias("rater"), pl.all())
        for rater, seen in confusions.items()
    ]
    frames = {
        "per_class": per_class,
        "confusion": pl.concat(pairs) if pairs else pl.DataFrame(),
        "people": _people_frame(metrics),
        "coverage": classes.coverage(),
        # Sets of classes are written as text, which a file can hold.
        "answers": classes.to_frame().with_columns(cs.list().list.join("; ")),
    }
    return [
        Table(name, caption, frames[name], columns, limit=0)
        for name, (caption, columns) in _REST.items()
        if frames[name].height
    ]


def _by_rater(
    metrics: pl.DataFrame, classes: Classes, confidence: float, asked: Sequence[str] | None
) -> Table:
    """Give one row per rater: the value of each metric, with its interval."""
    names = metrics["metric"].unique(maintain_order=True).to_list()
    frame = metrics.group_by("rater", maintain_order=True).agg(pl.first("role", "n_items"))
    frame = frame.sort(
        pl.col("role").replace_strict(_ROLES, range(len(_ROLES))), maintain_order=True
    )
    frame = frame.join(side_by_side(metrics, ["rater"], names), on="rater", maintain_order="left")
    sets = classes.multilabel
    columns = [Key("rater"), Count("n_items", "n"), Text("role", "kind", spare=True)]
    intervals = False
    usual = _OF_CLASSES if asked is None else asked
    for name in _OF_SETS if sets else usual:
        if name not in names:
            continue
        head = "exactly right" if name == "exact_match" else CLASSIFICATION_METRICS[name].title
        columns.append(Number(name, head, decimals=2))
        if (sets or name not in _NARROW) and frame[f"{name}_low"].is_finite().any():
            columns.append(Interval(name, "interval", decimals=2))
            intervals = True
    n_people = int((frame["role"] == "person").sum())
    notes = [] if sets else [wording.ROLE_OF_METRICS]
    if intervals:
        notes.append(f"Intervals: {100 * confidence:g}\u00a0%.")
    return Table(
        "classification",
        f"Answers as classes; the truth is {classes.truth_said}.",
        frame,
        tuple(columns),
        limit=frame.height - n_people + _MOST_PEOPLE,
        folded=frame.height > 6,
        notes=tuple(notes),
    )


def _people_frame(metrics: pl.DataFrame) -> pl.DataFrame:
    """Mean, SD and range of the metrics of people, each counting once."""
    value = pl.col("value").fill_nan(None)
    return (
        metrics.filter(pl.col("role") == "person")
        .group_by("metric", maintain_order=True)
        .agg(
            value.mean().alias("mean"),
            value.std().alias("sd"),
            value.min().alias("lowest"),
            value.max().alias("highest"),
            value.count().alias("people"),
        )
    )


# What is drawn of a classification result.


_DRAWN = {
    "accuracy": "accuracy (share of right answers)",
    "ecc": "ECC",
    "emc": "EMC (mildness of mistakes)",
}
_DRAWN_OF_SETS = {"exact_match": "share of exactly right sets", "macro_f1": "macro F1"}
_APART = 0.12
"""Distance from which on two lines of a figure have room for their names."""
_BEST_BY = ("ecc", "accuracy", "micro_f1")


def _best(metrics: pl.DataFrame) -> str:
    """Name the model with the mildest mistakes, or the one that is right most often."""
    models = metrics.filter(pl.col("role") == "model", pl.col("value").is_not_nan())
    for metric in _BEST_BY:
        rows = models.filter(metric=metric).sort("value", descending=True, maintain_order=True)
        if rows.height:
            return str(rows["rater"][0])
    return ""


def _metric_figures(result: ClassificationResult) -> Iterator[Figure]:
    """Draw metrics of everyone, with the baselines as lines."""
    frame = result.to_frame("classification")
    many = (frame["role"] == "person").sum() > _MOST_PEOPLE
    roles = ["model", PEOPLE, *([] if many else ["person"])]
    shown = frame.filter(pl.col("role").is_in(roles))
    for metric, title in (_DRAWN_OF_SETS if result.classes.multilabel else _DRAWN).items():
        if metric not in frame.columns or shown.is_empty():
            continue
        baselines = frame.filter(pl.col("role") == "baseline", pl.col(metric).is_finite())
        lines = list(baselines.select(metric, "rater").iter_rows())
        if len(lines) == 2 and abs(lines[0][0] - lines[1][0]) < _APART:
            # Their names would stand on top of each other; the higher one is the one to beat.
            lines = [max(lines)]
        known = shown.filter(pl.col(metric).is_finite())
        known = known.sort(metric, "rater", descending=[True, False])
        options = {
            "value": metric,
            "low": f"{metric}_low",
            "high": f"{metric}_high",
            "value_name": title,
            "rows": {"role": roles},
            "groups": "role",
            "lines": [list(line) for line in lines],
        }
        yield Figure(
            f"classification_{metric}",
            "intervals",
            "classification",
            f"{title[0].upper()}{title[1:]} of models and people",
            description=f"Highest for {known['rater'][0]} ({known[metric][0]:.2f})."
            if known.height
            else "It is not defined for anyone.",
            options=options,
        )


def _confusion_figures(result: ClassificationResult) -> Iterator[Figure]:
    """Draw the confusions of each model, the best one first, and of people together."""
    polarity, best = result.classes.taxonomy.polarity, _best(result.to_frame())
    models = sorted(result.models, key=lambda name: name != best)
    for rater in [name for name in (*models, PEOPLE) if name in result.confusions]:
        seen = result.confusions[rater]
        (figure,) = seen.figures
        groups = [polarity.get(label) or "" for label in seen.labels]
        options = {
            **figure.options,
            "rows": {"rater": [rater]},
            "groups": groups if any(groups) else None,
            "predicted_name": f"label by {shown(rater, 30)}",
        }
        yield replace(
            figure,
            name=f"confusion_{file_part(rater)}",
            title=f"What {shown(rater, 40)} takes for what",
            caption=f"{figure.caption} The truth is {result.classes.truth_said}.",
            options=options,
        )


# What a classification result says, in one sentence per model.


def _sentence_on(result: ClassificationResult, model: str) -> str:
    """Say how often a model is right, how bad its mistakes are, and what that compares with."""
    seen = result.confusions.get(model)
    if seen is None:
        return wording.not_judged(model)
    known = dict(iter(result.estimates))
    of_model = {metric: one for (rater, metric), one in known.items() if rater == model}
    sets, confidence = isinstance(seen, MultilabelConfusion), result.confidence
    parts = []
    if sets:
        exact, macro, micro = (of_model[name] for name in _OF_SETS)
        parts.append(wording.of_sets(exact, macro, micro, confidence))
    elif "accuracy" in of_model:
        rows = result.to_frame().filter(role="baseline", metric="accuracy")
        baselines = dict(rows.select("rater", "value").iter_rows())
        parts.append(wording.right(of_model["accuracy"], confidence, baselines))
    if not sets and seen.n == np.trace(seen.counts):
        parts.append(wording.NO_MISTAKE)
    elif not sets and "emc" in of_model and of_model["emc"].ok:
        n_mistakes = int(seen.counts.sum() - np.trace(seen.counts))
        guessing = known.get(("guessing", "emc"))
        parts.append(wording.severity(of_model["emc"], guessing, n_mistakes))
    people = known.get((PEOPLE, "macro_f1" if sets else "accuracy"))
    if people is not None and people.ok:
        beside = result.classes.people
        left_out = beside is not None and beside.left_out
        parts.append(wording.people(people, confidence, left_out, sets))
    return f"{model} {'; '.join(parts)}."
