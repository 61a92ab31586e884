"""Passes over ratings sorted by stimulus, for the subject model.

Stimulus j holds the ratings ``start[j]`` to ``start[j + 1]``; raters are codes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.groups import root_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@kernel
def group_ratings(
    cell: NDArray[np.integer], rater: NDArray[np.integer], value: Floats, n_cells: int
) -> tuple[Ints, Codes, Floats]:
    """Sort ratings by cell, keeping the order within a cell; those that are ``nan`` are dropped.

    Returns
    -------
    Start of each cell, shape (n_cells + 1,); rater and value of each rating, shape (n,).
    """
    start = np.zeros(n_cells + 1, np.int64)
    for k in range(cell.size):
        if not np.isnan(value[k]):
            start[cell[k] + 1] += 1
    for c in range(n_cells):
        start[c + 1] += start[c]
    place = start[:-1].copy()
    sorted_rater = np.empty(start[n_cells], np.int32)
    sorted_value = np.empty(start[n_cells], np.float64)
    for k in range(cell.size):
        if not np.isnan(value[k]):
            at = place[cell[k]]
            place[cell[k]] = at + 1
            sorted_rater[at] = rater[k]
            sorted_value[at] = value[k]
    return start, sorted_rater, sorted_value


@kernel
def count(code: Codes, n: int) -> Floats:
    """Count how often each of ``n`` codes occurs."""
    counts = np.zeros(n)
    for k in range(code.size):
        counts[code[k]] += 1
    return counts


@kernel
def sweep(
    start: Ints,
    rater: Codes,
    value: Floats,
    first: int,
    last: int,
    weight_bias: Floats,
    score: Floats,
    sums: Floats,
) -> float:
    """Score stimuli ``first`` to ``last``, and add up what the raters' next update needs.

    Parameters
    ----------
    weight_bias
        w_i and b_i, shape (raters, 2).
    score
        s_j, overwritten by the weighted mean of x - b_i.
    sums
        Shape (raters, 3): the sums of r, of r^2 and of 1 / W_j over the ratings of each rater,
        with r = x - s_j - b_i and W_j the sum of the weights on j. Added to. Or of shape
        (raters, 2), without the last, which takes a fifth of the time.

    Returns
    -------
    Sum of squares of the changes of s_j.
    """
    change = 0.0
    for j in range(first, last):
        # Unsigned positions need no check for negative ones, which saves a third of the time.
        begin, end = np.uint64(start[j]), np.uint64(start[j + 1])
        if begin == end:
            continue
        total = 0.0
        weighted = 0.0
        for k in range(begin, end):
            i = np.uint64(rater[k])
            w = weight_bias[i, 0]
            total += w
            weighted += w * (value[k] - weight_bias[i, 1])
        new = weighted / total
        change += (new - score[j]) ** 2
        score[j] = new
        if sums.shape[1] == 2:
            for k in range(begin, end):
                i = np.uint64(rater[k])
                r = value[k] - new - weight_bias[i, 1]
                sums[i, 0] += r
                sums[i, 1] += r * r
        else:
            share = 1.0 / total
            for k in range(begin, end):
                i = np.uint64(rater[k])
                r = value[k] - new - weight_bias[i, 1]
                sums[i, 0] += r
                sums[i, 1] += r * r
                sums[i, 2] += share
    return change


@kernel
def describe(
    start: Ints, rater: Codes, value: Floats, weight_bias: Floats
) -> tuple[Floats, Floats, Ints, Floats]:
    """Describe stimuli and raters at given w_i and b_i.

    Returns
    -------
    W_j; population SD of x - b_i on j; number of raters of j (each of shape (stimuli,)); and, of
    shape (raters, 4), the sums over a rater's ratings of h and of (1 - h)^2, with h = w_i / W_j;
    and of h and of 1 where someone else rated the stimulus too.
    """
    n_stimuli, n_raters = start.size - 1, weight_bias.shape[0]
    total = np.zeros(n_stimuli)
    spread = np.zeros(n_stimuli)
    raters = np.zeros(n_stimuli, np.int64)
    sums = np.zeros((n_raters, 4))
    # The last stimulus of each rater, from 1.
    seen = np.zeros(n_raters, np.int64)
    for j in range(n_stimuli):
        begin, end = start[j], start[j + 1]
        if begin == end:
            continue
        mean = 0.0
        for k in range(begin, end):
            i = rater[k]
            total[j] += weight_bias[i, 0]
            mean += value[k] - weight_bias[i, 1]
            if seen[i] != j + 1:
                seen[i] = j + 1
                raters[j] += 1
        mean /= end - begin
        squares = 0.0
        for k in range(begin, end):
            i = rater[k]
            squares += (value[k] - weight_bias[i, 1] - mean) ** 2
            h = weight_bias[i, 0] / total[j]
            sums[i, 0] += h
            sums[i, 1] += (1 - h) ** 2
            if raters[j] > 1:
                sums[i, 2] += h
                sums[i, 3] += 1
        spread[j] = np.sqrt(squares / (end - begin))
    return total, spread, raters, sums


@kernel
def pair_sums(start: Ints, rater: Codes, weight: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Sum over stimuli of h_j h_j' and of W_j h_j h_j', with h_ij = n_ij w_i / W_j.

    Returns
    -------
    Two matrices of shape (raters, raters).
    """
    n_raters = weight.size
    shares = np.zeros((n_raters, n_raters))
    weights = np.zeros((n_raters, n_raters))
    for j in range(start.size - 1):
        for k in range(start[j], start[j + 1]):
            a = rater[k]
            ha = weight[a] / total[j]
            for m in range(start[j], start[j + 1]):
                c = rater[m]
                both = ha * weight[c] / total[j]
                shares[a, c] += both
                weights[a, c] += both * total[j]
    return shares, weights


@kernel
def pair_terms(
    start: Ints, rater: Codes, weight: Floats, total: Floats, first: Floats, second: Floats
) -> tuple[Floats, Floats]:
    """Give h_j' A h_j and h_j' B h_j of every stimulus, A and B of shape (raters, raters)."""
    n_stimuli = start.size - 1
    in_first = np.zeros(n_stimuli)
    in_second = np.zeros(n_stimuli)
    for j in range(n_stimuli):
        for k in range(start[j], start[j + 1]):
            a = rater[k]
            ha = weight[a] / total[j]
            for m in range(start[j], start[j + 1]):
                c = rater[m]
                both = ha * weight[c] / total[j]
                in_first[j] += both * first[a, c]
                in_second[j] += both * second[a, c]
    return in_first, in_second


@kernel
def weighted_terms(
    start: Ints, rater: Codes, weight: Floats, total: Floats, terms: Floats
) -> Floats:
    """Sum h t_i1, h^2 t_i2 and h^2 t_i3 over the ratings of every stimulus.

    Parameters
    ----------
    terms
        t, shape (raters, 3).

    Returns
    -------
    Shape (stimuli, 3).
    """
    out = np.zeros((start.size - 1, 3))
    for j in range(start.size - 1):
        for k in range(start[j], start[j + 1]):
            i = rater[k]
            h = weight[i] / total[j]
            out[j, 0] += h * terms[i, 0]
            out[j, 1] += h * h * terms[i, 1]
            out[j, 2] += h * h * terms[i, 2]
    return out


@kernel
def connect(start: Ints, rater: Codes, n_raters: int) -> Ints:
    """Find which raters are linked, directly or through others, by stimuli they share.

    Returns
    -------
    For each rater the lowest code among those it is linked with, shape (n_raters,).
    """
    parent = np.empty(n_raters, np.int64)
    for i in range(n_raters):
        parent[i] = i
    for j in range(start.size - 1):
        for k in range(start[j] + 1, start[j + 1]):
            # One type of number for all calls, so that the other function is compiled once.
            a = root_of(parent, int(rater[start[j]]))
            b = root_of(parent, int(rater[k]))
            if a != b:
                parent[max(a, b)] = min(a, b)
    for i in range(n_raters):
        parent[i] = root_of(parent, i)
    return parent
