"""People who give all labels of a trial the same answer far more often than the others do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln

from affectlab._types import Floats, Ints
from affectlab.report._outward import outward

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["EqualTrials", "equal_trials"]

_NOTICEABLE = 0.05
"""Share of a person's trials below which equal answers do no harm, however rare they are."""


@dataclass(frozen=True)
class EqualTrials:
    """One person's trials in which every label got the same answer, beside those of the others."""

    rater: str
    equal: int
    trials: int
    """Trials in which the person rated two labels or more."""
    others_equal: int
    others_trials: int


def equal_trials(people: Ratings, *, level: float) -> list[EqualTrials]:
    """Find people who tell no labels apart in more of their trials than others of their kind.

    The number e of such trials among a person's n is held against its predictive distribution from
    the other people: beta-binomial, with mean (K + 1/2) / (N + 1) for K of the others' N trials,
    and a precision of N + 1, or of what the differences between them allow, 1 / rho - 1, if that is
    less. rho is the intraclass correlation of their trials, by the moments of an analysis of
    variance. Survey research calls such answers straightlining or non-differentiation.

    Parameters
    ----------
    people
        Answers of people by label; without labels nobody is found.
    level
        Chance of naming anybody in a panel of people who are alike (see :func:`outward`).

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
    )

    def p_values(alive: Ints) -> Floats:
        return _p_values(equal[alive], trials[alive])

    found = [
        one
        for one in outward(np.flatnonzero(trials), p_values, level=level)
        if equal[one] >= _NOTICEABLE * trials[one]
    ]
    rest = np.setdiff1d(np.arange(trials.size), found)
    others = int(equal[rest].sum()), int(trials[rest].sum())
    names = answers.rater_names
    return [EqualTrials(names[one], int(equal[one]), int(trials[one]), *others) for one in found]


def _counted(rater: Ints, stimulus: Ints, value: Floats, n_raters: int) -> tuple[Ints, Ints]:
    """Count each person's trials with one answer to all labels, and all with two labels or more."""
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
    return np.bincount(owner[several & (low == high)], minlength=n_raters), trials


def _p_values(equal: Ints, trials: Ints) -> Floats:
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
