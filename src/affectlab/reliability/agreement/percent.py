"""Percent agreement: the plain share of equal answers, with no correction for chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import distinct
from affectlab.core.errors import check_number
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Interval, Target
from affectlab.core.statistic import Design, Draws, Statistic, Sums, from_sums
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Answers, ClusterLike, Ratings
from affectlab.reliability.agreement.coefficient import coefficient
from affectlab.reliability.agreement.wording import PAIRED_UNIT, percent_name

_MOST_COUNTS = 1 << 20
"""Counts of values per unit that are held at once, beside four per answer."""
_BLOCK = 1 << 22
"""Weights of answers that are held at once."""


def _percent(answers: Answers, *, tolerance: float = 0.0) -> Statistic:
    """Give percent agreement as a statistic of answers."""
    check_number("tolerance", tolerance, 0)
    n_units, n_raters, labels = len(answers.units), len(answers.raters), answers.labels
    answers = answers.take(answers.cell_sizes() >= 2)
    parts, units, raters = [], [], []
    for part in answers.by_label():
        unit, share = _unit_agreement(part, tolerance)
        sums = np.stack([share, np.ones(unit.size)]).T
        parts.append(_Shares(sums, _mean, unit, part, tolerance) if unit.size else None)
        units.append(unit)
        raters.append(part.rater)
    design = Design.of(units, n_units, raters, n_raters)
    near = f", within {tolerance:g}" if tolerance else ""
    return from_sums(
        parts,
        design,
        keys={"label": labels},
        bounds=(0.0, 1.0),
        method=[percent_name(near)] * len(labels),
        n_items=design.stimulus.sum(axis=1),
        n_raters=design.rater.sum(axis=1),
        n_ratings=np.bincount(answers.label, minlength=len(labels)),
        undefined=Reason(Cause.NONE, of=PAIRED_UNIT),
    )


@coefficient(_percent, title="percent agreement", suits=lambda scale: scale.numeric)
def percent_agreement(
    ratings: Ratings | ArrayLike,
    *,
    tolerance: float = 0.0,
    interval: Interval = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    joint: bool = True,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimate | Estimates:
    r"""Compute the mean share of rater pairs that agree on a unit.

    .. math:: P = \frac{1}{U} \sum_u \frac{\sum_{i \ne i'} [\,|x_{iu} - x_{i'u}| \le t\,]}
        {m_u (m_u - 1)}

    over the U units with :math:`m_u \ge 2` ratings; every unit counts alike.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating. Every other number is
        a value, -1 too.
    tolerance
        Largest difference t that still counts as agreement, in the unit of the scale.
    interval
        ``"jackknife"``: Student's interval from leaving out one stimulus, one rater, or either at a
        time. ``"percentile"`` or ``"bca"`` (bias-corrected and accelerated, Efron 1987): from
        bootstrap replicates. ``"analytic"``: by a formula for other stimuli.
    target
        What the interval is about: other ``"stimuli"``, other ``"raters"`` or ``"both"``, or
        ``"sample"``, these alone, without an interval. By default the widest for which the data and
        the coefficient allow an interval. A rater drawn twice is not paired with itself; two raters
        say nothing about others, so that an interval for both is then about these two.
    n_boot
        Bootstrap replicates, where the interval comes from these; 0 for no interval.
    joint
        One resample for all labels, so that the replicates of labels belong together.
    confidence
        Coverage of the interval, in (0, 1).
    cluster
        What stimuli belong to, and are resampled with: a column of the stimulus table, a mapping
        from stimulus to cluster, or the cluster of each unit of an array. By default a column like
        ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that several stimuli share;
        ``"none"`` resamples single stimuli.
    seed
        Seed or generator of the replicates.

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
    return percent_agreement.coefficient(
        ratings,
        tolerance=tolerance,
        interval=interval,
        target=target,
        n_boot=n_boot,
        joint=joint,
        confidence=confidence,
        cluster=cluster,
        seed=seed,
    )


def _mean(totals: Any) -> Any:
    return totals[:, 0] / totals[:, 1]


@dataclass(frozen=True, eq=False)
class _Shares(Sums):
    """Sums of one label: the share of pairs that agree, and units."""

    answers: Answers
    tolerance: float

    def rater_totals(self, draws: Draws) -> Floats:
        n_rows = max(1, _BLOCK // self._order.size)
        return np.concatenate([self._of_raters(part) for _, part in draws.blocks(n_rows)])

    @cached_property
    def _order(self) -> Ints:
        """Answers unit by unit, by rising value."""
        return np.lexsort((self.answers.value, self.answers.unit))

    @cached_property
    def _starts(self) -> Ints:
        return np.flatnonzero(np.diff(self.answers.unit, prepend=-1))

    def _of_raters(self, draws: Draws) -> Floats:
        """Compute the totals where raters have weights; nobody is paired with themselves."""
        assert draws.rater is not None
        each = draws.rater[:, self.answers.rater[self._order]]
        value, unit = self.answers.value[self._order], self.answers.unit[self._order]
        agree = np.zeros_like(each)
        for lag, close in _close(value, unit, self.tolerance):
            agree[:, lag:][:, close] += each[:, lag:][:, close] * each[:, :-lag][:, close]
        m, squares, agreeing = (
            np.add.reduceat(part, self._starts, axis=1) for part in (each, each**2, agree)
        )
        pairs = (m**2 - squares) / 2
        paired = pairs > 0
        share = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=paired)
        weight = paired.astype(np.float64)
        if draws.stimulus is not None:
            weight *= draws.stimulus[:, self.unit]
        return np.stack([(weight * share).sum(axis=1), weight.sum(axis=1)], axis=1)


def _close(value: Floats, unit: Ints, tolerance: float) -> Iterator[tuple[int, Bools]]:
    """Give, lag by lag, which values are as near to the one so many places before in their unit.

    Values rise within units.
    """
    slack = tolerance + 1e-9 * (tolerance > 0)
    for lag in range(1, value.size):
        close = (unit[lag:] == unit[:-lag]) & (value[lag:] - value[:-lag] <= slack)
        if not close.any():
            return
        yield lag, close


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
    for lag, close in _close(value, unit, tolerance):
        agree += np.bincount(unit[lag:][close], minlength=size.size)
    return part.unit[starts], agree / (size * (size - 1) / 2)
