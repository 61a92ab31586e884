"""Tables of paired answers for all pairs of raters, and kappa of every table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.compiled.bits import count_ones
from affectlab.core.types import Floats, Ints


@kernel
def fill_cube(
    label: NDArray[np.int32],
    unit: NDArray[np.int32],
    rater: NDArray[np.int32],
    value: Floats,
    middles: Floats,
    low: float,
    high: float,
    truncate: bool,
    cube: NDArray[np.int8],
) -> int:
    """Put every answer in its place, as a level of the scale; the first of repeated answers stays.

    Parameters
    ----------
    label, unit, rater, value
        The answers, shape (n,); values that are not finite are left out.
    middles
        Values half way between levels, ascending.
    low, high
        Ends of the scale.
    truncate
        Drop fractions first.
    cube
        Filled: shape (labels, units, raters), -1 where there is no answer yet.

    Returns
    -------
    How many places were filled; -1 where a value is not on the scale.
    """
    filled = 0
    # Codes are never negative: without looking whether they are, a place costs half as much.
    flat, units, raters = cube.ravel(), np.uint64(cube.shape[1]), np.uint64(cube.shape[2])
    for k in range(value.size):
        x = value[k]
        at = (np.uint64(label[k]) * units + np.uint64(unit[k])) * raters + np.uint64(rater[k])
        if flat[at] >= 0:
            continue
        if truncate:
            x = np.trunc(x)
        if not (x >= low and x <= high):
            if np.isfinite(x):
                return -1
            continue
        level = 0
        for middle in middles:
            level += x >= middle
        flat[at] = level
        filled += 1
    return filled


@kernel
def count_pairs(answers: NDArray[np.int8], n_levels: int, counts: NDArray[np.int32]) -> None:
    """Count (level of a, level of b) over units, for all pairs of raters a < b.

    Parameters
    ----------
    answers
        Levels by unit and rater, shape (units, raters), -1 where there is none.
    n_levels
        Levels of the scale.
    counts
        Added to: shape (pairs x levels x levels,), pairs in the order of ``np.triu_indices``.
    """
    n_units, n_raters = answers.shape
    size = n_levels * n_levels
    column = np.empty(n_raters, np.int64)
    who = np.empty(n_raters, np.int64)
    for u in range(n_units):
        m = 0
        for r in range(n_raters):
            if answers[u, r] >= 0:
                who[m] = r
                column[m] = r * size + answers[u, r]
                m += 1
        for i in range(m - 1):
            a = who[i]
            base = (a * (2 * n_raters - a - 3) // 2 - 1) * size + answers[u, a] * n_levels
            for j in range(i + 1, m):
                counts[base + column[j]] += 1


@kernel
def count_pairs_by_bits(
    answers: NDArray[np.int8], n_levels: int, counts: NDArray[np.int32]
) -> None:
    """Do what :func:`count_pairs` does, for few levels: one bit per unit, rater and level.

    A cell of a table is the number of bits that two raters share, 64 units at a time.
    """
    n_units, n_raters = answers.shape
    words = (n_units + 63) // 64
    bits = np.zeros((n_raters, n_levels, words), np.uint64)
    for u in range(n_units):
        one = np.uint64(1) << np.uint64(u & 63)
        for r in range(n_raters):
            level = answers[u, r]
            if level >= 0:
                bits[r, level, u >> 6] |= one
    at = 0
    for a in range(n_raters - 1):
        for b in range(a + 1, n_raters):
            for i in range(n_levels):
                for j in range(n_levels):
                    of_a, of_b = bits[a, i], bits[b, j]
                    total = np.uint64(0)
                    for k in range(words):
                        total += count_ones(of_a[k] & of_b[k])
                    counts[at] += np.int32(total)
                    at += 1


@kernel
def kappa_of_counts(
    counts: NDArray[Any],
    w: Floats,
    least: float,
    value: Floats,
    se: Floats,
    freedom: Floats,
    unshared: NDArray[np.int64],
    gain: Floats,
    n: NDArray[np.int64],
) -> None:
    """Compute weighted kappa from every table, and its standard error by leaving out items.

    Parameters
    ----------
    counts
        Shape (k, levels, levels).
    w
        Weights of disagreement, shape (levels, levels).
    least
        Least degrees of freedom, where there are as many items.
    value, se, freedom, unshared, gain, n
        Overwritten, shape (k,); see ``Kappas`` in ``kappa``.
    """
    size = w.shape[0]
    rows = np.empty(size)
    columns = np.empty(size)
    of_row = np.empty(size)
    of_column = np.empty(size)
    for k in range(counts.shape[0]):
        table = counts[k]
        rows[:] = 0.0
        columns[:] = 0.0
        total = 0
        observed = 0.0
        for i in range(size):
            for j in range(size):
                count = table[i, j]
                total += count
                rows[i] += count
                columns[j] += count
                observed += count * w[i, j]
        n[k] = total
        value[k] = np.nan
        se[k] = np.nan
        freedom[k] = least if total > least else max(total - 1, 1)
        unshared[k] = 0
        gain[k] = 0.0
        if total == 0:
            continue
        expected = 0.0
        modal = 0
        for i in range(size):
            of_row[i] = 0.0
            of_column[i] = 0.0
            for j in range(size):
                of_row[i] += w[i, j] * columns[j]
                of_column[i] += w[j, i] * rows[j]
            expected += rows[i] * of_row[i]
            if rows[i] + columns[i] > rows[modal] + columns[modal]:
                modal = i
        if expected <= 0.0:
            continue
        value[k] = 1.0 - total * observed / expected
        of_first = total - rows[modal]
        of_second = total - columns[modal]
        shared = total - rows[modal] - columns[modal] + table[modal, modal]
        if shared == 0 and of_first + of_second <= total:
            apart = 0.0
            if of_first > 0:
                apart += of_column[modal] / of_first
            if of_second > 0:
                apart += of_row[modal] / of_second
            if of_first == 0 or of_second == 0:
                apart *= 2.0
            unshared[k] = max(of_first, of_second)
            gain[k] = total * apart / expected
        middle = 0.0
        known = total > 1
        for i in range(size):
            for j in range(size):
                if table[i, j] and known:
                    below = expected - of_row[i] - of_column[j] + w[i, j]
                    if below > 0.0:
                        middle += table[i, j] * (1.0 - (total - 1) * (observed - w[i, j]) / below)
                    else:
                        known = False
        if not known:
            continue
        middle /= total
        spread = 0.0
        fourth = 0.0
        for i in range(size):
            for j in range(size):
                if table[i, j]:
                    below = expected - of_row[i] - of_column[j] + w[i, j]
                    without = 1.0 - (total - 1) * (observed - w[i, j]) / below
                    square = (without - middle) ** 2
                    spread += table[i, j] * square
                    fourth += table[i, j] * square * square
        se[k] = np.sqrt(spread * (total - 1) / total)
        if fourth > 0.0:
            freedom[k] = min(max(spread**2 / fourth - 1.0, least), total - 1.0)


# Pairs of raters in rows of draws, from lists of what both answered.


@kernel
def list_shared(
    start: Ints,
    item: NDArray[np.int32],
    value: Floats,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    where: Ints,
    out_item: NDArray[np.int32],
    out_first: Floats,
    out_second: Floats,
) -> None:
    """List the items that both raters of each pair answered, with the two answers.

    Parameters
    ----------
    start
        Where the answers of each rater start, shape (raters + 1,).
    item, value
        Items, rising within a rater, and answers, shape (answers,).
    first, second
        The raters of each pair, shape (pairs,).
    where
        Where the list of each pair starts, shape (pairs + 1,).
    out_item, out_first, out_second
        Overwritten, shape (all shared,).
    """
    for p in range(first.size):
        a, b = start[first[p]], start[second[p]]
        end_a, end_b = start[first[p] + 1], start[second[p] + 1]
        at = where[p]
        while a < end_a and b < end_b:
            if item[a] == item[b]:
                out_item[at] = item[a]
                out_first[at] = value[a]
                out_second[at] = value[b]
                at += 1
                a += 1
                b += 1
            elif item[a] < item[b]:
                a += 1
            else:
                b += 1


@kernel
def quadratic_lanes(
    where: Ints,
    item: NDArray[np.int32],
    x: Floats,
    y: Floats,
    weights: Floats,
    kappa: Floats,
) -> None:
    """Compute quadratic kappa of every pair from lists of shared items, one row of draws per lane.

    Parameters
    ----------
    where, item, x, y
        What :func:`list_shared` gave.
    weights
        Shape (items, lanes).
    kappa
        Overwritten: shape (pairs, lanes), ``nan`` where both raters are constant and equal.
    """
    lanes = weights.shape[1]
    n, sx, sy = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    squares, products = np.empty(lanes), np.empty(lanes)
    for p in range(where.size - 1):
        n[:] = 0.0
        sx[:] = 0.0
        sy[:] = 0.0
        squares[:] = 0.0
        products[:] = 0.0
        for k in range(where[p], where[p + 1]):
            row = weights[item[k]]
            a, b = x[k], y[k]
            both, product = a * a + b * b, a * b
            for lane in range(lanes):
                w = row[lane]
                n[lane] += w
                sx[lane] += w * a
                sy[lane] += w * b
                squares[lane] += w * both
                products[lane] += w * product
        for lane in range(lanes):
            cross = 2.0 * sx[lane] * sy[lane]
            spread = n[lane] * squares[lane] - cross
            shared = 2.0 * n[lane] * products[lane] - cross
            tiny = 1e-12 * n[lane] * squares[lane]
            kappa[p, lane] = shared / spread if spread > tiny else np.nan


@kernel
def nominal_lanes(
    where: Ints,
    item: NDArray[np.int32],
    x: Floats,
    y: Floats,
    n_levels: int,
    weights: Floats,
    kappa: Floats,
) -> None:
    """Compute unweighted kappa of every pair from lists of shared items, one row per lane.

    Parameters are those of :func:`quadratic_lanes`; answers are levels from 0.
    """
    lanes = weights.shape[1]
    of_x, of_y = np.empty((n_levels, lanes)), np.empty((n_levels, lanes))
    n, agreed = np.empty(lanes), np.empty(lanes)
    for p in range(where.size - 1):
        n[:] = 0.0
        agreed[:] = 0.0
        of_x[:] = 0.0
        of_y[:] = 0.0
        for k in range(where[p], where[p + 1]):
            row = weights[item[k]]
            a, b = int(x[k]), int(y[k])
            for lane in range(lanes):
                w = row[lane]
                n[lane] += w
                of_x[a, lane] += w
                of_y[b, lane] += w
            if a == b:
                for lane in range(lanes):
                    agreed[lane] += row[lane]
        for lane in range(lanes):
            chance = 0.0
            for level in range(n_levels):
                chance += of_x[level, lane] * of_y[level, lane]
            room = n[lane] * n[lane] - chance
            kappa[p, lane] = (n[lane] * agreed[lane] - chance) / room if room > 0.0 else np.nan
