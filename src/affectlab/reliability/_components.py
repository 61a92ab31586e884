"""Variance components of ratings by moments: stimuli, raters, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats
from affectlab.ratings.arrays import Answers

__all__ = ["Components", "identifiable", "rater_variances", "variance_components"]

_MOST_ROUNDS = 500
_CLOSE = 1e-9


@dataclass(frozen=True)
class Components:
    """Mean and variance components of one label's ratings; variances may come out negative."""

    mean: float
    stimulus: float
    rater: float
    residual: float


def variance_components(part: Answers) -> Components:
    r"""Estimate the components of :math:`x_{ij} = \mu + s_j + b_i + e_{ij}` by moments.

    Henderson's first method: with uncorrected sums of squares over all N ratings, over stimuli,
    over raters and over the mean,

    .. math::

        E T_0 &= N(\mu^2 + \sigma_s^2 + \sigma_b^2 + \sigma_e^2) \\
        E T_s &= N\mu^2 + N\sigma_s^2 + J\sigma_b^2 + J\sigma_e^2 \\
        E T_b &= N\mu^2 + I\sigma_s^2 + N\sigma_b^2 + I\sigma_e^2 \\
        E T_\mu &= N\mu^2 + \tfrac{\sum n_j^2}{N}\sigma_s^2 + \tfrac{\sum n_i^2}{N}\sigma_b^2
            + \sigma_e^2

    for J stimuli and I raters, each rater at most once per stimulus. Unbiased for any pattern of
    gaps, without iteration; on complete data the analysis of variance.

    Returns
    -------
    Components; all ``nan`` where the ratings do not tell the components apart.

    References
    ----------
    Henderson (1953), Biometrics 9; Searle, Casella and McCulloch (1992), Variance Components,
    chapter 5.
    """
    x = part.value
    if x.size < 2:
        return Components(*[float("nan")] * 4)
    mean = float(x.mean())
    x = x - mean
    n_j, by_stimulus = _sums(part.unit, x)
    n_i, by_rater = _sums(part.rater, x)
    n, stimuli, raters = float(x.size), float(n_j.size), float(n_i.size)
    total = float(x @ x)
    between_stimuli = float((by_stimulus**2 / n_j).sum())
    between_raters = float((by_rater**2 / n_i).sum())
    # The sum over the mean is 0 because x is centred, which changes no difference of two lines.
    of_mean = np.array([(n_j**2).sum() / n, (n_i**2).sum() / n, 1.0])
    lines = np.array([[n, n, n], [n, stimuli, stimuli], [raters, n, raters]]) - of_mean
    if np.linalg.matrix_rank(lines) < 3:
        return Components(mean, *[float("nan")] * 3)
    found = np.linalg.solve(lines, [total, between_stimuli, between_raters]).tolist()
    return Components(mean, *found)


def _sums(code: np.ndarray[tuple[int], np.dtype[np.int64]], x: Floats) -> tuple[Floats, Floats]:
    """Number and sum of ratings of every code that occurs."""
    counts = np.bincount(code)
    sums: Floats = np.bincount(code, x).astype(np.float64)
    return counts[counts > 0].astype(np.float64), sums[counts > 0]


def identifiable(part: Answers) -> bool:
    """Whether the ratings tell stimuli, raters and noise apart."""
    return not np.isnan(variance_components(part).residual)


def rater_variances(part: Answers, residual: float) -> tuple[Floats, Floats]:
    r"""Estimate the noise variance :math:`v_i^2` of every rater by moments.

    Residuals of the additive least-squares fit hold the noise of all raters on the stimulus. With
    :math:`m_j` raters on stimulus j, up to terms in the raters' own means,

    .. math:: E\,SS_i = \Bigl(1 - \tfrac{1}{n_i}\Bigr) \sum_{j \in J_i}
        \Bigl[\Bigl(1 - \tfrac{2}{m_j}\Bigr) v_i^2 + \tfrac{\sigma_e^2}{m_j}\Bigr],

    solved for :math:`v_i^2` (Grubbs 1948, for gaps). A stimulus of two raters does not tell whose
    the noise is.

    Returns
    -------
    Estimates, which may be negative, and degrees of freedom, for the raters with any.
    """
    _, unit = np.unique(part.unit, return_inverse=True)
    _, rater = np.unique(part.rater, return_inverse=True)
    n_j, n_i = np.bincount(unit), np.bincount(rater)
    bias = np.zeros(n_i.size)
    for _ in range(_MOST_ROUNDS):
        quality = np.bincount(unit, part.value - bias[rater]) / n_j
        new = np.bincount(rater, part.value - quality[unit]) / n_i
        new -= new.mean()
        change = float(np.abs(new - bias).max())
        bias = new
        if change <= _CLOSE * (1 + float(np.abs(bias).max())):
            break
    quality = np.bincount(unit, part.value - bias[rater]) / n_j
    squares = np.bincount(rater, (part.value - quality[unit] - bias[rater]) ** 2)
    own = np.bincount(rater, np.maximum(1 - 2 / n_j[unit], 0))
    shared = np.bincount(rater, 1 / n_j[unit])
    informed = (own >= 1) & (n_i >= 2)
    n_i, own, shared, squares = n_i[informed], own[informed], shared[informed], squares[informed]
    variances: Floats = (squares / (1 - 1 / n_i) - residual * shared) / own
    freedom: Floats = own * (1 - 1 / n_i)
    return variances, freedom
