"""What is left of the normal equations when the effects of the largest factor are eliminated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
