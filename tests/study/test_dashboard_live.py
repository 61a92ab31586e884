"""The dashboard live: streams of several servers, and the command from its start to its end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from affectlab.study import open_store
from affectlab.study.server.dashboard import stream as stream_module
from affectlab.study.store import Store

from .conftest import FACES
from .dashboard import PAID, app, make_app, researcher, store
from .desk import SECRET, Desk, add_people, served, take_part, until

__all__ = ["app", "make_app", "researcher", "store"]

pytest.importorskip("argon2")

pytestmark = pytest.mark.long

Maker = Callable[..., Store]
Listen = Callable[..., "Listener"]


class Listener:
    """A browser that listens to the stream."""

    def __init__(self, address: str, name: str = "viewer") -> None:
        self.client = httpx.Client(base_url=address, timeout=30)
        csrf = self.client.get("/dashboard/api/login").json()["csrf"]
        message = {"name": name, "password": SECRET}
        reply = self.client.post("/dashboard/api/login", json=message, headers={"X-CSRF": csrf})
        self.csrf = reply.json()["csrf"]

    @contextmanager
    def stream(self, last: str = "") -> Iterator[Iterator[tuple[str, str, Any]]]:
        headers = {"Last-Event-ID": last} if last else {}
        with self.client.stream("GET", "/dashboard/api/stream", headers=headers) as reply:
            assert reply.status_code == 200, reply.read()
            assert reply.headers["content-type"].startswith("text/event-stream")
            assert reply.headers["cache-control"] == "no-store"
            yield self._messages(reply.iter_lines())

    @staticmethod
    def _messages(lines: Iterator[str]) -> Iterator[tuple[str, str, Any]]:
        kind, number = "", ""
        for line in lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "id":
                number = value
            elif name == "data":
                yield kind, number, json.loads(value)
            elif line.startswith(":"):
                yield "beat", "", value


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    """Make browsers that listen, and close them."""
    made: list[Listener] = []

    def make(address: str, name: str = "viewer") -> Listener:
        made.append(Listener(address, name))
        return made[-1]

    yield make
    for one in made:
        one.client.close()


_SECONDS = 60.0
"""How long a message may take; beats alone would be waited for without end."""


def _next(messages: Iterator[tuple[str, str, Any]], kind: str) -> tuple[str, Any]:
    until_then = time.monotonic() + _SECONDS
    for found, number, content in messages:
        if found == kind:
            return number, content
        assert time.monotonic() < until_then, f"no {kind} in {_SECONDS:g} s"
    raise AssertionError(f"the stream ended without {kind}")


def _until(
    messages: Iterator[tuple[str, str, Any]], seen: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Keep the last message of each kind until they are as wanted, in whatever order they come."""
    last: dict[str, Any] = {}
    until_then = time.monotonic() + _SECONDS
    for kind, _, content in messages:
        last[kind] = content
        if seen(last):
            return last
        assert time.monotonic() < until_then, f"not seen in {_SECONDS:g} s: {last}"
    raise AssertionError("the stream ended")


def _has_counted(last: dict[str, Any]) -> bool:
    """Whether three answers are seen, and the statistics are those of them."""
    overview, statistics = last.get("overview"), last.get("statistics")
    if overview is None or statistics is None or overview["progress"]["answers"] < 3:
        return False
    return bool(statistics["event"] >= overview["event"])


class TestStream:
    def test_answers_are_seen_by_another_process(
        self, make_study: Maker, make_app: Callable[..., Any], database: str | None, listen: Listen
    ) -> None:
        """What comes in through one server is seen at another one on the same database."""
        store = make_study(PAID, database=database)
        add_people(store)
        other = open_store(store.study, database)
        with served(make_app(other)) as address:
            listener = listen(address)
            with listener.stream() as messages:
                _, first = _next(messages, "overview")
                assert first["progress"]["answers"] == 0
                take_part(store)
                last = _until(messages, _has_counted)
                assert last["overview"]["verdicts"]["waiting"] == 1
                assert last["overview"]["event"] > first["event"]
                assert last["statistics"]["times"]["median"] == 2.0
        other.close()

    def test_taking_it_up_again(self, app: Any, listen: Listen, store: Store) -> None:
        take_part(store)
        with served(app) as address:
            listener = listen(address)
            with listener.stream() as messages:
                number, seen = _next(messages, "overview")
            with listener.stream(number) as messages:
                # What was seen is not sent again: the next overview tells something new.
                take_part(store, 1)
                assert _next(messages, "overview")[1]["event"] > seen["event"]
            with listener.stream("nonsense.7.x") as messages:
                assert next(messages)[0] == "overview"

    def test_it_shows_that_it_is_alive(
        self, app: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stream_module, "_BEAT_SECONDS", 0.2)
        with served(app) as address, listen(address).stream() as messages:
            _next(messages, "beat")

    def test_it_ends_with_the_login(
        self, app: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stream_module, "_LOGIN_SECONDS", 0.2)
        with served(app) as address:
            listener = listen(address)
            with listener.stream() as messages:
                _next(messages, "overview")
                out = listener.client.post(
                    "/dashboard/api/logout", json={}, headers={"X-CSRF": listener.csrf}
                )
                assert out.status_code == 204
                _next(messages, "ended")
                assert list(messages) == []

    def test_everything_ends_with_the_server(self, app: Any, listen: Listen, store: Store) -> None:
        take_part(store)
        with served(app) as address, listen(address).stream() as messages:
            _next(messages, "statistics")
            child = app.state.live._process._child
            assert child.poll() is None
        assert child.poll() is not None

    def test_there_are_only_so_many(
        self, app: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stream_module, "_MOST_PER_ACCOUNT", 2)
        monkeypatch.setattr(stream_module, "_MOST", 3)
        with served(app) as address:
            viewer, owner = listen(address), listen(address, "owner")
            with viewer.stream(), viewer.stream():
                assert viewer.client.get("/dashboard/api/stream").status_code == 429
                with owner.stream():
                    assert owner.client.get("/dashboard/api/stream").status_code == 429
            # Places come back when streams end.
            until(lambda: _opens(viewer))

    def test_answers_never_wait_for_the_dashboard(
        self, app: Any, listen: Listen, store: Store
    ) -> None:
        """Requests of the dashboard have threads of their own, and statistics a process."""
        take_part(store)
        live, blocked = app.state.live, threading.Event()
        with served(app) as address, listen(address).stream() as messages:
            _next(messages, "statistics")
            child = live._process._child
            assert child.pid != os.getpid()
            assert os.getpriority(os.PRIO_PROCESS, child.pid) > os.getpriority(
                os.PRIO_PROCESS, os.getpid()
            )
            held = [live._threads.submit(blocked.wait, 30) for _ in range(8)]
            with httpx.Client(base_url=address, timeout=10) as client:
                state = client.post("/api/enter", json={}).json()
                assert state["stage"] == "instructions"
            assert not any(one.done() for one in held)
            blocked.set()

    def test_a_process_that_was_killed_is_started_again(
        self, app: Any, store: Store, researcher: Desk
    ) -> None:
        take_part(store)
        first = until(lambda: researcher.get("overview")["statistics"])
        app.state.live._process._child.kill()
        take_part(store)
        found = until(
            lambda: (
                (now := researcher.get("overview")["statistics"])["event"] > first["event"] and now
            ),
            90,
        )
        assert found["times"]["n"] == 6


@contextmanager
def command(folder: Path, *options: str) -> Iterator[tuple[Any, str]]:
    """Run ``affectlab study serve`` on a study; give the process and what it said first."""
    (folder / "study.toml").write_text(FACES, encoding="utf-8")
    given = [sys.executable, "-m", "affectlab", "study", "serve", "study.toml", *options]
    server = subprocess.Popen(
        given,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # On a narrow terminal the link must stay in one piece.
        env={**os.environ, "COLUMNS": "40"},
    )
    try:
        assert server.stdout is not None
        first = iter(server.stdout.readline, "Press Ctrl-C to stop; nothing is lost.\n")
        yield server, "".join(line for line in first if line or pytest.fail("it ended"))
    finally:
        server.kill()
        server.communicate()


def test_a_server_from_its_first_account_to_its_end(tmp_path: Path, database: str | None) -> None:
    """The command prints the link; all processes know the login; Ctrl-C waits for no stream."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    options = ["--port", address.rpartition(":")[2]]
    options += [] if database is None else ["--database", database, "--workers", "2"]
    with command(tmp_path, *options) as (server, said), httpx.Client(base_url=address) as client:
        (secret,) = re.findall(rf"^  {address}/dashboard/setup#(\S+)$", said, re.MULTILINE)
        until(lambda: _answers(client))
        csrf = client.get("/dashboard/api/login").json()["csrf"]
        message = {"secret": secret, "name": "anna", "password": SECRET}
        made = client.post("/dashboard/api/setup", json=message, headers={"X-CSRF": csrf})
        assert made.status_code == 200, made.text
        with client.stream("GET", "/dashboard/api/stream", timeout=30) as reply:
            messages = Listener._messages(reply.iter_lines())
            _next(messages, "overview")
            for _ in range(8):
                with httpx.Client(base_url=address, cookies=client.cookies) as other:
                    assert other.get("/dashboard/api/me").json()["name"] == "anna"
            began = time.monotonic()
            server.send_signal(signal.SIGINT)
            # The stream ends properly: this would raise otherwise.
            list(messages)
        server.wait(30)
        # It waits ten seconds for what does not end by itself.
        assert time.monotonic() - began < 8
        rest = server.stdout.read()
    assert "Traceback" not in rest
    assert "Cancel" not in rest


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def _opens(listener: Listener) -> bool:
    with listener.client.stream("GET", "/dashboard/api/stream") as reply:
        return reply.status_code == 200
