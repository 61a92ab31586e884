"""Krippendorff's alpha of one label, for each level of measurement.

A level knows how far the ratings of a cell are apart (``within``), and how far apart ratings are
expected to be (``expected``), which follows from sums of a few features of all ratings. From these
two come the sums that each unit contributes (``statistics``), for weights of units, and alpha where
*raters* have weights (``weighted``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from affectlab.core.arrays import distinct, ratio
from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.ratings import require_order

if TYPE_CHECKING:
    from affectlab.ratings import Scale


UnitSums: TypeAlias = "Floats | sparse.csr_array"

_DENSE_COLUMNS = 64
_SPARSE = 8
"""Places for each value in each cell, per rating, above which places are sorted, not counted."""


@dataclass(frozen=True, eq=False)
class Pairable:
    """The pairable ratings of one label, sorted by unit; equal ratings of a cell are a *run*."""

    cell: Ints
    """Row of ``unit`` that each rating belongs to, shape (n,)."""
    rater: Ints
    value: Floats
    unit: Ints
    """Unit code of each cell, shape (cells,); every cell holds at least two ratings."""
    n_units: int
    """Units that are resampled; unit codes are below it."""
    n_raters: int
    """Raters of all labels; rater codes are below it."""

    @cached_property
    def _distinct(self) -> tuple[Floats, Ints]:
        return distinct(self.value)

    @property
    def domain(self) -> Floats:
        """The distinct values that occur, ascending."""
        return self._distinct[0]

    @cached_property
    def _runs(self) -> tuple[Ints, Ints]:
        """Run of each rating; and the key of each run, which is made of its cell and value."""
        n_values = self.domain.size
        key, n_keys = self.cell * n_values + self._distinct[1], self.unit.size * n_values
        if n_keys > _SPARSE * key.size:
            keys, run = np.unique(key, return_inverse=True)
            return run, keys
        there = np.bincount(key, minlength=n_keys) > 0
        return (np.cumsum(there) - 1)[key], np.flatnonzero(there)

    @cached_property
    def run_cell(self) -> Ints:
        """Cell of each run, rising."""
        return self._runs[1] // self.domain.size

    @cached_property
    def code(self) -> Ints:
        """Place of the value of each run in ``domain``."""
        return self._runs[1] % self.domain.size

    @cached_property
    def counts(self) -> Floats:
        """Ratings of each run, shape (runs, 1)."""
        return np.bincount(self._runs[0])[:, None].astype(np.float64)

    @cached_property
    def by_rater(self) -> sparse.csr_array:
        """Which rater's ratings each run holds, shape (runs, raters)."""
        shape = (self.code.size, self.n_raters)
        return sparse.csr_array((np.ones(self.rater.size), (self._runs[0], self.rater)), shape)

    @cached_property
    def _of_cell(self) -> sparse.csr_array:
        ends = np.searchsorted(self.run_cell, np.arange(self.unit.size + 1))
        return sparse.csr_array((np.ones(self.code.size), np.arange(self.code.size), ends))

    def per_cell(self, runs: Floats | sparse.csr_array) -> Floats:
        """Sum over the runs of each cell, (runs, k) -> (cells, k)."""
        return np.asarray(self._of_cell @ runs)

    def per_unit(self, observed: Floats, features: UnitSums) -> UnitSums:
        """Put columns of cells, and sums over their ratings of features of runs, into units."""
        if isinstance(features, np.ndarray):
            cells = np.hstack([observed, self.per_cell(features * self.counts)])
            if (np.diff(self.unit) > 0).all():
                units = np.zeros((self.n_units, cells.shape[1]))
                units[self.unit] = cells
                return units
            return np.asarray(self._of_unit @ cells)
        summed = self._of_cell @ features.multiply(self.counts)
        units = self._of_unit @ sparse.hstack([observed, summed]).tocsr()
        return units.toarray() if units.shape[1] <= _DENSE_COLUMNS else units

    @property
    def _of_unit(self) -> sparse.csr_array:
        cells = np.arange(self.unit.size)
        shape = (self.n_units, self.unit.size)
        return sparse.csr_array((np.ones(self.unit.size), (self.unit, cells)), shape)

    def pairs(self) -> Iterator[tuple[Ints, Ints]]:
        """Give all pairs of runs of the same cell, as index arrays (first, second).

        The pairs that are k apart come together, so that no more than there are runs are held.
        """
        first = np.arange(self.run_cell.size)
        for lag in range(1, self.run_cell.size):
            first = first[first + lag < self.run_cell.size]
            first = first[self.run_cell[first] == self.run_cell[first + lag]]
            if first.size == 0:
                return
            yield first, first + lag


def _one_minus_ratio(observed: Floats, expected: Floats, scale: Floats | float) -> Floats:
    """1 - D_o / D_e, ``nan`` where D_e is zero up to rounding of numbers of size ``scale``."""
    defined = expected > 1e-12 * np.asarray(scale)
    ratio: Floats = np.divide(
        observed, expected, out=np.full(expected.shape, np.nan), where=defined
    )
    return 1 - ratio


def _by_pairable(total: Floats, n: Floats) -> Floats:
    """total / (n - 1), 0 where there are no ratings."""
    return ratio(total, n - 1, 0.0)


Distance: TypeAlias = Callable[[Floats, Floats], NDArray[np.float64]]
"""Squared difference of two arrays of values, by element; 0 for equal values."""

_MOST_ORDINAL_VALUES = 15
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Level(ABC):
    """A level of measurement, bound to the ratings of one label."""

    data: Pairable

    @cached_property
    def features(self) -> UnitSums:
        """What expected differences follow from by sums, of each run: which value it has."""
        runs = np.arange(self.data.code.size)
        return sparse.csr_array((np.ones(runs.size), (runs, self.data.code)))

    @abstractmethod
    def within(self, counts: Floats, m: Floats, margins: Floats) -> Floats:
        """Sum the squared differences of all ordered pairs of ratings of each cell, (cells, b).

        Parameters
        ----------
        counts
            How much each run counts, shape (runs, b).
        m
            Their sums over cells, shape (cells, b).
        margins
            UnitSums of features over all ratings, shape (b, k).
        """

    @abstractmethod
    def expected(self, margins: Floats) -> tuple[Floats, Floats | float]:
        """D_e, shape (b,), and the size of its terms, from sums of features, shape (b, k)."""

    def statistics(self) -> UnitSums | None:
        """Give what each unit contributes, shape (n_units, k); ``None`` where k is too large."""
        data = self.data
        m = data.per_cell(data.counts)
        observed = self.within(data.counts, m, np.empty((1, 0))) / (m - 1)
        return data.per_unit(observed, self.features)

    def from_totals(self, totals: Floats) -> Floats:
        """Compute alpha from (weighted) column sums of ``statistics``, (b, k) -> (b,)."""
        return _one_minus_ratio(totals[:, 0], *self.expected(totals[:, 1:]))

    def weighted(self, raters: Floats | None, units: Floats) -> Floats:
        """Compute alpha with weights of raters (b, raters) and of units (b, units).

        A rater never pairs with itself, so a unit holds m^2 - q ordered pairs, with m the sum and
        q the sum of squares of the weights. Pairs get a factor m / (m^2 - q), which is 1 / (m - 1)
        for weights of one, so that a unit still counts m; a rating's margin is the sum over its
        pairs.
        """
        data = self.data
        counts = squares = data.counts
        if raters is not None:
            weights = np.ascontiguousarray(raters.T)
            counts, squares = data.by_rater @ weights, data.by_rater @ weights**2
        m = data.per_cell(counts)
        n_pairs = m**2 - data.per_cell(squares)
        amount = units.T[data.unit] * m
        factor = ratio(amount, n_pairs, 0.0)
        margin = factor[data.run_cell] * (m[data.run_cell] * counts - squares)
        margins = (self.features.T @ margin).T
        observed = (factor * self.within(counts, m, margins)).sum(axis=0)
        return _one_minus_ratio(observed, *self.expected(margins))

    def _apart(self, counts: Floats, m: Floats, x: Floats) -> Floats:
        """Sum squared differences of values x of the runs within cells: O(ratings)."""
        per_cell = self.data.per_cell
        apart: Floats = 2 * (m * per_cell(counts * x**2) - per_cell(counts * x) ** 2)
        return apart


def _spread(n: Floats, s1: Floats | float, s2: Floats) -> tuple[Floats, Floats]:
    """D_e of squared differences from n, sum and sum of squares; and the size of its terms."""
    denominator = np.maximum(n - 1, np.finfo(float).tiny)
    return 2 * (n * s2 - s1**2) / denominator, 2 * n * s2 / denominator


class Interval(Level):
    """d = (c - k)^2, through sums and sums of squares.

    Values are taken from the one in their middle, which is exact on integer scales and keeps the
    sums small.
    """

    @cached_property
    def _centred(self) -> Floats:
        data = self.data
        up_to = np.cumsum(np.bincount(data.code, weights=data.counts[:, 0]))
        centred: Floats = data.domain - data.domain[np.searchsorted(up_to, up_to[-1] / 2)]
        return centred[data.code, None]

    @cached_property
    def features(self) -> UnitSums:
        x = self._centred
        return np.hstack([np.ones_like(x), x, x**2])

    def within(self, counts: Floats, m: Floats, _margins: Floats) -> Floats:
        return self._apart(counts, m, self._centred)

    def expected(self, margins: Floats) -> tuple[Floats, Floats]:
        return _spread(*margins.T)


class Nominal(Level):
    """d = [c != k], through the counts of each value."""

    def within(self, counts: Floats, m: Floats, _margins: Floats) -> Floats:
        unequal: Floats = m**2 - self.data.per_cell(counts**2)
        return unequal

    def expected(self, margins: Floats) -> tuple[Floats, Floats]:
        n = margins.sum(axis=1)
        return _by_pairable(n**2 - (margins**2).sum(axis=1), n), n


class Ordinal(Level):
    """d = (sum of n_g, g = c..k, - (n_c + n_k)/2)^2 = (R_k - R_c)^2, R the midranks.

    Midranks are those of the replicate's margins. A unit contributes its counts of values and of
    pairs of values; with many values these pairs are too many, and alpha is computed from the
    ratings in every replicate, as the interval form on midranks.
    """

    @cached_property
    def _pair_values(self) -> tuple[Ints, Ints]:
        """All pairs of different values, (low, high)."""
        low, high = np.triu_indices(self.data.domain.size, 1)
        return low, high

    @staticmethod
    def _midranks(margins: Floats) -> Floats:
        """Midranks from the margins, centred on their mean n/2."""
        centre = margins.sum(axis=1, keepdims=True) / 2
        ranks: Floats = np.cumsum(margins, axis=1) - margins / 2 - centre
        return ranks

    def within(self, counts: Floats, m: Floats, margins: Floats) -> Floats:
        return self._apart(counts, m, self._midranks(margins).T[self.data.code])

    def expected(self, margins: Floats) -> tuple[Floats, Floats]:
        n = margins.sum(axis=1)
        return _spread(n, 0.0, (margins * self._midranks(margins) ** 2).sum(axis=1))[0], n**3

    def statistics(self) -> UnitSums | None:
        data = self.data
        if data.domain.size > _MOST_ORDINAL_VALUES:
            return None
        low, high = self._pair_values
        counts = data.per_cell(sparse.csr_array(self.features).multiply(data.counts).toarray())
        pairs = counts[:, low] * counts[:, high] * (2 / (counts.sum(axis=1, keepdims=True) - 1))
        return data.per_unit(pairs, self.features)

    def from_totals(self, totals: Floats) -> Floats:
        low, high = self._pair_values
        margins = totals[:, low.size :]
        ranks = self._midranks(margins)
        observed = np.einsum(
            "bp,bp->b", totals[:, : low.size], (ranks[:, high] - ranks[:, low]) ** 2
        )
        return _one_minus_ratio(observed, *self.expected(margins))


@dataclass(frozen=True, eq=False)
class DistanceLevel(Level):
    """Any distance that does not depend on the margins: ratio, or one that the user gives.

    The observed part of a unit is then one number. The expected part is a quadratic form in the
    margins, taken in blocks of rows, so that memory stays linear in the number of values.
    """

    distance: Distance

    def within(self, counts: Floats, m: Floats, _margins: Floats) -> Floats:
        data, total = self.data, np.zeros(m.shape)
        for first, second in data.pairs():
            distance = self.distance(data.domain[data.code[first]], data.domain[data.code[second]])
            places = data.run_cell[first], np.arange(first.size)
            of_cell = sparse.csr_array((2 * distance, places), shape=(len(m), first.size))
            total += of_cell @ (counts[first] * counts[second])
        return total

    def expected(self, margins: Floats) -> tuple[Floats, float]:
        total = (self._from_all(margins) * margins).sum(axis=1)
        return _by_pairable(total, margins.sum(axis=1)), 0.0

    def _from_all(self, margins: Floats) -> Floats:
        """How far each value is from all ratings together, (b, values) -> (b, values)."""
        domain, apart = self.data.domain, np.empty(margins.shape)
        rows = max(1, _BLOCK // domain.size)
        for start in range(0, domain.size, rows):
            block = domain[start : start + rows]
            first, second = np.broadcast_arrays(block[:, None], domain[None, :])
            apart[:, start : start + rows] = margins @ self.distance(first, second).T
        return apart

    def left_out(self, sums: UnitSums, units: Ints) -> Floats | None:
        """Compute alpha without each of some units; None where units hold several cells each.

        Parameters
        ----------
        sums
            What :meth:`statistics` gives.
        units
            Shape (b,).
        """
        # With margins M and those t of a unit, (M - t)'D(M - t) = M'DM - 2 t'DM + t'Dt.
        if isinstance(sums, np.ndarray) or not (np.diff(self.data.unit) > 0).all():
            return None
        total = np.asarray(sums.sum(axis=0)).reshape(1, -1)
        of_all, own = self._from_all(total[:, 1:])[0], sums[units][:, 1:]
        observed, m = sums[units][:, [0]].toarray()[:, 0], np.asarray(own.sum(axis=1)).reshape(-1)
        whole = of_all @ total[0, 1:]
        squares = whole - 2 * (own @ of_all) + observed * (m - 1)
        n = total[0, 1:].sum() - m
        expected, scale = _by_pairable(squares, n), _by_pairable(np.full(m.shape, whole), n)
        return _one_minus_ratio(total[0, 0] - observed, expected, scale)


# Which level of measurement or distance alpha uses.


LevelName: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio", "masi", "jaccard"]

EITHER = "level {level!r}: expected either a level or a distance, not both"
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
            raise InputError(EITHER.format(level=level))
        return "given distance", partial(DistanceLevel, distance=_distance(distance, scale))
    if level is None:
        if scale is None:
            raise InputError(
                f"an array of ratings has no scale: level is expected to be one of {_LEVELS}"
            )
        level = _LEVEL_OF_SCALE[scale.kind]
    check_choice("level", level, _LEVELS)
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
    step = np.diff(known).min(initial=np.inf) if known.size > 1 else max(abs(known[0]), 1.0)
    unknown = np.abs(known[position] - values) > 1e-6 * step
    if unknown.any():
        raise InputError(
            f"value {values[unknown][0]:g}: the distance knows the values "
            f"{known[0]:g} to {known[-1]:g} ({known.size} of them)"
        )
    return position
