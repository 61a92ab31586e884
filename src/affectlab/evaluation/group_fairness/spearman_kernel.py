"""Weighted Spearman correlations, compiled."""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats, Ints

__all__ = ["weighted_spearman"]


@kernel
def weighted_spearman(
    unit: Ints,
    first_order: Ints,
    first_last: Bools,
    second_order: Ints,
    second_last: Bools,
    weights: Floats,
    out: Floats,
) -> None:
    """Correlate the ranks of two variables whose items count several times.

    Parameters
    ----------
    unit
        Column of ``weights`` that says how often each item counts, shape (n,).
    first_order, second_order
        Items by rising value of each variable, shape (n,).
    first_last, second_last
        Whether the next item of the order has a larger value, or there is none, shape (n,).
    weights
        Shape (b, units).
    out
        Overwritten, shape (b,): ``nan`` where a variable is constant.
    """
    n = unit.size
    rank = np.empty(n)
    count = np.empty(n)
    for b in range(weights.shape[0]):
        row = weights[b]
        for k in range(n):
            count[k] = row[unit[k]]
        before = 0.0
        tied = 0.0
        squares = 0.0
        start = 0
        for k in range(n):
            tied += count[first_order[k]]
            if first_last[k]:
                middle = before + 0.5 * (tied + 1.0)
                for j in range(start, k + 1):
                    rank[first_order[j]] = middle
                squares += tied * middle * middle
                before += tied
                tied = 0.0
                start = k + 1
        total = before
        before = 0.0
        other_squares = 0.0
        products = 0.0
        together = 0.0
        for k in range(n):
            item = second_order[k]
            tied += count[item]
            together += count[item] * rank[item]
            if second_last[k]:
                middle = before + 0.5 * (tied + 1.0)
                other_squares += tied * middle * middle
                products += middle * together
                before += tied
                tied = 0.0
                together = 0.0
        centre = total * (0.5 * (total + 1.0)) ** 2
        size = (squares - centre) * (other_squares - centre)
        out[b] = (products - centre) / np.sqrt(size) if size > 1e-9 else np.nan
