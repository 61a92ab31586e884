"""Sums for Krippendorff's alpha when raters carry weights, one bootstrap replicate per lane."""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints

__all__ = [
    "moment_lanes",
    "pair_lanes",
    "sort_cells",
]


@kernel
def moment_lanes(
    ends: Ints,
    unit: Ints,
    rater: Ints,
    x: Floats,
    rater_weights: Floats,
    unit_weights: Floats,
    totals: Floats,
) -> None:
    """Sum what alpha of interval data needs.

    Parameters
    ----------
    ends, unit
        End of the ratings of every cell, and its unit, shape (cells,).
    rater, x
        Rater and value of every rating, shape (n,).
    rater_weights
        Weights w of the raters and then their squares, shape (raters, 2 x lanes).
    unit_weights
        Shape (units, lanes).
    totals
        Overwritten: observed disagreement, n, sum and sum of squares, shape (4, lanes).
    """
    lanes = unit_weights.shape[1]
    count, first, second = np.empty(2 * lanes), np.empty(2 * lanes), np.empty(2 * lanes)
    factor = np.empty(lanes)
    totals[:] = 0.0
    observed, n, s1, s2 = totals[0], totals[1], totals[2], totals[3]
    start = 0
    for cell in range(ends.size):
        count[:] = 0.0
        first[:] = 0.0
        second[:] = 0.0
        for k in range(start, ends[cell]):
            row = rater_weights[rater[k]]
            value = x[k]
            square = value * value
            for b in range(2 * lanes):
                count[b] += row[b]
            for b in range(2 * lanes):
                first[b] += value * row[b]
            for b in range(2 * lanes):
                second[b] += square * row[b]
        start = ends[cell]
        own = unit_weights[unit[cell]]
        for b in range(lanes):
            pairs = count[b] * count[b] - count[lanes + b]
            factor[b] = own[b] * count[b] / pairs if pairs > 0.0 else 0.0
        for b in range(lanes):
            n[b] += factor[b] * (count[b] * count[b] - count[lanes + b])
        for b in range(lanes):
            observed[b] += 2.0 * factor[b] * (count[b] * second[b] - first[b] * first[b])
        for b in range(lanes):
            s1[b] += factor[b] * (count[b] * first[b] - first[lanes + b])
        for b in range(lanes):
            s2[b] += factor[b] * (count[b] * second[b] - second[lanes + b])


@kernel
def pair_lanes(
    ends: Ints,
    unit: Ints,
    rater: Ints,
    code: Ints,
    rater_weights: Floats,
    unit_weights: Floats,
    pairs: Floats,
) -> None:
    """Sum the weights of pairs of ratings of the same cell by their values.

    Parameters
    ----------
    ends, unit, rater, unit_weights
        As for :func:`moment_lanes`.
    code
        Value of every rating as a place among the distinct values, rising within a cell.
    rater_weights
        Shape (raters, lanes).
    pairs
        Overwritten: shape (values, values, lanes), the first value at most the second; a pair
        counts once.
    """
    lanes = unit_weights.shape[1]
    count, square, own = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    pairs[:] = 0.0
    start = 0
    for cell in range(ends.size):
        count[:] = 0.0
        square[:] = 0.0
        for k in range(start, ends[cell]):
            row = rater_weights[rater[k]]
            for b in range(lanes):
                count[b] += row[b]
            for b in range(lanes):
                square[b] += row[b] * row[b]
        of_unit = unit_weights[unit[cell]]
        for b in range(lanes):
            n = count[b] * count[b] - square[b]
            square[b] = of_unit[b] * count[b] / n if n > 0.0 else 0.0
        for i in range(start, ends[cell] - 1):
            row = rater_weights[rater[i]]
            for b in range(lanes):
                own[b] = square[b] * row[b]
            for j in range(i + 1, ends[cell]):
                other = rater_weights[rater[j]]
                sums = pairs[code[i], code[j]]
                for b in range(lanes):
                    sums[b] += own[b] * other[b]
        start = ends[cell]


# The ratings of every cell put in order.


@kernel
def sort_cells(label: Ints, unit: Ints, rater: Ints, value: Floats) -> None:
    """Sort ratings by value within each run of equal label and unit, in place.

    Ties keep their order. Cells are small, so that insertion is the fastest way.
    """
    start = 0
    for k in range(1, value.size):
        if label[k] != label[k - 1] or unit[k] != unit[k - 1]:
            start = k
            continue
        own_value, own_rater = value[k], rater[k]
        place = k
        while place > start and value[place - 1] > own_value:
            value[place] = value[place - 1]
            rater[place] = rater[place - 1]
            place -= 1
        value[place] = own_value
        rater[place] = own_rater
