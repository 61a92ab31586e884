"""Ranks that intervals allow, and where a value stands against people."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats, Ints

__all__ = ["against_people", "possible_ranks"]


def possible_ranks(
    value: ArrayLike, low: ArrayLike, high: ArrayLike, *, higher_is_better: bool = True
) -> tuple[Ints, Ints]:
    """Give the best and the worst rank that the intervals allow.

    One is certainly better than another where its interval lies wholly above the other's. That is
    careful: of two whose intervals overlap a little, a paired comparison may still tell which is
    better.

    Parameters
    ----------
    value, low, high
        Shape (n,); where there is no interval (``nan``) the value stands for both ends.
    higher_is_better
        Whether the highest value is ranked first.

    Returns
    -------
    best, worst
        Shape (n,), 1 for the first; 0 where the value is ``nan``.

    Examples
    --------
    >>> best, worst = possible_ranks([0.7, 0.5, 0.48], [0.6, 0.4, 0.4], [0.8, 0.55, 0.52])
    >>> best.tolist(), worst.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    point = np.asarray(value, dtype=np.float64)
    ends = [np.asarray(end, dtype=np.float64) for end in (low, high)]
    lower, upper = (np.where(np.isnan(end), point, end) for end in ends)
    if not higher_is_better:
        lower, upper = -upper, -lower
    known = ~np.isnan(point)
    with np.errstate(invalid="ignore"):
        above = lower[:, None] > upper[None, :]
    best = 1 + above.sum(axis=0)
    worst = known.sum() - above.sum(axis=1)
    return np.where(known, best, 0).astype(np.int64), np.where(known, worst, 0).astype(np.int64)


def against_people(
    value: float, low: float, high: float, people: Floats, *, higher_is_better: bool = True
) -> str:
    """Say where a value and its interval stand against the worst and the best person.

    Parameters
    ----------
    value, low, high
        The value and its interval, ``nan`` where there is none.
    people
        Values of people; those not defined do not count.

    Returns
    -------
    ``above``, ``within``, ``below``, ``upper edge`` or ``lower edge`` (the interval reaches beyond
    the best or the worst person), ``wider`` (beyond both), or nothing where something is missing.

    Examples
    --------
    >>> against_people(0.5, 0.45, 0.55, [0.4, 0.6])
    'within'
    >>> against_people(0.58, 0.5, 0.66, [0.4, 0.6])
    'upper edge'
    """
    known = np.asarray(people, dtype=np.float64)
    known = known[~np.isnan(known)]
    if value != value or not known.size:
        return ""
    lower, upper = (value if end != end else end for end in (low, high))
    if not higher_is_better:
        lower, upper, known = -upper, -lower, -known
    worst, best = float(known.min()), float(known.max())
    if lower > best:
        return "above"
    if upper < worst:
        return "below"
    reaches = (lower < worst, upper > best)
    return {
        (False, False): "within",
        (False, True): "upper edge",
        (True, False): "lower edge",
        (True, True): "wider",
    }[reaches]
