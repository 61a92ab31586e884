"""Metrics of ratings: errors, correlation and agreement, for any weights of the units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._metric_registry import AnswerMetric, Compared

__all__ = ["SCORE_METRICS"]

_SMALL = 1e-12
_BLOCK = 1 << 22
"""Sums over cells that are held at once."""


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide, ``nan`` where there is nothing to divide by."""
    value: Floats = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    return value


def _mean_of(data: Compared, values: Floats, weights: Floats) -> Floats:
    """Mean over all rows."""
    return _ratio(data.totals(values, weights), data.totals(np.ones_like(values), weights))


def mean_defined(values: Floats) -> Floats:
    """Mean over the columns that are defined, shape (b, m) to (b,)."""
    known = ~np.isnan(values)
    return _ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


def _absolute(data: Compared, weights: Floats) -> Floats:
    return _mean_of(data, np.abs(data.answer - data.truth), weights)


def _signed(data: Compared, weights: Floats) -> Floats:
    return _mean_of(data, data.answer - data.truth, weights)


def _level(data: Compared, weights: Floats) -> Floats:
    return _mean_of(data, data.answer, weights)


def _spearman(data: Compared, weights: Floats) -> Floats:
    """Mean over labels of the correlation of the ranks, ranked anew for every row of weights."""
    from affectlab._compiled import in_threads
    from affectlab.evaluation._fairness_kernels import weighted_spearman

    parts = [np.flatnonzero(data.label == label) for label in np.unique(data.label)]
    found = np.full((len(parts), weights.shape[0]), np.nan)
    given = np.ascontiguousarray(weights)

    def work(place: int) -> None:
        rows = parts[place]
        first, second = data.answer[rows], data.truth[rows]
        order, last = _rising(first)
        other, other_last = _rising(second)
        weighted_spearman(data.unit[rows], order, last, other, other_last, given, found[place])

    in_threads(work, range(len(parts)))
    return mean_defined(found.T)


def _rising(values: Floats) -> tuple[Ints, Bools]:
    """Places by rising value, and whether the next one's is larger, or there is none."""
    order = np.argsort(values, kind="stable").astype(np.int64)
    ordered = values[order]
    return order, np.append(ordered[1:] > ordered[:-1] + _SMALL, True)


def _quadratic_kappa(data: Compared, weights: Floats) -> Floats:
    """Mean over people and labels of 1 - E(a - t)² / E(a - t')², t' drawn apart from a."""
    key = data.rater * len(data.labels) + data.label
    _, group = np.unique(key, return_inverse=True)
    m = int(group.max()) + 1
    a, t = data.answer, data.truth

    def total(values: Floats) -> Floats:
        return data.grouped(group.astype(np.int64), m, values, weights)

    n = total(np.ones_like(a))
    mean_a, mean_t = _ratio(total(a), n), _ratio(total(t), n)
    squares = _ratio(total(a * a + t * t), n)
    apart = squares - 2 * mean_a * mean_t
    observed = _ratio(total((a - t) ** 2), n)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = np.where(apart > _SMALL, 1 - observed / apart, np.nan)
    return mean_defined(kappa)


def _coordinates(data: Compared) -> list[Floats]:
    """Answers as points whose squared distance is the disagreement of two answers."""
    if not data.nominal:
        return [data.answer - data.answer.mean()]
    # Two different categories are 2 apart, a factor that cancels.
    return [(data.answer == value).astype(np.float64) for value in np.unique(data.answer)]


def _alpha(data: Compared, weights: Floats) -> Floats:
    """Krippendorff's alpha, mean over labels; interval distance, nominal without an order."""
    found = [
        (_alpha_over_raters if data.of_raters else _alpha_over_units)(part, weights)
        for part in _by_label(data)
    ]
    return mean_defined(np.stack(found, axis=1))


def _by_label(data: Compared) -> Iterator[Compared]:
    for label in np.unique(data.label):
        yield data.take(data.label == label)


def _alpha_over_units(data: Compared, weights: Floats) -> Floats:
    _, cell = np.unique(data.stimulus, return_inverse=True)
    n_cells = int(cell.max()) + 1
    unit = np.zeros(n_cells, dtype=np.int64)
    unit[cell] = data.unit
    m = _summed(cell, np.ones_like(data.answer), n_cells)
    paired = m > 1
    points = _coordinates(data)
    sums = [_summed(cell, x, n_cells) for x in points]
    squares = _summed(cell, _squared(points), n_cells)
    apart = m * squares - sum(s * s for s in sums)
    observed = np.divide(2 * apart, m - 1, out=np.zeros(n_cells), where=paired)

    def total(values: Floats) -> Floats:
        kept = np.where(paired, values, 0.0)
        out: Floats = weights @ np.bincount(unit, weights=kept, minlength=data.n_units)
        return out

    return _alpha_of(total(m), total(observed), [total(s) for s in sums], total(squares))


def _alpha_over_raters(data: Compared, weights: Floats) -> Floats:
    """As over stimuli, where people count several times; a person is not paired with themselves."""
    _, cell = np.unique(data.stimulus, return_inverse=True)
    n_cells = int(cell.max()) + 1
    points = _coordinates(data)
    step = max(1, _BLOCK // n_cells)
    found = []
    for start in range(0, weights.shape[0], step):
        block = weights[start : start + step]
        of = [data.grouped(cell, n_cells, x, block) for x in points]
        m = data.grouped(cell, n_cells, np.ones_like(data.answer), block)
        own = data.grouped(cell, n_cells, np.ones_like(data.answer), block**2)
        squares = data.grouped(cell, n_cells, _squared(points), block)
        pairs = m * m - own
        paired: Bools = pairs > _SMALL
        apart = m * squares - sum(s * s for s in of)
        observed = np.divide(2 * m * apart, pairs, out=np.zeros_like(m), where=paired)
        kept = [np.where(paired, s, 0.0).sum(axis=1) for s in (m, observed, squares, *of)]
        found.append(_alpha_of(kept[0], kept[1], kept[3:], kept[2]))
    return np.concatenate(found)


def _summed(cell: Ints, values: Floats, n_cells: int) -> Floats:
    total = np.bincount(cell, weights=values, minlength=n_cells)
    return np.asarray(total, dtype=np.float64)


def _squared(points: list[Floats]) -> Floats:
    total: Floats = np.sum([x * x for x in points], axis=0)
    return total


def _alpha_of(n: Floats, observed: Floats, sums: list[Floats], squares: Floats) -> Floats:
    """1 - D_o / D_e from sums over the units with two answers or more."""
    apart = n * squares - sum(s * s for s in sums)
    expected = _ratio(2 * apart, n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(expected > _SMALL, 1 - observed / expected, np.nan)
    return found


SCORE_METRICS: tuple[AnswerMetric, ...] = (
    AnswerMetric("mae", "mean absolute error", _absolute, "scores", "lower", pooled=True),
    AnswerMetric(
        "bias", "mean signed difference", _signed, "scores", "zero", with_self=True, pooled=True
    ),
    AnswerMetric("spearman", "Spearman correlation", _spearman, "scores", "higher", any_scale=True),
    AnswerMetric("quadratic_kappa", "quadratic kappa", _quadratic_kappa, "pairs", "higher"),
    AnswerMetric("mean", "mean rating", _level, "answers", pooled=True, any_scale=True),
    AnswerMetric("alpha", "Krippendorff's alpha of people", _alpha, "people", "higher"),
)
"""Metrics of ratings, built in."""
