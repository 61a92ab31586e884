"""Spearman correlations of all pairs of raters over the items that both answered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints


@kernel
def spearman_of_pairs(
    start: Ints,
    item: NDArray[np.int32],
    code: NDArray[np.int32],
    n_codes: Ints,
    rho: Floats,
    shared: Ints,
) -> None:
    """Correlate the ranks of every pair; ranks are of the shared items alone.

    Parameters
    ----------
    start
        Where the answers of each rater start, shape (raters + 1,).
    item, code
        Items, rising within a rater, and the place of the answer among the different answers of
        that rater, shape (answers,).
    n_codes
        Different answers of each rater, shape (raters,).
    rho, shared
        Overwritten: correlations, ``nan`` where a side is constant, and shared items, for pairs in
        the order of ``np.triu_indices``.
    """
    n_raters = start.size - 1
    most = 1
    for r in range(n_raters):
        most = max(most, start[r + 1] - start[r], n_codes[r])
    left, right = np.empty(most, np.int32), np.empty(most, np.int32)
    counts = np.empty((2, most), np.int64)
    ranks = np.empty((2, most))
    pair = 0
    for first in range(n_raters - 1):
        for second in range(first + 1, n_raters):
            counts[0, : n_codes[first]] = 0
            counts[1, : n_codes[second]] = 0
            a, b, n = start[first], start[second], 0
            while a < start[first + 1] and b < start[second + 1]:
                if item[a] == item[b]:
                    left[n], right[n] = code[a], code[b]
                    counts[0, code[a]] += 1
                    counts[1, code[b]] += 1
                    n += 1
                    a += 1
                    b += 1
                elif item[a] < item[b]:
                    a += 1
                else:
                    b += 1
            centre = (n + 1) / 2
            squares = np.zeros(2)
            for side in range(2):
                before = 0
                for k in range(n_codes[first] if side == 0 else n_codes[second]):
                    rank = before + (counts[side, k] + 1) / 2 - centre
                    ranks[side, k] = rank
                    squares[side] += counts[side, k] * rank * rank
                    before += counts[side, k]
            products = 0.0
            for k in range(n):
                products += ranks[0, left[k]] * ranks[1, right[k]]
            size = squares[0] * squares[1]
            rho[pair] = products / np.sqrt(size) if size > 0.0 else np.nan
            shared[pair] = n
            pair += 1
