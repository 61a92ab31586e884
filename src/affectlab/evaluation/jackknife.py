"""Standard errors by leaving out one unit after the other, and t tests with them.

A permutation asks whether two sides could trade places altogether. Where they differ in spread, or
in how many items a ratio rests on, they cannot, although the two values may be equal. A difference
over its own standard error does not ask that much.
"""

from __future__ import annotations

import numpy as np

from affectlab.core.jackknife import in_effect
from affectlab.core.statistic import student
from affectlab.core.types import Floats, Ints


def contributions(left_out: Floats, times: Ints | None = None) -> Floats:
    r"""Say what each unit adds to the standard error, squared and summed.

    Parameters
    ----------
    left_out
        Value without one unit of each kind, shape (u, m).
    times
        Units of each kind, shape (u,), N in all; 1 each where not given.

    Returns
    -------
    :math:`\sqrt{(N-1)/N}\,(\bar\theta_{(\cdot)} - \theta_{(u)})`, shape (u, m). The sum of the
    squares, each as often as there are units of its kind, is the jackknife variance.

    References
    ----------
    Tukey (1958); Efron and Stein (1981), Annals of Statistics 9.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 6.0])
    >>> each = contributions((x.sum() - x[:, None]) / 2)
    >>> bool(np.isclose((each**2).sum(), x.var(ddof=1) / 3))
    True
    """
    count = np.ones(len(left_out)) if times is None else np.asarray(times, dtype=np.float64)
    n = count.sum()
    if n < 2:
        return np.full(left_out.shape, np.nan)
    mean = count @ left_out / n
    shift: Floats = np.sqrt((n - 1) / n) * (mean - left_out)
    return shift


def spread_of(
    parts: Floats, times: Ints | None = None, *, skewed: bool = False
) -> tuple[Floats, Floats]:
    r"""Give standard errors and their degrees of freedom, shape (m,) each.

    With :math:`d` the contributions, the degrees of freedom are
    :math:`2 (\sum d^2)^2 / \sum d^4 - 1`, between 1 and N - 1: the variance of :math:`\sum d^2` is
    about :math:`\sum d^4`, and that of a chi-squared distribution is matched to it
    (Satterthwaite 1946). Where few of many items carry the difference, few are left. With `skewed`
    the factor 2 is left out: a ratio over few mistakes is skewed, and its error goes with its
    value, so that no more degrees of freedom are granted than items in effect carry it (Kish 1965).

    Examples
    --------
    >>> se, df = spread_of(np.array([[0.0], [0.0], [0.3], [-0.4]]))
    >>> round(float(se[0]), 3), round(float(df[0]), 2)
    (0.5, 2.71)
    """
    count = np.ones(len(parts)) if times is None else np.asarray(times, dtype=np.float64)
    size = np.abs(parts).max(axis=0, initial=0.0)
    # Scaled, so that squares of tiny numbers are no zeros.
    unit = np.where(size > 0, size, 1.0)
    se: Floats = unit * np.sqrt(count @ (parts / unit) ** 2)
    factor = 1 if skewed else 2
    return se, np.clip(factor * in_effect(parts, count) - 1, 1.0, max(count.sum() - 1, 1.0))


def jackknife_spread(left_out: Floats, times: Ints | None = None) -> tuple[Floats, Floats]:
    """Give standard errors and degrees of freedom of ratios, from their values without each unit.

    Parameters
    ----------
    left_out, times
        As for :func:`contributions`.
    """
    parts = contributions(left_out, times)
    # Values of alike sums are rounded differently.
    parts[np.abs(parts) < 1e-13] = 0.0
    return spread_of(parts, times, skewed=True)


def t_test(gap: Floats, se: Floats, df: Floats, against: float = 0.0) -> Floats:
    """One-sided p values that a difference is larger than `against`, shape (m,).

    Without spread there is no test: ``nan`` where the standard error is not defined or 0.
    """
    from scipy.special import stdtr

    known = se > 0
    scaled = np.divide(gap - against, se, out=np.full(np.shape(gap), np.nan), where=known)
    p: Floats = np.where(known, stdtr(df, -scaled), np.nan)
    return p


def t_interval(gap: Floats, se: Floats, df: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Ends of the interval of this coverage, ``nan`` where there is no spread."""
    return student(gap, np.where(se > 0, se, np.nan), df, confidence)[1:]
