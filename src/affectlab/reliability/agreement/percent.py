"""Percent agreement: the plain share of equal answers, with no correction for chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.statistic import Design, Statistic, Sums, from_sums
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers
from affectlab.reliability.agreement.coefficient import coefficient
from affectlab.reliability.rank_correlation import distinct

_MOST_COUNTS = 1 << 20
"""Counts of values per unit that are held at once, beside four per answer."""


@coefficient(title="percent agreement", suits=lambda scale: scale.numeric)
def percent_agreement(answers: Answers, *, tolerance: float = 0.0) -> Statistic:
    r"""Compute the mean share of rater pairs that agree on a unit.

    .. math:: P = \frac{1}{U} \sum_u \frac{\sum_{i \ne i'} [\,|x_{iu} - x_{i'u}| \le t\,]}
        {m_u (m_u - 1)}

    over the U units with :math:`m_u \ge 2` ratings; every unit counts alike.

    Parameters
    ----------
    answers
        One answer of a rater to a unit and label.
    tolerance
        Largest difference t that still counts as agreement, in the unit of the scale.

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
    if not tolerance >= 0:
        raise InputError(f"tolerance {tolerance!r}: expected 0 or more")
    n_units, n_raters, labels = len(answers.units), len(answers.raters), answers.labels
    answers = answers.take(answers.cell_sizes() >= 2)
    parts, units, raters = [], [], []
    for part in answers.by_label():
        unit, share = _unit_agreement(part, tolerance)
        sums = np.stack([share, np.ones(unit.size)]).T
        parts.append(Sums(sums, _mean, unit) if unit.size else None)
        units.append(unit)
        raters.append(part.rater)
    design = Design.of(units, n_units, raters, n_raters)
    near = f", within {tolerance:g}" if tolerance else ""
    return from_sums(
        parts,
        design,
        keys={"label": labels},
        bounds=(0.0, 1.0),
        targets=("stimuli",),
        method=[f"percent agreement of pairs{near}, mean over units"] * len(labels),
        n_items=design.stimulus.sum(axis=1),
        n_raters=design.rater.sum(axis=1),
        n_ratings=np.bincount(answers.label, minlength=len(labels)),
        undefined="undefined: no unit with two ratings",
    )


def _mean(totals: Any) -> Any:
    return totals[:, 0] / totals[:, 1]


def _unit_agreement(part: Answers, tolerance: float) -> tuple[Ints, Floats]:
    """Units of one label, and the share of pairs that agree in each, shape (units,)."""
    starts = np.flatnonzero(np.diff(part.unit, prepend=-1))
    unit = np.repeat(np.arange(starts.size), np.diff(starts, append=part.unit.size))
    size = np.bincount(unit)
    if not tolerance:
        known, code = distinct(part.value)
        levels = known.size
        if levels * size.size <= _MOST_COUNTS + 4 * code.size:
            counts = np.bincount(unit * levels + code, minlength=levels * size.size)
            same = (counts.reshape(size.size, levels) ** 2).sum(axis=1) - size
            return part.unit[starts], same / (size * (size - 1))
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
    return part.unit[starts], agree / (size * (size - 1) / 2)
