"""Sums over what each pair of raters has in common.

Cell j holds the ratings ``start[j]`` to ``start[j + 1]``, sorted by rater; raters are codes. Pairs
whose first rater is ``begin`` or more, and less than ``begin`` plus the rows of ``sums``, are
summed; ``sums`` has the shape (rows, raters, sums), is added to, and holds each pair where its
second rater is the later one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def pair_moments(start: Ints, rater: Ints, value: Floats, begin: int, sums: Floats) -> None:
    """Sum 1, x, y, x^2, y^2 and x y."""
    end = begin + sums.shape[0]
    for j in range(start.size - 1):
        for k in range(start[j], start[j + 1]):
            if rater[k] < begin or rater[k] >= end:
                continue
            x = value[k]
            row = sums[rater[k] - begin]
            for m in range(k + 1, start[j + 1]):
                y = value[m]
                of_pair = row[rater[m]]
                of_pair[0] += 1
                of_pair[1] += x
                of_pair[2] += y
                of_pair[3] += x * x
                of_pair[4] += y * y
                of_pair[5] += x * y


@kernel
def pair_categories(start: Ints, rater: Ints, code: Ints, begin: int, sums: Floats) -> None:
    """Count cells, equal answers, and the categories (from 0) of the first and of the second."""
    end = begin + sums.shape[0]
    n_categories = (sums.shape[2] - 2) // 2
    for j in range(start.size - 1):
        for k in range(start[j], start[j + 1]):
            if rater[k] < begin or rater[k] >= end:
                continue
            row = sums[rater[k] - begin]
            for m in range(k + 1, start[j + 1]):
                of_pair = row[rater[m]]
                of_pair[0] += 1
                of_pair[1] += code[k] == code[m]
                if n_categories:
                    of_pair[2 + code[k]] += 1
                    of_pair[2 + n_categories + code[m]] += 1
