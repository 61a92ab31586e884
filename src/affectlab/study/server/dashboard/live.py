"""What the dashboard shows, shared by all who look: the database is asked once for all of them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from affectlab.core.errors import AffectlabError
from affectlab.study.statistics_process import StatisticsProcess
from affectlab.study.store import Store
from affectlab.study.watch import last_event, overview

__all__ = ["Live", "Shown"]

T = TypeVar("T")

_LOOK_SECONDS = 1.0
"""How often the number of the last event is asked for, while somebody watches."""
_OLD_SECONDS = 15.0
"""After so long an overview is made again though nothing happened: leases and paces run out."""
_LIGHT_SHARE, _HEAVY_SHARE = 10.0, 4.0
"""What was computed rests for so many times as long as it took."""
_RETRY_SECONDS = 30.0


@dataclass(frozen=True)
class Shown:
    """What there is to show."""

    overview: dict[str, Any]
    statistics: dict[str, Any] | None
    """None until they were computed for the first time."""
    problem: str = ""
    """Why there are no newer statistics."""

    @property
    def known(self) -> int:
        """Number of the last event that the statistics know of; 0 without any."""
        return 0 if self.statistics is None else int(self.statistics["event"])


class Live:
    """Keeps what the dashboard shows up to date, without getting in the way of answers.

    Requests of the dashboard have threads of their own, so that they never hold those that save
    answers; statistics have a process of their own.

    Parameters
    ----------
    store
        The open study.
    statistics_seconds
        Least time between two computations of the statistics.
    """

    def __init__(self, store: Store, statistics_seconds: float) -> None:
        self._store, self._least = store, statistics_seconds
        self._threads = ThreadPoolExecutor(2, "dashboard")
        self._apart = ThreadPoolExecutor(1, "dashboard-statistics")
        self._process = StatisticsProcess(store)
        self.stopping = threading.Event()
        """Set when the server is about to stop: whoever waits for news stops waiting."""
        self._looking = threading.Lock()
        self._next_look = self._next_overview = self._next_statistics = 0.0
        self._made = -_OLD_SECONDS
        self._overview: dict[str, Any] = {}
        self._statistics: dict[str, Any] | None = None
        self._problem = ""
        self._busy = False

    async def run(self, task: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run something that waits for the database or the processor."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(task, *given, **named))

    async def look(self, *, fresh: bool = False) -> Shown:
        """Give what there is to show; statistics may be those of a few seconds ago."""
        return await self.run(self._look, fresh)

    def close(self) -> None:
        """End the process and the threads."""
        self.stopping.set()
        self._process.close()
        self._threads.shutdown(cancel_futures=True)
        self._apart.shutdown(cancel_futures=True)

    def _look(self, fresh: bool) -> Shown:
        with self._looking:
            now = time.monotonic()
            if fresh or now >= self._next_look:
                self._next_look = now + _LOOK_SECONDS
                self._bring_up_to_date(now, fresh)
            return Shown(self._overview, self._statistics, self._problem)

    def _bring_up_to_date(self, now: float, fresh: bool) -> None:
        with self._store.database.read() as connection:
            event = last_event(connection)
        changed = not self._overview or event != self._overview["event"]
        old = now - self._made > _OLD_SECONDS
        if fresh or (now >= self._next_overview and (changed or old)):
            self._overview = asdict(overview(self._store))
            took = time.monotonic() - now
            self._made = now
            self._next_overview = now + _LIGHT_SHARE * took
        known = None if self._statistics is None else self._statistics["event"]
        if not self._busy and known != event and now >= self._next_statistics:
            self._busy = True
            self._apart.submit(self._compute)

    def _compute(self) -> None:
        began = time.monotonic()
        try:
            found: dict[str, Any] | None = self._process.ask()
            problem = ""
        except (AffectlabError, OSError, ValueError) as error:
            # Also where no process can be started: of a thread nobody would hear otherwise.
            found, problem = None, f"Statistics cannot be computed now: {error}."
        took = time.monotonic() - began
        rest = _RETRY_SECONDS if problem else max(self._least, _HEAVY_SHARE * took)
        with self._looking:
            self._statistics = found or self._statistics
            self._problem = problem
            self._next_statistics = time.monotonic() + rest
            self._busy = False
