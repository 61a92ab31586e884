"""Outliers that may hide each other, and raters who tell no labels apart."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings

# Finding several outliers that may hide each other.


_SHARE = 3
"""At most one in three can be an outlier: more would be the panel itself."""
_AT_ONCE = 50


def outward(members: Ints, p_values: Callable[[Ints], Floats], *, level: float) -> list[int]:
    """Find the members of a group that are unlike the rest.

    As in the generalised test of extreme Studentised deviates, the most extreme member is taken
    away, then the next, and so on, and each is tested when its turn comes. All are outliers up to
    the last one whose test is significant, also those before it that looked harmless because others
    like them were still there.

    Parameters
    ----------
    members
        Numbers of the members.
    p_values
        Gives the p value of each of the members named, from those that are named with it.
    level
        Chance of finding any outlier where there is none: each step divides it by the number of
        members that are left.

    References
    ----------
    Rosner (1983), Technometrics 25.

    Examples
    --------
    >>> import numpy as np
    >>> far = np.array([0.5, 0.001, 0.4, 0.6])
    >>> outward(np.arange(4), lambda left: far[left], level=0.05)
    [1]
    """
    left, taken, last = np.asarray(members), [], 0
    for step in range(1, min(len(members) // _SHARE, _AT_ONCE) + 1):
        p = p_values(left)
        if np.isnan(p).all():
            break
        place = int(np.nanargmin(p))
        taken.append(int(left[place]))
        if p[place] * np.count_nonzero(~np.isnan(p)) < level:
            last = step
        left = np.delete(left, place)
    return taken[:last]


LEVEL = 0.01
"""Chance that a rule names anybody in a panel of people who are alike."""


def predicted(z: Floats, error: Floats) -> tuple[Floats, Floats, int]:
    """Mean and standard error of the prediction of each z from all the others, and its degrees."""
    k = z.size - 1
    if k < 2:
        return np.full(z.size, np.nan), np.full(z.size, np.nan), 1
    centred = z - z.mean()
    mean = (centred.sum() - centred) / k
    squares = (centred**2).sum() - centred**2
    variance = np.maximum(squares - k * mean**2, 0.0) / (k - 1)
    noise = ((error**2).sum() - error**2) / k
    between = np.maximum(variance - noise, 0.0)
    return mean + z.mean(), np.sqrt(between + variance / k + error**2), k - 1


# People who give all labels of a trial the same answer far more often than the others do.


_NOTICEABLE = 0.25
"""Share of a person's trials below which equal answers are slips, however rare they are."""


@dataclass(frozen=True)
class EqualTrials:
    """One person's trials in which every label got the same answer, beside those of the others."""

    rater: str
    equal: int
    trials: int
    """Trials in which the person rated two labels or more."""
    others_equal: int
    others_trials: int


def equal_trials(
    people: Ratings, *, level: float = LEVEL, without: Collection[str] = ()
) -> list[EqualTrials]:
    """Find people who tell no labels apart in more of their trials than others of their kind.

    The number e of such trials among a person's n is held against its predictive distribution from
    the other people: beta-binomial, with mean (K + 1/2) / (N + 1) for K of the others' N trials,
    and a precision of N + 1, or of what the differences between them allow, 1 / rho - 1, if that is
    less. rho is the intraclass correlation of their trials, by the moments of an analysis of
    variance. Survey research calls such answers straightlining or non-differentiation. Of yes and
    no, trials without any yes do not count: to name none of the labels is an answer.

    Parameters
    ----------
    people
        Answers of people by label; without labels nobody is found.
    level
        Chance of naming anybody in a panel of people who are alike (see :func:`outward`).
    without
        People who are neither judged nor counted among the others.

    References
    ----------
    Ridout, Demetrio and Firth (1999), Biometrics 55, section 2: the estimator of rho.
    """
    if people.scale.kind in ("nominal", "text") or not people.has_labels:
        return []
    answers = people.answers()
    equal, trials = _counted(
        answers.rater_code.astype(np.int64),
        answers.stimulus_code.astype(np.int64),
        answers.value,
        len(answers.rater_names),
        none=people.scale.kind == "binary",
    )
    trials[[name in without for name in answers.rater_names]] = 0

    def p_values(alive: Ints) -> Floats:
        return predictive_tails(equal[alive], trials[alive])

    found = [
        one
        for one in outward(np.flatnonzero(trials), p_values, level=level)
        if equal[one] >= _NOTICEABLE * trials[one]
    ]
    rest = np.setdiff1d(np.flatnonzero(trials), found)
    others = int(equal[rest].sum()), int(trials[rest].sum())
    names = answers.rater_names
    return [EqualTrials(names[one], int(equal[one]), int(trials[one]), *others) for one in found]


def _counted(
    rater: Ints, stimulus: Ints, value: Floats, n_raters: int, *, none: bool
) -> tuple[Ints, Ints]:
    """Count each person's trials with one answer to all labels, and all with two labels or more.

    With ``none``, only where that answer is not 0.
    """
    given = ~np.isnan(value)
    rater, stimulus, value = rater[given], stimulus[given], value[given]
    width = int(stimulus.max(initial=0)) + 1
    key = rater * width + stimulus
    order = np.argsort(key, kind="stable")
    trial, start, size = np.unique(key[order], return_index=True, return_counts=True)
    if trial.size == 0:
        return np.zeros(n_raters, dtype=np.int64), np.zeros(n_raters, dtype=np.int64)
    low = np.minimum.reduceat(value[order], start)
    high = np.maximum.reduceat(value[order], start)
    owner, several = trial // width, size > 1
    trials = np.bincount(owner[several], minlength=n_raters)
    equal = several & (low == high) & ((low != 0) | (not none))
    return np.bincount(owner[equal], minlength=n_raters), trials


def predictive_tails(equal: Ints, trials: Ints) -> Floats:
    """Chance of as many equal trials, for each person from the counts of all the others."""
    e, n = equal.astype(np.float64), trials.astype(np.float64)
    k = e.size - 1.0
    total, hits = n.sum() - n, e.sum() - e
    squares, ratio = (n**2).sum() - n**2, (e**2 / n).sum() - e**2 / n
    mean = (hits + 0.5) / (total + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = (ratio - hits**2 / total) / (k - 1)
        within = (hits - ratio) / (total - k)
        size = (total - squares / total) / (k - 1)
        rho = (between - within) / (between + (size - 1) * within)
        # Alike as far as can be told: only the uncertainty of the mean is left.
        limit = np.where(rho > 0, 1 / rho - 1, np.inf)
    precision = np.clip(np.minimum(total + 1, limit), 1e-3, None)
    p = np.ones(e.size)
    for one in np.flatnonzero(e > n * mean):
        p[one] = _upper_tail(
            int(e[one]), int(n[one]), mean[one] * precision[one], (1 - mean[one]) * precision[one]
        )
    return p


def _upper_tail(least: int, n: int, a: float, b: float) -> float:
    """P(X >= least) of the beta-binomial distribution of n trials."""
    x = np.arange(least, n + 1)
    log_choose = -np.log(n + 1) - betaln(x + 1, n - x + 1)
    return float(min(1.0, np.exp(log_choose + betaln(x + a, n - x + b) - betaln(a, b)).sum()))
