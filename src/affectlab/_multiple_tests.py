"""Corrections of p values for being several."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats

__all__ = ["benjamini_hochberg", "benjamini_yekutieli", "holm"]


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


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjust p values so that the expected share of false findings among the findings is kept.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    places = np.flatnonzero(~np.isnan(p))
    order = places[np.argsort(p[places], kind="stable")[::-1]]
    steps = p[order] * order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps))
    return adjusted


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Adjust p values as :func:`benjamini_hochberg` does, whatever their dependence.

    Parameters
    ----------
    p_values
        Shape (m,); ``nan`` is no test, does not count, and stays.

    References
    ----------
    Benjamini and Yekutieli (2001), Annals of Statistics 29.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.2, 0.03]).round(4).tolist()
    [0.055, 0.3667, 0.0825]
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = int(np.count_nonzero(~np.isnan(p)))
    # Scaling before the steps rather than after them lets the cut at 1 stay the last step.
    return benjamini_hochberg(p * (1.0 / np.arange(1, m + 1)).sum())
