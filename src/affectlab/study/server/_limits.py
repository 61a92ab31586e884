"""Limits on how often someone may ask, kept in the memory of one process.

They hold back programs that ask without end and guesses of passwords. A server of several
processes allows as many times more, which is still far too few to guess by; nothing that decides
about data or pay hangs on them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

__all__ = ["Limiter"]

_MOST_KEYS = 20_000


class Limiter:
    """A bucket of tokens per key, which fills up at a steady rate.

    Parameters
    ----------
    rate
        Tokens per second; 0 for no limit.
    burst
        Tokens that a full bucket holds.

    Examples
    --------
    >>> limiter = Limiter(rate=1.0, burst=2)
    >>> [limiter.allows("a", now=0.0) for _ in range(3)], limiter.allows("a", now=1.5)
    ([True, True, False], True)
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, key: str, now: float | None = None) -> bool:
        """Take a token of this key; False when there is none."""
        if self._rate <= 0:
            return True
        now = time.monotonic() if now is None else now
        with self._lock:
            left, since = self._buckets.pop(key, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate)
            allowed = left >= 1.0
            self._buckets[key] = (left - 1.0 if allowed else left, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        return allowed
