"""Percent agreement: the plain share of equal answers, with no correction for chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of
from affectlab.reliability.agreement.coefficient import coefficient

__all__ = ["percent_agreement"]

_MOST_COUNTS = 1 << 20
"""Counts of values per unit that are held at once, beside four per answer."""
_MOST_WHOLE = 256


@coefficient
def percent_agreement(
    ratings: Ratings | ArrayLike, *, tolerance: float = 0.0, confidence: float = 0.95
) -> Estimate | Estimates:
    r"""Compute the mean share of rater pairs that agree on a unit.

    .. math:: P = \frac{1}{U} \sum_u \frac{\sum_{i \ne i'} [\,|x_{iu} - x_{i'u}| \le t\,]}
        {m_u (m_u - 1)}

    over the U units with :math:`m_u \ge 2` ratings; every unit counts alike.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    tolerance
        Largest difference t that still counts as agreement, in the unit of the scale.
    confidence
        Coverage of Student's interval, from the spread over units, cut to [0, 1].

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array: shares
    in [0, 1], and ``nan`` with a status where no unit has two ratings.

    Raises
    ------
    InputError
        If the tolerance is negative.

    Examples
    --------
    >>> percent_agreement([[1, 2, 3], [1, 2, 1], [1, 3, 2]]).value
    0.4444444444444444
    """
    check_confidence(confidence)
    if not tolerance >= 0:
        raise InputError(f"tolerance {tolerance!r}: expected 0 or more")
    answers = answers_of(ratings)
    answers = answers.take(answers.cell_sizes() >= 2)
    rows = [_summary(part, tolerance, confidence) for part in answers.by_label()]
    value, se, low, high, n_items, n_raters, n_ratings = zip(*rows, strict=True)
    near = f", within {tolerance:g}" if tolerance else ""
    return Estimates.build(
        {"label": answers.labels},
        value=value,
        se=se,
        low=low,
        high=high,
        method=f"percent agreement of pairs{near}, mean over units",
        n_items=n_items,
        n_raters=n_raters,
        n_ratings=n_ratings,
        status=["ok" if n else "undefined: no unit with two ratings" for n in n_items],
    )


def _summary(
    part: Answers, tolerance: float, confidence: float
) -> tuple[float, float, float, float, int, int, int]:
    shares = _unit_agreement(part, tolerance)
    n = shares.size
    n_raters = int(np.count_nonzero(np.bincount(part.rater)))
    if n == 0:
        return np.nan, np.nan, np.nan, np.nan, 0, 0, 0
    mean = float(shares.mean())
    if n == 1:
        return mean, np.nan, np.nan, np.nan, 1, n_raters, part.value.size
    se = float(shares.std(ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * se
    return mean, se, max(mean - half, 0.0), min(mean + half, 1.0), n, n_raters, part.value.size


def _unit_agreement(part: Answers, tolerance: float) -> Floats:
    """Share of agreeing pairs of each unit of one label, shape (units,)."""
    starts = np.flatnonzero(np.diff(part.unit, prepend=-1))
    unit = np.repeat(np.arange(starts.size), np.diff(starts, append=part.unit.size))
    size = np.bincount(unit)
    if not tolerance:
        levels, code = _levels(part.value)
        if levels * size.size <= _MOST_COUNTS + 4 * code.size:
            counts = np.bincount(unit * levels + code, minlength=levels * size.size)
            same = (counts.reshape(size.size, levels) ** 2).sum(axis=1) - size
            equal: Floats = same / (size * (size - 1))
            return equal
    value = part.value[np.lexsort((part.value, unit))]
    agree = np.zeros(size.size)
    slack = tolerance + 1e-9 * (tolerance > 0)
    lag = 1
    while lag < value.size:
        close = (unit[lag:] == unit[:-lag]) & (value[lag:] - value[:-lag] <= slack)
        if not close.any():
            break
        agree += np.bincount(unit[lag:][close], minlength=size.size)
        lag += 1
    return agree / (size * (size - 1) / 2)


def _levels(value: Floats) -> tuple[int, Ints]:
    """Number of distinct values, and the code of each; whole numbers in a range need no sort."""
    low, high = value.min(initial=np.inf), value.max(initial=-np.inf)
    if value.size and high - low < _MOST_WHOLE:
        code = (value - low).astype(np.int64)
        if (code == value - low).all():
            return int(high - low) + 1, code
    found, code = np.unique(value, return_inverse=True)
    return found.size, code
