"""What is left of the normal equations when the effects of the largest factor are eliminated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GRID = 10
_CLOSE = 1e-4


@kernel
def level_products(
    start: Ints,
    places: Ints,
    dense: Floats,
    weight: Floats,
    share: Floats,
    levels: Ints,
    total: Floats,
) -> None:
    """Take weighted products of level sums off a matrix.

    Cell c has columns of ones at ``places[c]``, and ``dense[c]`` in the last columns. With the sum
    s_i of the weighted columns over cells ``start[i]`` to ``start[i + 1]``, adds ``-share[i]``
    times the outer product of s_i to the lower triangle of ``total``, for each i of ``levels``.
    """
    n_dense, first = dense.shape[1], total.shape[0] - dense.shape[1]
    sums = np.zeros(total.shape[0])
    touched = np.empty(total.shape[0], dtype=np.int64)
    for i in levels:
        n = 0
        for c in range(start[i], start[i + 1]):
            for k in range(places.shape[1]):
                place = places[c, k]
                if sums[place] == 0.0:
                    touched[n] = place
                    n += 1
                sums[place] += weight[c]
            for d in range(n_dense):
                sums[first + d] += weight[c] * dense[c, d]
        for d in range(n_dense):
            touched[n] = first + d
            n += 1
        for j in range(n):
            a = touched[j]
            of_a = -share[i] * sums[a]
            for k in range(j + 1):
                b = touched[k]
                if a >= b:
                    total[a, b] += of_a * sums[b]
                else:
                    total[b, a] += of_a * sums[b]
        for j in range(n):
            sums[touched[j]] = 0.0


@kernel
def cell_products(places: Ints, dense: Floats, weight: Floats, total: Floats) -> None:
    """Add the weighted products of the columns of all cells to the lower triangle of a matrix."""
    n_dense, first = dense.shape[1], total.shape[0] - dense.shape[1]
    for c in range(places.shape[0]):
        for k in range(places.shape[1]):
            a = places[c, k]
            for m in range(k + 1):
                b = places[c, m]
                total[max(a, b), min(a, b)] += weight[c]
            for d in range(n_dense):
                total[first + d, a] += weight[c] * dense[c, d]
        for d in range(n_dense):
            for e in range(d + 1):
                total[first + d, first + e] += weight[c] * dense[c, d] * dense[c, e]


@kernel
def two_factor_deviance(
    base: Floats,
    products: Floats,
    sizes: Floats,
    counts: Floats,
    n_levels: int,
    within: float,
    freedom: int,
    first: float,
    second: float,
    matrix: Floats,
) -> float:
    """Restricted deviance of two crossed factors at relative variances, less its constant.

    As the solution of a mixed model: the first factor is eliminated, the ``n_levels`` columns of
    the second come first in ``base`` and in ``products``, which are those of its levels by their
    sizes; of both, the lower triangle counts, which ``products`` have row by row. ``matrix`` is
    room of the shape of ``base``.
    """
    width = base.shape[0]
    logs = 0.0
    for g in range(sizes.size):
        logs += counts[g] * np.log1p(first * sizes[g])
    root = np.sqrt(second)
    place = 0
    for i in range(width):
        for j in range(i + 1):
            total = base[i, j]
            for g in range(sizes.size):
                total += first / (1.0 + first * sizes[g]) * products[g, place]
            place += 1
            if i < n_levels:
                total *= root
            if j < n_levels:
                total *= root
            matrix[i, j] = total
        if i < n_levels:
            matrix[i, i] += 1.0
    for j in range(width):
        total = matrix[j, j]
        for k in range(j):
            total -= matrix[j, k] ** 2
        if j == width - 1:
            rest = total + within
            return logs + freedom * np.log(rest) if rest > 0.0 else np.inf
        if total <= 0.0:
            return np.inf
        own = np.sqrt(total)
        matrix[j, j] = own
        logs += 2.0 * np.log(own)
        for i in range(j + 1, width):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / own
    return logs


@kernel
def least_deviance_at_odds(
    base: Floats,
    products: Floats,
    sizes: Floats,
    counts: Floats,
    n_levels: int,
    within: float,
    freedom: int,
    odds: float,
    counted: float,
    is_first: bool,
    scale: float,
) -> float:
    """Least deviance where one factor has given odds against the residual and the other.

    The other counts ``counted`` times. The deviance is minimised by its relative standard
    deviation: over a grid about ``scale`` first, since there may be two minima, then in a golden
    section.
    """
    matrix = np.empty_like(base)
    grid = np.zeros(_GRID)
    for k in range(1, _GRID):
        grid[k] = scale * 3.0 ** (k - 4)
    value = np.empty(_GRID)
    for k in range(_GRID):
        own = odds * (1.0 + counted * grid[k] ** 2)
        first, second = (own, grid[k] ** 2) if is_first else (grid[k] ** 2, own)
        value[k] = two_factor_deviance(
            base, products, sizes, counts, n_levels, within, freedom, first, second, matrix
        )
    best = int(np.argmin(value))
    least = float(value[best])
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    at = np.array([high - golden * (high - low), low + golden * (high - low)])
    ends = np.empty(2)
    fresh = 2
    while high - low > _CLOSE * (scale + low):
        for k in range(2):
            if fresh != 2 and fresh != k:
                continue
            own = odds * (1.0 + counted * at[k] ** 2)
            first, second = (own, at[k] ** 2) if is_first else (at[k] ** 2, own)
            ends[k] = two_factor_deviance(
                base, products, sizes, counts, n_levels, within, freedom, first, second, matrix
            )
            least = min(least, float(ends[k]))
        if ends[0] <= ends[1]:
            high, at[1], ends[1] = at[1], at[0], ends[0]
            at[0], fresh = high - golden * (high - low), 0
        else:
            low, at[0], ends[0] = at[0], at[1], ends[1]
            at[1], fresh = low + golden * (high - low), 1
    return float(least)
