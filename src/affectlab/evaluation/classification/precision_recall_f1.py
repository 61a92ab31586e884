"""Precision, recall and F1 of every label, and their averages; one or several labels per item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.errors import check_choice
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason, What, fact_column, reason_type
from affectlab.core.result import Result
from affectlab.core.statistic import Clusters, clusters_of, from_weights
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Floats
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.estimates import (
    IntervalOfItems,
    drawn_with,
    infer_items,
    zero_text,
)
from affectlab.evaluation.classification.labels import (
    LabelSets,
    LabelsLike,
    code_labels,
    is_multilabel,
    label_sets,
)
from affectlab.evaluation.classification.resampling import units_of
from affectlab.evaluation.classification.tally import LabelSums
from affectlab.evaluation.label_facts import TaxonomyLike, label_facts

_METRICS = ("precision", "recall", "f1")
_AVERAGES = ("macro", "micro", "weighted")
_UNDEFINED = (
    Cause.NEVER_PREDICTED,
    Cause.NEVER_TRUE,
    Cause.NEVER_TRUE_NOR_PREDICTED,
)
"""Why a label has none of the metrics."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrecisionRecallF1(Result):
    """Precision, recall and F1 of k labels, with their averages.

    The first table has one row per label: ``label``, ``precision``, ``recall``, ``f1``, ``support``
    (items that have it), ``predicted`` (items that are given it), ``status``. The table ``report``
    has the same with averages below, as ``classification_report`` of scikit-learn has them; they
    stand with their intervals in ``averages``.
    """

    labels: tuple[str, ...]
    exact_match: Estimate
    """Share of items whose labels are all right, and no others given."""

    @property
    def per_label(self) -> Estimates:
        """By ``label`` and ``metric``; ``nan`` with a status where not defined."""
        return Estimates((self.table("per_label"),))

    @property
    def averages(self) -> Estimates:
        """By ``average`` (macro, micro, weighted) and ``metric``; for macro averages with the extra
        columns ``sd`` (over labels), ``n_labels`` and ``n_undefined`` among them."""
        return Estimates((self.table("averages"),))


_COLUMNS = (
    Key("label"),
    *(Number(name) for name in _METRICS),
    Count("support"),
    Count("predicted"),
    Text("status"),
)


def precision_recall_f1(
    y_true: LabelsLike | LabelSets,
    y_pred: LabelsLike | LabelSets,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    clusters: ArrayLike | Clusters | None = None,
    zero_division: float = 0.0,
    n_boot: int = 1000,
    interval: IntervalOfItems = "jackknife",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> PrecisionRecallF1:
    """Compute precision, recall and F1 of every label, and their averages.

    Parameters
    ----------
    y_true, y_pred
        One label per item: names, or integer codes with `labels`, shape (n,). Or several: lists or
        sets of names, or 0/1 arrays of shape (n, k) with `labels`.
    taxonomy
        Gives the labels, and understands names in any spelling.
    labels
        The labels there are, which codes or columns stand for; by default those of the taxonomy,
        or those that occur.
    clusters
        Cluster of each item, as for :func:`classification_metrics`.
    zero_division
        What precision or recall count as in averages where their denominator is 0; ``nan`` leaves
        them out. In the table of labels they stay ``nan``.
    n_boot
        Bootstrap replicates of a percentile interval; 0 for no interval of either kind.
    interval, confidence
        ``"jackknife"`` or ``"percentile"``, as for :func:`classification_metrics`, and its coverage
        in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    The table of labels, the averages, and the share of exact matches. Macro averages run over the
    labels that occur in truth or prediction; their SD over labels is that of a sample.

    Raises
    ------
    InputError
        When lengths differ, or a label is missing or not known.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 5.4 and tables 4 to 6.

    Examples
    --------
    >>> table = precision_recall_f1(["joy", "fear", "joy"], ["joy", "joy", "joy"])
    >>> table.to_frame().select("label", "precision", "recall", "reason").rows()
    [('fear', nan, 0.0, 'never_predicted'), ('joy', 0.66..., 1.0, None)]
    >>> table.averages["macro", "precision"].value
    0.3333333333333333
    >>> several = precision_recall_f1([["joy", "love"], ["fear"]], [["joy"], ["fear"]])
    >>> several.exact_match.value, several.averages["micro", "recall"].value
    (0.5, 0.6666666666666666)
    """
    check_choice("interval", interval, get_args(IntervalOfItems))
    draw, multilabel = None, is_multilabel(y_true) or is_multilabel(y_pred)
    if multilabel:
        names, true, predicted = label_sets(y_true, y_pred, taxonomy, labels)
        exact = (true == predicted).all(axis=1)[:, None]
        each = np.hstack([true & predicted, true, predicted, exact, np.ones_like(exact)])
        each, n = each.astype(np.float64), len(each)
        together = clusters_of(clusters, n)
        if together is not None:
            each, items = np.zeros((together.n, each.shape[1])), each
            np.add.at(each, together.code, items)
        times = np.ones(len(each), dtype=np.int64)
        left_out = _sums(each.sum(axis=0) - each)

        def sums_of(weights: Floats) -> LabelSums:
            return _sums(weights @ each)
    else:
        facts = label_facts(taxonomy, labels=labels)
        coded = code_labels(facts, y_true, {"y_pred": y_pred}, coded_by=labels)
        names, n = coded.facts.labels, coded.true.size
        together = clusters_of(clusters, n)
        units = units_of(coded, None, together)
        times, draw, left_out = units.times, units.draw, units.left_out(0)

        def sums_of(weights: Floats) -> LabelSums:
            return units.tallies(weights)[0]

    point = sums_of(times[None, :].astype(np.float64))
    k = len(names)
    texts: list[What] = [*_METRICS * k]
    for average in _AVERAGES:
        zero = () if average == "micro" else (zero_text(zero_division),)
        texts += [(f"{average} {metric}", *zero) for metric in _METRICS]
    no_average = Reason(Cause.NONE, of="label that occurs") if n else Reason(Cause.NONE, of="items")
    # With one label each, micro averages are the share of exact matches, which is no ratio.
    ratios = np.array([True] * 3 * (k + 1) + [multilabel] * 3 + [True] * 3 + [False])
    statistic = from_weights(
        {
            "of": [name for name in (*names, *_AVERAGES) for _ in _METRICS] + ["items"],
            "metric": [*_METRICS * (k + 3), "exact match"],
        },
        times.size,
        lambda weights: _statistics(sums_of(weights), zero_division),
        method=[*texts, "exact match"],
        undefined=[*_UNDEFINED * k, *[no_average] * 9, Reason(Cause.NONE, of="items")],
        n_items=n,
        n_raters=1,
        n_ratings=n,
        times=times,
        left_out=lambda: _statistics(left_out, zero_division),
        draw=draw,
        bounds=(0.0, 1.0),
        effective=ratios,
        **drawn_with(together),
    )
    table = infer_items(statistic, n, interval, n_boot=n_boot, confidence=confidence, seed=seed)
    return _result(names, table, point, zero_division)


def _sums(sums: Floats) -> LabelSums:
    """Name the sums of hits, truth and predictions of labels, of exact matches, and of items."""
    hits, true, predicted = np.split(sums[:, :-2], 3, axis=1)
    return LabelSums(
        n=sums[:, -1],
        hits=sums[:, -2],
        label_hits=hits,
        label_true=true,
        label_predicted=predicted,
    )


def _statistics(sums: LabelSums, zero_division: float) -> Floats:
    """All numbers of the result, shape (..., 3 k + 9 + 1)."""
    counted = _counted(sums, zero_division)
    known = ~np.isnan(counted)
    filled = np.where(known, counted, 0.0)
    macro = mean_of_defined(counted, -2)
    together = replace(
        sums,
        label_hits=sums.label_hits.sum(axis=-1),
        label_true=sums.label_true.sum(axis=-1),
        label_predicted=sums.label_predicted.sum(axis=-1),
    )
    micro = _metrics(together, zero_division)
    support = np.where(known, sums.label_true[..., None], 0.0)
    weighted = ratio((filled * support).sum(axis=-2), support.sum(axis=-2), zero_division)
    averages = np.concatenate([macro, micro, weighted], axis=-1)
    averages[sums.n <= 0] = np.nan
    of_labels = _metrics(sums).reshape(*averages.shape[:-1], -1)
    return np.concatenate([of_labels, averages, ratio(sums.hits, sums.n)[..., None]], axis=-1)


def _metrics(sums: LabelSums, zero_division: float = np.nan) -> Floats:
    """Precision, recall and F1, shape (..., k, 3)."""
    metrics = (sums.precision, sums.recall, sums.f1)
    return np.stack([metric(zero_division) for metric in metrics], axis=-1)


def _counted(sums: LabelSums, zero_division: float) -> Floats:
    """What every label adds to macro averages, shape (..., k, 3); ``nan`` where nothing."""
    return np.where(sums.occurs[..., None], _metrics(sums, zero_division), np.nan)


def _result(
    names: tuple[str, ...], table: Estimates, point: LabelSums, zero_division: float
) -> PrecisionRecallF1:
    """Lay out what is known of each label, of the averages, and of exact matches."""
    k = len(names)
    of_labels, of_averages = table.frame[: 3 * k], table.frame[3 * k : 3 * k + 9]
    ((_, exact),) = table.with_frame(table.frame[-1:])
    undefined = np.isnan(of_labels["value"].to_numpy().reshape(k, 3))
    counted = _counted(point, zero_division)[0]
    macro = {
        "sd": pl.DataFrame(counted).fill_nan(None).std().fill_null(np.nan).row(0),
        "n_labels": (~np.isnan(counted)).sum(axis=0),
        "n_undefined": (undefined & point.occurs[0][:, None]).sum(axis=0),
    }
    averages = Estimates.of(
        of_averages.rename({"of": "average"}).with_columns(
            pl.Series("sd", [*macro["sd"], *[np.nan] * 6], dtype=pl.Float64),
            *(
                pl.Series(name, [*macro[name].tolist(), *[None] * 6], dtype=pl.Int64)
                for name in ("n_labels", "n_undefined")
            ),
        ),
        ("average", "metric"),
    )
    (long,) = Estimates.of(of_labels.rename({"of": "label"}), ("label", "metric")).tables
    (wide,) = averages.tables
    f1 = averages["macro", "f1"].value
    n_macro = int(macro["n_labels"][2])
    sentence = wording.label_averages(f1, n_macro, k, exact)
    caption, columns = "Averages over labels.", wide.columns[:-2]
    labels = _by_label(names, of_labels, point)
    return PrecisionRecallF1(
        (
            replace(labels, limit=0),
            _report(labels, averages.frame, exact.value),
            replace(long, name="per_label", limit=0),
            replace(wide, name="averages", caption=caption, columns=columns),
        ),
        (sentence,),
        labels=names,
        exact_match=exact,
    )


def _report(labels: Table, averages: pl.DataFrame, exact: float) -> Table:
    """Put averages below the labels, as classification_report of scikit-learn does."""
    n = labels.frame["support"].sum()
    rows = []
    for average in ("micro", "macro", "weighted"):
        value = dict(averages.filter(average=average).select("metric", "value").rows())
        name = f"{average} avg"
        if average == "micro" and set(value.values()) == {exact}:
            # Of one label per item, each right one is a hit of all three.
            name, value = "accuracy", {"f1": exact}
        status = "undefined" if np.isnan([*value.values()]).any() else "ok"
        rows.append({"label": name, **value, "support": n, "status": status})
    below = pl.DataFrame(rows, schema_overrides={"precision": pl.Float64, "recall": pl.Float64})
    frame = pl.concat([labels.frame, below], how="diagonal_relaxed")
    return replace(labels, name="report", frame=frame)


def _by_label(names: Sequence[str], long: pl.DataFrame, point: LabelSums) -> Table:
    """Give one row per label: precision, recall, f1, support, predicted, status."""
    value = long["value"].to_numpy().reshape(-1, 3)
    # Where there is no F1, nor are the other two; else one of them may be missing.
    every = np.array([Reason.of_row(why) for why in long["reason"]], dtype=object).reshape(-1, 3)
    undefined = np.isnan(value)
    reasons = [
        next((why[at] for at in (2, 0, 1) if none[at]), None)
        for why, none in zip(every, undefined, strict=True)
    ]
    frame = pl.DataFrame(
        {
            "label": pl.Series(names, dtype=pl.String),
            **dict(zip(_METRICS, value.T, strict=True)),
            "support": np.rint(point.label_true[0]).astype(np.int64),
            "predicted": np.rint(point.label_predicted[0]).astype(np.int64),
            "status": ["undefined" if none else "ok" for none in undefined.any(axis=1)],
            "reason": fact_column("reason", reasons, reason_type()),
        },
        schema_overrides={"status": pl.String},
    )
    return Table("labels", "Precision, recall and F1 of each label.", frame, _COLUMNS)
