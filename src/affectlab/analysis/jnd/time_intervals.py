"""How long a change of 1 JND takes: bounds for one segment, and for the fastest of many."""

from __future__ import annotations

import math

import numpy as np

from affectlab.core.types import Floats

_REACH = 7.5
"""How far the integral over the shared error goes, in standard deviations."""
_LEAST_OWN = 0.02
"""Least part of an error that counts as a segment's own, so that the integral has no step."""
_FIRST_STEP = 0.1
"""Part of a tail that the first step, which sets slow segments aside, may use up."""
_LONGEST = 1e6
"""How many times longer than the estimate an end may be before it counts as none."""
_SAME = 1e-7
"""Critical values that are taken as equal."""
_SLOW = 9.0
"""Standard errors below 0 from which on an excess cannot be the largest."""


def time_bound(
    change: Floats, se: Floats, duration: Floats, jnd: float, jnd_se: float, critical: float
) -> Floats:
    r"""Give the time in which a segment changes by 1 JND, or a bound of it.

    With change :math:`d` (standard error :math:`s`) over :math:`\Delta`, and 1 JND of :math:`J`
    (:math:`s_J`), it is the time :math:`\theta` that solves Fieller's

    .. math::
        \frac{\theta}{\Delta} d - J + c \sqrt{\frac{\theta^2}{\Delta^2} s^2 + s_J^2} = 0

    for a critical value :math:`c`: 0 gives the estimate :math:`\Delta J / d`, 1.96 the short and
    -1.96 the long end of a 95 % interval. No approximation by a derivative enters, so the interval
    holds where the change is hardly above its error, and has no end where it is not.

    Parameters
    ----------
    change, se
        Change of the score and its standard error, shape (n,).
    duration
        Time between the two frames, shape (n,), above 0.
    jnd, jnd_se
        1 JND in score units, above 0, and its standard error.

    Returns
    -------
    Shape (n,), in the unit of `duration`; ``inf`` where no time is long enough, ``nan`` without an
    error.

    References
    ----------
    Fieller (1954), Journal of the Royal Statistical Society B 16.

    Examples
    --------
    >>> time_bound(np.array([40.0, 40.0]), np.array([0.0, 4.0]), np.array([100.0, 100.0]), 20, 0, 2)
    array([50.        , 41.66666667])
    """
    known = jnd**2 - critical**2 * jnd_se**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(change**2 * jnd_se**2 + se**2 * known) if known > 0 else math.nan
        found = duration * known / (change * jnd + critical * root)
        open_end = change + critical * se <= 0
    if known <= 0:
        # 1 JND is not told from 0: any time will do.
        found = np.full(np.shape(change), 0.0 if critical > 0 else math.inf)
    unknown = np.isnan(change) | np.isnan(se) | np.isnan(duration) | math.isnan(jnd_se)
    bounded: Floats = np.where(unknown, math.nan, np.where(open_end, math.inf, found))
    return bounded


def fastest_bounds(
    change: Floats, se: Floats, duration: Floats, jnd: float, jnd_se: float, confidence: float
) -> tuple[float, float]:
    r"""Give an interval for the shortest of n true times to 1 JND.

    The shortest of many estimated times is short in part because its error is. So a bootstrap
    around the estimates, which adds the error once more, has its centre too low. Here the interval
    follows from tests. Within a time :math:`\theta` segment :math:`i` changes by
    :math:`\theta d_i / \Delta_i`, with mean :math:`\mu_i(\theta) + J`.

    - The shortest time is above :math:`\theta` only if no :math:`\mu_i(\theta)` is above 0. That
      is refused where the largest of the standardised excesses is above a critical value. Segments
      that are clearly slower cannot make it so, and are set aside by as much as they are slower
      (the two-step test of Romano, Shaikh and Wolf): with one fast segment the value is that of
      one, with n equally fast ones that of the largest of n.
    - The shortest time is below :math:`\theta` only if some :math:`\mu_i(\theta)` is above 0. It
      is refused where each segment, by itself, is clearly slower.

    Either end errs with at most half of what `confidence` leaves, whatever the true times are: no
    distribution of theirs is assumed, which matters since the shortest lies where data are few.
    The price is an interval that is too wide where many segments are equally fast. The error of
    `jnd` is common to all and is in both ends.

    Parameters
    ----------
    change, se, duration, jnd, jnd_se
        As in :func:`time_bound`.
    confidence
        Coverage that is aimed at, in (0, 1).

    Returns
    -------
    The two ends, in the unit of `duration`; ``inf`` for no end, ``nan`` where errors are not known.

    References
    ----------
    Romano, Shaikh, Wolf (2014), "A practical two-step method for testing moment inequalities",
    Econometrica 82.

    Examples
    --------
    >>> one = fastest_bounds(np.array([40.0]), np.array([2.0]), np.array([100.0]), 20, 0, 0.95)
    >>> print(f"{one[0]:.1f} {one[1]:.1f}")
    45.5 55.6
    """
    tail = (1 - confidence) / 2
    if not _are_known(change, se, duration, jnd_se):
        return math.nan, math.nan
    low = float(time_bound(change, se, duration, jnd, jnd_se, _quantile(1 - tail)).min())
    # The long end is the longest time that the two-step test does not refuse.
    first = _FIRST_STEP * tail
    return low, _root(change / duration, se / duration, jnd, jnd_se, tail - first, first)


def fastest_corrected(
    change: Floats, se: Floats, duration: Floats, jnd: float, jnd_se: float
) -> float:
    """Give the shortest of n times without the pull of picking the shortest estimate.

    It is the time within which the largest standardised excess is what it would be half of the
    time, if that were the true shortest time, and every segment were as much slower as it looks.
    One segment gives its estimate. The segments that look slower are in part so by chance, so some
    of the pull remains where many are equally fast.

    Parameters
    ----------
    change, se, duration, jnd, jnd_se
        As in :func:`time_bound`.

    Returns
    -------
    In the unit of `duration`; ``inf`` where nothing changes, ``nan`` where errors are not known.

    Examples
    --------
    >>> equal = np.full(50, 40.0), np.full(50, 4.0), np.full(50, 100.0)
    >>> print(f"{fastest_corrected(*equal, 20, 0):.1f}")
    64.1
    """
    if not _are_known(change, se, duration, jnd_se):
        return math.nan
    return _root(change / duration, se / duration, jnd, jnd_se, 0.5, None)


def _are_known(change: Floats, se: Floats, duration: Floats, jnd_se: float) -> bool:
    known = np.isfinite(np.concatenate([change, se, duration])).all()
    return bool(change.size and known and not math.isnan(jnd_se))


def _root(
    rate: Floats, se: Floats, jnd: float, jnd_se: float, tail: float, first: float | None
) -> float:
    """Find the time within which the largest excess reaches its critical value.

    Parameters
    ----------
    first
        Chance with which the first step may err, None to take segments for as slow as they look.
    """
    from scipy.optimize import brentq

    one = np.ones(rate.size)
    # With no critical value, and with the largest there can be, the time has a closed form.
    highest = -_quantile(tail / rate.size)
    near = float(time_bound(rate, se, one, jnd, jnd_se, 0.0).min())
    far = float(time_bound(rate, se, one, jnd, jnd_se, -highest).min())
    if not math.isfinite(near) or not (np.any(se > 0) or jnd_se > 0):
        return near
    margin = 0.0 if first is None else -_quantile(first / rate.size)

    def over(log_time: float) -> float:
        return _over(math.exp(log_time), rate, se, jnd, jnd_se, margin, tail)

    open_end = math.isinf(far)
    far = _LONGEST * near if open_end else far
    if over(math.log(near)) >= 0:
        return near
    if over(math.log(far)) <= 0:
        return math.inf if open_end else far
    return math.exp(float(brentq(over, math.log(near), math.log(far), xtol=1e-6)))


def _over(
    time: float,
    rate: Floats,
    se: Floats,
    jnd: float,
    jnd_se: float,
    margin: float,
    tail: float,
) -> float:
    """Say by how much the largest excess within a time is above its critical value."""
    sd = np.sqrt((time * se) ** 2 + jnd_se**2)
    excess = (time * rate - jnd) / np.where(sd > 0, sd, 1e-300)
    slower = np.maximum(0.0, -excess - margin)
    shared = jnd_se / np.where(sd > 0, sd, 1.0)
    return float(excess.max()) - critical_value(slower, shared, tail)


def critical_value(slower: Floats, shared: Floats, tail: float) -> float:
    r"""Give the value that the largest of n normal excesses passes with a probability of `tail`.

    It is the :math:`k` with :math:`P(\max_i (Z_i - \lambda_i) > k)` = `tail`, where
    :math:`Z_i = \rho_i G + \sqrt{1 - \rho_i^2}\, E_i` with all :math:`G, E_i` standard normal.

    Parameters
    ----------
    slower
        By how many standard errors each is known to lie below 0, shape (n,).
    shared
        Share of each error that is common to all, as a correlation, shape (n,), in [0, 1].
    tail
        In (0, 1).

    Examples
    --------
    >>> print(f"{critical_value(np.zeros(1), np.zeros(1), 0.025):.3f}")
    1.960
    >>> print(f"{critical_value(np.zeros(100), np.zeros(100), 0.025):.3f}")
    3.477
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    if (slower < _SLOW).any():
        slower, shared = slower[slower < _SLOW], shared[slower < _SLOW]
    own = np.maximum(np.sqrt(np.clip(1 - shared**2, 0.0, 1.0)), _LEAST_OWN)
    places = np.zeros(1)
    if shared.any():
        # The trapezoidal rule is exact, but for rounding, while steps are shorter than bends.
        step = 0.7 * float(own.min())
        places = np.arange(-_REACH, _REACH + step, step)
    weights = np.exp(-(places**2) / 2)
    weights /= weights.sum()

    def passed(k: float) -> float:
        below = (k + slower - shared * places[:, None]) / own
        return 1 - tail - float(weights @ np.exp(log_ndtr(below).sum(axis=1)))

    # The largest passes more often than the least slow one, and no more often than all together.
    least = float(slower.min())
    low, high = _quantile(1 - tail) - least, _quantile(1 - tail / slower.size) - least
    if high - low < _SAME:
        return low
    return float(brentq(passed, low - _SAME, high + _SAME, xtol=_SAME))


def _quantile(share: float) -> float:
    """Give a quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(share))


# Quantiles of times, with intervals that follow from the order of the times alone.


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
