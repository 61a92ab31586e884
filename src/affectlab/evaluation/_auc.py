"""The area under the curve: how often a good item has a larger value than a poor one."""

from __future__ import annotations

import numpy as np

from affectlab._types import Bools, Floats

__all__ = ["area", "delong_errors", "edge_interval", "logit_interval", "replicated_areas"]


def area(values: Floats, good: Bools) -> float:
    """Give the area for values without ``nan``; ``nan`` without a good or a poor item."""
    return float(replicated_areas(values, good, np.ones((1, values.size)))[0])


def replicated_areas(values: Floats, good: Bools, weights: Floats) -> Floats:
    """Give the area in every replicate.

    Parameters
    ----------
    values, good
        Shape (n,).
    weights
        How often each item counts, shape (replicates, n).
    """
    from affectlab._compiled import LANES, in_threads
    from affectlab.evaluation._kernels._pref_auc import auc_lanes

    order = np.argsort(values, kind="stable").astype(np.int32)
    ordered = values[order]
    last = np.append(ordered[1:] > ordered[:-1], np.ones(min(values.size, 1), dtype=bool))
    out = np.full(weights.shape[0], np.nan)

    def one(start: int) -> None:
        lanes = np.ascontiguousarray(weights[start : start + LANES].T, dtype=np.float64)
        auc_lanes(order, last, good, lanes, out[start : start + LANES])

    in_threads(one, range(0, weights.shape[0], LANES))
    return out


def delong_errors(values: Floats, good: Bools) -> tuple[float, float]:
    r"""Give the area and its standard error after DeLong.

    With :math:`V_i` the share of poor items that good item i beats, and :math:`W_j` the share of
    good items that beat poor item j, :math:`\mathrm{var} = s_V^2 / n_{good} + s_W^2 / n_{poor}`.
    """
    high, low = np.sort(values[good]), np.sort(values[~good])
    if high.size == 0 or low.size == 0:
        return float("nan"), float("nan")

    def beaten(those: Floats, sorted_others: Floats) -> Floats:
        less = np.searchsorted(sorted_others, those, side="left")
        not_more = np.searchsorted(sorted_others, those, side="right")
        share: Floats = (less + not_more) / (2 * sorted_others.size)
        return share

    of_good, of_poor = beaten(high, low), 1 - beaten(low, high)
    if high.size < 2 or low.size < 2:
        return float(of_good.mean()), float("nan")
    variance = of_good.var(ddof=1) / high.size + of_poor.var(ddof=1) / low.size
    return float(of_good.mean()), float(np.sqrt(variance))


def logit_interval(area: float, error: float, confidence: float) -> tuple[float, float]:
    r"""Give an interval for an area that stays within 0 and 1 and is wider towards 0.5.

    .. math:: \mathrm{logit}(A) \pm z\,\mathrm{se} / (A (1 - A))

    With few items an area near 1 is skewed: an interval about the area itself covers too rarely.

    References
    ----------
    Pepe (2003), The statistical evaluation of medical tests for classification and prediction, 5.2.

    Examples
    --------
    >>> low, high = logit_interval(0.9, 0.05, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.752, 0.964)
    """
    from scipy.special import expit, logit, ndtri

    if not (0 < area < 1 and error > 0):
        return float("nan"), float("nan")
    half = float(ndtri((1 + confidence) / 2)) * error / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def edge_interval(area: float, n_good: int, n_poor: int, confidence: float) -> tuple[float, float]:
    r"""Give an interval for an area of 0 or 1, where no draw varies.

    The areas :math:`\theta` for which :math:`|A - \theta| \le z \sqrt{V(\theta)}`, with the
    variance of Hanley and McNeil and :math:`N = (n_{good} + n_{poor}) / 2`:

    .. math:: V = \frac{\theta (1 - \theta)}{n_{good} n_{poor}} \left(1 + (N - 1)
        \left(\frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta}\right)\right)

    Parameters
    ----------
    n_good, n_poor
        Independent cases, such as groups of items that hold a good, or a poor one.

    References
    ----------
    Newcombe (2006), Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic, part 2, Statistics in Medicine 25, method 5.

    Examples
    --------
    >>> [round(end, 2) for end in edge_interval(1.0, 20, 30, 0.95)]
    [0.92, 1.0]
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if area not in (0.0, 1.0) or min(n_good, n_poor) < 1:
        return float("nan"), float("nan")
    z, more = float(ndtri((1 + confidence) / 2)), (n_good + n_poor) / 2 - 1

    def ahead(at: float) -> float:
        """Say by how much an area lies below 1 for all that chance would do."""
        spread = at * (1 - at) * (1 + more * ((1 - at) / (2 - at) + at / (1 + at)))
        return 1 - at - z * float(np.sqrt(spread / (n_good * n_poor)))

    low = float(brentq(ahead, 0.0, 1 - 1e-9))
    return (low, 1.0) if area == 1.0 else (0.0, 1 - low)
