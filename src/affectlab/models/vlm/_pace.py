"""How fast questions go out: at most so many a minute, and none while the server asks to wait."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from affectlab.errors import InputError

__all__ = ["Pace", "pause"]

_WINDOW = 60.0


class Pace:
    """Keeps to a number of requests in any 60 seconds.

    Parameters
    ----------
    per_minute
        None: no limit.

    Examples
    --------
    >>> pace = Pace(2)
    >>> pace.started(0.0), pace.started(10.0)
    (None, None)
    >>> pace.delay(15.0), pace.delay(60.0)
    (45.0, 0.0)
    """

    def __init__(self, per_minute: int | None = None) -> None:
        if per_minute is not None and per_minute < 1:
            raise InputError(f"per_minute {per_minute}: expected 1 or more, or None")
        self._most = per_minute
        self._starts: deque[float] = deque()
        self._until = 0.0
        self._turn = asyncio.Lock()

    def started(self, now: float) -> None:
        """Take note of a request that goes out at a time, in seconds."""
        if self._most is not None:
            self._starts.append(now)

    def hold(self, now: float, seconds: float) -> None:
        """Let none go out for a while, since the server asked so."""
        self._until = max(self._until, now + seconds)

    def delay(self, now: float) -> float:
        """Give the seconds until the next request may go out."""
        while self._starts and now - self._starts[0] >= _WINDOW:
            self._starts.popleft()
        wait = self._until - now
        if self._most is not None and len(self._starts) >= self._most:
            wait = max(wait, self._starts[-self._most] + _WINDOW - now)
        return max(wait, 0.0)

    async def turn(self, stop: asyncio.Event) -> None:
        """Wait until a request may go out, one after the other, or until all is to stop."""
        async with self._turn:
            while (wait := self.delay(time.monotonic())) > 0 and not stop.is_set():
                await pause(wait, stop)
            self.started(time.monotonic())


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Wait some seconds, but no longer than until all is to stop."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
