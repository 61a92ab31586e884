"""News of the dashboard as they come, by server-sent events."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from affectlab.study.errors import StudyError
from affectlab.study.people import Login
from affectlab.study.server.dashboard.access import Access
from affectlab.study.server.dashboard.live import Live, Shown

__all__ = ["Streams"]

_STEP_SECONDS = 1.0
_BEAT_SECONDS = 10.0
"""Proxies close connections on which nothing comes."""
_LOGIN_SECONDS = 10.0
"""How often it is looked whether the login has ended meanwhile."""
_LONGEST_SECONDS = 30 * 60.0
"""A stream ends and is taken up again, so that none is kept by a connection that is dead."""
_MOST, _MOST_PER_ACCOUNT = 32, 6


class _Reply(StreamingResponse):
    """A stream that takes a place as long as it lasts, and is refused where there is none."""

    def __init__(self, news: AsyncIterator[str], place: AbstractContextManager[None]) -> None:
        super().__init__(news, media_type="text/event-stream")
        # Proxies that collect replies would hold the news back.
        self.headers["X-Accel-Buffering"] = "no"
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            await super().__call__(scope, receive, send)


class Streams:
    """The streams of one process: few enough that they never weigh on those who answer.

    Parameters
    ----------
    live
        What is shown.
    access
        Whether a login still holds.
    """

    def __init__(self, live: Live, access: Access) -> None:
        self._live, self._access = live, access
        self._open: Counter[int] = Counter()
        self._counting = threading.Lock()

    def reply(self, login: Login, token: str, last: str) -> StreamingResponse:
        """Give the stream of one browser; see :meth:`news`."""
        return _Reply(self.news(token, last), self.place(login.account.id))

    @contextmanager
    def place(self, account: int) -> Iterator[None]:
        """Take one of the places for streams.

        Raises
        ------
        StudyError
            When there is none left, for all or for this account.
        """
        with self._counting:
            full = self._open.total() >= _MOST or self._open[account] >= _MOST_PER_ACCOUNT
            if full:
                raise StudyError(429, "too_many", "Too many dashboards are open; close one.")
            self._open[account] += 1
        try:
            yield
        finally:
            with self._counting:
                self._open[account] -= 1

    async def news(self, token: str, last: str) -> AsyncIterator[str]:
        """Give what has changed, whenever it has.

        Parameters
        ----------
        token
            The login that listens; the stream ends with it.
        last
            What the browser says it saw last (``Last-Event-ID``): it is not sent again.
        """
        seen = _parsed(last)
        began = beat = checked = time.monotonic()
        yield "retry: 3000\n\n"
        while not self._live.stopping.is_set():
            now = time.monotonic()
            if now - began > _LONGEST_SECONDS:
                return
            if now - checked > _LOGIN_SECONDS:
                checked = now
                if await self._access.login(token) is None:
                    yield "event: ended\ndata: {}\n\n"
                    return
            shown = await self._live.look()
            said = _messages(shown, seen)
            for message in said:
                yield message
            # An overview is also sent again when only time has passed.
            seen = (shown.overview["at"], shown.known, shown.problem)
            if said:
                beat = now
            elif now - beat > _BEAT_SECONDS:
                beat = now
                yield ": still here\n\n"
            await asyncio.sleep(_STEP_SECONDS)


def _messages(shown: Shown, seen: tuple[int, int, str]) -> list[str]:
    at, known, problem = seen
    place = f"{shown.overview['at']}.{shown.known}"
    said = []
    if shown.overview["at"] != at:
        said.append(_message("overview", place, shown.overview))
    if shown.statistics is not None and shown.known != known:
        said.append(_message("statistics", place, shown.statistics))
    if shown.problem != problem:
        said.append(_message("problem", place, {"sentence": shown.problem}))
    return said


def _message(kind: str, place: str, content: dict[str, Any]) -> str:
    return f"event: {kind}\nid: {place}\ndata: {json.dumps(content, allow_nan=False)}\n\n"


def _parsed(last: str) -> tuple[int, int, str]:
    """Read what a browser saw last; nothing where it says nothing that can be read."""
    parts = last.split(".")
    if len(parts) == 2 and all(part.isdecimal() and len(part) < 19 for part in parts):
        return int(parts[0]), int(parts[1]), ""
    return -1, -1, ""
