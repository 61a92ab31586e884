"""How fast questions go out: at most so many a minute, and none while the server asks to wait."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.core.words import plural, shown
from affectlab.evaluation import OUTCOMES
from affectlab.models.vlm.asking.ledger import Record

__all__ = [
    "Halt",
    "Pace",
    "Patience",
    "pause",
]

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


# When to give a run up: nothing is answered, or nothing of what is paid for can be used.


_ACCOUNT = 3
"""Answers in a row that speak against the key or the address after which a run stops."""
_LONGEST = 200
_ADVICE = {
    "truncated": "more max_tokens (--config max_tokens=) leave room for the whole answer",
    "schema_invalid": "structured answers (--config structured=true) may help",
    "unparseable": "structured answers (--config structured=true) may help",
    "refused": "another wording may help",
    "empty": "more max_tokens (--config max_tokens=) may help",
}


@dataclass(frozen=True)
class Halt:
    """Why a run stopped before its end."""

    kind: str
    """``budget``, ``failures`` or ``interrupted``."""
    reason: str
    """A sentence without its end."""


class Patience:
    """Counts what came of the questions of a run.

    Parameters
    ----------
    most
        Questions in a row without an answer, or answers from the first on of which none can be
        used, after which it is at an end.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._told = self._usable = self._in_a_row = self._account = 0

    def told(self, record: Record, problem: str) -> Halt | None:
        """Take note of what came of a question; gives why to stop, if it is time to.

        Parameters
        ----------
        problem
            Why the answer cannot be used; "" for one that can.
        """
        self._told += 1
        self._usable += OUTCOMES[record.outcome].usable
        failed = record.outcome in ("transport", "rejected")
        self._in_a_row = self._in_a_row + 1 if failed else 0
        self._account = self._account + 1 if record.of_account else 0
        if self._in_a_row >= self._most or self._account >= _ACCOUNT:
            return Halt("failures", self._without_answer(record, problem))
        if not self._usable and self._told >= self._most:
            return Halt("failures", self._without_use(record, problem))
        return None

    def _without_answer(self, record: Record, problem: str) -> str:
        status = f" (HTTP {record.http_status})" if record.http_status else ""
        said = (
            f"{plural(self._in_a_row, 'question')} in a row got no answer, the last one because: "
            f"{shown(problem, _LONGEST)}{'' if 'HTTP' in problem else status}"
        )
        if record.outcome == "rejected" and not record.of_account:
            said += ", which --config again=rejected (again=) asks again"
        return said

    def _without_use(self, record: Record, problem: str) -> str:
        advice = _ADVICE.get(record.outcome)
        return (
            f"none of the first {plural(self._told, 'answer')} can be used, the last one is "
            f"{record.outcome}: {shown(problem, _LONGEST)}"
            + (f"; {advice}" if advice else "")
            + f"; patience (--config patience=) above {self._most:,} goes on all the same"
        )
