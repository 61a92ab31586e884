"""The area under the curve: how often a good item has a larger value than a poor one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from affectlab.core.arrays import ratio, rising
from affectlab.core.inference import draw_weights, summarise
from affectlab.core.jackknife import around
from affectlab.core.types import Bools, Floats, Ints


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
    from affectlab.core.compiled import LANES, in_threads
    from affectlab.evaluation.preference.area_kernels import auc_lanes

    order, last = rising(values)
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
    if not (0 < area < 1 and error > 0):
        return float("nan"), float("nan")
    of_one = np.array([area]), np.array([error]), np.array([np.inf])
    _, low, high = around(*of_one, confidence, (0.0, 1.0))
    return float(low[0]), float(high[0])


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


# Areas and means of metrics over good and poor items, also when whole stimuli are drawn again.


_AT_ONCE = 256


def cluster_weights(clusters: Ints, n_boot: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw clusters with replacement; yields how often each row counts, (replicates, rows)."""
    n = int(clusters.max()) + 1
    for start in range(0, n_boot, _AT_ONCE):
        drawn = np.concatenate(list(draw_weights(rng, n, min(_AT_ONCE, n_boot - start))))
        yield drawn[:, clusters]


def fold_areas(
    values: Floats, good: Bools, weights: Floats, folds: Sequence[Ints] | None = None
) -> Floats:
    """Give the area of every metric in every replicate.

    Parameters
    ----------
    values
        Shape (rows, metrics), without ``nan``.
    good
        Shape (rows,).
    weights
        Shape (replicates, rows).
    folds
        For each metric the fold of each row: only rows of one fold are compared, since scores that
        two models gave do not share a scale. By default all rows are.

    Returns
    -------
    Shape (replicates, metrics), ``nan`` without a good or a poor row.
    """
    out = np.empty((weights.shape[0], values.shape[1]))
    for m in range(values.shape[1]):
        if folds is None:
            out[:, m] = replicated_areas(values[:, m], good, weights)
            continue
        won, pairs = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
        for fold in np.unique(folds[m]):
            rows = folds[m] == fold
            part = weights[:, rows]
            n = part[:, good[rows]].sum(axis=1) * part[:, ~good[rows]].sum(axis=1)
            areas = replicated_areas(values[rows, m], good[rows], part)
            won += np.where(n > 0, np.nan_to_num(areas) * n, 0.0)
            pairs += n
        out[:, m] = ratio(won, pairs)
    return out


def drawn_areas(
    values: Floats,
    good: Bools,
    clusters: Ints,
    *,
    n_boot: int,
    rng: np.random.Generator,
    base: Floats | None = None,
    folds: Sequence[Ints] | None = None,
) -> Floats:
    """Give the area of every metric for each time that whole clusters are drawn again.

    Parameters
    ----------
    values, good, folds
        As for :func:`fold_areas`.
    clusters
        Cluster of each row, from 0 on, shape (rows,).
    base
        How often a row counts when its cluster is drawn once, shape (rows,); by default once.

    Returns
    -------
    Shape (n_boot, metrics).
    """
    once = 1.0 if base is None else base
    drawn = cluster_weights(clusters, n_boot, rng)
    return np.concatenate([fold_areas(values, good, weights * once, folds) for weights in drawn])


def weighted_means(values: Floats, sides: Bools, weights: Floats) -> Floats:
    """Give means of values, shape (n,), over each of some sets of rows.

    Parameters
    ----------
    sides
        Shape (n, sets).
    weights
        Shape (replicates, n).

    Returns
    -------
    Shape (replicates, sets), ``nan`` for a set without rows.
    """
    # About their mean, so that far from 0 digits are kept.
    centre = float(values.mean()) if values.size else np.nan
    apart = sides * (values - centre)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = centre + (weights @ apart) / (weights @ sides)
    return means


def error_of(drawn: Floats) -> Floats:
    """Standard errors of replicates, ``nan`` where too many are undefined or none varies.

    Parameters
    ----------
    drawn
        Shape (replicates, k).
    """
    return summarise(np.zeros(drawn.shape[1]), drawn, 0.95).se


def normal_interval(value: Floats, error: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Give ``value ± z error``."""
    from scipy.special import ndtri

    half = float(ndtri((1 + confidence) / 2)) * error
    return value - half, value + half
