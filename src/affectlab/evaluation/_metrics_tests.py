"""Paired tests of two classifications, and their correction for being many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats, Ints

__all__ = ["exact_mcnemar", "holm", "permutation_p"]


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
    from scipy.stats import binom

    fewer = np.minimum(only_first, only_second)
    p: Floats = np.minimum(1.0, 2 * binom.cdf(fewer, only_first + only_second, 0.5))
    return p


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


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p values for being several, so that the chance of any false finding is kept.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    places = np.flatnonzero(~np.isnan(p))
    order = places[np.argsort(p[places], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
