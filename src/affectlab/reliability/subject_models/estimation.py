"""Fitting the subject model: three ways to estimate how inconsistent each rater is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from affectlab.core.types import Floats, Ints
from affectlab.reliability.subject_models.panels import Grouped, sweeping

# Degrees of freedom that scores and biases take from each rater's residuals.


_EXACT_RATERS = 64
_EXACT_PAIRS = 200_000
"""Up to here exact degrees of freedom take less than the passes over the ratings."""


def bias_degrees(data: Grouped) -> Callable[[Floats], Floats]:
    r"""Give the function from weights w_i to the degrees of freedom c_i of the biases.

    With S the precision of the biases after the scores are eliminated, and h_j the shares of the
    raters in stimulus j,

    .. math:: c_i = w_i \sum_{k \in i} (e_i - h_{j(k)})' S^+ (e_i - h_{j(k)})

    which small designs get exactly. Others get c_i = 1 - p_i, with p_i the share of rater i in the
    weight of all ratings of its group: exact where everyone rated everything, right in total for
    any group, and wrong by far less than one rating where each rater has many.
    """
    n, group = data.n_of_rater, data.group
    if data.n_raters <= _EXACT_RATERS and pairs_of(data) <= _EXACT_PAIRS:
        return lambda weight: _exact(data, weight)

    def by_share(weight: Floats) -> Floats:
        own = n * weight
        left: Floats = 1 - own / np.bincount(group, own)[group]
        return left

    return by_share


def pairs_of(data: Grouped) -> float:
    """Ordered pairs of ratings of the same stimulus, each with itself included."""
    return float((data.n_of_stimulus.astype(np.float64) ** 2).sum())


def _exact(data: Grouped, weight: Floats) -> Floats:
    from affectlab.reliability.subject_models.kernels import pair_sums, pair_terms

    weight = np.ascontiguousarray(weight)
    of_rating = data.stimulus
    total = np.asarray(np.bincount(of_rating, weight[data.rater], data.n_stimuli), dtype=float)
    _, crossed = pair_sums(data.start, data.rater, weight, total)
    covariance = bias_covariance(data, weight, crossed)
    within, _ = pair_terms(data.start, data.rater, weight, total, covariance, covariance)
    own = data.n_of_rater * covariance.diagonal() * weight
    both = (crossed * covariance).sum(axis=1)
    rest = weight * np.bincount(data.rater, within[of_rating], data.n_raters)
    taken: Floats = np.clip(own - 2 * both + rest, 0, 1)
    return taken


def bias_covariance(data: Grouped, weight: Floats, crossed: Floats) -> Floats:
    """S^+, S = diag(n_i w_i) - sum_j W_j h_j h_j'; the biases of a group sum to zero.

    Parameters
    ----------
    crossed
        sum_j W_j h_j h_j', shape (raters, raters).
    """
    precision = np.diag(data.n_of_rater * weight) - crossed
    covariance = np.zeros_like(precision)
    for group in range(data.group.max(initial=-1) + 1):
        members = np.flatnonzero(data.group == group)
        if members.size < 2:
            continue
        block = np.ix_(members, members)
        # S has the null vector 1; filling it up makes S invertible without changing the rest.
        fill = precision[block].diagonal().mean()
        filled = np.linalg.pinv(precision[block] + fill, rcond=1e-15, hermitian=True)
        covariance[block] = filled - 1 / (fill * members.size**2)
    return covariance


# Anderson acceleration: reach the fixed point of a map in fewer evaluations.


class Anderson:
    """Combine the last steps of a fixed-point iteration so that their residuals cancel.

    Where plain iteration converges slowly, as between groups of raters that hardly share a
    stimulus, this needs a tenth of the rounds.

    Parameters
    ----------
    memory
        Number of differences of earlier steps that are used.
    plain
        Evaluations before acceleration starts.
    limit
        No entry moves further than this from the plain step; ``inf`` where it may. Shape (k,).

    References
    ----------
    Walker and Ni (2011), "Anderson acceleration for fixed-point iterations".

    Examples
    --------
    >>> matrix = np.array([[0.9, 0.09], [0.0, 0.99]])
    >>> x, anderson = np.ones(2), Anderson(memory=2, plain=1, limit=np.full(2, np.inf))
    >>> for _ in range(6):
    ...     x = anderson.next(x, matrix @ x + 1)
    >>> np.allclose(x, np.linalg.solve(np.eye(2) - matrix, np.ones(2)))
    True
    """

    def __init__(self, memory: int, plain: int, limit: Floats) -> None:
        self._memory, self._plain, self._limit = memory, plain, limit
        self._residuals: list[Floats] = []
        self._mapped: list[Floats] = []
        self._count = 0

    def next(self, given: Floats, mapped: Floats, unit: Floats | float = 1.0) -> Floats:
        """Choose the next point.

        Parameters
        ----------
        given, mapped
            A point and its image, shape (k,). A point whose image is not finite is not used.
        unit
            Size of a change that matters, by entry.
        """
        self._count += 1
        if self._count <= self._plain:
            return mapped
        residual = (mapped - given) / unit
        if not np.isfinite(residual).all():
            return mapped
        self._residuals = [*self._residuals[-self._memory :], residual]
        self._mapped = [*self._mapped[-self._memory :], mapped]
        if len(self._mapped) < 2:
            return mapped
        residuals = np.diff(np.array(self._residuals), axis=0).T
        steps = np.diff(np.array(self._mapped), axis=0).T
        share = np.linalg.lstsq(residuals, self._residuals[-1], rcond=1e-10)[0]
        return np.clip(mapped - steps @ share, mapped - self._limit, mapped + self._limit)


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
class SubjectFit:
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
) -> SubjectFit:
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
    return SubjectFit(score + centre, bias - centre, used, state, n, iterations, done)


def fit_mle(
    data: Grouped, *, max_iter: int = 1000, tol: float = 1e-8, parallel: bool = True
) -> SubjectFit:
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
) -> SubjectFit:
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
) -> SubjectFit:
    """Repeat: scores, biases, variances; until none changes by more than ``tol`` of its size."""
    n = data.n_of_rater
    score = np.zeros(data.n_stimuli)
    smallest = (_EXACT * np.abs(data.value).max(initial=0.0)) ** 2
    state = np.zeros((data.n_raters, 2))
    state[:, 0] = 1
    with sweeping(data, parallel=parallel) as sweep:

        def step(theta: Floats) -> tuple[Floats, Floats, Floats, float]:
            """One round of (log v_i^2, b_i); also w_i and b_i, degrees of freedom, and v_0^2."""
            log_variance, bias = theta.reshape(2, -1)
            weight = np.exp(-log_variance)
            state = np.column_stack([weight, bias])
            sums, _ = sweep(state, score)
            shift = sums[:, 0] / n
            squares = np.maximum(sums[:, 1] - n * shift**2, 0)
            df = degrees(weight, weight * sums[:, 2]).copy()
            for a, b in pairs:
                # Two raters alone tell only the sum of their variances.
                squares[[a, b]] = squares[a] + squares[b]
                df[[a, b]] = df[a] + df[b]
            pooled = squares.sum() / max(df.sum(), np.finfo(float).tiny)
            total = df + prior_df
            new = (squares + prior_df * pooled) / np.where(total > 0, total, 1)
            new = np.maximum(new, max(lowest * pooled, 1e-300))
            return np.concatenate([np.log(new), bias + shift]), state, df, float(pooled)

        sums, _ = sweep(state, score)
        bias = sums[:, 0] / n
        squares = np.maximum(sums[:, 1] - n * bias**2, 0).sum()
        pooled = squares / max(degrees(np.ones_like(n), sums[:, 2]).sum(), 1.0)
        theta = np.concatenate([np.full(n.size, np.log(max(pooled, smallest, 1e-300))), bias])
        anderson = Anderson(_MEMORY, _PLAIN, np.repeat([_FAR, _far_bias(data)], n.size))
        iterations, done = 0, False
        exact = bool(pooled <= smallest)
        while not done and not exact and iterations < max_iter:
            new, state, df, pooled = step(theta)
            iterations += 1
            exact = pooled <= smallest
            log_change, bias_change = np.abs(new - theta).reshape(2, -1).max(axis=1)
            done = log_change < tol and bias_change < tol * pooled**0.5
            unit = np.repeat([1.0, max(pooled, smallest) ** 0.5 or 1.0], n.size)
            theta = new if done else anderson.next(theta, new, unit)
    if exact:
        return least_squares(data, 0.0, iterations)
    log_variance, bias = new.reshape(2, -1)
    centre = _centres(bias, data.group)
    return SubjectFit(
        score + centre[data.group_of_stimulus],
        bias - centre[data.group],
        np.exp(log_variance),
        state,
        df,
        iterations,
        bool(done),
        prior_df,
    )


def _far_bias(data: Grouped) -> float:
    return _FAR_BIAS * float(np.ptp(data.value)) if data.value.size else 0.0


def least_squares(
    data: Grouped, variance: float, iterations: int = 0, tol: float = 1e-15
) -> SubjectFit:
    """Scores and biases by least squares; every variance is ``variance``.

    They are found where no bias changes by more than ``tol`` of the largest value.
    """
    n = data.n_of_rater
    enough = tol * np.abs(data.value).max(initial=1.0)
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
    return SubjectFit(
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


FITS: dict[str, Callable[..., SubjectFit]] = {"reml": fit_reml, "p910": fit_p910, "mle": fit_mle}
"""Methods by name: (data, max_iter, tol, parallel) -> fit."""

# How uncertain the scores, biases and inconsistencies of the ``reml`` subject model are.


_DENSE_RATERS = 256
_DENSE_PAIRS = 30_000_000
"""Up to here covariances between raters are used; above, raters count as uncorrelated."""


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard errors, and the degrees of freedom of their intervals."""

    score_se: Floats
    score_df: Floats
    bias_se: Floats
    bias_df: Floats
    variance_df: Floats
    """Degrees of freedom of the chi-squared interval of v_i^2."""


def reml_errors(data: Grouped, fit: SubjectFit, total: Floats, sums: Floats) -> Errors:
    r"""Compute the errors of scores with estimated weights.

    With C the covariance of the estimated :math:`\log v_i^2` (inverse of the REML information,
    prior included), :math:`h_j` the shares of the raters in stimulus j, and S the precision of the
    biases after the scores are eliminated:

    .. math::

        \mathrm{se}_j^2 = \frac{1 + 2 (\sum_i h_{ij} C_{ii} - h_j' C h_j)}{W_j} + h_j' S^+ h_j,
        \qquad \nu_j = \frac{2}{h_j' C h_j}

    The factor makes up for weights that are themselves estimates (Meier 1953; Kackar and Harville
    1984), the last term for the biases, and :math:`\nu_j` is Satterthwaite's.

    Parameters
    ----------
    total, sums
        W_j, and the sums per rater that ``describe`` gives.
    """
    leverage, squared = sums[:, 0], sums[:, 1]
    left = np.maximum(data.n_of_rater - leverage, np.finfo(float).tiny)
    # The bias of a rater takes a part of what the scores leave.
    kept = np.clip(fit.df / left, 0, 1)
    if data.n_raters <= _DENSE_RATERS and pairs_of(data) <= _DENSE_PAIRS:
        terms = _dense_terms(data, fit, total, leverage, kept)
    else:
        terms = _diagonal_terms(data, fit, total, squared, kept, left)
    own, both, bias, log_variance, bias_variance = terms
    # A first-order correction beyond the error itself says only that the error is unknown.
    score_se = np.sqrt((1 + 2 * np.clip(own - both, 0, 1)) / _positive(total) + np.maximum(bias, 0))
    return Errors(
        score_se,
        2 / _positive(both),
        np.sqrt(np.maximum(bias_variance, 0)),
        np.maximum(fit.df, 1),
        2 / _positive(log_variance),
    )


def _positive(values: Floats) -> Floats:
    """Leave out what a collapsed fit, whose information is singular, can make of a variance."""
    return np.where(values > 0, values, np.nan)


def _dense_terms(
    data: Grouped, fit: SubjectFit, total: Floats, leverage: Floats, kept: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    from affectlab.reliability.subject_models.kernels import pair_sums, pair_terms, weighted_terms

    weight = fit.weight_bias[:, 0].copy()
    shares, crossed = pair_sums(data.start, data.rater, weight, total)
    information = shares + np.diag(data.n_of_rater - 2 * leverage)
    information *= np.sqrt(np.outer(kept, kept)) / 2
    information[np.diag_indices_from(information)] += fit.prior_df / 2
    covariance = _inverse(information)
    of_bias = bias_covariance(data, weight, crossed)
    both, bias = pair_terms(data.start, data.rater, weight, total, covariance, of_bias)
    log_variance = covariance.diagonal().copy()
    terms = np.column_stack([log_variance] * 3)
    own = weighted_terms(data.start, data.rater, weight, total, terms)[:, 0]
    return own, both, bias, log_variance, of_bias.diagonal().copy()


def _diagonal_terms(
    data: Grouped, fit: SubjectFit, total: Floats, squared: Floats, kept: Floats, left: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    from affectlab.reliability.subject_models.kernels import weighted_terms

    weight = fit.weight_bias[:, 0].copy()
    log_variance = 2 / np.maximum(kept * squared + fit.prior_df, np.finfo(float).tiny)
    bias_variance = 1 / (weight * left)
    terms = np.column_stack([log_variance, log_variance, bias_variance])
    out = weighted_terms(data.start, data.rater, weight, total, terms)
    return out[:, 0], out[:, 1], out[:, 2], log_variance, bias_variance


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; directions without information get a pseudo-inverse."""
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
