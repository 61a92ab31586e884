"""Spearman correlations of bootstrap replicates, from one sort per variable and no sort after.

Replicates lie side by side, so that the inner loops run over vectors. Twice a rank is a whole
number and so are all sums below, hence they are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def rank_lanes(
    order: NDArray[Any], last: NDArray[np.bool_], weights: Floats, both: Floats, squares: Floats
) -> None:
    """Rank a variable whose items count several times, once per lane.

    Parameters
    ----------
    order
        Items by rising value, shape (n,).
    last
        Whether the next item of ``order`` has a larger value, or there is none, shape (n,).
    weights
        How often each item counts, shape (items, lanes).
    both
        Overwritten for the items of ``order``, shape (items, 2 x lanes): the weights, then weights
        times midranks.
    squares
        Overwritten: sum of squared midranks, shape (lanes,).
    """
    lanes = weights.shape[1]
    before = np.zeros(lanes)
    tied = np.zeros(lanes)
    squares[:] = 0.0
    first = 0
    for k in range(order.size):
        row = weights[order[k]]
        for b in range(lanes):
            tied[b] += row[b]
        if last[k]:
            for b in range(lanes):
                rank = before[b] + 0.5 * (tied[b] + 1.0)
                squares[b] += tied[b] * rank * rank
                before[b] += tied[b]
                tied[b] = rank
            for j in range(first, k + 1):
                row = weights[order[j]]
                out = both[order[j]]
                for b in range(lanes):
                    out[b] = row[b]
                    out[lanes + b] = row[b] * tied[b]
            tied[:] = 0.0
            first = k + 1


@kernel
def spearman_lanes(
    order: NDArray[Any],
    last: NDArray[np.bool_],
    both: Floats,
    other_squares: Floats,
    rho: Floats,
) -> None:
    """Correlate the ranks of a variable with those of another one, once per lane.

    Ranks follow from cumulative weights along the order of the variable: one pass per replicate.
    Tied items share their rank, so their weights are summed first.

    Parameters
    ----------
    order, last
        As for :func:`rank_lanes`, of this variable.
    both, other_squares
        What :func:`rank_lanes` gave for the other variable over the same items.
    rho
        Overwritten: correlations, shape (lanes,); ``nan`` where a side is constant.
    """
    lanes = rho.size
    before = np.zeros(lanes)
    squares = np.zeros(lanes)
    products = np.zeros(lanes)
    tied = np.zeros(2 * lanes)
    alone = True
    for k in range(order.size):
        row = both[order[k]]
        if last[k] and alone:
            for b in range(lanes):
                rank = before[b] + 0.5 * (row[b] + 1.0)
                squares[b] += row[b] * rank * rank
                products[b] += rank * row[lanes + b]
                before[b] += row[b]
            continue
        for b in range(2 * lanes):
            tied[b] += row[b]
        alone = False
        if last[k]:
            for b in range(lanes):
                rank = before[b] + 0.5 * (tied[b] + 1.0)
                squares[b] += tied[b] * rank * rank
                products[b] += rank * tied[lanes + b]
                before[b] += tied[b]
            tied[:] = 0.0
            alone = True
    for b in range(lanes):
        n = before[b]
        centre = n * (0.5 * (n + 1.0)) ** 2
        size = (squares[b] - centre) * (other_squares[b] - centre)
        rho[b] = (products[b] - centre) / np.sqrt(size) if size > 0.0 else np.nan


@kernel
def spearman_table_lanes(
    items: NDArray[np.int32],
    cell: NDArray[np.int32],
    shape: tuple[int, int],
    weights: Floats,
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
