"""Precision, recall and F1 of every label, and their averages; one or several labels per item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import Uncertainty, draw_weights, summarise
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import number, percent, plural
from affectlab.evaluation.classification.estimates import check_draws, method_text, zero_text
from affectlab.evaluation.classification.few_mistakes import FEWEST_MISTAKES, with_few_mistakes
from affectlab.evaluation.classification.labels import (
    LabelSets,
    LabelsLike,
    code_labels,
    is_multilabel,
    label_sets,
)
from affectlab.evaluation.classification.metrics import f1, precision, ratio, recall
from affectlab.evaluation.classification.resampling import bootstrap_tallies, units_of
from affectlab.evaluation.label_facts import TaxonomyLike, label_facts

__all__ = ["PrecisionRecallF1", "precision_recall_f1"]

_METRICS = ("precision", "recall", "f1")
_AVERAGES = ("macro", "micro", "weighted")
_UNDEFINED = {
    "precision": "undefined: never predicted",
    "recall": "undefined: never true",
    "f1": "undefined: neither true nor predicted",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrecisionRecallF1(Result):
    """Precision, recall and F1 of k labels, with their averages.

    The first table has one row per label: ``label``, ``precision``, ``recall``, ``f1``, ``support``
    (items that have it), ``predicted`` (items that are given it), ``status``.
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
    Count("support", "true"),
    Count("predicted"),
    Text("status"),
)


def _wide(labels: Sequence[str], estimates: Estimates, support: Ints, predicted: Ints) -> Table:
    """Give one row per label: precision, recall, f1, support, predicted, status."""
    value = estimates.frame["value"].to_numpy().reshape(-1, 3)
    status = estimates.frame["status"].to_list()
    said = [
        "; ".join(
            f"{metric} {text}"
            for metric, text in zip(_METRICS, status[3 * row : 3 * row + 3], strict=True)
            if text != "ok"
        )
        for row in range(len(labels))
    ]
    frame = pl.DataFrame(
        {
            "label": pl.Series(labels, dtype=pl.String),
            **{metric: value[:, column] for column, metric in enumerate(_METRICS)},
            "support": support,
            "predicted": predicted,
            "status": pl.Series([text or "ok" for text in said], dtype=pl.String),
        }
    )
    return Table("labels", "Precision, recall and F1 of each label.", frame, _COLUMNS)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over items, of shape (..., k), and of exact matches and items, of shape (...)."""

    label_hits: Floats
    label_true: Floats
    label_predicted: Floats
    exact: Floats
    n: Floats


def precision_recall_f1(
    y_true: LabelsLike | LabelSets,
    y_pred: LabelsLike | LabelSets,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    zero_division: float = 0.0,
    n_boot: int = 1000,
    interval: str = "percentile",
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
    zero_division
        What precision or recall count as in averages where their denominator is 0; ``nan`` leaves
        them out. In the table of labels they stay ``nan``.
    n_boot
        Bootstrap replicates over items; 0 for no interval.
    interval, confidence
        Kind of interval, and its coverage in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    The table of labels, the averages, and the share of exact matches. Macro averages run over the
    labels that occur in truth or prediction; their SD over labels is that of a sample. Where fewer
    than 10 items have a wrong label, averages have the t interval of the jackknife, as in
    :func:`classification_metrics`.

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
    >>> table.to_frame().select("label", "precision", "recall", "status").rows()
    [('fear', nan, 0.0, 'precision undefined: never predicted'), ('joy', 0.66..., 1.0, 'ok')]
    >>> table.averages["macro", "precision"].value
    0.3333333333333333
    >>> several = precision_recall_f1([["joy", "love"], ["fear"]], [["joy"], ["fear"]])
    >>> several.exact_match.value, several.averages["micro", "recall"].value
    (0.5, 0.6666666666666666)
    """
    check_draws(n_boot, interval, confidence)
    rng = np.random.default_rng(seed)
    blocks: Iterator[_Sums]
    times: Ints | None
    if is_multilabel(y_true) or is_multilabel(y_pred):
        names, true, predicted = label_sets(y_true, y_pred, taxonomy, labels)
        each = np.concatenate(
            [true & predicted, true, predicted, (true == predicted).all(axis=1)[:, None]],
            axis=1,
            dtype=np.float64,
        )
        total, n = each.sum(axis=0), len(each)
        point, times = _split(total[None, :], n), None
        blocks = (_split(weights @ each, n) for weights in draw_weights(rng, n, n_boot))
    else:
        facts = label_facts(taxonomy, labels=labels)
        coded = code_labels(facts, y_true, {"y_pred": y_pred}, coded_by=labels)
        names, units = coded.facts.labels, units_of(coded, None, None)
        point, times = _of_tally(units.point()[0]), units.times
        blocks = (_of_tally(tally) for (tally,) in bootstrap_tallies(units, n_boot, rng))
    n = int(point.n[0])
    value = _statistics(point, zero_division)[0]
    spread = Uncertainty.none(value.size)
    if n_boot and n:
        replicates = np.concatenate([_statistics(block, zero_division) for block in blocks])
        spread = summarise(value, replicates, confidence, interval)
    averages = slice(3 * len(names), 3 * len(names) + 9)
    n_mistakes = round(n - float(point.exact[0]))
    how = [method_text(n_boot, interval, False, False)] * value.size
    if n_boot and n and n_mistakes < FEWEST_MISTAKES:
        # One label per item: micro averages are the accuracy, as weighted recall is.
        ratios = np.ones((3, 3), dtype=np.bool_)
        if times is None:
            left_out = _split(total - each, n - 1)
        else:
            left_out = _of_tally(units.left_out(0))
            ratios[1] = ratios[2, 1] = False
        spread = with_few_mistakes(
            spread,
            averages,
            value[averages],
            _statistics(left_out, zero_division)[:, averages],
            times,
            confidence,
            n_mistakes=n_mistakes,
            ratios=ratios.ravel(),
            of_mistakes=np.zeros(9, dtype=np.bool_),
            least=np.zeros(9),
        )
        how[averages] = [
            method_text(n_boot, "" if ratio else interval, False, False) for ratio in ratios.ravel()
        ]
    return _result(names, point, value, spread, how, zero_division, n_boot)


def _split(sums: Floats, n: int) -> _Sums:
    k = sums.shape[1] // 3
    items = np.full(len(sums), float(n))
    return _Sums(sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k : 3 * k], sums[:, -1], items)


def _of_tally(tally: Any) -> _Sums:
    return _Sums(tally.label_hits, tally.label_true, tally.label_predicted, tally.hits, tally.n)


def _statistics(sums: Any, zero_division: float) -> Floats:
    """All numbers of the result, shape (..., 3 k + 9 + 1)."""
    functions = (precision, recall, f1)
    defined = np.stack([function(sums) for function in functions], axis=-1)
    counted = _counted(sums, zero_division)
    macro = ratio(
        np.where(np.isnan(counted), 0.0, counted).sum(axis=-2),
        (~np.isnan(counted)).sum(axis=-2).astype(np.float64),
    )
    hits, true, predicted = (
        getattr(sums, name).sum(axis=-1) for name in ("label_hits", "label_true", "label_predicted")
    )
    micro = np.stack(
        [
            ratio(hits, predicted, zero_division),
            ratio(hits, true, zero_division),
            ratio(2 * hits, predicted + true, zero_division),
        ],
        axis=-1,
    )
    support = np.where(np.isnan(counted), 0.0, sums.label_true[..., None])
    weighted = ratio(
        (np.where(np.isnan(counted), 0.0, counted) * support).sum(axis=-2),
        support.sum(axis=-2),
        zero_division,
    )
    exact = ratio(sums.exact, sums.n)[..., None]
    flat = defined.reshape(*defined.shape[:-2], -1)
    averages = np.concatenate([macro, micro, weighted], axis=-1)
    averages[sums.n <= 0] = np.nan
    return np.concatenate([flat, averages, exact], axis=-1)


def _counted(sums: Any, zero_division: float) -> Floats:
    """What every label adds to macro averages, shape (..., k, 3); ``nan`` where nothing."""
    value = np.stack([function(sums, zero_division) for function in (precision, recall, f1)], -1)
    occurs = (sums.label_true > 0) | (sums.label_predicted > 0)
    return np.where(occurs[..., None], value, np.nan)


def _result(
    names: tuple[str, ...],
    point: _Sums,
    value: Floats,
    spread: Uncertainty,
    how: Sequence[str],
    zero_division: float,
    n_boot: int,
) -> PrecisionRecallF1:
    k, n = len(names), int(point.n[0])
    common: dict[str, Any] = {
        "resampled": "units" if n_boot and n else "none",
        "n_items": n,
        "n_raters": 1,
        "n_ratings": n,
    }

    def part(start: int, end: int) -> dict[str, Any]:
        rows = slice(start, end)
        return {
            "value": value[rows],
            "se": spread.se[rows],
            "low": spread.low[rows],
            "high": spread.high[rows],
        }

    def said(rows: range, what: Sequence[str]) -> list[str]:
        return [
            "; ".join(filter(None, (text, how[row], spread.missing[row])))
            for row, text in zip(rows, what, strict=True)
        ]

    per_label = Estimates.build(
        {"label": [name for name in names for _ in _METRICS], "metric": list(_METRICS) * k},
        **part(0, 3 * k),
        method=said(range(3 * k), list(_METRICS) * k),
        status=[
            _UNDEFINED[metric] if np.isnan(one) else "ok"
            for metric, one in zip(list(_METRICS) * k, value[: 3 * k], strict=True)
        ],
        **common,
    )
    counted = _counted(point, zero_division)[0]
    undefined = np.isnan(value[: 3 * k].reshape(k, 3))
    occurs = (point.label_true[0] > 0) | (point.label_predicted[0] > 0)
    texts = [
        f"{average} {metric}" + (f", {zero_text(zero_division)}" if average != "micro" else "")
        for average in _AVERAGES
        for metric in _METRICS
    ]
    averages = Estimates.build(
        {
            "average": [average for average in _AVERAGES for _ in _METRICS],
            "metric": list(_METRICS) * 3,
        },
        **part(3 * k, 3 * k + 9),
        method=said(range(3 * k, 3 * k + 9), texts),
        status=[
            ("undefined: no label occurs" if n else "undefined: no items")
            if np.isnan(one)
            else "ok"
            for one in value[3 * k : 3 * k + 9]
        ],
        **common,
    )
    macro_only = [None] * 6
    frame = averages.frame.with_columns(
        pl.Series("sd", [*_sd(counted), *[np.nan] * 6], dtype=pl.Float64),
        pl.Series(
            "n_labels", [*(~np.isnan(counted)).sum(axis=0).tolist(), *macro_only], dtype=pl.Int64
        ),
        pl.Series(
            "n_undefined",
            [*(undefined & occurs[:, None]).sum(axis=0).tolist(), *macro_only],
            dtype=pl.Int64,
        ),
    )
    exact = Estimate(
        float(value[-1]),
        se=float(spread.se[-1]),
        low=float(spread.low[-1]),
        high=float(spread.high[-1]),
        method=said(range(value.size - 1, value.size), ["exact match"])[0],
        status="ok" if n else "undefined: no items",
        **common,
    )
    support, predicted = (
        np.rint(given[0]).astype(np.int64) for given in (point.label_true, point.label_predicted)
    )
    macro = averages["macro", "f1"]
    sentence = (
        f"Macro F1 is {number(macro.value)} over {plural(k, 'label')}; "
        f"{percent(exact.value, 1)} of {plural(n, 'item')} have exactly the right labels."
    )
    return PrecisionRecallF1(
        (
            _wide(names, per_label, support, predicted),
            replace(per_label.tables[0], name="per_label", limit=0),
            replace(
                averages.tables[0],
                name="averages",
                caption="Averages over labels.",
                frame=frame,
                columns=averages.tables[0].columns[:-2],
            ),
        ),
        (sentence,),
        labels=names,
        exact_match=exact,
    )


def _sd(values: Floats) -> Floats:
    """SD of a sample, per column, over rows that are not ``nan``."""
    n = (~np.isnan(values)).sum(axis=0)
    gap = np.where(np.isnan(values), 0.0, values)
    mean = ratio(gap.sum(axis=0), n.astype(np.float64))
    squares = np.where(np.isnan(values), 0.0, (values - mean) ** 2).sum(axis=0)
    spread: Floats = np.sqrt(ratio(squares, (n - 1).astype(np.float64)))
    return spread
