"""A t test of a difference over its own standard error.

A permutation asks whether two sides could trade places altogether. Where they differ in spread, or
in how many items a ratio rests on, they cannot, although the two values may be equal. A difference
over its own standard error does not ask that much.
"""

from __future__ import annotations

import numpy as np

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats


def t_test(gap: Floats, se: Floats, df: Floats, against: float = 0.0) -> Floats:
    """One-sided p values that a difference is larger than `against`, shape (m,).

    Without spread there is no test: ``nan`` where the standard error is not defined or 0.
    """
    from scipy.special import stdtr

    known = se > 0
    scaled = ratio(gap - against, se)
    p: Floats = np.where(known, stdtr(df, -scaled), np.nan)
    return p
