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
    Psychometrika 65). With three pairs or fewer, or a correlation of -1 or 1, it is not known.

    Returns
    -------
    Standard error (1 - rho^2 times that of z), lower and upper end; ``nan`` where not known.
    """
    known = (n > 3) & (np.abs(value) < 1)
    rho = np.where(known, value, 0.0)
    se_z = np.sqrt((1 + rho**2 / 2) / np.maximum(n - 3, 1))
    z, half = np.arctanh(rho), ndtri((1 + confidence) / 2) * se_z
    ends = (1 - rho**2) * se_z, np.tanh(z - half), np.tanh(z + half)
    se, low, high = (np.where(known, end, np.nan) for end in ends)
    return se, low, high
