"""Fitting the subject model: three ways to estimate how inconsistent each rater is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.reliability._anderson import Anderson
from affectlab.reliability._subject_data import Grouped, Sweep, sweeping
from affectlab.reliability._subject_degrees import bias_degrees

__all__ = ["FITS", "PRIOR_DF", "Fit", "fit_mle", "fit_p910", "fit_reml", "least_squares"]

PRIOR_DF = 2.0
"""Ratings that the pooled variance is worth in ``reml``; see decision 6."""

_EPSILON = 1e-8
"""What P.910 adds to every variance, in the unit of the scale squared."""
_LOWEST = 1e-6
"""In ``mle`` no inconsistency falls below this share of the pooled one."""
_EXACT = 1e-13
"""Residuals below this share of the largest value are rounding errors."""
_PLAIN, _MEMORY = 8, 8
"""Rounds before acceleration starts, and earlier rounds that it uses."""
_FAR = 2.0
"""A log variance that jumps further has left the region that earlier rounds describe."""
_FAR_BIAS = 10.0
"""The same of a bias, in ranges of the ratings: without an end, small panels diverge."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Scores, biases and variances, in the unit of the scale (squared for variances)."""

    score: Floats
    """s_j; meaningless where a stimulus has no rating."""
    bias: Floats
    """b_i."""
    variance: Floats
    """v_i^2."""
    weight_bias: Floats
    """w_i and the bias that the last scores were made with, shape (raters, 2)."""
    df: Floats
    """Degrees of freedom of each v_i^2, those of the prior not included."""
    iterations: int
    converged: bool
    prior_df: float = 0.0
    exact: bool = False
    """No residuals: raters agree up to their biases and all variances are 0; or there are as many
    scores and biases as ratings, and all variances are ``nan``."""


def fit_p910(
    data: Grouped, *, max_iter: int = 1000, tol: float = 1e-8, parallel: bool = True
) -> Fit:
    """Alternate as ITU-T P.910 Annex E and ``sureal`` do, with their start and their stop."""
    n = data.n_of_rater
    score = np.zeros(data.n_stimuli)
    state = np.zeros((data.n_raters, 2))
    state[:, 0] = 1
    with sweeping(data, parallel=parallel, leverage=False) as sweep:
        sums, _ = sweep(state, score)
        bias = sums[:, 0] / n
        variance = np.maximum(sums[:, 1] / n - bias**2, 0)
        done = False
        iterations = 0
        while not done and iterations < max_iter:
            used = variance
            state[:, 0] = 1 / (used + _EPSILON)
            state[:, 1] = bias
            sums, change = sweep(state, score)
            shift = sums[:, 0] / n
            bias = bias + shift
            variance = np.maximum(sums[:, 1] / n - shift**2, 0)
            iterations += 1
            done = change**0.5 < tol
    centre = bias.mean()
    return Fit(score + centre, bias - centre, used, state, n, iterations, done)


def fit_mle(
    data: Grouped, *, max_iter: int = 1000, tol: float = 1e-8, parallel: bool = True
) -> Fit:
    """Maximise the likelihood; where it has no maximum, stop at a floor.

    v_i^2 = SS_i / n_i, no less than 1e-12 of the pooled variance.
    """

    def degrees(_weight: Floats, _leverage: Floats) -> Floats:
        return data.n_of_rater

    alone = np.empty((0, 2), dtype=np.int64)
    return _fixed_point(data, degrees, alone, 0.0, _LOWEST**2, max_iter, tol, parallel)


def fit_reml(
    data: Grouped,
    *,
    prior_df: float = PRIOR_DF,
    max_iter: int = 1000,
    tol: float = 1e-8,
    parallel: bool = True,
) -> Fit:
    """Maximise the restricted likelihood, with a weak prior towards the pooled variance.

    v_i^2 = (SS_i + d_0 v_0^2) / (f_i + d_0), v_0^2 = sum SS_i / sum f_i,
    f_i = sum_j (1 - h_ij) - c_i; see :func:`~affectlab.reliability.subject_model`.
    """
    n, group = data.n_of_rater, data.group
    parameters = (data.n_of_stimulus > 0).sum() + n.size - (group.max(initial=-1) + 1)
    if n.sum() <= parameters:
        return least_squares(data, np.nan)

    of_bias = bias_degrees(data)

    def degrees(weight: Floats, leverage: Floats) -> Floats:
        return np.maximum(n - leverage - of_bias(weight), 0)

    return _fixed_point(data, degrees, _pairs(group), prior_df, 1e-24, max_iter, tol, parallel)


Degrees = Callable[[Floats, Floats], Floats]
"""(w_i, sum_j h_ij) -> degrees of freedom f_i."""


def _fixed_point(
    data: Grouped,
    degrees: Degrees,
    pairs: Ints,
    prior_df: float,
    lowest: float,
    max_iter: int,
    tol: float,
    parallel: bool,
) -> Fit:
    """Repeat: scores, biases, variances; until none changes by more than ``tol`` of its size."""
    n = data.n_of_rater
    score = np.zeros(data.n_stimuli)
    smallest = (_EXACT * np.abs(data.value).max(initial=0.0)) ** 2
    state = np.zeros((data.n_raters, 2))
    state[:, 0] = 1
    with sweeping(data, parallel=parallel) as sweep:
        step = _Step(sweep, n, pairs, degrees, prior_df, lowest, score)
        sums, _ = sweep(state, score)
        bias = sums[:, 0] / n
        squares = np.maximum(sums[:, 1] - n * bias**2, 0).sum()
        pooled = squares / max(degrees(np.ones_like(n), sums[:, 2]).sum(), 1.0)
        theta = np.concatenate([np.full(n.size, np.log(max(pooled, smallest, 1e-300))), bias])
        anderson = Anderson(_MEMORY, _PLAIN, np.repeat([_FAR, _far_bias(data)], n.size))
        iterations, done = 0, False
        exact = bool(pooled <= smallest)
        while not done and not exact and iterations < max_iter:
            new = step(theta)
            iterations += 1
            exact = step.pooled <= smallest
            log_change, bias_change = np.abs(new - theta).reshape(2, -1).max(axis=1)
            done = log_change < tol and bias_change < tol * step.pooled**0.5
            unit = np.repeat([1.0, max(step.pooled, smallest) ** 0.5 or 1.0], n.size)
            theta = new if done else anderson.next(theta, new, unit)
    if exact:
        return least_squares(data, 0.0, iterations)
    log_variance, bias = new.reshape(2, -1)
    centre = _centres(bias, data.group)
    return Fit(
        score + centre[data.group_of_stimulus],
        bias - centre[data.group],
        np.exp(log_variance),
        step.state,
        step.df,
        iterations,
        bool(done),
        prior_df,
    )


def _far_bias(data: Grouped) -> float:
    return _FAR_BIAS * float(np.ptp(data.value)) if data.value.size else 0.0


class _Step:
    """One round of updates, as a map of (log v_i^2, b_i) to itself."""

    def __init__(
        self,
        sweep: Sweep,
        n: Floats,
        pairs: Ints,
        degrees: Degrees,
        prior_df: float,
        lowest: float,
        score: Floats,
    ) -> None:
        self._sweep, self._n, self._pairs, self._degrees = sweep, n, pairs, degrees
        self._prior_df, self._lowest, self._score = prior_df, lowest, score
        self.state = np.zeros((n.size, 2))
        self.df = n
        self.pooled = np.inf

    def __call__(self, theta: Floats) -> Floats:
        log_variance, bias = theta.reshape(2, -1)
        weight = np.exp(-log_variance)
        self.state = np.column_stack([weight, bias])
        sums, _ = self._sweep(self.state, self._score)
        shift = sums[:, 0] / self._n
        squares = np.maximum(sums[:, 1] - self._n * shift**2, 0)
        self.df = self._degrees(weight, weight * sums[:, 2]).copy()
        for a, b in self._pairs:
            # Two raters alone tell only the sum of their variances.
            squares[[a, b]] = squares[a] + squares[b]
            self.df[[a, b]] = self.df[a] + self.df[b]
        self.pooled = squares.sum() / max(self.df.sum(), np.finfo(float).tiny)
        prior = self._prior_df
        total = self.df + prior
        new = (squares + prior * self.pooled) / np.where(total > 0, total, 1)
        new = np.maximum(new, max(self._lowest * self.pooled, 1e-300))
        return np.concatenate([np.log(new), bias + shift])


def least_squares(data: Grouped, variance: float, iterations: int = 0) -> Fit:
    """Scores and biases that leave no residuals; every variance is ``variance``."""
    n = data.n_of_rater
    enough = 1e-15 * np.abs(data.value).max(initial=1.0)
    score = np.zeros(data.n_stimuli)
    state = np.zeros((data.n_raters, 2))
    state[:, 0] = 1
    anderson = Anderson(_MEMORY, _PLAIN, np.full(n.size, _far_bias(data)))
    with sweeping(data, parallel=False) as sweep:
        for _ in range(1000):
            sums, _change = sweep(state, score)
            shift = sums[:, 0] / n
            if np.abs(shift).max(initial=0.0) <= enough:
                break
            state[:, 1] = anderson.next(state[:, 1].copy(), state[:, 1] + shift)
    centre = _centres(state[:, 1], data.group)
    return Fit(
        score + centre[data.group_of_stimulus],
        state[:, 1] - centre[data.group],
        np.full(n.size, variance),
        state,
        np.zeros(n.size),
        iterations,
        converged=True,
        exact=True,
    )


def _centres(bias: Floats, group: Ints) -> Floats:
    """Mean bias of each group of linked raters; a last entry of 0 for stimuli without a rating."""
    means = np.bincount(group, bias) / np.bincount(group)
    return np.append(means, 0.0)


def _pairs(group: Ints) -> Ints:
    """Groups of two raters, shape (pairs, 2)."""
    size = np.bincount(group)
    members = np.flatnonzero(size[group] == 2)
    return members[np.argsort(group[members], kind="stable")].reshape(-1, 2)


FITS: dict[str, Callable[..., Fit]] = {"reml": fit_reml, "p910": fit_p910, "mle": fit_mle}
"""Methods by name: (data, max_iter, tol, parallel) -> fit."""
