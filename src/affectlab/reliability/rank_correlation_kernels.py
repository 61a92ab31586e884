"""Spearman's correlation of values whose order is known, for many small tasks in threads."""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints


@kernel
def _centred_ranks(values: Floats, order: Ints) -> tuple[Floats, float]:
    """Midranks less their mean, and the sum of their squares; ``order`` sorts the values."""
    ranks = np.empty(values.size)
    squares = 0.0
    first = 0
    while first < order.size:
        last = first
        while last + 1 < order.size and values[order[last + 1]] == values[order[first]]:
            last += 1
        rank = 0.5 * (first + last - (order.size - 1))
        for k in range(first, last + 1):
            ranks[order[k]] = rank
        squares += (last - first + 1) * rank * rank
        first = last + 1
    return ranks, squares


@kernel
def rank_correlation(x: Floats, y: Floats, order_x: Ints, order_y: Ints) -> float:
    """Spearman's correlation; ``nan`` where a side is constant or has fewer than two values."""
    (a, aa), (b, bb) = _centred_ranks(x, order_x), _centred_ranks(y, order_y)
    if aa == 0.0 or bb == 0.0:
        return np.nan
    ab = 0.0
    for k in range(x.size):
        ab += a[k] * b[k]
    rho: float = ab / np.sqrt(aa * bb)
    return rho
