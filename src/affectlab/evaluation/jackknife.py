"""Standard errors by leaving out one unit after the other, and t tests with them.

A permutation asks whether two sides could trade places altogether. Where they differ in spread, or
in how many items a ratio rests on, they cannot, although the two values may be equal. A difference
over its own standard error does not ask that much.
"""

from __future__ import annotations

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.jackknife import in_effect
from affectlab.core.types import Floats


def contributions(left_out: Floats) -> Floats:
    r"""Say what each unit adds to the standard error, squared and summed.

    Parameters
    ----------
    left_out
        Value without each unit, shape (n, m).

    Returns
    -------
    :math:`\sqrt{(n-1)/n}\,(\bar\theta_{(\cdot)} - \theta_{(u)})`, shape (n, m). The sum of the
    squares is the jackknife variance.

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
    n = len(left_out)
    if n < 2:
        return np.full(left_out.shape, np.nan)
    shift: Floats = np.sqrt((n - 1) / n) * (left_out.mean(axis=0) - left_out)
    return shift


def spread_of(parts: Floats) -> tuple[Floats, Floats]:
    r"""Give standard errors and their degrees of freedom, shape (m,) each.

    With :math:`d` the contributions of n units, the degrees of freedom are
    :math:`2 (\sum d^2)^2 / \sum d^4 - 1`, between 1 and n - 1: the variance of :math:`\sum d^2` is
    about :math:`\sum d^4`, and that of a chi-squared distribution is matched to it
    (Satterthwaite 1946). Where few of many items carry the difference, few are left.

    Examples
    --------
    >>> se, df = spread_of(np.array([[0.0], [0.0], [0.3], [-0.4]]))
    >>> round(float(se[0]), 3), round(float(df[0]), 2)
    (0.5, 2.71)
    """
    n = len(parts)
    size = np.abs(parts).max(axis=0, initial=0.0)
    # Scaled, so that squares of tiny numbers are no zeros.
    unit = np.where(size > 0, size, 1.0)
    se: Floats = unit * np.sqrt(((parts / unit) ** 2).sum(axis=0))
    return se, np.clip(2 * in_effect(parts, np.ones(n)) - 1, 1.0, max(n - 1.0, 1.0))


def t_test(gap: Floats, se: Floats, df: Floats, against: float = 0.0) -> Floats:
    """One-sided p values that a difference is larger than `against`, shape (m,).

    Without spread there is no test: ``nan`` where the standard error is not defined or 0.
    """
    from scipy.special import stdtr

    known = se > 0
    scaled = ratio(gap - against, se)
    p: Floats = np.where(known, stdtr(df, -scaled), np.nan)
    return p
