"""Intervals of shares, and what they say about a limit."""

from __future__ import annotations

import math

from scipy.special import ndtri

__all__ = ["needed", "wilson"]

_MOST = 10_000_000


def wilson(chosen: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Give Wilson's score interval of a share of n.

    Examples
    --------
    >>> low, high = wilson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.037)
    """
    z = float(ndtri((1 + confidence) / 2))
    share = chosen / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if chosen == 0 else max((middle - half) / scale, 0.0)
    high = 1.0 if chosen == n else min((middle + half) / scale, 1.0)
    return low, high


def needed(share: float, limit: float, confidence: float = 0.95) -> int | None:
    """Give the number of stimuli whose interval would leave the limit out, were the share the same.

    None when that is more than anybody would ask about, or the share is the limit.

    Examples
    --------
    >>> needed(0.0, 0.01)
    381
    """
    if share == limit:
        return None

    def decides(n: int) -> bool:
        low, high = wilson(round(share * n), n, confidence)
        return high < limit or low > limit

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    # The score interval leaves the limit out where the score test rejects it.
    n = math.ceil(z2 * limit * (1 - limit) / (share - limit) ** 2)
    while n <= _MOST and not decides(n):
        n = math.ceil(n * 1.01) + 1
    return n if n <= _MOST else None
