"""Krippendorff's alpha of one label, from sums over units, for each level of measurement.

Every level knows three things: the sums that each unit contributes (``statistics``), the
coefficient that weighted totals of these sums give (``from_totals``), and the coefficient when each
*rating* carries a weight (``weighted``), which is what resampling raters needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.ratings.arrays import require_order

if TYPE_CHECKING:
    from affectlab.ratings import Scale


__all__ = [
    "Distance",
    "DistanceLevel",
    "Interval",
    "Level",
    "LevelMaker",
    "LevelName",
    "Nominal",
    "Ordinal",
    "Pairable",
    "Sums",
    "by_pairable",
    "level_maker",
    "margins_of",
    "one_minus_ratio",
    "shares",
    "spread",
    "sum_table",
]

# The pairable ratings of one label, and the sums over them that every kind of alpha needs.


Sums: TypeAlias = "Floats | sparse.csr_array"

_DENSE_COLUMNS = 64


@dataclass(frozen=True)
class Pairable:
    """The pairable ratings of one label, sorted by unit and then by value.

    Attributes
    ----------
    cell
        Row of ``unit`` that each rating belongs to, shape (n,).
    rater, value
        Rater code and value of each rating, shape (n,).
    unit
        Unit code of each cell, shape (cells,); every cell holds at least two ratings.
    n_units
        Units that are resampled; unit codes are below it.
    """

    cell: Ints
    rater: Ints
    value: Floats
    unit: Ints
    n_units: int

    @cached_property
    def starts(self) -> Ints:
        """First rating of each cell."""
        return np.searchsorted(self.cell, np.arange(self.unit.size))

    @cached_property
    def size(self) -> Floats:
        """m_u: ratings of each cell."""
        return np.bincount(self.cell, minlength=self.unit.size).astype(np.float64)

    @cached_property
    def domain(self) -> Floats:
        """The distinct values that occur, ascending."""
        return np.unique(self.value)

    @cached_property
    def code(self) -> Ints:
        """Position of each rating's value in ``domain``."""
        return np.searchsorted(self.domain, self.value)

    def pairs(self) -> Iterator[tuple[Ints, Ints]]:
        """Give all pairs of ratings of the same unit, as index arrays (first, second).

        The pairs whose ratings are k apart come together, so that no more than n are held at once.
        """
        first = np.arange(self.cell.size)
        for lag in range(1, self.cell.size):
            first = first[first + lag < self.cell.size]
            first = first[self.cell[first] == self.cell[first + lag]]
            if first.size == 0:
                return
            yield first, first + lag

    def sum(self, weights: Floats) -> Floats:
        """Sum over the ratings of each cell, along the last axis."""
        total: Floats = np.add.reduceat(weights, self.starts, axis=-1)
        return total

    def sum_by_unit(self, cells: Floats) -> Floats:
        """Sum rows of cells, (cells, k), into rows of units, (n_units, k)."""
        table = np.zeros((self.n_units, cells.shape[1]))
        if (np.diff(self.unit) > 0).all():
            table[self.unit] = cells
            return table
        for column in range(cells.shape[1]):
            table[:, column] = np.bincount(self.unit, cells[:, column], self.n_units)
        return table


def one_minus_ratio(observed: Floats, expected: Floats, scale: Floats | float = 0.0) -> Floats:
    """1 - D_o / D_e, ``nan`` where D_e is zero up to rounding of numbers of size ``scale``."""
    defined = expected > 1e-12 * np.asarray(scale)
    ratio: Floats = np.divide(
        observed, expected, out=np.full(expected.shape, np.nan), where=defined
    )
    return 1 - ratio


def by_pairable(total: Floats, n: Floats) -> Floats:
    """total / (n - 1), 0 where there are no ratings."""
    shared: Floats = np.divide(total, n - 1, out=np.zeros_like(n), where=n > 1)
    return shared


def spread(n: Floats, s1: Floats, s2: Floats) -> tuple[Floats, Floats]:
    """D_e of squared differences from n, sum and sum of squares; and the size of its terms."""
    denominator = np.maximum(n - 1, np.finfo(float).tiny)
    return 2 * (n * s2 - s1**2) / denominator, 2 * n * s2 / denominator


def shares(data: Pairable, ratings: Floats, cells: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights of pairs and of ratings when a rater may have been drawn more than once.

    A rater never pairs with itself, so a unit holds m^2 - q ordered pairs, with m the sum and q the
    sum of squares of the weights. Pairs get a factor m / (m^2 - q), which is 1/(m - 1) for weights
    of one, so that a unit still counts m; a rating's margin is the sum over its pairs.

    Returns
    -------
    m (b, cells), the factor of pairs (b, cells), and the margin of each rating (b, n).
    """
    m = data.sum(ratings)
    n_pairs = m**2 - data.sum(ratings**2)
    factor = np.divide(cells * m, n_pairs, out=np.zeros_like(m), where=n_pairs > 0)
    margin = factor[:, data.cell] * ratings * (m[:, data.cell] - ratings)
    return m, factor, margin


def margins_of(data: Pairable, weights: Floats) -> Floats:
    """n_c: total weight of each value, (b, n) -> (b, values)."""
    b, n_values = weights.shape[0], data.domain.size
    index = (np.arange(b)[:, None] * n_values + data.code).ravel()
    margins: Floats = np.bincount(index, weights.ravel(), b * n_values).astype(np.float64)
    return margins.reshape(b, n_values)


def sum_table(data: Pairable, columns: list[tuple[Ints, Ints, Floats]], width: int) -> Sums:
    """Sum (cell, column, amount) triples into a matrix of shape (n_units, width)."""
    cell, column, amount = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    row = data.unit[cell]
    if width <= _DENSE_COLUMNS:
        flat = np.bincount(row * width + column, amount, minlength=data.n_units * width)
        return flat.reshape(data.n_units, width)
    return sparse.csr_array((amount, (row, column)), shape=(data.n_units, width))


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


# Which level of measurement or distance alpha uses.


LevelName: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

_LEVELS = ("nominal", "ordinal", "interval", "ratio")
_LEVEL_OF_SCALE: dict[str, LevelName] = {
    "binary": "nominal",
    "nominal": "nominal",
    "ordinal": "ordinal",
    "interval": "interval",
}


LevelMaker: TypeAlias = Callable[[Pairable], Level]
"""Makes the level of measurement of one label's ratings."""


def level_maker(
    level: str | None, distance: ArrayLike | Distance | None, scale: Scale | None
) -> tuple[str, LevelMaker]:
    """Give the name of the level of measurement, and what makes it of a label's ratings."""
    if distance is not None:
        if level is not None:
            raise InputError(f"level {level!r}: expected either a level or a distance, not both")
        return "given distance", partial(DistanceLevel, distance=_distance(distance, scale))
    if level is None:
        if scale is None:
            raise InputError(
                f"an array of ratings has no scale: level is expected to be one of {_LEVELS}"
            )
        level = _LEVEL_OF_SCALE[scale.kind]
    if level not in _LEVELS:
        raise unknown_name("level", str(level), _LEVELS)
    if level == "nominal":
        return level, Nominal
    require_order(scale, f"level {level!r}")
    if level == "ratio":
        return level, partial(DistanceLevel, distance=_ratio)
    return level, Ordinal if level == "ordinal" else Interval


def _ratio(first: Floats, second: Floats) -> NDArray[np.float64]:
    total = first + second
    share = np.divide(first - second, total, out=np.zeros(total.shape), where=total != 0)
    return share**2


def _distance(distance: ArrayLike | Distance, scale: Scale | None) -> Distance:
    if callable(distance):
        return distance
    matrix = np.asarray(distance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"distance: expected a square array, got shape {matrix.shape}")
    if np.diagonal(matrix).any():
        raise InputError(
            "distance: expected zeros on the diagonal "
            f"(take 1 from a matrix of costs), got {np.diagonal(matrix).max():g}"
        )
    if not (np.array_equal(matrix, matrix.T) and (matrix >= 0).all()):
        raise InputError("distance: expected a symmetric array without negative numbers")
    known = np.arange(matrix.shape[0], dtype=np.float64)
    if scale is not None and scale.kind != "nominal":
        known = np.asarray(scale.levels(), dtype=np.float64)
    n_known = len(scale.categories) if scale is not None and scale.kind == "nominal" else known.size
    if matrix.shape[0] != n_known:
        raise InputError(
            f"distance: expected one row for each of the {n_known} values of the scale, "
            f"got {matrix.shape[0]}"
        )

    def look_up(first: Floats, second: Floats) -> NDArray[np.float64]:
        return np.asarray(matrix[_position(first, known), _position(second, known)])

    return look_up


def _position(values: Floats, known: Floats) -> NDArray[np.int64]:
    position = np.searchsorted((known[1:] + known[:-1]) / 2, values)
    unknown = np.abs(known[position] - values) > 1e-6
    if unknown.any():
        raise InputError(
            f"value {values[unknown][0]:g}: the distance knows the values "
            f"{known[0]:g} to {known[-1]:g} ({known.size} of them)"
        )
    return position
