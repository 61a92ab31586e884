"""The interface of the participant pages: what it gives, and what it refuses."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from affectlab.study import open_store, study_status
from affectlab.study.errors import StudyError
from affectlab.study.people.invitations import create_invitations as invite
from affectlab.study.server import Settings, create_app
from affectlab.study.server.dashboard.access import Access
from affectlab.study.server.limits import Limiter, Refusals, door
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, sessions
from affectlab.study.watch.audit import audit

from .conftest import FACES

Maker = Callable[..., Store]


class Browser:
    """A participant's browser, as far as the server sees it."""

    def __init__(self, store: Store, settings: Settings | None = None) -> None:
        self.client = TestClient(create_app(store, settings), base_url="http://127.0.0.1")
        self.csrf = ""

    def post(self, what: str, message: object, code: int = 200, **headers: str) -> dict[str, Any]:
        given = {"X-CSRF": self.csrf, **headers}
        reply = self.client.post(f"/api/{what}", json=message, headers=given)
        assert reply.status_code == code, reply.text
        content: dict[str, Any] = reply.json()
        self.csrf = content.get("csrf", self.csrf)
        return content

    def begin(self) -> dict[str, Any]:
        state = self.post("enter", {})
        return self.post("advance", {"stage": state["stage"]})

    def message(self, state: dict[str, Any], **changes: Any) -> dict[str, Any]:
        trial = state["trial"]
        answer = {"ratings": {trial["labels"][0]["name"]: 1}}
        key = uuid.uuid4().hex
        return {"trial": trial["id"], "answer": answer, "key": key, "widget": "radio", **changes}


@pytest.fixture
def store(make_study: Maker) -> Store:
    return make_study()


@pytest.fixture
def browser(store: Store) -> Iterator[Browser]:
    made = Browser(store)
    yield made
    made.client.close()


def n_answers(store: Store) -> int:
    with store.database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(answers)).scalar_one())


def test_a_session_from_start_to_end(browser: Browser, store: Store) -> None:
    assert browser.client.get("/api/session").status_code == 204
    state = browser.begin()
    while state["stage"] == "trials":
        image = browser.client.get(state["trial"]["stimulus"]["images"][0])
        assert image.headers["content-type"] == "image/png"
        for address in state["preload"]:
            assert browser.client.get(address).status_code == 200
        state = browser.post("answers", browser.message(state))
    assert state["stage"] == "complete"
    assert browser.client.get("/api/session").json()["complete"] == state["complete"]
    assert n_answers(store) == 3


@pytest.mark.parametrize("path", ["/", "/take", "/p/whatever"])
def test_pages_need_nothing_from_elsewhere(browser: Browser, path: str) -> None:
    reply = browser.client.get(path)
    assert reply.status_code == 200
    assert "http://" not in reply.text
    assert "https://" not in reply.text
    policy = reply.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["cache-control"] == "no-store"


def test_looking_at_a_link_begins_nothing(browser: Browser, store: Store) -> None:
    """Programs that look at every link in a message must not use up an invitation."""
    browser.client.get(f"/p/{invite(store, 1)[0]}")
    with store.database.read() as connection:
        assert connection.execute(select(func.count()).select_from(sessions)).scalar_one() == 0


class TestRefused:
    def test_without_the_token_of_the_page(self, browser: Browser, store: Store) -> None:
        state = browser.begin()
        browser.csrf = "guess"
        found = browser.post("answers", browser.message(state), 403)
        assert found["error"]["code"] == "forbidden"
        assert n_answers(store) == 0

    def test_a_forged_cookie(self, browser: Browser) -> None:
        state = browser.begin()
        browser.client.cookies.clear()
        browser.client.cookies.set("affectlab_session", "x" * 43)
        assert browser.client.get("/api/session").status_code == 204
        browser.post("answers", browser.message(state), 403)

    def test_from_another_site(self, browser: Browser) -> None:
        browser.post("enter", {}, 403, **{"Sec-Fetch-Site": "cross-site"})

    def test_a_form_of_another_site(self, browser: Browser) -> None:
        reply = browser.client.post("/api/enter", data={"code": "x"})
        assert reply.status_code == 415

    def test_a_body_that_is_too_large(self, browser: Browser, store: Store) -> None:
        state = browser.begin()
        message = browser.message(state, answer={"ratings": {"awe": 1}, "more": "x" * 70_000})
        assert browser.post("answers", message, 413)["error"]["code"] == "too_large"
        assert n_answers(store) == 0

    def test_a_body_that_says_it_is_small(self, store: Store) -> None:
        def chunks() -> Iterator[bytes]:
            for _ in range(100):
                yield b" " * 1000

        with TestClient(create_app(store)) as client:
            reply = client.post(
                "/api/enter", content=chunks(), headers={"content-type": "application/json"}
            )
        assert reply.status_code == 413

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"null", b'{"trial": 1}', b'{"trial": "1", "answer": NaN}', b"\xff"],
    )
    def test_bodies_that_are_no_message(self, browser: Browser, content: bytes) -> None:
        browser.begin()
        reply = browser.client.post(
            "/api/answers",
            content=content,
            headers={"content-type": "application/json", "X-CSRF": browser.csrf},
        )
        assert reply.status_code in (400, 422)
        assert reply.json()["error"]["code"] == "invalid"

    @pytest.mark.parametrize(
        "changes",
        [
            {"trial": "1; DROP TABLE answers"},
            {"trial": "99999999999999999999"},
            {"key": "short"},
            {"key": "../../../etc/passwd"},
            {"widget": "<b>"},
            {"rt_ms": -1},
            {"rt_ms": 10**12},
            {"answer": {"ratings": {"awe": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}}},
            {"answer": {"ratings": {"awe": 1e400}}},
            {"extra": 1},
        ],
    )
    def test_messages_with_something_wrong(
        self, browser: Browser, store: Store, changes: dict[str, Any]
    ) -> None:
        state = browser.begin()
        content = browser.message(state, **changes)
        reply = browser.client.post(
            "/api/answers",
            content=json.dumps(content),
            headers={"content-type": "application/json", "X-CSRF": browser.csrf},
        )
        assert reply.status_code in (404, 422)
        assert reply.json()["error"]["sentence"]
        assert n_answers(store) == 0

    @pytest.mark.parametrize(
        "path",
        [
            "/media/../../study.toml",
            "/media/%2e%2e%2f%2e%2e%2fstudy.toml",
            "/media/secret.key",
            "/static/..%2f_store.py",
            "/static/../_store.py",
            "/study.affectlab/secret.key",
            "/docs",
        ],
    )
    def test_paths_that_lead_elsewhere(self, browser: Browser, path: str) -> None:
        browser.begin()
        reply = browser.client.get(path)
        assert reply.status_code == 404
        assert "error" in reply.json()

    def test_pictures_of_other_sessions(self, make_study: Maker) -> None:
        store = make_study(replace={"trials = 3": "trials = 1"})
        first, second = Browser(store), Browser(store)
        mine = first.begin()["trial"]["stimulus"]["images"][0]
        second.begin()
        assert first.client.get(mine).status_code == 200
        assert second.client.get(mine).status_code == 404
        assert TestClient(create_app(store)).get(mine).status_code == 401

    def test_too_many_requests(self, make_study: Maker) -> None:
        browser = Browser(make_study(), Settings(requests_per_second=0.5, entries_per_minute=2))
        browser.begin()
        codes = {browser.client.get("/api/session").status_code for _ in range(5)}
        assert 429 in codes
        other = Browser(browser.client.app.state.service.store, Settings(entries_per_minute=2))
        for _ in range(2):
            other.post("enter", {})
        assert other.post("enter", {}, 429)["error"]["code"] == "too_many"


class TestAnswersOnce:
    def test_a_reply_that_got_lost(self, browser: Browser, store: Store) -> None:
        state = browser.begin()
        message = browser.message(state)
        first = browser.post("answers", message)
        assert browser.post("answers", message) == first
        assert n_answers(store) == 1

    def test_an_answer_to_what_is_done(self, browser: Browser, store: Store) -> None:
        state = browser.begin()
        browser.post("answers", browser.message(state))
        found = browser.post("answers", browser.message(state), 409)
        assert found["error"]["code"] == "out_of_order"
        assert n_answers(store) == 1


def test_html_in_a_suggestion_stays_text(make_study: Maker) -> None:
    from .conftest import TEXTS

    browser = Browser(make_study(TEXTS))
    state = browser.begin()
    answer = {"chosen": ["joy"], "suggestion": "<script>alert(1)</script>"}
    message = browser.message(state, answer=answer, widget="checkbox")
    assert browser.post("answers", message)["progress"]["done"] == 1


def test_cookies_are_for_the_server_alone(store: Store) -> None:
    browser = Browser(store, Settings(https=True))
    reply = browser.client.post("/api/enter", json={})
    cookie = reply.headers["set-cookie"]
    assert {"HttpOnly", "Secure", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
    assert "max-age" in reply.headers["strict-transport-security"]


def test_the_platform_must_say_who_comes(make_study: Maker) -> None:
    store = make_study(FACES + '[recruitment]\nplatform = "prolific"\n')
    browser = Browser(store)
    assert browser.post("enter", {}, 403)["error"]["code"] == "forbidden"
    state = browser.post("enter", {"prolific_pid": "abc", "external_session": "s1"})
    assert state["stage"] == "instructions"


def test_the_interface_describes_itself(browser: Browser) -> None:
    described = browser.client.get("/openapi.json").json()
    assert set(described["paths"]) >= {"/api/answers", "/api/session", "/api/advance"}


class TestRefusals:
    """Refused requests are written down, and can fill no disk."""

    def test_what_comes_too_fast_is_counted(self, store: Store) -> None:
        refusals = Refusals(store)
        for _ in range(130):
            refusals.note("forbidden", "/api/answers", "")
        with store.database.read() as connection:
            asked = select(events.c.body).where(events.c.kind == "refused")
            bodies = connection.execute(asked).scalars().all()
        assert bodies == ['{"code": "forbidden", "path": "/api/answers"}'] * 100
        # As many again would take a thousand seconds; the next row says what was not listed.
        refusals._limiter = Limiter(0, 1)
        refusals.note("invalid", "/p/secret-of-somebody", "made-up")
        assert study_status(store).refused == 131
        assert audit(store)[1][0]["told"] == {"code": "invalid", "path": "/p", "unlogged": 30}

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("/api/answers", "/api/answers"),
            ("/api/answers/more", "/api/answers"),
            ("/dashboard/api/sessions/7/verdict", "/dashboard/api/sessions"),
            ("/media/1-0-aa", "/media"),
            ("/p/invitation", "/p"),
            ("/phpmyadmin", "other"),
            ("/\x00", "other"),
            ("", "other"),
        ],
    )
    def test_paths_are_kept_without_what_visitors_wrote(self, path: str, expected: str) -> None:
        assert door(path) == expected


@pytest.mark.parametrize("path", ["/", "/take", "/p/somebody", "/health"])
def test_monitors_may_ask_for_the_head_alone(browser: Browser, path: str) -> None:
    reply = browser.client.head(path)
    assert (reply.status_code, reply.content) == (200, b"")


def test_the_database_is_for_its_owner_alone(make_study: Maker) -> None:
    store = make_study()
    folder = store.study.state
    with store.database.write() as connection:
        connection.execute(select(sessions))
    files = [*folder.glob("study.sqlite*")]
    assert files
    assert [file.stat().st_mode & 0o077 for file in files] == [0] * len(files)
    # What an earlier version left open to others is closed.
    folder.chmod(0o755)
    for file in files:
        file.chmod(0o644)
    open_store(store.study).close()
    assert [one.stat().st_mode & 0o077 for one in (folder, *files)] == [0] * (1 + len(files))


def test_strangers_cannot_lock_an_account_out(store: Store) -> None:
    settings = Settings(trust_proxy=True)
    access = Access(store, create_app(store, settings).state.live, settings)

    def may_try(address: str, cookie: str = "") -> bool:
        """Say whether a password may be tried; checking one takes long, and is not wanted here."""
        headers = [(b"x-forwarded-for", address.encode()), (b"cookie", cookie.encode())]
        try:
            access.may_try(Request({"type": "http", "headers": headers, "client": None}), "Olga")
        except StudyError as error:
            return error.status != 429
        return True

    # One place has few attempts for one name; all addresses of an IPv6 network are one place.
    one_place = [may_try(f"2001:db8::{k}") for k in range(12)]
    assert one_place[:6] == [True] * 6
    assert not one_place[-1]
    # From ever new places, all of them together have few.
    assert not all(may_try(f"10.0.{k}.1") for k in range(60))
    assert not may_try("192.0.2.1")
    # A browser in which the account was logged in before has its own.
    known = Response()
    access.know(known, "olga")
    cookie = known.headers["set-cookie"].partition(";")[0]
    assert may_try("192.0.2.1", cookie)
    assert not all(may_try("192.0.2.1", cookie) for _ in range(12))
    # A proof that was made up, or belongs to another account, is worth nothing.
    another = Response()
    access.know(another, "rob")
    assert not may_try("192.0.2.1", another.headers["set-cookie"].partition(";")[0])
    assert not may_try("192.0.2.1", cookie[:-1] + ("0" if cookie[-1] != "0" else "1"))


def test_a_picture_has_an_address_for_each_place_it_stands_at(make_study: Maker) -> None:
    store = make_study(replace={"trials = 3": "trials = 6\n"})
    first, second = Browser(store), Browser(store)
    addresses: list[list[str]] = []
    for one in (first, second):
        state = one.begin()
        addresses.append([])
        while state["stage"] == "trials":
            addresses[-1] += state["trial"]["stimulus"]["images"]
            state = one.post("answers", one.message(state))
    assert len(set(addresses[0])) == len(set(addresses[1])) == 6
    # Both saw the same six pictures, and neither the other nor anyone after could tell.
    assert not set(addresses[0]) & set(addresses[1])
    mine = addresses[0][0]
    assert first.client.get(mine).status_code == 200
    for changed in (mine[:-1] + ("0" if mine[-1] != "0" else "1"), mine.replace("/1-0-", "/2-0-")):
        assert first.client.get(changed).status_code == 404
