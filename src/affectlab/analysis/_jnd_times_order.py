"""Quantiles of times, with intervals that follow from the order of the times alone."""

from __future__ import annotations

import math

import numpy as np

from affectlab._types import Floats

__all__ = ["order_interval", "rising_times"]


def order_interval(ordered: Floats, share: float, confidence: float) -> tuple[float, float, float]:
    """Give a quantile of a sample, and its interval from order statistics.

    The number of values below the true quantile is binomial, whatever the distribution. So the
    interval holds with at least its confidence for independent values, and has no end (``nan``)
    where there are too few values for one.

    Parameters
    ----------
    ordered
        Values in rising order, shape (n,), n > 0; ``inf`` is allowed.
    share
        In (0, 1): the share of values below.
    confidence
        In (0, 1).

    Returns
    -------
    The quantile, and the two ends.

    Examples
    --------
    >>> order_interval(np.arange(1.0, 21.0), 0.5, 0.95)
    (10.5, 6.0, 15.0)
    """
    from scipy.stats import binom

    n = ordered.size
    place = share * n
    # As in the median of an even number, the mean of two values where the place lies between them.
    whole = abs(place - round(place)) < 1e-9
    first = max(0, round(place) - 1 if whole else math.floor(place))
    second = min(n - 1, round(place) if whole else first)
    value = (
        float(ordered[first])
        if ordered[first] == ordered[second]
        else float(ordered[first] + ordered[second]) / 2
    )
    tail = (1 - confidence) / 2
    counts = np.arange(n + 1)
    below = binom.cdf(counts, n, share)
    # The k-th smallest (from 1) is above the quantile with the probability of fewer than k below.
    lower = np.flatnonzero(below <= tail)
    upper = np.flatnonzero(1 - below <= tail)
    low = float(ordered[lower[-1]]) if lower.size else math.nan
    high = float(ordered[upper[0]]) if upper.size and upper[0] < n else math.nan
    return value, low, high


def rising_times(times: Floats) -> Floats:
    """Give times in rising order, those of sequences without change (``nan``) as ``inf``."""
    ordered: Floats = np.sort(np.where(np.isnan(times), np.inf, times))
    return ordered
