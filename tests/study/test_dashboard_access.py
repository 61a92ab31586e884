"""Who gets into the dashboard: roles, forged requests, limits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from affectlab.study.people.accounts import insert_account
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import logins, sessions
from affectlab.study.watch.audit import audit

from .dashboard import app, make_app, researcher, scalar, store
from .desk import ROLES, SECRET, Desk, take_part

__all__ = ["app", "make_app", "researcher", "store"]

pytest.importorskip("argon2")

pytestmark = pytest.mark.long


# Method, path, message and the least role. Each is tried by everyone.
NEEDS: list[tuple[str, str, Any, str]] = [
    ("GET", "login", None, "nobody"),
    ("POST", "login", {"name": "viewer", "password": SECRET}, "nobody"),
    ("POST", "setup", {"secret": "x", "name": "eve", "password": SECRET}, "refused"),
    ("GET", "me", None, "viewer"),
    ("GET", "overview", None, "viewer"),
    ("GET", "stimuli", None, "viewer"),
    ("GET", "sessions", None, "viewer"),
    ("GET", "sessions?which=decided", None, "viewer"),
    ("GET", "people/{pseudonym}", None, "viewer"),
    ("GET", "pictures/{stimulus}/{place}", None, "viewer"),
    ("POST", "logout", {}, "viewer"),
    ("POST", "password", {"old": SECRET, "new": "another long one"}, "viewer"),
    ("GET", "audit", None, "researcher"),
    ("POST", "sessions/{session}/verdict", {"verdict": "accepted"}, "researcher"),
    ("POST", "status", {"status": "paused"}, "researcher"),
    ("POST", "status", {"status": "closed"}, "owner"),
    ("GET", "accounts", None, "owner"),
    ("POST", "accounts", {"name": "dan", "role": "viewer", "password": SECRET}, "owner"),
    ("POST", "accounts/{name}/role", {"role": "viewer"}, "owner"),
    ("POST", "accounts/{name}/password", {"password": "another long one"}, "owner"),
    ("POST", "accounts/{name}/remove", {}, "owner"),
]


def _path(path: str, store: Store, session: int) -> str:
    who = scalar(store, select(sessions.c.participant_id).where(sessions.c.id == session))
    return path.format(
        pseudonym=pseudonym(store, who),
        stimulus=1,
        place=0,
        session=session,
        name="dan" if path.startswith("accounts") else "",
    )


class TestRoles:
    def test_every_route_is_in_the_table(self, app: Any) -> None:
        described = app.openapi()["paths"]
        found = {
            (method.upper(), path.removeprefix("/dashboard/api/"))
            for path, methods in described.items()
            if path.startswith("/dashboard")
            for method in methods
        }
        assert found == {(method, path.partition("?")[0]) for method, path, _, _ in NEEDS}

    @pytest.mark.parametrize(("method", "path", "message", "least"), NEEDS)
    def test_who_may_do_what(
        self, app: Any, store: Store, method: str, path: str, message: Any, least: str
    ) -> None:
        session = take_part(store)
        if "{name}" in path:
            with store.database.write() as connection:
                insert_account(connection, "dan", "no password", "viewer", by="test")
        address = f"/dashboard/api/{_path(path, store, session)}"
        order = ("nobody", *ROLES)
        for who in order:
            desk = Desk(app, "" if who == "nobody" else who)
            if method == "GET":
                reply = desk.client.get(address)
            else:
                csrf = desk.get("login")["csrf"] if path in ("login", "setup") else desk.csrf
                reply = desk.client.post(address, json=message, headers={"X-CSRF": csrf})
            if least == "refused":
                assert reply.status_code == 403
            elif order.index(who) >= order.index(least):
                assert reply.status_code in (200, 201, 204, 409), reply.text
                # A session that is decided already is a conflict, and no question of roles.
                assert reply.status_code != 409 or "verdict" in path
            else:
                assert reply.status_code == (401 if who == "nobody" else 403), (who, reply.text)
                assert reply.json()["error"]["sentence"]

    def test_the_stream_is_for_those_who_are_logged_in(self, app: Any) -> None:
        assert Desk(app).client.get("/dashboard/api/stream").status_code == 401

    def test_a_researcher_pauses_and_an_owner_closes(self, app: Any, store: Store) -> None:
        researcher, owner = Desk(app, "researcher"), Desk(app, "owner")
        researcher.post("status", {"status": "paused"})
        assert store.status == "paused"
        visitor = researcher.client.post("/api/enter", json={})
        assert visitor.status_code == 410
        researcher.post("status", {"status": "open"})
        researcher.post("status", {"status": "closed"}, 403)
        assert store.status == "open"
        owner.post("status", {"status": "closed"})
        researcher.post("status", {"status": "open"}, 403)
        assert store.status == "closed"
        owner.post("status", {"status": "open"})
        owner.post("status", {"status": "open"})
        told = [row["told"] for row in owner.get("audit")["rows"] if row["kind"] == "study_status"]
        assert [(one["by"], one["status"]) for one in reversed(told)] == [
            ("researcher", "paused"),
            ("researcher", "open"),
            ("owner", "closed"),
            ("owner", "open"),
        ]


class TestRefused:
    @pytest.mark.parametrize(
        ("path", "message"), [need[1:3] for need in NEEDS if need[0] == "POST"]
    )
    def test_without_the_token_of_the_page(
        self, app: Any, store: Store, path: str, message: Any
    ) -> None:
        session = take_part(store)
        desk = Desk(app, "owner")
        before = audit(store)
        for csrf in ("", "guess", "\u00e9"):
            reply = desk.client.post(
                f"/dashboard/api/{_path(path, store, session)}",
                json=message,
                headers={"X-CSRF": csrf.encode()},
            )
            assert reply.status_code == 403
            assert reply.json()["error"]["code"] == "forbidden"
        _, rows = audit(store)
        # The refusals themselves are written down.
        assert [row for row in rows if row["kind"] != "refused"] == before[1]

    def test_the_token_of_another_login(self, app: Any, store: Store) -> None:
        first, second = Desk(app, "owner"), Desk(app, "owner")
        assert first.csrf != second.csrf
        second.post("status", {"status": "paused"}, 403, csrf=first.csrf)
        # Nor is the token of the page for logging in one of a login.
        second.post("status", {"status": "paused"}, 403, csrf=second.get("login")["csrf"])
        assert store.status == "open"

    def test_requests_of_other_sites(self, researcher: Desk, store: Store) -> None:
        for headers, code in (
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-site"}, 403),
            ({"Content-Type": "text/plain"}, 415),
            ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ):
            reply = researcher.client.post(
                "/dashboard/api/status",
                content=b'{"status": "paused"}',
                headers={"Content-Type": "application/json", "X-CSRF": researcher.csrf, **headers},
            )
            assert reply.status_code == code
        assert store.status == "open"

    def test_a_cookie_that_somebody_else_put_there(self, app: Any) -> None:
        desk = Desk(app)
        desk.client.cookies.set(
            "affectlab_dashboard", "x" * 43, domain="127.0.0.1", path="/dashboard"
        )
        desk.get("me", 401)
        desk.log_in("viewer")
        tokens = [cookie.value for cookie in desk.client.cookies.jar if cookie.domain]
        assert "x" * 43 not in tokens
        assert desk.get("me")["name"] == "viewer"

    def test_forged_cookies(self, app: Any) -> None:
        desk = Desk(app, "viewer")
        good = desk.client.cookies.get("affectlab_dashboard", path="/dashboard")
        assert good is not None
        for bad in (good[:-1], good[:-1] + "~", good + "x", "", "../../secret.key", "a" * 5000):
            reply = Desk(app).client.get(
                "/dashboard/api/overview", headers={"Cookie": f"affectlab_dashboard={bad}"}
            )
            assert reply.status_code in (401, 422)

    def test_a_login_that_is_over(self, app: Any, store: Store) -> None:
        desk = Desk(app, "viewer")
        with store.database.write() as connection:
            connection.execute(update(logins).values(expires_at=1))
        desk.get("overview", 401)
        assert desk.client.get("/dashboard").headers["location"] == "/dashboard/login"

    def test_a_copy_of_a_cookie_after_logging_out(self, app: Any) -> None:
        desk = Desk(app, "viewer")
        good = desk.client.cookies.get("affectlab_dashboard", path="/dashboard")
        desk.post("logout", {}, 204)
        copy = Desk(app).client.get(
            "/dashboard/api/overview", headers={"Cookie": f"affectlab_dashboard={good}"}
        )
        assert copy.status_code == 401

    def test_participants_do_not_get_in(self, app: Any, store: Store) -> None:
        desk = Desk(app)
        desk.client.post("/api/enter", json={})
        token = desk.client.cookies.get("affectlab_session")
        desk.client.cookies.set("affectlab_dashboard", str(token), path="/dashboard")
        desk.get("overview", 401)

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("login", {"name": "a'; DROP TABLE accounts --", "password": SECRET}),
            ("login", {"name": "an\x00na", "password": SECRET}),
            ("login", {"name": "owner", "password": "x" * 201}),
            ("login", {"name": "owner", "password": SECRET, "role": "owner"}),
            ("login", {"name": "owner"}),
            ("login", []),
            ("status", {"status": "deleted"}),
            ("accounts", {"name": "../../x", "role": "viewer", "password": SECRET}),
            ("accounts", {"name": "dan", "role": "king", "password": SECRET}),
            ("accounts", {"name": "dan", "role": "viewer", "password": "short"}),
            ("accounts/nobody/role", {"role": "viewer"}),
            ("accounts/nobody/remove", {}),
            ("sessions/0/verdict", {"verdict": "accepted"}),
            ("sessions/99999999999999999999/verdict", {"verdict": "accepted"}),
            ("sessions/1/verdict", {"verdict": "rejected", "reason": "\x00" * 20}),
            ("sessions/1/verdict", {"verdict": "rejected", "reason": "\ud800" * 20}),
            ("sessions/1/verdict", {"verdict": "rejected", "reason": "x" * 2001}),
        ],
    )
    def test_messages_with_something_wrong(
        self, app: Any, store: Store, path: str, message: Any
    ) -> None:
        take_part(store)
        desk = Desk(app, "owner")
        csrf = desk.get("login")["csrf"] if path == "login" else desk.csrf
        reply = desk.client.post(
            f"/dashboard/api/{path}",
            content=json.dumps(message),
            headers={"Content-Type": "application/json", "X-CSRF": csrf},
        )
        assert reply.status_code in (401, 422), reply.text
        assert reply.json()["error"]["sentence"]

    @pytest.mark.parametrize(
        "path",
        [
            "people/r000000000000",
            "people/..%2f..%2fsecret.key",
            "pictures/1/7",
            "pictures/99/0",
            "pictures/1/..%2f..%2fsecret.key",
            "sessions/7/verdict/more",
        ],
    )
    def test_paths_that_lead_nowhere(self, app: Any, path: str) -> None:
        reply = Desk(app, "owner").client.get(f"/dashboard/api/{path}")
        assert reply.status_code == 404
        assert "error" in reply.json()

    @pytest.mark.parametrize("query", ["offset=-1", "limit=0", "limit=100000", "which=all"])
    def test_lists_without_end(self, researcher: Desk, query: str) -> None:
        researcher.get(f"sessions?{query}", 422)


class TestLimits:
    """Each limit lets a burst through, and then so many a second; slow machines get more in."""

    @staticmethod
    def tries(once: Callable[[int], int], burst: int, per_second: float) -> None:
        began = time.monotonic()
        passed = 0
        while (code := once(passed)) != 429:
            assert code in (401, 403)
            passed += 1
            assert passed <= burst + 1 + per_second * (time.monotonic() - began)
        assert passed >= burst

    def test_guessing_a_password(self, app: Any) -> None:
        desk = Desk(app)

        def guess(number: int) -> int:
            reply = desk.client.post(
                "/dashboard/api/login",
                # Writing the name in another way does not help.
                json={"name": ("owner", "Owner")[number % 2], "password": "a wrong guess"},
                headers={"X-CSRF": desk.get("login")["csrf"]},
            )
            return int(reply.status_code)

        self.tries(guess, 6, 0.1)
        # Neither does the right one now; others come in.
        desk.log_in("owner", code=429)
        desk.log_in("viewer")

    def test_guessing_many_names(self, app: Any) -> None:
        desk = Desk(app)

        def guess(number: int) -> int:
            reply = desk.client.post(
                "/dashboard/api/setup",
                json={"secret": "guess", "name": f"name{number}", "password": SECRET},
                headers={"X-CSRF": desk.get("login")["csrf"]},
            )
            return int(reply.status_code)

        self.tries(guess, 20, 1 / 3)

    def test_guessing_the_present_password_of_a_borrowed_browser(self, app: Any) -> None:
        desk = Desk(app, "viewer")
        message = {"old": "a wrong guess", "new": "another long one"}

        def guess(_number: int) -> int:
            headers = {"X-CSRF": desk.csrf}
            reply = desk.client.post("/dashboard/api/password", json=message, headers=headers)
            return int(reply.status_code)

        self.tries(guess, 6, 0.1)

    def test_asking_too_often(self, store: Store, make_app: Callable[..., Any]) -> None:
        desk = Desk(make_app(store, requests_per_second=0.5), "viewer")
        codes = [desk.client.get("/dashboard/api/me").status_code for _ in range(5)]
        assert codes[-1] == 429
