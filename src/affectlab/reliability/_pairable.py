"""The pairable ratings of one label, and the sums over them that every kind of alpha needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse

from affectlab._types import Floats, Ints

__all__ = [
    "Pairable",
    "Sums",
    "by_pairable",
    "margins_of",
    "one_minus_ratio",
    "shares",
    "spread",
    "sum_table",
]

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
