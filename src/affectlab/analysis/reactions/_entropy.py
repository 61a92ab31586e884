"""How varied a few answers are, and how varied more of them would be."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError

__all__ = ["chao_shen_entropy", "plain_entropy"]


def plain_entropy(counts: ArrayLike) -> float:
    r"""Give the entropy of counted answers in bits, :math:`-\sum_k p_k \log_2 p_k`.

    Examples
    --------
    >>> plain_entropy([2, 2]), plain_entropy([4])
    (1.0, 0.0)
    """
    found = _checked(counts)
    if not found.size:
        return float("nan")
    p = found / found.sum()
    return max(float(-(p * np.log2(p)).sum()), 0.0) + 0.0


def chao_shen_entropy(counts: ArrayLike) -> float:
    r"""Estimate the entropy of what was answered, in bits, allowing for what nobody named yet.

    The plain entropy of a few answers is too low. With coverage :math:`C = 1 - f_1 / n`, where
    :math:`f_1` of the n answers were named once only,

    .. math:: H = -\sum_k \frac{C p_k \log_2 (C p_k)}{1 - (1 - C p_k)^n}

    Where all answers were named once, :math:`f_1 = n - 1` is taken, as is usual.

    Parameters
    ----------
    counts
        How often each emotion was named, shape (k,); zeros are left out.

    Returns
    -------
    float
        ``nan`` for fewer than two answers.

    References
    ----------
    A. Chao and T.-J. Shen (2003), Nonparametric estimation of Shannon's index of diversity when
    there are unseen species in sample, Environmental and Ecological Statistics 10, equation 7.

    Examples
    --------
    >>> round(chao_shen_entropy([2, 2]), 3)
    1.067
    """
    found = _checked(counts)
    n = float(found.sum())
    if n < 2:
        return float("nan")
    single = float((found == 1).sum())
    coverage = 1 - min(single, n - 1) / n
    p = coverage * found / n
    seen = 1 - (1 - p) ** n
    return max(float(-(p * np.log2(p) / seen).sum()), 0.0) + 0.0


def _checked(counts: ArrayLike) -> Floats:
    found = np.asarray(counts, dtype=np.float64).ravel()
    if not np.isfinite(found).all() or (found < 0).any():
        raise InputError("counts: expected numbers of answers, none below 0")
    return found[found > 0]
