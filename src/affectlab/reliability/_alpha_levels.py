"""Krippendorff's alpha of one label, from sums over units, for each level of measurement.

Every level knows three things: the sums that each unit contributes (``statistics``), the
coefficient that weighted totals of these sums give (``from_totals``), and the coefficient when each
*rating* carries a weight (``weighted``), which is what resampling raters needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats, Ints
from affectlab.reliability._pairable import (
    Pairable,
    Sums,
    by_pairable,
    margins_of,
    one_minus_ratio,
    shares,
    spread,
    sum_table,
)

__all__ = [
    "Distance",
    "DistanceLevel",
    "Interval",
    "Level",
    "Nominal",
    "Ordinal",
    "alpha_of",
]

Distance: TypeAlias = Callable[[Floats, Floats], NDArray[np.float64]]
"""Squared difference of two arrays of values, by element; 0 for equal values."""

_MOST_ORDINAL_VALUES = 15
_BLOCK = 1 << 22


class Level(Protocol):
    """A level of measurement, bound to the ratings of one label."""

    @property
    def data(self) -> Pairable:
        """The ratings."""

    def statistics(self) -> Sums | None:
        """Give what each unit contributes, shape (n_units, k); ``None`` where k is too large."""

    def from_totals(self, totals: Floats) -> Floats:
        """Compute alpha from (weighted) column sums of ``statistics``, (b, k) -> (b,)."""

    def weighted(self, ratings: Floats, cells: Floats) -> Floats:
        """Compute alpha with weights on ratings (b, n) and on cells (b, cells)."""


@dataclass(frozen=True)
class Interval:
    """d = (c - k)^2, through sums and sums of squares: O(ratings).

    Values are taken from their median, which is exact on integer scales and keeps the sums small.
    """

    data: Pairable

    @cached_property
    def centred(self) -> Floats:
        """Values from their median."""
        centred: Floats = self.data.value - np.median(self.data.value)
        return centred

    def statistics(self) -> Sums:
        data, x = self.data, self.centred
        m, s1, s2 = data.size, data.sum(x), data.sum(x**2)
        cells = np.arange(data.unit.size)
        sums = (2 * (m * s2 - s1**2) / (m - 1), m, s1, s2)
        columns = [(cells, np.full_like(cells, k), amount) for k, amount in enumerate(sums)]
        return sum_table(data, columns, 4)

    def from_totals(self, totals: Floats) -> Floats:
        observed, n, s1, s2 = totals.T
        return one_minus_ratio(observed, *spread(n, s1, s2))

    def weighted(self, ratings: Floats, cells: Floats) -> Floats:
        data, x = self.data, self.centred
        m, factor, margin = shares(data, ratings, cells)
        within = m * data.sum(ratings * x**2) - data.sum(ratings * x) ** 2
        return one_minus_ratio(
            (2 * factor * within).sum(axis=1),
            *spread(margin.sum(axis=1), margin @ x, margin @ x**2),
        )


@dataclass(frozen=True)
class Nominal:
    """d = [c != k], through the counts of each value."""

    data: Pairable

    @cached_property
    def _runs(self) -> Ints:
        """First rating of each run of equal values within a cell."""
        data = self.data
        new = (np.diff(data.cell) != 0) | (np.diff(data.code) != 0)
        return np.concatenate([[0], np.flatnonzero(new) + 1])

    def _equal_pairs(self, ratings: Floats) -> Floats:
        """Sum of squared counts of the values of each cell, (b, n) -> (b, cells)."""
        squares = np.add.reduceat(ratings, self._runs, axis=-1) ** 2
        first = np.searchsorted(self.data.cell[self._runs], np.arange(self.data.unit.size))
        total: Floats = np.add.reduceat(squares, first, axis=-1)
        return total

    def statistics(self) -> Sums:
        data = self.data
        m, ones = data.size, np.ones(data.cell.size)
        observed = (m**2 - self._equal_pairs(ones)) / (m - 1)
        cells = np.arange(data.unit.size)
        columns = [(cells, np.zeros_like(cells), observed), (data.cell, data.code + 1, ones)]
        return sum_table(data, columns, data.domain.size + 1)

    @staticmethod
    def _expected(margins: Floats) -> Floats:
        n = margins.sum(axis=1)
        return by_pairable(n**2 - (margins**2).sum(axis=1), n)

    def from_totals(self, totals: Floats) -> Floats:
        return one_minus_ratio(
            totals[:, 0], self._expected(totals[:, 1:]), totals[:, 1:].sum(axis=1)
        )

    def weighted(self, ratings: Floats, cells: Floats) -> Floats:
        m, factor, margin = shares(self.data, ratings, cells)
        observed = (factor * (m**2 - self._equal_pairs(ratings))).sum(axis=1)
        return one_minus_ratio(
            observed, self._expected(margins_of(self.data, margin)), margin.sum(axis=1)
        )


@dataclass(frozen=True)
class Ordinal:
    """d = (sum of n_g, g = c..k, - (n_c + n_k)/2)^2 = (R_k - R_c)^2, R the midranks.

    Midranks are those of the replicate's margins. A unit contributes its counts of values and of
    pairs of values; with many values these pairs are too many, and alpha is computed from the
    ratings in every replicate, as the interval form on midranks.
    """

    data: Pairable

    @cached_property
    def _pair_values(self) -> tuple[Ints, Ints]:
        """All pairs of different values, (low, high)."""
        low, high = np.triu_indices(self.data.domain.size, 1)
        return low, high

    def statistics(self) -> Floats | None:
        data = self.data
        n_values = data.domain.size
        if n_values > _MOST_ORDINAL_VALUES:
            return None
        low, high = self._pair_values
        n_cells = data.unit.size
        counts = np.bincount(data.cell * n_values + data.code, minlength=n_cells * n_values)
        counts = counts.reshape(n_cells, n_values).astype(np.float64)
        pairs = counts[:, low] * counts[:, high] * (2 / (data.size - 1))[:, None]
        return data.sum_by_unit(np.hstack([pairs, counts]))

    @staticmethod
    def _midranks(margins: Floats) -> Floats:
        """Midranks from the margins, centred on their mean n/2."""
        centre = margins.sum(axis=1, keepdims=True) / 2
        ranks: Floats = np.cumsum(margins, axis=1) - margins / 2 - centre
        return ranks

    @staticmethod
    def _expected(margins: Floats, ranks: Floats) -> tuple[Floats, Floats]:
        n = margins.sum(axis=1)
        return spread(n, np.zeros_like(n), (margins * ranks**2).sum(axis=1))[0], n**3

    def from_totals(self, totals: Floats) -> Floats:
        low, high = self._pair_values
        margins = totals[:, low.size :]
        ranks = self._midranks(margins)
        observed = np.einsum(
            "bp,bp->b", totals[:, : low.size], (ranks[:, high] - ranks[:, low]) ** 2
        )
        return one_minus_ratio(observed, *self._expected(margins, ranks))

    def weighted(self, ratings: Floats, cells: Floats) -> Floats:
        data = self.data
        m, factor, margin = shares(data, ratings, cells)
        margins = margins_of(data, margin)
        ranks = self._midranks(margins)
        x = ranks[:, data.code]
        within = m * data.sum(ratings * x**2) - data.sum(ratings * x) ** 2
        return one_minus_ratio((2 * factor * within).sum(axis=1), *self._expected(margins, ranks))


@dataclass(frozen=True)
class DistanceLevel:
    """Any distance that does not depend on the margins: ratio, or one that the user gives.

    The observed part of a unit is then one number. The expected part is a quadratic form in the
    margins, taken in blocks of rows, so that memory stays linear in the number of values.
    """

    data: Pairable
    distance: Distance

    def statistics(self) -> Sums:
        data = self.data
        observed = np.zeros(data.unit.size)
        for first, second in data.pairs():
            distance = self.distance(data.value[first], data.value[second])
            observed += np.bincount(data.cell[first], distance, minlength=observed.size)
        observed *= 2 / (data.size - 1)
        cells = np.arange(data.unit.size)
        columns = [
            (cells, np.zeros_like(cells), observed),
            (data.cell, data.code + 1, np.ones(data.cell.size)),
        ]
        return sum_table(data, columns, data.domain.size + 1)

    def _expected(self, margins: Floats) -> Floats:
        domain = self.data.domain
        n = margins.sum(axis=1)
        total = np.zeros_like(n)
        rows = max(1, _BLOCK // domain.size)
        for start in range(0, domain.size, rows):
            block = domain[start : start + rows]
            first, second = np.broadcast_arrays(block[:, None], domain[None, :])
            distances = self.distance(first, second)
            total += ((margins @ distances.T) * margins[:, start : start + rows]).sum(axis=1)
        return by_pairable(total, n)

    def from_totals(self, totals: Floats) -> Floats:
        return one_minus_ratio(totals[:, 0], self._expected(totals[:, 1:]))

    def weighted(self, ratings: Floats, cells: Floats) -> Floats:
        data = self.data
        _, factor, margin = shares(data, ratings, cells)
        observed = np.zeros(ratings.shape[0])
        for first, second in data.pairs():
            pair = ratings[:, first] * ratings[:, second] * factor[:, data.cell[first]]
            observed += 2 * pair @ self.distance(data.value[first], data.value[second])
        return one_minus_ratio(observed, self._expected(margins_of(data, margin)))


def alpha_of(level: Level, sums: Sums | None) -> float:
    """Compute alpha of the ratings as they are; ``sums`` are the ``statistics`` of the level."""
    if sums is not None:
        totals = np.asarray(sums.sum(axis=0), dtype=np.float64)
        return float(level.from_totals(totals.reshape(1, -1))[0])
    ones = np.ones((1, level.data.cell.size))
    return float(level.weighted(ones, np.ones((1, level.data.unit.size)))[0])
