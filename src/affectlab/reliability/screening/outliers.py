"""Raters who are unlike the others: low agreement, equal answers to all labels."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, stdtr, stdtrit

from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings
from affectlab.reliability.agreement import beside_concordance

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
_FEWEST = 10
"""Stimuli below which leaving one out says little: of few, all may miss what is seldom chosen."""


@dataclass(frozen=True)
class Apart:
    """One person beside the others."""

    rater: str
    value: float
    """Correlation with the mean of the others, over all their common stimuli and labels."""
    low: float
    """Lowest correlation to be expected of one more person who is like the others; nan where there
    are too few others to say."""
    others: float
    """Median of the same correlation over the other people."""
    flagged: bool
    """Whether the correlation is lower than can be expected."""


def agreement_with_others(people: Ratings, *, without: Collection[str] = ()) -> list[Apart]:
    """Correlate each person with the mean of the others; those without a correlation are left out.

    Pearson's correlation over all answers to a stimulus and label that somebody else answered,
    too. Labels are taken together, since one label alone has too few answers in a study of usual
    size. Its Fisher transform z is held against the prediction interval for one more person,
    one-sided, from the k other people: their mean, minus t (k - 1 degrees of freedom) times the
    root of tau^2 + var(z) / k + s^2. Here s is the person's own standard error, by the jackknife
    over stimuli with all their labels, and tau^2 = var(z) - mean(s^2), not below 0, is how much
    the others differ among themselves beyond their standard errors. So in a panel of one mind a
    small difference counts, and in one of many minds only a large one does. The level is divided
    by the number of people, and outliers do not hide each other (see :func:`outward`).

    Parameters
    ----------
    people
        Answers of people.
    without
        People known to be apart already: they are no part of the others, and are not flagged.

    References
    ----------
    Higgins, Thompson and Spiegelhalter (2009), Journal of the Royal Statistical Society A 172:
    prediction intervals. Hedges and Olkin (1985), Statistical Methods for Meta-Analysis,
    section 9.B: tau^2.
    """
    if people.scale.kind in ("nominal", "text") or people.n_raters < 3:
        return []
    answers = people.answers()
    given = ~np.isnan(answers.value)
    labels = max(len(answers.label_names), 1) if people.has_labels else 1
    label = answers.label_code[given] if people.has_labels else 0
    stimulus = answers.stimulus_code[given].astype(np.int64)
    rater = answers.rater_code[given].astype(np.int64)
    cell = stimulus * labels + label
    names = answers.rater_names
    out = {code for code, name in enumerate(names) if name in without}
    while True:
        counts = ~np.isin(np.arange(len(names)), list(out))
        r, error = _correlations(cell, stimulus, rater, answers.value[given], counts)
        z = np.arctanh(r)
        judged = np.flatnonzero(counts & ~np.isnan(z) & ~np.isnan(error))

        def p_values(left: Ints, z: Floats = z, error: Floats = error) -> Floats:
            mean, spread, degrees = predicted(z[left], error[left])
            found: Floats = stdtr(degrees, (z[left] - mean) / spread)
            return found

        more = outward(judged, p_values, level=LEVEL)
        if not more:
            break
        # Their answers stood in the means that the rest were held against.
        out |= set(more)
    known = {code for code, name in enumerate(names) if name in without}
    inside = np.flatnonzero(counts & ~np.isnan(z))
    found = []
    for code in np.flatnonzero(~np.isnan(z)):
        rest = inside[inside != code]
        if rest.size < 2:
            continue
        low = np.nan
        if not np.isnan(error[code]) and not np.isnan(error[rest]).any():
            own = np.array([code])
            both = np.concatenate([own, rest])
            mean, spread, degrees = predicted(z[both], error[both])
            low = np.tanh(mean[0] + stdtrit(degrees, LEVEL / (rest.size + 1)) * spread[0])
        flagged = int(code) in out - known and not r[code] >= low
        median = float(np.median(r[rest]))
        found.append(Apart(names[code], float(r[code]), float(low), median, flagged))
    return found


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


def _correlations(
    cell: Ints, stimulus: Ints, rater: Ints, value: Floats, counts: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Correlate each person with the mean of those who count; give r, and the error of its z."""
    n_raters = counts.size
    own = counts[rater]
    size = np.bincount(cell, own)[cell] - own
    total = np.bincount(cell, np.where(own, value, 0.0))[cell] - np.where(own, value, 0.0)
    shared = size > 0
    x, y = value[shared], total[shared] / size[shared]
    rater, stimulus = rater[shared], stimulus[shared]
    n = np.maximum(np.bincount(rater, minlength=n_raters), 1)
    x = x - (np.bincount(rater, x, n_raters) / n)[rater]
    y = y - (np.bincount(rater, y, n_raters) / n)[rater]
    width = int(stimulus.max(initial=0)) + 1
    block, code = np.unique(rater * width + stimulus, return_inverse=True)
    terms: tuple[Floats, ...] = (np.ones(x.size), x, y, x * x, y * y, x * y)
    sums: Floats = np.stack([np.bincount(code, term, block.size) for term in terms], axis=1)
    owner = block // width
    whole: Floats = np.stack([np.bincount(owner, one, n_raters) for one in sums.T], axis=1)
    blocks = np.bincount(owner, minlength=n_raters)
    r = np.where(blocks >= _FEWEST, _pearson(whole), np.nan)
    left = np.arctanh(_pearson(whole[owner] - sums))
    mean = np.bincount(owner, left, n_raters) / np.maximum(blocks, 1)
    squares = np.bincount(owner, (left - mean[owner]) ** 2, n_raters)
    return r, np.sqrt(squares * (blocks - 1) / np.maximum(blocks, 1))


def _pearson(sums: Floats) -> Floats:
    """Correlations from sums of n, x, y, x², y² and xy, one per row; below 1, so that z exists."""
    r: Floats = np.clip(beside_concordance(sums)[0], -1 + 1e-9, 1 - 1e-9)
    return r


# People who give all labels of a trial the same answer far more often than the others do.


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


def equal_trials(people: Ratings, *, level: float = LEVEL) -> list[EqualTrials]:
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
