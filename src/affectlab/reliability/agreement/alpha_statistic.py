"""Alpha of all labels at once, for any weights of units and of raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from affectlab.core.statistic import Draws
from affectlab.core.types import Floats
from affectlab.reliability.agreement.alpha_levels import (
    DistanceLevel,
    Interval,
    Level,
    Nominal,
    Ordinal,
    Sums,
)

__all__ = ["Alphas", "alphas_by_lanes", "rows_over_raters", "worth_compiling"]

# Alpha with weights of raters, by compiled sums over many rows side by side.


_MOST_VALUES = 32
"""Distinct values up to which pairs of values are summed."""
_MOST_PAIRS = 32
"""Pairs per rating up to which pairs of ratings are summed."""
_LEAST_WORK = 1 << 22
"""Ratings times replicates below which loading compiled code takes longer than the work."""


def worth_compiling(level: Level, n_boot: int) -> bool:
    """Whether the compiled sums serve a label better than arrays of weights."""
    data = level.data
    if data.value.size * n_boot < _LEAST_WORK:
        return False
    if isinstance(level, Interval):
        return True
    n_pairs = float((data.size * (data.size - 1)).sum() / 2)
    known = isinstance(level, Nominal | Ordinal | DistanceLevel)
    few = data.domain.size <= _MOST_VALUES and n_pairs <= _MOST_PAIRS * data.value.size
    return known and few


def alphas_by_lanes(
    levels: Sequence[Level], rater_weights: Floats, unit_weights: Floats | None
) -> Floats:
    """Compute alpha of every label in every replicate.

    Parameters
    ----------
    levels
        Labels for which :func:`worth_compiling` holds.
    rater_weights
        Shape (replicates, raters).
    unit_weights
        Shape (replicates, units); ``None`` for ones.

    Returns
    -------
    Shape (replicates, labels).
    """
    from affectlab.core.compiled import LANES, in_threads

    n_boot = rater_weights.shape[0]
    n_units = max(level.data.n_units for level in levels)
    out = np.empty((n_boot, len(levels)))
    blocks = []
    for start in range(0, n_boot, LANES):
        raters = np.ascontiguousarray(rater_weights[start : start + LANES].T)
        units = (
            np.ones((n_units, raters.shape[1]))
            if unit_weights is None
            else np.ascontiguousarray(unit_weights[start : start + LANES].T)
        )
        blocks.append((slice(start, start + raters.shape[1]), raters, units))

    def one_label(column: int) -> None:
        for rows, raters, units in blocks:
            out[rows, column] = _alphas(levels[column], raters, units)

    in_threads(one_label, range(len(levels)))
    return out


def _alphas(level: Level, raters: Floats, units: Floats) -> Floats:
    from affectlab.reliability.agreement.alpha_kernels import moment_lanes, pair_lanes

    data = level.data
    lanes = raters.shape[1]
    ends = np.append(data.starts[1:], data.value.size)
    if isinstance(level, Interval):
        totals = np.empty((4, lanes))
        both = np.hstack([raters, raters**2])
        moment_lanes(ends, data.unit, data.rater, level.centred, both, units, totals)
        return level.from_totals(totals.T)
    n_values = data.domain.size
    pairs = np.empty((n_values, n_values, lanes))
    pair_lanes(ends, data.unit, data.rater, data.code, raters, units, pairs)
    ordered = pairs + pairs.transpose(1, 0, 2)
    return level.from_totals(_totals(level, ordered.transpose(2, 0, 1)))


def _totals(level: Level, ordered: Floats) -> Floats:
    """Turn weights of ordered pairs, (b, values, values), into the totals that a level expects."""
    margins = ordered.sum(axis=2)
    if isinstance(level, Ordinal):
        low, high = np.triu_indices(margins.shape[1], 1)
        return np.hstack([2 * ordered[:, low, high], margins])
    domain = level.data.domain
    if isinstance(level, DistanceLevel):
        first, second = np.broadcast_arrays(domain[:, None], domain[None, :])
        distances = np.asarray(level.distance(first, second), dtype=np.float64)
    else:
        distances = 1 - np.eye(domain.size)
    observed = np.einsum("bck,ck->b", ordered, distances)
    return np.hstack([observed[:, None], margins])


_BLOCK = 1 << 20
_STACK = 1 << 23


@dataclass(frozen=True, eq=False)
class Alphas:
    """Alpha of every label from rows of weights; ``None`` is a label without a pair of ratings."""

    levels: Sequence[Level | None]
    n_units: int
    n_boot: int
    """Replicates that are to be expected: compiled code pays for many."""
    over_units: bool
    """Whether units are drawn, for which sums over units are kept."""
    kept: dict[int, Sums | None] = field(default_factory=dict)

    def __call__(self, draws: Draws) -> Floats:
        columns = range(len(self.levels)) if draws.columns is None else draws.columns.tolist()
        out = np.full((draws.n_rows, len(columns)), np.nan)
        there = [place for place, k in enumerate(columns) if self.levels[k] is not None]
        levels = {place: self.levels[columns[place]] for place in there}
        bound = {place: level for place, level in levels.items() if level is not None}
        if draws.rater is not None:
            out[:, there] = _over_raters(list(bound.values()), draws, self.n_units, self.n_boot)
            return out
        if draws.stimulus is None or len(columns) < len(self.levels):
            for place, level in bound.items():
                out[:, place] = _alone(level, self._sums(columns[place]), draws, self.n_units)
            return out
        for places, sums in self._stacks:
            totals = draws.totals(sums)
            left = 0
            for place, width in places:
                level = bound[place]
                out[:, place] = level.from_totals(totals[:, left : left + width])
                left += width
        for place, level in bound.items():
            alone = self._sums(place)
            if not isinstance(alone, np.ndarray):
                out[:, place] = _alone(level, alone, draws, self.n_units)
        return out

    def _sums(self, k: int) -> Sums | None:
        """Sums over units of a label, which are kept where units are drawn."""
        if k in self.kept:
            return self.kept[k]
        level = self.levels[k]
        sums = None if level is None else level.statistics()
        if self.over_units:
            self.kept[k] = sums
        return sums

    @cached_property
    def _stacks(self) -> list[tuple[list[tuple[int, int]], Floats]]:
        """Narrow sums side by side, for few large products."""
        sums = {k: self._sums(k) for k in range(len(self.levels))}
        return list(_stack({k: of for k, of in sums.items() if isinstance(of, np.ndarray)}))


def _stack(tables: Mapping[int, Floats]) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
    """Put tables side by side up to a size; give (column, width) of each, and the whole."""
    waiting: dict[int, Floats] = {}
    for column, table in tables.items():
        waiting[column] = table
        if sum(held.size for held in waiting.values()) >= _STACK or column == max(tables):
            widths = [(k, held.shape[1]) for k, held in waiting.items()]
            yield widths, np.hstack(list(waiting.values()))
            waiting = {}


def _alone(level: Level, sums: Sums | None, draws: Draws, n_units: int) -> Floats:
    """Alpha of one label, in blocks of rows."""
    part = level.data
    if sums is not None:
        if draws.is_point:
            return level.from_totals(draws.totals(sums))
        n_rows = max(1, _BLOCK // sums.shape[1])
        return np.concatenate(
            [level.from_totals(block.totals(sums)) for _, block in draws.blocks(n_rows)]
        )
    found = []
    for _, block in draws.blocks(max(1, _BLOCK // part.value.size)):
        ones = np.ones((block.n_rows, part.value.size))
        found.append(level.weighted(ones, block.weights(n_units)[:, part.unit]))
    return np.concatenate(found)


def _over_raters(levels: Sequence[Level], draws: Draws, n_units: int, n_boot: int) -> Floats:
    """Alpha with weights on ratings."""
    assert draws.rater is not None
    out = np.empty((draws.n_rows, len(levels)))
    compiled = [k for k, level in enumerate(levels) if worth_compiling(level, n_boot)]
    if compiled:
        fast = alphas_by_lanes([levels[k] for k in compiled], draws.rater, draws.stimulus)
        out[:, compiled] = fast
    unit_weights = draws.weights(n_units)
    for column, level in enumerate(levels):
        if column in compiled:
            continue
        part = level.data
        out[:, column] = level.weighted(draws.rater[:, part.rater], unit_weights[:, part.unit])
    return out


def rows_over_raters(levels: Sequence[Level | None]) -> int:
    """Rows with weights on ratings that fit in the cache."""
    return max(
        1, _BLOCK // max((one.data.value.size for one in levels if one is not None), default=1)
    )
