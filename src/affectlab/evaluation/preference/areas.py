"""The area under the curve: how often a good item has a larger value than a poor one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from affectlab.core.arrays import ratio, rising
from affectlab.core.inference import infer, left_out_uncertainty
from affectlab.core.jackknife import Jackknife
from affectlab.core.statistic import FEWEST_CLUSTERS, MOST_CLUSTERS, Design, Statistic
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


# Areas and means of metrics over good and poor items, also without some of their clusters.


_AT_ONCE = 256
"""Rows of weights that are looked at together."""


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


def without_clusters(
    evaluate: Callable[[Floats], Floats],
    clusters: Ints,
    *,
    rows: Bools | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Jackknife:
    """Leave out one cluster of items after the other; of very many, groups of them.

    Parameters
    ----------
    evaluate
        From weights of items, shape (b, n), to values, shape (b, k), such as :func:`fold_areas`.
    clusters
        Cluster of each item, from 0 on and without gaps, shape (n,).
    rows
        Items that each value rests on, shape (n, k); by default all.
    bounds
        Least and largest value.
    """
    n, k = int(clusters.max(initial=-1)) + 1, evaluate(np.ones((1, clusters.size))).shape[1]
    present = np.ones((n, k), dtype=np.bool_)
    if rows is not None:
        present[:] = False
        np.logical_or.at(present, clusters, rows)
    statistic = Statistic(
        keys={"of": [str(at) for at in range(k)]},
        design=Design(present.T, np.ones((k, 0), dtype=np.bool_)),
        evaluate=lambda draws: evaluate(draws.weights(n)[:, clusters]),
        method=[""] * k,
        undefined="",
        n_items=[n] * k,
        n_raters=[0] * k,
        n_ratings=[0] * k,
        bounds=bounds,
        units="clusters",
        fewest=FEWEST_CLUSTERS,
        n_groups=MOST_CLUSTERS,
        n_rows=_AT_ONCE,
    )
    found = infer(statistic, interval="jackknife").jackknife
    assert found is not None
    return found


def area_ends(
    of: Jackknife, good: Bools, clusters: Ints, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Give standard errors of areas and the ends of their intervals, ``nan`` where there is none.

    An area of 0 or 1, which no cluster that is left out changes, has :func:`edge_interval`.

    References
    ----------
    Pepe (2003), The statistical evaluation of medical tests for classification and prediction, 5.2,
    for intervals on log odds.
    """
    told = left_out_uncertainty(of, confidence)
    low, high = told.low.copy(), told.high.copy()
    n_good, n_poor = (int(np.unique(clusters[side]).size) for side in (good, ~good))
    for k in np.flatnonzero(np.isin(of.value, (0.0, 1.0))):
        low[k], high[k] = edge_interval(float(of.value[k]), n_good, n_poor, confidence)
    return told.se, low, high


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
