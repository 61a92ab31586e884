"""Spearman's and Kendall's correlations of bootstrap replicates, from one sort per variable.

Replicates lie side by side in lanes. Weights are whole numbers, and so are twice the ranks and all
sums below, hence they are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats

Single = NDArray[np.float32]


@kernel
def rank_lanes(
    order: NDArray[Any], last: Bools, weights: Single, ranks: Single, squares: Floats
) -> None:
    """Rank a variable whose items count several times, ties sharing their average rank.

    Parameters
    ----------
    order
        Items by rising value, shape (n,).
    last
        Whether the next item of ``order`` has a larger value, or there is none, shape (n,).
    weights
        How often each item counts, shape (n, lanes).
    ranks
        Overwritten: twice the rank of every item, shape (n, lanes).
    squares
        Overwritten: sum of the squares of twice the ranks, shape (lanes,).
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
                rank = 2.0 * before[b] + tied[b] + 1.0
                squares[b] += tied[b] * rank * rank
                before[b] += tied[b]
                tied[b] = rank
            for j in range(first, k + 1):
                out = ranks[order[j]]
                for b in range(lanes):
                    out[b] = tied[b]
            tied[:] = 0.0
            first = k + 1


@kernel
def spearman_lanes(
    order: NDArray[Any],
    last: Bools,
    weights: Single,
    other_ranks: Single,
    other_squares: Floats,
    rho: Floats,
) -> None:
    """Correlate the ranks of a variable with those of another one, once per lane.

    Parameters
    ----------
    order, last, weights
        As for :func:`rank_lanes`, of this variable.
    other_ranks, other_squares
        What :func:`rank_lanes` gave for the other variable over the same items and weights.
    rho
        Overwritten: correlations, shape (lanes,); ``nan`` where a side is constant.
    """
    lanes = rho.size
    before = np.zeros(lanes)
    squares = np.zeros(lanes)
    products = np.zeros(lanes)
    tied = np.zeros(lanes)
    other = np.zeros(lanes)
    for k in range(order.size):
        row = weights[order[k]]
        theirs = other_ranks[order[k]]
        for b in range(lanes):
            tied[b] += row[b]
            other[b] += float(row[b]) * float(theirs[b])
        if last[k]:
            for b in range(lanes):
                rank = 2.0 * before[b] + tied[b] + 1.0
                squares[b] += tied[b] * rank * rank
                products[b] += rank * other[b]
                before[b] += tied[b]
                tied[b] = 0.0
                other[b] = 0.0
    for b in range(lanes):
        n = before[b]
        centre = n * (n + 1.0) ** 2
        size = (squares[b] - centre) * (other_squares[b] - centre)
        rho[b] = (products[b] - centre) / np.sqrt(size) if size > 0.0 else np.nan


@kernel
def discordance_lanes(
    order: NDArray[Any],
    last: Bools,
    level: NDArray[Any],
    weights: Single,
    tree: Single,
    out: Floats,
) -> None:
    """Sum, over pairs that differ in a variable, whether the other one is smaller or not.

    Items are entered in rising order of the variable into a Fenwick tree over the levels of the
    other one, so that a replicate takes n log n steps.

    Parameters
    ----------
    order, last, weights
        As for :func:`rank_lanes`.
    level
        Place of every item among the distinct values of the other variable, shape (n,).
    tree
        Working memory, shape (levels, lanes).
    out
        Overwritten, shape (lanes,): sum over pairs (i before j in the variable) of
        w_i w_j (2 [other_i < other_j] - 1); pairs tied in the other variable count -1.
    """
    lanes = weights.shape[1]
    n_levels = tree.shape[0]
    tree[:] = 0.0
    out[:] = 0.0
    before = np.zeros(lanes)
    below = np.zeros(lanes, dtype=np.float32)
    first = 0
    for k in range(order.size):
        if not last[k]:
            continue
        for j in range(first, k + 1):
            below[:] = 0.0
            node = level[order[j]]
            while node > 0:
                entry = tree[node - 1]
                for b in range(lanes):
                    below[b] += entry[b]
                node &= node - 1
            row = weights[order[j]]
            for b in range(lanes):
                out[b] += row[b] * (2.0 * below[b] - before[b])
        for j in range(first, k + 1):
            row = weights[order[j]]
            node = level[order[j]] + 1
            while node <= n_levels:
                entry = tree[node - 1]
                for b in range(lanes):
                    entry[b] += row[b]
                node += node & -node
            for b in range(lanes):
                before[b] += row[b]
        first = k + 1


@kernel
def pair_ties(order: NDArray[Any], last: Bools, weights: Single, out: Floats) -> None:
    """Count the pairs that are tied, an item being tied with its own repeats.

    Parameters
    ----------
    order, last, weights
        As for :func:`rank_lanes`; ``last`` marks the ends of the groups of tied items.
    out
        Overwritten, shape (lanes,).
    """
    lanes = weights.shape[1]
    tied = np.zeros(lanes)
    out[:] = 0.0
    for k in range(order.size):
        row = weights[order[k]]
        for b in range(lanes):
            tied[b] += row[b]
        if last[k]:
            for b in range(lanes):
                out[b] += 0.5 * tied[b] * (tied[b] - 1.0)
                tied[b] = 0.0


# Weighted sums of products of two variables, many sets of weights side by side.


@kernel
def moment_lanes(
    x: Floats, y: Floats, apart: float, weights: NDArray[np.float32], out: Floats
) -> None:
    """Sum weights times 1, x, y, xx, yy, xy, e^2 and |e|, where e = x - y + apart.

    Parameters
    ----------
    x, y
        Shape (n,), near their means, so that squares keep their digits.
    apart
        What was taken from x more than from y.
    weights
        Shape (n, lanes).
    out
        Overwritten, shape (8, lanes).
    """
    lanes = weights.shape[1]
    out[:] = 0.0
    for k in range(x.size):
        row = weights[k]
        a = x[k]
        b = y[k]
        e = a - b + apart
        aa = a * a
        bb = b * b
        ab = a * b
        ee = e * e
        size = abs(e)
        for lane in range(lanes):
            w = float(row[lane])
            out[0, lane] += w
            out[1, lane] += w * a
            out[2, lane] += w * b
            out[3, lane] += w * aa
            out[4, lane] += w * bb
            out[5, lane] += w * ab
            out[6, lane] += w * ee
            out[7, lane] += w * size
