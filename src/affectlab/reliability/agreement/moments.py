"""Variance components of ratings by moments: stimuli, raters, and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers

_MOST_ROUNDS = 500
_CLOSE = 1e-9
_SINGULAR = 1e-12
"""Determinants of lines divided by the number of ratings up to here are those of singular ones."""


@dataclass(frozen=True)
class Components:
    """Mean and variance components of one label's ratings; variances may come out negative."""

    mean: float
    stimulus: float
    rater: float
    residual: float


@dataclass(frozen=True)
class Terms:
    """Quadratic sums and counts of one table, or of many at once; fields have shape (tables,)."""

    units: Floats
    raters: Floats
    n: Floats
    """Ratings."""
    unit_squares: Floats
    """Sum of squared numbers of ratings per unit."""
    rater_squares: Floats
    """Sum of squared numbers of ratings per rater."""
    inverse_m: Floats
    """Sum over units of 1 / ratings per unit."""
    t0: Floats
    """Sum of squared ratings."""
    t_units: Floats
    t_raters: Floats
    t_mean: Floats


@dataclass(frozen=True)
class Sums:
    """Ratings of one label and their sums by unit and by rater; codes have no gaps."""

    unit: Ints
    rater: Ints
    value: Floats
    """Ratings less their mean."""
    m: Floats
    """Ratings per unit."""
    of_unit: Floats
    per_rater: Floats
    of_rater: Floats

    @classmethod
    def of(cls, part: Answers) -> Sums:
        """Sum the answers on one label."""
        unit = np.unique(part.unit, return_inverse=True)[1].astype(np.int64)
        rater = np.unique(part.rater, return_inverse=True)[1].astype(np.int64)
        value = part.value - part.value.mean() if part.value.size else part.value
        counts = [np.bincount(code).astype(np.float64) for code in (unit, rater)]
        sums = [np.bincount(code, value).astype(np.float64) for code in (unit, rater)]
        return cls(unit, rater, value, counts[0], sums[0], counts[1], sums[1])

    def terms(self) -> Terms:
        """The terms of the table."""
        scalars = (
            self.m.size,
            self.per_rater.size,
            self.value.size,
            (self.m**2).sum(),
            (self.per_rater**2).sum(),
            (1 / self.m).sum(),
            (self.value**2).sum(),
            (self.of_unit**2 / self.m).sum(),
            (self.of_rater**2 / self.per_rater).sum(),
            self.value.sum() ** 2 / max(self.value.size, 1),
        )
        return Terms(*(np.array([scalar], dtype=np.float64) for scalar in scalars))


def henderson(terms: Terms) -> Floats:
    """Solve for the components of every table; see :func:`moment_components`.

    Returns
    -------
    Stimuli, raters and residual, shape (3, tables); ``nan`` where the ratings do not tell them
    apart.
    """
    t = terms
    n = np.maximum(t.n, 1)
    of_mean = np.stack([t.unit_squares / n, t.rater_squares / n, np.ones_like(n)])
    lines = np.stack(
        [
            np.stack([n, t.units, t.units]) - of_mean,
            np.stack([t.raters, n, t.raters]) - of_mean,
            np.stack([n, n, n]) - of_mean,
        ]
    ).transpose(2, 0, 1)
    sides = np.stack([t.t_units, t.t_raters, t.t0]) - t.t_mean
    solvable = np.abs(np.linalg.det(lines / n[:, None, None])) > _SINGULAR
    found = np.full((n.size, 3), np.nan)
    found[solvable] = np.linalg.solve(lines[solvable], sides.T[solvable][:, :, None])[:, :, 0]
    return found.T


def moment_components(part: Answers) -> Components:
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
    if part.value.size < 2:
        return Components(*[float("nan")] * 4)
    found = henderson(Sums.of(part).terms())[:, 0].tolist()
    return Components(float(part.value.mean()), *found)


def identifiable(part: Answers) -> bool:
    """Whether the ratings tell stimuli, raters and noise apart."""
    return not np.isnan(moment_components(part).residual)


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
