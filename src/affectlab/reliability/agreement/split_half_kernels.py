"""Random halves of the ratings of each stimulus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.bits import mix_bits
from affectlab.core.types import Floats, Ints
from affectlab.reliability.rank_correlation_kernels import rank_correlation

Codes = NDArray[np.int32]


@kernel
def first_answers(
    start: Ints, rater: Codes, value: Floats, n_raters: int
) -> tuple[Ints, Codes, Floats]:
    """Keep the first rating of each rater on each stimulus.

    Returns
    -------
    ``start``, ``rater`` and ``value`` as given, of fewer ratings.
    """
    kept_start = np.zeros_like(start)
    kept_rater = np.empty_like(rater)
    kept_value = np.empty_like(value)
    seen = np.full(n_raters, -1)
    n = 0
    for j in range(start.size - 1):
        for k in range(start[j], start[j + 1]):
            if seen[rater[k]] != j:
                seen[rater[k]] = j
                kept_rater[n] = rater[k]
                kept_value[n] = value[k]
                n += 1
        kept_start[j + 1] = n
    return kept_start, kept_rater[:n].copy(), kept_value[:n].copy()


@kernel
def halve(
    start: Ints,
    rater: Codes,
    value: Floats,
    seed: int,
    halves: Ints,
    raters: NDArray[np.int32],
    values: Floats,
) -> None:
    """Deal the ratings of each stimulus at random into two equal halves.

    An odd rating is left out, a random one.

    Parameters
    ----------
    seed
        64 random bits; the same bits give the same halves.
    halves
        Start of each stimulus in a half, shape (stimuli + 1,); each stimulus holds half of its
        ratings, rounded down.
    raters, values
        Overwritten: the two halves, shape (2, halves[-1]).
    """
    longest = 0
    for j in range(start.size - 1):
        longest = max(longest, start[j + 1] - start[j])
    order = np.empty(longest, np.int64)
    state = np.uint64(seed)
    for j in range(start.size - 1):
        begin, n = start[j], start[j + 1] - start[j]
        half, to = halves[j + 1] - halves[j], halves[j]
        for k in range(n):
            order[k] = begin + k
        # The first places are dealt: half of them are enough when none is left over.
        for k in range(half if n == 2 * half else 2 * half):
            # SplitMix64.
            state += np.uint64(0x9E3779B97F4A7C15)
            bits = mix_bits(state)
            chosen = k + np.int64(((bits >> np.uint64(32)) * np.uint64(n - k)) >> np.uint64(32))
            order[k], order[chosen] = order[chosen], order[k]
        for k in range(half):
            raters[0, to + k] = rater[order[k]]
            values[0, to + k] = value[order[k]]
            raters[1, to + k] = rater[order[half + k]]
            values[1, to + k] = value[order[half + k]]


@kernel
def correlation_without(
    x: Floats, y: Floats, order_x: Ints, order_y: Ints, group: Ints, n_groups: int
) -> Floats:
    """Spearman's correlation without each group of values in turn; orders sort the values."""
    rho = np.empty(n_groups)
    place = np.empty(x.size, np.int64)
    for g in range(n_groups):
        n = 0
        for k in range(x.size):
            place[k] = n
            n += group[k] != g
        left_x, left_y = np.empty(n), np.empty(n)
        left_order_x, left_order_y = np.empty(n, np.int64), np.empty(n, np.int64)
        a, b = 0, 0
        for k in range(x.size):
            if group[k] != g:
                left_x[place[k]], left_y[place[k]] = x[k], y[k]
            if group[order_x[k]] != g:
                left_order_x[a] = place[order_x[k]]
                a += 1
            if group[order_y[k]] != g:
                left_order_y[b] = place[order_y[k]]
                b += 1
        rho[g] = rank_correlation(left_x, left_y, left_order_x, left_order_y)
    return rho
