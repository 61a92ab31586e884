"""Participants' browsers as a load on a server: few lines, so that they cost less than the server.

One :class:`Browser` is one connection that stays open, as a browser's does. It takes part in a
study as the pages do: enters, goes through the stages, loads the picture of each trial, thinks, and
answers.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Acknowledged", "Browser", "Load", "Refused", "take_part"]

_ERRORS = (ConnectionError, asyncio.IncompleteReadError, TimeoutError)
_TIMEOUT = 60.0


class Refused(Exception):
    """The server gave another status than 200."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.passing = status >= 500
        """Whether it may go another way in a moment."""


@dataclass(frozen=True)
class Acknowledged:
    """An answer that the server said it has stored."""

    trial: int
    key: str
    answer: dict[str, Any]


@dataclass
class Load:
    """What all browsers together saw."""

    seconds: list[float] = field(default_factory=list)
    """Time from sending an answer to the reply, of each answer."""
    stored: list[Acknowledged] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    repeated: int = 0
    """Answers that were sent again because no reply had come."""
    completed: int = 0


class Browser:
    """One connection to a server, with the cookie and the token of a session.

    Parameters
    ----------
    ports
        Ports on this machine; after a failure the next one is asked, as behind a balancer.
    """

    def __init__(self, *ports: int) -> None:
        self._ports, self._turn = ports, 0
        self._cookie = self._csrf = ""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, what: str, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message; give the state that comes back."""
        body = json.dumps(message).encode()
        status, content = await self._ask(f"POST /api/{what}", body)
        if status != 200:
            raise Refused(status, f"{what}: {status} {content.decode(errors='replace')[:200]}")
        found: dict[str, Any] = json.loads(content)
        self._csrf = found.get("csrf", self._csrf)
        return found

    async def state(self) -> dict[str, Any]:
        """Ask where the session stands, as a page does that is loaded again."""
        found: dict[str, Any] = json.loads(await self.get("/api/session"))
        self._csrf = found["csrf"]
        return found

    async def get(self, path: str) -> bytes:
        """Load a picture, or whatever has an address."""
        status, content = await self._ask(f"GET {path}", b"")
        if status != 200:
            raise Refused(status, f"{path}: {status}")
        return content

    async def close(self) -> None:
        """Close the connection; the session stays."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
        self._turn += 1

    async def _ask(self, line: str, body: bytes) -> tuple[int, bytes]:
        head = (
            f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self._cookie}\r\n"
            f"X-CSRF: {self._csrf}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        reused = self._writer is not None
        try:
            return await self._once(head.encode() + body)
        except _ERRORS as error:
            await self.close()
            # Servers close connections that are silent for long; browsers open another one.
            if not reused or isinstance(error, TimeoutError):
                raise
            return await self._once(head.encode() + body)

    async def _once(self, request: bytes) -> tuple[int, bytes]:
        if self._reader is None or self._writer is None:
            port = self._ports[self._turn % len(self._ports)]
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._writer.write(request)
        async with asyncio.timeout(_TIMEOUT):
            return await self._reply(self._reader)

    async def _reply(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = 0
        for name, _, value in (line.partition(": ") for line in lines[1:]):
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie":
                self._cookie = value.partition(";")[0]
        return int(lines[0].split()[1]), await reader.readexactly(length)


async def take_part(
    ports: Sequence[int],
    load: Load,
    *,
    think: float,
    trials: int,
    seed: int,
    patience: float = 0.0,
    enter: dict[str, Any] | None = None,
) -> None:
    """Let one person take part.

    Parameters
    ----------
    ports
        Ports of the servers on this machine.
    load
        What is seen is added to it.
    think
        Mean time between seeing a trial and answering it, in seconds.
    trials
        Answers after which this person stops, unless the session ends before.
    seed
        Of the thinking times and the answers.
    patience
        Seconds for which a request without a reply is sent again, as the pages do; 0 for an error
        at once.
    enter
        What the address of the page says.
    """
    drawn = random.Random(seed)
    browser = Browser(*ports)
    given, seen = 0, set[str]()

    async def persist(what: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        until = time.monotonic() + patience
        while True:
            try:
                return await ask()
            except (*_ERRORS, Refused) as error:
                refused = isinstance(error, Refused) and not error.passing
                if refused or time.monotonic() > until:
                    raise
                load.repeated += what == "answers"
                await asyncio.sleep(0.2)

    async def send(what: str, message: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = await persist(what, lambda: browser.post(what, message))
        return state

    try:
        state = await send("enter", enter or {})
        while state["stage"] not in ("complete", "ended") and given < trials:
            if state["stage"] != "trials":
                if state["stage"] == "waiting":
                    break
                data = {"agreed": True} if state["stage"] == "consent" else {}
                try:
                    state = await send("advance", {"stage": state["stage"], "data": data})
                except Refused as error:
                    # The stage was finished, and the server died before it could say so.
                    if error.status != 409 or not patience:
                        raise
                    state = await persist("session", browser.state)
                continue
            trial = state["trial"]
            for path in trial["stimulus"]["images"]:
                if path not in seen:
                    await persist(path, lambda path=path: browser.get(path))
                    seen.add(path)
            await asyncio.sleep(drawn.expovariate(1 / think) if think else 0)
            level = drawn.choice(trial["scale"]["levels"])
            message = {
                "trial": trial["id"],
                "answer": {"ratings": {label["name"]: level for label in trial["labels"]}},
                "key": uuid.UUID(int=drawn.getrandbits(128)).hex,
                "widget": trial["widget"],
                "rt_ms": round(1000 * think),
            }
            began = time.perf_counter()
            state = await send("answers", message)
            load.seconds.append(time.perf_counter() - began)
            load.stored.append(Acknowledged(int(trial["id"]), message["key"], message["answer"]))
            given += 1
        load.completed += state["stage"] == "complete"
    except (*_ERRORS, Refused) as error:
        load.errors.append(f"{type(error).__name__}: {error}")
    finally:
        await browser.close()
