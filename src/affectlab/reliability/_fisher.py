"""Interval of a rank correlation on Fisher's z scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from affectlab._types import Floats, Ints

__all__ = ["fisher_interval"]


def fisher_interval(value: Floats, n: Ints, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Standard error and interval of Spearman correlations.

    On the z scale the variance is (1 + rho^2 / 2) / (n - 3) (Bonett and Wright 2000,
    Psychometrika 65). With three pairs or fewer it is not known. For a correlation of -1 or 1 it is
    0, which :class:`~affectlab.estimates.Estimates` take for what it is.

    Returns
    -------
    Standard error (1 - rho^2 times that of z), lower and upper end; ``nan`` where not known.
    """
    known = (n > 3) & ~np.isnan(value)
    perfect = known & (np.abs(value) >= 1)
    rho = np.where(known & ~perfect, value, 0.0)
    se_z = np.sqrt((1 + rho**2 / 2) / np.maximum(n - 3, 1))
    z, half = np.arctanh(rho), ndtri((1 + confidence) / 2) * se_z
    ends = (1 - rho**2) * se_z, np.tanh(z - half), np.tanh(z + half)
    exact = np.zeros(value.shape), value, value
    se, low, high = (
        np.where(perfect, none, np.where(known, end, np.nan))
        for end, none in zip(ends, exact, strict=True)
    )
    return se, low, high
