"""The ratings of every cell put in order."""

from __future__ import annotations

from affectlab._compiled import kernel
from affectlab._types import Floats, Ints

__all__ = ["sort_cells"]


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
