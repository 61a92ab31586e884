"""Tests of differences: of two classifications, and of any two values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats, Ints


def exact_mcnemar(only_first: Ints, only_second: Ints) -> Floats:
    """Two-sided exact McNemar test: are the two kinds of discordant items equally likely.

    Parameters
    ----------
    only_first, only_second
        Items on which only the first, or only the second, is right.

    Returns
    -------
    p values, of the same shape; 1 where there are no discordant items.

    References
    ----------
    McNemar (1947), Psychometrika 12.

    Examples
    --------
    >>> round(float(exact_mcnemar(np.array(2), np.array(10))), 4)
    0.0386
    """
    first, both = np.asarray(only_first), np.asarray(only_first) + np.asarray(only_second)
    return np.where(both > 0, sign_test(first, both), 1.0)


def sign_test(k: ArrayLike, n: ArrayLike) -> Floats:
    """Give the two-sided binomial p-values of ``k`` of ``n`` against one half; ``nan`` for n 0."""
    from scipy.special import bdtr

    some, all_of_them = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    whole = np.maximum(all_of_them.astype(np.int64), 1)
    p = np.minimum(1.0, 2.0 * bdtr(np.minimum(some, all_of_them - some), whole, 0.5))
    return np.where(all_of_them > 0, p, np.nan)


def permutation_p(observed: Floats, permuted: Floats) -> Floats:
    """Two-sided p values, with the observed difference counted as one of the permutations.

    Parameters
    ----------
    observed
        Differences, shape (m,), ``nan`` where not defined.
    permuted
        Differences under permutation, shape (permutations, m). One that is not defined counts as
        extreme, which never makes the p value too small.

    References
    ----------
    Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9.

    Examples
    --------
    >>> permutation_p(np.array([2.0]), np.array([[0.0], [2.0], [-3.0]])).tolist()
    [0.75]
    """
    # Equal differences must tie, though their sums were rounded differently.
    least = np.abs(observed) - 1e-12 * np.maximum(1.0, np.abs(observed))
    extreme = ~(np.abs(permuted) < least)
    p = (1 + extreme.sum(axis=0)) / (1 + len(permuted))
    return np.where(np.isnan(observed), np.nan, p)


def tango_p(only_first: int, only_second: int, n: int, against: float) -> float:
    r"""One-sided score test that the difference of two paired shares exceeds `against`.

    With b items on which only the first is right, c on which only the second is, and
    :math:`\delta_0` the difference of the null hypothesis,

    .. math:: z = \frac{b - c - n\delta_0}{\sqrt{n (2\hat q + \delta_0 (1 - \delta_0))}} ,

    where :math:`\hat q` is the likeliest share of items on which only the second is right, if the
    difference is :math:`\delta_0`.

    Parameters
    ----------
    only_first, only_second
        b and c.
    n
        All items.
    against
        :math:`\delta_0`, in (-1, 1). At -1 and below there is nothing to reject, p = 0.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, equations 5 to 9.

    Examples
    --------
    Two models alike on 20 items may well be 0.05 apart; on 100 items hardly.

    >>> round(tango_p(0, 0, 20, -0.05), 3), round(tango_p(0, 0, 100, -0.05), 3)
    (0.152, 0.011)
    """
    from scipy.special import ndtr

    if against <= -1:
        return 0.0
    b, c = float(only_first), float(only_second)
    two_a = 4.0 * n
    half = -b - c + (2 * n - b + c) * against
    last = -c * against * (1 - against)
    q = (np.sqrt(max(half**2 - 2 * two_a * last, 0.0)) - half) / two_a
    spread = n * (2 * q + against * (1 - against))
    if spread <= 0:
        return 1.0
    return float(ndtr(-(b - c - n * against) / np.sqrt(spread)))


def t_test(gap: Floats, se: Floats, df: Floats, against: float = 0.0) -> Floats:
    """One-sided p values that a difference is larger than `against`, shape (m,).

    A permutation asks whether two sides could trade places altogether. Where they differ in spread,
    or in how many items a ratio rests on, they cannot, although the two values may be equal. A
    difference over its own standard error does not ask that much.

    Without spread there is no test: ``nan`` where the standard error is not defined or 0.
    """
    from scipy.special import stdtr

    known = se > 0
    scaled = ratio(gap - against, se)
    p: Floats = np.where(known, stdtr(df, -scaled), np.nan)
    return p
