"""Correlation of every rater with the mean of the others, by counting pairs of levels.

Ratings take few values, and so do means of few ratings: ranks and correlations then follow from a
small table of counts per label and rater, and nothing is sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats


@kernel
def code_first(
    label: NDArray[np.int32],
    unit: NDArray[np.int32],
    rater: NDArray[np.int32],
    value: Floats,
    used: NDArray[np.bool_],
    low: float,
    per_point: float,
    from_unit: int,
    to_unit: int,
    seen: NDArray[np.uint64],
    total: NDArray[np.int64],
    size: NDArray[np.int32],
    rated: NDArray[np.int64],
    code: NDArray[np.int16],
) -> bool:
    """Code the first answer of every rater to a unit and label, and sum these over raters.

    Parameters
    ----------
    label, unit, rater, value
        The answers, shape (n,).
    used
        Labels that count.
    low, per_point
        A value is coded as its distance from ``low`` times ``per_point``.
    from_unit, to_unit
        Answers to other units are passed over, and nothing of theirs is touched.
    seen
        One bit per rater, all zero, shape (units x labels, words).
    total, size
        Added to: sum and number of the codes, shape (units x labels,).
    rated
        Added to: number of answers that count, shape (labels, raters).
    code
        Overwritten: the codes, -1 of answers that do not count, shape (n,).

    Returns
    -------
    Whether all codes are whole numbers.
    """
    for k in range(value.size):
        if unit[k] < from_unit or unit[k] >= to_unit:
            continue
        code[k] = -1
        if not used[label[k]]:
            continue
        cell = np.int64(unit[k]) * used.size + label[k]
        mask = np.uint64(1) << np.uint64(rater[k] & 63)
        if seen[cell, rater[k] >> 6] & mask:
            continue
        seen[cell, rater[k] >> 6] |= mask
        points = (value[k] - low) * per_point
        code[k] = int(points)
        if code[k] != points:
            return False
        total[cell] += code[k]
        size[cell] += 1
        rated[label[k], rater[k]] += 1
    return True


@kernel
def count_codes(
    label: NDArray[np.int32],
    unit: NDArray[np.int32],
    rater: NDArray[np.int32],
    code: NDArray[np.int16],
    total: NDArray[np.int64],
    size: NDArray[np.int32],
    place: NDArray[np.int32],
    tables: NDArray[np.int32],
) -> None:
    """Count pairs of an answer and the mean of the others, per label and rater.

    ``place`` is the place of a mean among all means by number of answers and sum of the others;
    ``tables``, of shape (labels, raters, codes, means), is added to. The rest is as for, and from,
    :func:`code_first`.
    """
    n_labels = tables.shape[0]
    for k in range(code.size):
        if code[k] >= 0:
            cell = np.int64(unit[k]) * n_labels + label[k]
            if size[cell] > 1:
                mean = place[size[cell], total[cell] - code[k]]
                tables[label[k], rater[k], code[k], mean] += 1
