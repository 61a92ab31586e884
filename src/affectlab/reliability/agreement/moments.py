"""Sums of the ratings of one label, what they tell apart, and the noise of each rater."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers
from affectlab.reliability.subject_models import Grouped, least_squares

_CLOSE = 1e-12
_ROUNDING = 1e-12
"""Sums of squares up to this share of all are what rounding leaves of none."""


@dataclass(frozen=True)
class RatingSums:
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
    def of(cls, part: Answers) -> RatingSums:
        """Sum the answers on one label."""
        unit, rater = renumbered(part.unit), renumbered(part.rater)
        value = part.value - part.value.mean() if part.value.size else part.value
        counts = [np.bincount(code).astype(np.float64) for code in (unit, rater)]
        sums = [np.bincount(code, value).astype(np.float64) for code in (unit, rater)]
        return cls(unit, rater, value, counts[0], sums[0], counts[1], sums[1])


def renumbered(code: Ints) -> Ints:
    """Number the codes that occur from 0 on, in their order."""
    place: Ints = np.cumsum(np.bincount(code) > 0) - 1
    return place[code]


def spearman_brown(single: Floats | float, k: Floats | float) -> Floats:
    """Reliability of the mean of k ratings, from that of one; k may be 1.

    ``nan`` for -1/(k - 1) and less, where the mean would have no variance.

    Examples
    --------
    >>> spearman_brown(0.5, 4).item()
    0.8
    """
    single, k = np.broadcast_arrays(np.asarray(single, dtype=np.float64), k)
    size = 1 + (k - 1) * single
    return ratio(k * single, size)


def residual_freedom(unit: Ints, rater: Ints) -> int:
    """Ratings less the effects of units and raters that they tell; codes have no gaps."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    units, raters = int(unit.max()) + 1, int(rater.max()) + 1
    graph = csr_array(
        (np.ones(unit.size), (unit, units + rater)), shape=(units + raters, units + raters)
    )
    return int(unit.size) - units - raters + int(connected_components(graph, directed=False)[0])


def identifiable(part: Answers) -> bool:
    """Whether the ratings tell stimuli, raters and noise apart."""
    if part.value.size < 2:
        return False
    sums = RatingSums.of(part)
    several = min(sums.m.size, sums.per_rater.size) > 1
    return several and residual_freedom(sums.unit, sums.rater) > 0


def additive_variances(sums: RatingSums) -> tuple[float, float] | None:
    """Variances of units and raters; ``None`` where something else is left of the ratings."""
    allowed = _ROUNDING * float((sums.value**2).sum())
    # Any two raters would differ by the same on all units. Each is compared with the first of the
    # unit; of what that is off its mean, four residuals are the most.
    first = np.unique(sums.unit, return_index=True)[1][sums.unit]
    apart = sums.value - sums.value[first]
    pair = np.unique(sums.rater[first] * sums.per_rater.size + sums.rater, return_inverse=True)[1]
    mean = np.bincount(pair, apart) / np.bincount(pair)
    if np.abs(apart - mean[pair]).max() > 4 * math.sqrt(allowed):
        return None
    of_unit, of_rater = _additive(sums)
    if ((sums.value - of_unit[sums.unit] - of_rater[sums.rater]) ** 2).sum() > allowed:
        return None
    return float(of_unit.var(ddof=1)), float(of_rater.var(ddof=1))


def _additive(sums: RatingSums) -> tuple[Floats, Floats]:
    """Effects of units and raters by least squares."""
    start = np.append(0, np.cumsum(sums.m)).astype(np.int64)
    data = Grouped(start, sums.rater.astype(np.int32), sums.value, sums.per_rater.size)
    found = least_squares(data, 0.0, tol=_CLOSE)
    return found.score, found.bias


def noise_spread(part: Answers, residual: float) -> float:
    r"""Estimate how much the noise of raters differs: the SD over raters of :math:`\log v_i`.

    Residuals of the additive least-squares fit hold the noise of all raters on the stimulus. With
    :math:`m_j` raters on stimulus j and :math:`d_j = 1 - 2/m_j`, up to terms in the raters' own
    means, a rater's sum of squares over :math:`1 - 1/n_i` has

    .. math:: E\,SS_i = \sum_{j \in J_i} \Bigl[d_j v_i^2 + \tfrac{\sigma_e^2}{m_j}\Bigr], \quad
        \mathrm{var}\,SS_i = \tfrac{2}{1 - 1/n_i} \sum_{j \in J_i}
        \Bigl[d_j v_i^2 + \tfrac{\sigma_e^2}{m_j}\Bigr]^2

    (Grubbs 1948, for gaps). The weighted variance over raters of the estimates of :math:`v_i^2` is
    set to its expectation, in which c, the squared coefficient of variation of :math:`v_i^2`, is
    linear; of lognormal noise, :math:`c = \exp(4 s^2) - 1` with the spread s. A stimulus of two
    raters does not tell whose the noise is.

    Parameters
    ----------
    part
        Answers to one label.
    residual
        Mean over raters of :math:`v_i^2`.
    """
    sums = RatingSums.of(part)
    unit, rater, n_j, n_i = sums.unit, sums.rater, sums.m, sums.per_rater
    quality, bias = _additive(sums)
    squares = np.bincount(rater, (sums.value - quality[unit] - bias[rater]) ** 2)
    share, others = np.maximum(1 - 2 / n_j[unit], 0), 1 / n_j[unit]
    own = np.bincount(rater, share)
    informed = (own >= 1) & (n_i >= 2)
    if residual <= 0 or informed.sum() < 2:
        return 0.0

    def of(amount: Floats) -> Floats:
        sums: Floats = np.bincount(rater, amount)[informed].astype(np.float64)
        return sums

    own, left = own[informed], 1 - 1 / n_i[informed]
    relative = (squares[informed] / left / residual - of(others)) / own
    by_spread = 2 * of(share**2) / (left * own**2)
    sampling = by_spread + 2 * of(2 * share * others + others**2) / (left * own**2)
    weight = 1 / sampling
    between = float((weight * (relative - np.average(relative, weights=weight)) ** 2).sum())
    counted = weight * (1 - weight / weight.sum())
    c = (between - float(counted @ sampling)) / float(counted @ (1 + by_spread))
    return math.sqrt(math.log1p(max(c, 0.0))) / 2
