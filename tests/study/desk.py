"""A researcher's browser, as far as the server sees it, and a study with people in it."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import insert, select
from starlette.testclient import TestClient

from affectlab.study.database import now_ms
from affectlab.study.delivery.answers import Submission
from affectlab.study.people.accounts import Role, hash_password, insert_account
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store, hashed
from affectlab.study.tables import accounts, logins, trials

SECRET = "correct horse battery"
ROLES: tuple[Role, ...] = ("viewer", "researcher", "owner")


@cache
def _hashed() -> str:
    """Hash the password once for all tests: hashing is slow on purpose."""
    return hash_password("", SECRET)


def add_people(store: Store) -> None:
    """Add an account of each role, named like the role."""
    with store.database.write() as connection:
        for role in ROLES:
            insert_account(connection, role, _hashed(), role, by="test")


class Desk:
    """A browser in which somebody may be logged in."""

    def __init__(self, app: Any, name: str = "") -> None:
        self.client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
        self.csrf = ""
        if name:
            self._let_in(app.state.service.store, name)

    def _let_in(self, store: Store, name: str) -> None:
        """Begin a login without its password: hashing is slow on purpose."""
        token = secrets.token_urlsafe(32)
        with store.database.write() as connection:
            who = connection.execute(select(accounts.c.id).where(accounts.c.name == name))
            connection.execute(
                insert(logins).values(
                    token=hashed(token),
                    account_id=who.scalar_one(),
                    created_at=now_ms(),
                    expires_at=now_ms() + 3_600_000,
                )
            )
        self.client.cookies.set("affectlab_dashboard", token, path="/dashboard")
        self.csrf = self.get("me")["csrf"]

    def log_in(self, name: str, password: str = SECRET, code: int = 200) -> dict[str, Any]:
        csrf = self.get("login")["csrf"]
        message = {"name": name, "password": password}
        return self.post("login", message, code, csrf=csrf)

    def get(self, what: str, code: int = 200) -> dict[str, Any]:
        return self._read(self.client.get(f"/dashboard/api/{what}"), code)

    def post(
        self, what: str, message: Any = None, code: int = 200, csrf: str | None = None
    ) -> dict[str, Any]:
        headers = {"X-CSRF": self.csrf if csrf is None else csrf}
        sent = {} if message is None else message
        reply = self.client.post(f"/dashboard/api/{what}", json=sent, headers=headers)
        return self._read(reply, code)

    def _read(self, reply: Any, code: int) -> dict[str, Any]:
        assert reply.status_code == code, reply.text
        content: dict[str, Any] = reply.json() if reply.content else {}
        if content.get("role"):
            self.csrf = content.get("csrf", self.csrf)
        return content


def take_part(store: Store, n: int | None = None, **given: Any) -> int:
    """Let somebody answer `n` trials, or all of a session; give the session's number."""
    return session_of(store, token_after(store, n, **given))


def token_after(store: Store, n: int | None = None, **given: Any) -> str:
    """Let somebody answer `n` trials, or all of a session; give the session's token.

    Answers are `ratings`, what `rate` makes of the names of stimulus and label, or `value`.
    """
    visitor = given.pop("visitor", None) or Visitor()
    value = given.pop("value", 3)
    rate = given.pop("rate", lambda stimulus, label: value)
    service = Service(store)
    token = enter(store, visitor)
    state = service.state(token)
    if state["stage"] == "instructions":
        state = service.advance(token, "instructions", {})
    done = 0
    while state["stage"] == "trials" and (n is None or done < n):
        trial = state["trial"]
        shown = stimulus_of(store, int(trial["id"]))
        ratings = {label["name"]: rate(shown, label["name"]) for label in trial["labels"]}
        answer = {"ratings": given.get("ratings", ratings)}
        said = Submission(
            int(trial["id"]), answer, uuid.uuid4().hex, trial["widget"], given.get("rt_ms", 2000)
        )
        state = service.answer(token, said)
        done += 1
    return token


def stimulus_of(store: Store, trial: int) -> str:
    """Name what a trial shows."""
    with store.database.read() as connection:
        which = select(trials.c.stimulus_id).where(trials.c.id == trial)
        return str(store.content[connection.execute(which).scalar_one()]["name"])


def drawn(seed: int, noise: int) -> Callable[[str, str], int]:
    """Rate as a truth says, and a little off."""
    rng = np.random.default_rng(seed)

    def rate(name: str, label: str) -> int:
        true = sum(name.encode()) * 7 + sum(label.encode())
        return int(np.clip(true % 8 + rng.integers(-noise, noise + 1), 0, 7))

    return rate


def session_of(store: Store, token: str) -> int:
    """Give the number of the session that a token opens."""
    from affectlab.study.delivery.session import find_session

    with store.database.read() as connection:
        return int(find_session(connection, store, token)["id"])


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until something is so; give what it is."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


@contextmanager
def served(app: Any, port: int = 0) -> Iterator[str]:
    """Serve an application from a thread."""
    import uvicorn

    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    app.state.live.stopping.set()
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
