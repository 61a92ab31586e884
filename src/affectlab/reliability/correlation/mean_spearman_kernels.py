"""Spearman correlations of bootstrap replicates of variables of few levels, from tables of counts.

Replicates lie side by side, as in :mod:`affectlab.core.compiled.correlation`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def spearman_table_lanes(
    items: NDArray[np.int32],
    cell: NDArray[np.int32],
    shape: tuple[int, int],
    weights: NDArray[np.float32],
    rho: Floats,
) -> None:
    """Correlate the ranks of two variables of few levels, once per lane, from tables of counts.

    Parameters
    ----------
    items
        Items that have both variables, shape (n,).
    cell
        Level of the one times the number of levels of the other, plus level of the other: shape
        (n,).
    shape
        Number of levels of both.
    weights
        How often each item counts, shape (items, lanes).
    rho
        Overwritten: correlations, shape (lanes,); ``nan`` where a side is constant.
    """
    lanes = rho.size
    n_rows, n_columns = shape
    table = np.zeros((n_rows * n_columns, lanes))
    for k in range(items.size):
        into, row = table[cell[k]], weights[items[k]]
        for b in range(lanes):
            into[b] += row[b]
    columns, squares = np.zeros((n_columns, lanes)), np.zeros((2, lanes))
    n, total = np.zeros(lanes), np.empty(lanes)
    for i in range(n_rows):
        for j in range(n_columns):
            for b in range(lanes):
                columns[j, b] += table[i * n_columns + j, b]
    # Counts of the columns become their ranks.
    for j in range(n_columns):
        for b in range(lanes):
            rank = n[b] + 0.5 * (columns[j, b] + 1.0)
            squares[0, b] += columns[j, b] * rank * rank
            n[b] += columns[j, b]
            columns[j, b] = rank
    products, before, summed = np.zeros(lanes), np.zeros(lanes), np.empty(lanes)
    for i in range(n_rows):
        total[:] = 0.0
        summed[:] = 0.0
        for j in range(n_columns):
            for b in range(lanes):
                count = table[i * n_columns + j, b]
                total[b] += count
                summed[b] += count * columns[j, b]
        for b in range(lanes):
            rank = before[b] + 0.5 * (total[b] + 1.0)
            squares[1, b] += total[b] * rank * rank
            products[b] += rank * summed[b]
            before[b] += total[b]
    for b in range(lanes):
        centre = n[b] * (0.5 * (n[b] + 1.0)) ** 2
        size = (squares[0, b] - centre) * (squares[1, b] - centre)
        rho[b] = (products[b] - centre) / np.sqrt(size) if size > 0.0 else np.nan
