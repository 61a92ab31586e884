"""Correlation of every rater with the mean of the others, by counting pairs of levels.

Ratings take few values, and so do means of few ratings: ranks and correlations then follow from a
small table of counts per label and rater, and nothing is sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats

__all__ = ["code_pairs", "count_codes", "mark_first", "spearman_of_tables"]


@kernel
def mark_first(
    label: NDArray[np.int32],
    unit: NDArray[np.int32],
    rater: NDArray[np.int32],
    value: Floats,
    used: NDArray[np.bool_],
    from_unit: int,
    to_unit: int,
    n_labels: int,
    n_raters: int,
    seen: NDArray[np.uint64],
    total: Floats,
    size: NDArray[np.int32],
    rated: NDArray[np.int64],
    first: NDArray[np.bool_],
) -> None:
    """Mark the first answer of every rater to a unit and label, and sum these over raters.

    Parameters
    ----------
    label, unit, rater, value
        The answers, shape (n,).
    used
        Labels that count.
    from_unit, to_unit
        Answers to other units are passed over, and nothing of theirs is touched.
    n_labels, n_raters
        Numbers of labels and raters.
    seen
        One bit per rater, all zero, shape (units x labels, words).
    total, size
        Added to: sum and number of the first answers, shape (units x labels,).
    rated
        Added to: number of the first answers, shape (labels x raters,).
    first
        Overwritten: which answers count, shape (n,).
    """
    for k in range(value.size):
        if unit[k] < from_unit or unit[k] >= to_unit:
            continue
        first[k] = False
        if not used[label[k]] or not np.isfinite(value[k]):
            continue
        cell = np.int64(unit[k]) * n_labels + label[k]
        mask = np.uint64(1) << np.uint64(rater[k] & 63)
        if seen[cell, rater[k] >> 6] & mask:
            continue
        seen[cell, rater[k] >> 6] |= mask
        first[k] = True
        total[cell] += value[k]
        size[cell] += 1
        rated[label[k] * n_raters + rater[k]] += 1


@kernel
def _code_of(key: float, keys: Floats, codes: NDArray[np.int16], distinct: Floats, n: int) -> int:
    """Look a number up in a hash table, and enter it if it is new.

    Returns
    -------
    The code; ``n`` for a new number; -1 when there is no room.
    """
    mask = keys.size - 1
    # Spread the numbers by the fractional part of a multiple of the golden ratio.
    turned = key * 0.6180339887498949
    place = int((turned - np.floor(turned)) * keys.size) & mask
    while codes[place] >= 0:
        if keys[place] == key:
            return int(codes[place])
        place = (place + 1) & mask
    if n == distinct.size:
        return -1
    keys[place] = key
    codes[place] = n
    distinct[n] = key
    return n


@kernel
def code_pairs(
    label: NDArray[np.int32],
    unit: NDArray[np.int32],
    value: Floats,
    first: NDArray[np.bool_],
    n_labels: int,
    total: Floats,
    size: NDArray[np.int32],
    factor: float,
    x_code: NDArray[np.int16],
    y_code: NDArray[np.int16],
    x_distinct: Floats,
    y_distinct: Floats,
) -> tuple[int, int]:
    """Number the distinct ratings x, and the distinct means y of the other ratings.

    Parameters
    ----------
    label, unit, value, first, n_labels, total, size
        As for :func:`mark_first`, and what it gave.
    factor
        Means are rounded to multiples of 1 / factor, so that equal means tie exactly.
    x_code, y_code
        Overwritten: codes in order of appearance, -1 for answers without company, shape (n,).
    x_distinct, y_distinct
        Overwritten: the distinct values, as many as there is room for.

    Returns
    -------
    Number of distinct x and y; (-1, -1) where there are more than there is room for.
    """
    n_x, n_y = 0, 0
    slots = 4 * x_distinct.size
    x_keys, y_keys = np.zeros(slots), np.zeros(slots)
    x_codes, y_codes = np.full(slots, -1, np.int16), np.full(slots, -1, np.int16)
    # Zero is common and so has a memory of its own, beside the last value that was not zero.
    last_x, last_y = np.nan, np.nan
    last_x_code, last_y_code = -1, -1
    zero_x_code, zero_y_code = -1, -1
    for k in range(value.size):
        x_code[k] = -1
        if not first[k]:
            continue
        cell = np.int64(unit[k]) * n_labels + label[k]
        if size[cell] < 2:
            continue
        x = value[k]
        rest = total[cell] - x
        if x == 0.0 and zero_x_code >= 0:
            x_code[k] = zero_x_code
        elif x == last_x:
            x_code[k] = last_x_code
        else:
            code = _code_of(x + 0.0, x_keys, x_codes, x_distinct, n_x)
            if code < 0:
                return -1, -1
            n_x = max(n_x, code + 1)
            x_code[k] = code
            if x == 0.0:
                zero_x_code = code
            else:
                last_x, last_x_code = x, code
        if rest == 0.0 and zero_y_code >= 0:
            y_code[k] = zero_y_code
            continue
        y = np.rint(rest / (size[cell] - 1) * factor) + 0.0
        if y != last_y:
            code = _code_of(y, y_keys, y_codes, y_distinct, n_y)
            if code < 0:
                return -1, -1
            n_y = max(n_y, code + 1)
            last_y, last_y_code = y, code
            if rest == 0.0:
                zero_y_code = code
        y_code[k] = last_y_code
    return n_x, n_y


@kernel
def count_codes(
    label: NDArray[np.int32],
    rater: NDArray[np.int32],
    n_raters: int,
    x_code: NDArray[np.int16],
    y_code: NDArray[np.int16],
    x_place: NDArray[np.int64],
    y_place: NDArray[np.int64],
    tables: NDArray[np.int32],
) -> None:
    """Count pairs of codes per label and rater.

    ``x_place`` and ``y_place`` turn codes into places by rising value; ``tables``, of shape
    (labels x raters, values of x, values of y), is added to.
    """
    for k in range(x_code.size):
        if x_code[k] >= 0:
            group = label[k] * n_raters + rater[k]
            tables[group, x_place[x_code[k]], y_place[y_code[k]]] += 1


@kernel
def spearman_of_tables(tables: NDArray[Any], rho: Floats, n: NDArray[np.int64]) -> None:
    """Compute Spearman's correlation of every table of counts; rows and columns ascend.

    Overwrites ``rho`` (``nan`` where a side is constant) and ``n``, both of shape (k,).
    """
    n_x, n_y = tables.shape[1:]
    x_rank, y_rank = np.empty(n_x), np.empty(n_y)
    rows, columns = np.empty(n_x, np.int64), np.empty(n_y, np.int64)
    for k in range(tables.shape[0]):
        rows[:] = 0
        columns[:] = 0
        for i in range(n_x):
            for j in range(n_y):
                rows[i] += tables[k, i, j]
                columns[j] += tables[k, i, j]
        total = rows.sum()
        n[k] = total
        centre = 0.5 * (total + 1)
        below = 0
        xx = 0.0
        for i in range(n_x):
            x_rank[i] = below + 0.5 * (rows[i] + 1) - centre
            below += rows[i]
            xx += rows[i] * x_rank[i] ** 2
        below = 0
        yy = 0.0
        for j in range(n_y):
            y_rank[j] = below + 0.5 * (columns[j] + 1) - centre
            below += columns[j]
            yy += columns[j] * y_rank[j] ** 2
        xy = 0.0
        for i in range(n_x):
            for j in range(n_y):
                xy += tables[k, i, j] * x_rank[i] * y_rank[j]
        rho[k] = np.nan
        if xx > 0.0 and yy > 0.0:
            rho[k] = max(-1.0, min(1.0, xy / np.sqrt(xx * yy)))
