"""The interface of the dashboard: what it shows, who may do what, and what it refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import func, select, update

from affectlab.study import Store, study_status
from affectlab.study._accounts import insert_account
from affectlab.study._audit import audit
from affectlab.study._entry import Visitor, invite
from affectlab.study._export import pseudonym
from affectlab.study._overview import overview
from affectlab.study._service import Service
from affectlab.study._tables import answers, events, logins, participants, sessions, tasks
from affectlab.study.server import Settings, create_app

from .conftest import FACES, VERIFY
from .desk import ROLES, SECRET, Desk, add_people, session_of, take_part, token_after, until

pytest.importorskip("argon2")

Maker = Callable[..., Store]

PAID = FACES + "[recruitment]\npay = 2.0\n"
REASON = "Every answer is the same number, whatever the picture shows."


@pytest.fixture
def make_app() -> Iterator[Callable[..., Any]]:
    """Make applications, and end what they started."""
    made: list[Any] = []

    def make(store: Store, **settings: Any) -> Any:
        given = {"statistics_seconds": 0.1, "requests_per_second": 0.0, **settings}
        made.append(create_app(store, Settings(**given)))
        return made[-1]

    yield make
    for app in made:
        app.state.live.close()


@pytest.fixture
def store(make_study: Maker) -> Store:
    made = make_study(PAID)
    add_people(made)
    return made


@pytest.fixture
def app(store: Store, make_app: Callable[..., Any]) -> Any:
    return make_app(store)


@pytest.fixture
def researcher(app: Any) -> Desk:
    return Desk(app, "researcher")


def scalar(store: Store, query: Any) -> Any:
    with store.database.read() as connection:
        return connection.execute(query).scalar_one()


def n_events(store: Store, kind: str) -> int:
    return int(scalar(store, select(func.count()).where(events.c.kind == kind)))


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


class TestPages:
    def test_cookies_are_for_the_server_alone(
        self, store: Store, make_app: Callable[..., Any]
    ) -> None:
        desk = Desk(make_app(store, https=True))
        desk.client.base_url = "https://127.0.0.1"
        csrf = desk.get("login")["csrf"]
        reply = desk.client.post(
            "/dashboard/api/login",
            json={"name": "owner", "password": SECRET},
            headers={"X-CSRF": csrf},
        )
        cookie = next(
            one
            for one in reply.headers.get_list("set-cookie")
            if one.startswith("affectlab_dashboard=")
        )
        parts = {part.strip().lower() for part in cookie.split(";")}
        assert {"httponly", "secure", "samesite=strict", "path=/dashboard"} <= parts
        assert "max-age=43200" in parts

    def test_they_need_nothing_from_elsewhere(self, app: Any) -> None:
        desk = Desk(app, "viewer")
        for path in ("/dashboard", "/dashboard/login", "/dashboard/setup"):
            reply = desk.client.get(path)
            assert reply.status_code == 200
            assert "http://" not in reply.text
            assert "https://" not in reply.text
            assert "unsafe" not in reply.headers["content-security-policy"]
            assert reply.headers["cache-control"] == "no-store"
            assert reply.headers["x-frame-options"] == "DENY"

    def test_a_first_account_from_the_link(
        self, make_study: Maker, make_app: Callable[..., Any]
    ) -> None:
        from affectlab.study._accounts_login import make_setup

        store = make_study()
        secret = make_setup(store)
        desk = Desk(make_app(store))
        assert desk.client.get("/dashboard").status_code == 303
        message = {"secret": secret, "name": "Anna", "password": SECRET}
        csrf = desk.get("login")["csrf"]
        desk.post("setup", {**message, "password": "short"}, 422, csrf=csrf)
        made = desk.post("setup", message, csrf=csrf)
        assert (made["name"], made["role"]) == ("anna", "owner")
        assert desk.client.get("/dashboard").status_code == 200
        again = Desk(desk.client.app)
        again.post("setup", {**message, "name": "eve"}, 403, csrf=again.get("login")["csrf"])


class TestAccounts:
    def test_managing_them(self, app: Any) -> None:
        owner = Desk(app, "owner")
        owner.post("accounts", {"name": "Dan", "role": "viewer", "password": SECRET}, 201)
        dan = Desk(app, "dan")
        owner.post("accounts/dan/role", {"role": "researcher"})
        assert dan.get("me")["role"] == "researcher"
        owner.post("accounts/dan/password", {"password": "another long one"}, 204)
        dan.get("me", 401)
        dan.log_in("dan", "another long one")
        owner.post("accounts/dan/remove", {}, 204)
        dan.get("me", 401)
        names = [row["name"] for row in owner.get("accounts")["rows"]]
        assert names == ["owner", "researcher", "viewer"]

    def test_the_last_owner_stays(self, app: Any) -> None:
        owner = Desk(app, "owner")
        assert "last owner" in owner.post("accounts/owner/remove", {}, 422)["error"]["sentence"]
        owner.post("accounts/owner/role", {"role": "viewer"}, 422)
        owner.post("accounts/owner/password", {"password": "another long one"}, 409)

    def test_changing_the_own_password(self, app: Any) -> None:
        here, there = Desk(app, "viewer"), Desk(app, "viewer")
        here.post("password", {"old": SECRET, "new": "short"}, 422)
        here.post("password", {"old": SECRET, "new": "another long one"}, 204)
        here.get("me")
        there.get("me", 401)
        there.log_in("viewer", code=401)


class TestOverview:
    def test_it_counts_what_is_there(
        self, make_study: Maker, make_app: Callable[..., Any], database: str | None
    ) -> None:
        store = make_study(PAID, database=database)
        add_people(store)
        desk = Desk(make_app(store), "viewer")
        empty = desk.get("overview")["overview"]
        assert empty["progress"]["counted"] == 0
        assert empty["cost"]["per_answer"] is None
        assert empty["pace"]["buckets"] == []
        take_part(store)
        take_part(store, 2)
        rejected = take_part(store)
        researcher = Desk(desk.client.app, "researcher")
        researcher.post(f"sessions/{rejected}/verdict", {"verdict": "rejected", "reason": REASON})
        found = desk.get("overview")["overview"]
        status = study_status(store)
        told = found["progress"]
        assert (told["answers"], told["rejected"]) == (8, 3)
        assert (told["answers"], told["rejected"], told["tasks"], told["tasks_done"]) == (
            status.answers,
            status.rejected,
            status.tasks,
            status.tasks_done,
        )
        assert (told["counted"], told["wanted"], told["held"]) == (5, 12, 1)
        assert dict(found["stages"]) == status.sessions == {"complete": 2, "trials": 1}
        assert found["verdicts"] == {"waiting": 1, "accepted": 0, "rejected": 1}
        assert sum(found["pace"]["buckets"]) == 8
        assert found["pace"]["active"] == 1
        assert sum(n for _, n in found["depth"]) == 6
        assert len(found["coverage"]) == 6
        assert sum(found["coverage"]) == pytest.approx(5 / 2, abs=0.01)
        # One session of three answers is paid; seven answers are left, three in a session.
        cost = found["cost"]
        assert (cost["sessions"], cost["spent"], cost["per_answer"]) == (1, 2.0, 2 / 3)
        assert (cost["projected_sessions"], cost["projected"]) == (4, 8.0)
        assert [one["kind"] for one in found["activity"]][:2] == ["rejected", "completed"]

    def test_looking_writes_nothing(self, app: Any, store: Store) -> None:
        take_part(store, 1)
        desk = Desk(app, "viewer")
        before = scalar(store, select(func.max(events.c.id)))
        for path in ("overview", "stimuli", "sessions", "sessions?which=under_way"):
            desk.get(path)
        assert scalar(store, select(func.max(events.c.id))) == before

    def test_leases_that_have_run_out_are_not_held(self, store: Store) -> None:
        from affectlab.study._tables import trials

        take_part(store, 1)
        assert overview(store).progress.held == 2
        with store.database.write() as connection:
            connection.execute(update(trials).values(lease_until=1))
        assert overview(store).progress.held == 0

    def test_stimuli_with_the_least_done_come_first(self, researcher: Desk, store: Store) -> None:
        take_part(store, 2)
        found = researcher.get("stimuli?limit=200")
        done = [row["done"] for row in found["rows"]]
        assert found["total"] == 6
        assert done == sorted(done)
        assert sum(done) == 2
        assert researcher.get("stimuli?offset=5&limit=5")["rows"] == found["rows"][5:]

    def test_without_a_payment_there_is_no_cost(self, make_study: Maker) -> None:
        assert overview(make_study()).cost is None

    def test_a_study_of_cells(self, make_study: Maker) -> None:
        store = make_study(VERIFY)
        found = overview(store)
        assert found.progress.tasks == 12
        assert len(found.coverage) == 6
        n = scalar(store, select(func.sum(tasks.c.wanted)))
        assert found.progress.wanted == n


class TestPeople:
    def test_who_waits_and_who_is_decided(self, researcher: Desk, store: Store) -> None:
        first, second = take_part(store), take_part(store)
        take_part(store, 1)
        waiting = researcher.get("sessions")
        assert [row["id"] for row in waiting["rows"]] == [first, second]
        assert waiting["rows"][0]["answers"] == waiting["rows"][0]["valid"] == 3
        assert waiting["rows"][0]["median_s"] == 2.0
        assert researcher.get("sessions?which=under_way")["total"] == 1
        researcher.post(f"sessions/{second}/verdict", {"verdict": "accepted"})
        assert [row["id"] for row in researcher.get("sessions")["rows"]] == [first]
        decided = researcher.get("sessions?which=decided")["rows"][0]
        assert decided["decision"]["by"] == "researcher"

    def test_rejected_work_is_asked_again_and_can_be_taken_back(
        self, make_study: Maker, make_app: Callable[..., Any], database: str | None
    ) -> None:
        store = make_study(database=database)
        add_people(store)
        researcher = Desk(make_app(store), "researcher")
        sessions_made = [take_part(store) for _ in range(4)]
        assert overview(store).progress.tasks_done == 6
        bad = sessions_made[1]
        found = researcher.post(
            f"sessions/{bad}/verdict", {"verdict": "rejected", "reason": REASON}
        )
        assert found["answers"] == 3
        now = overview(store).progress
        assert (now.tasks_done, now.counted, now.rejected) == (3, 9, 3)
        take_part(store)
        assert overview(store).progress.counted == 12
        row = researcher.get("sessions?which=decided")["rows"][0]
        assert (row["verdict"], row["valid"], row["decision"]["reason"]) == ("rejected", 0, REASON)
        researcher.post(f"sessions/{bad}/verdict", {"verdict": "accepted", "seen": "rejected"})
        assert overview(store).progress.rejected == 0
        assert n_events(store, "rejected") == n_events(store, "accepted") == 1

    def test_a_reason_is_needed(self, researcher: Desk, store: Store) -> None:
        session = take_part(store)
        for reason in ("", "bad", " " * 50):
            message = {"verdict": "rejected", "reason": reason}
            said = researcher.post(f"sessions/{session}/verdict", message, 422)
            assert "at least 10" in said["error"]["sentence"]
        assert scalar(store, select(func.count()).where(answers.c.valid.is_(False))) == 0

    @pytest.mark.parametrize(
        ("pay", "stored", "sessions_paid"), [(True, "yes", 1), (False, "no", 0)]
    )
    def test_paying_and_using_are_two_things(
        self, researcher: Desk, store: Store, pay: bool, stored: str, sessions_paid: int
    ) -> None:
        session = take_part(store)
        message = {"verdict": "rejected", "reason": REASON, "pay": pay}
        researcher.post(f"sessions/{session}/verdict", message)
        assert scalar(store, select(sessions.c.pay)) == stored
        cost = overview(store).cost
        assert cost is not None
        assert cost.sessions == sessions_paid
        researcher.post(f"sessions/{session}/verdict", {"verdict": "accepted", "seen": "rejected"})
        assert scalar(store, select(sessions.c.pay)) == "yes"

    def test_who_withdrew_can_still_be_paid(self, researcher: Desk, store: Store) -> None:
        token = token_after(store)
        session = session_of(store, token)
        Service(store).withdraw(token)
        assert [row["id"] for row in researcher.get("sessions")["rows"]] == [session]
        counted = overview(store).progress.counted
        message = {"verdict": "accepted", "seen": "withdrawn"}
        researcher.post(f"sessions/{session}/verdict", message)
        assert scalar(store, select(sessions.c.pay)) == "yes"
        # Whether the answers count is not for others to decide.
        assert scalar(store, select(sessions.c.verdict)) == "withdrawn"
        assert overview(store).progress.counted == counted
        assert researcher.get("sessions")["total"] == 0
        assert researcher.get("sessions?which=decided")["total"] == 1
        cost = overview(store).cost
        assert cost is not None
        assert cost.sessions == 1

    def test_two_who_decide_at_once(self, app: Any, store: Store) -> None:
        session = take_part(store)
        first, second = Desk(app, "researcher"), Desk(app, "owner")
        first.post(f"sessions/{session}/verdict", {"verdict": "rejected", "reason": REASON})
        said = second.post(f"sessions/{session}/verdict", {"verdict": "accepted", "seen": ""}, 409)
        assert "Somebody else decided" in said["error"]["sentence"]
        state = scalar(store, select(sessions.c.verdict).where(sessions.c.id == session))
        assert state == "rejected"

    def test_sessions_that_are_under_way(self, researcher: Desk, store: Store) -> None:
        session = take_part(store, 1)
        researcher.post(f"sessions/{session}/verdict", {"verdict": "accepted"}, 409)
        researcher.post("sessions/999/verdict", {"verdict": "accepted"}, 404)

    def test_one_person(self, researcher: Desk, store: Store) -> None:
        (secret,) = invite(store, 1, about=[{"age": 44, "note": "known to us"}])
        visitor = Visitor("link", invitation=secret)
        session = take_part(store, visitor=visitor, ratings={"awe": 5, "fear": None})
        who = scalar(store, select(sessions.c.participant_id))
        found = researcher.get(f"people/{pseudonym(store, who)}")
        assert found["sessions"][0]["id"] == session
        assert [one["answer"] for one in found["trials"]] == ["awe 5; 1 not rated"] * 3
        assert [one["seconds"] for one in found["trials"]] == [2.0] * 3
        place = found["trials"][0]["pictures"][0]
        picture = researcher.client.get(f"/dashboard/api/pictures/{place}")
        assert picture.headers["content-type"] == "image/png"
        assert [one["kind"] for one in found["events"]] == ["entered", "completed"]
        said = json.dumps(found)
        for private in ("44", "known to us", secret):
            assert private not in said

    def test_names_of_a_platform_are_never_shown(
        self, make_study: Maker, make_app: Callable[..., Any]
    ) -> None:
        store = make_study(FACES + '[recruitment]\nplatform = "prolific"\n')
        add_people(store)
        owner = Desk(make_app(store), "owner")
        take_part(store, visitor=Visitor("prolific", "5f0cSECRET", "SESSIONSECRET"))
        rater = pseudonym(store, scalar(store, select(participants.c.id)))
        owner.get("overview")
        until(lambda: owner.get("overview")["statistics"])
        pages = ("overview", "sessions", f"people/{rater}", "audit", "stimuli")
        said = json.dumps([owner.get(page) for page in pages])
        assert rater in said
        assert "5f0cSECRET" not in said
        assert "SESSIONSECRET" not in said
        codes = scalar(store, select(sessions.c.completion_code))
        assert codes not in said

    def test_what_people_wrote_stays_text(
        self, make_study: Maker, make_app: Callable[..., Any]
    ) -> None:
        from .conftest import TEXTS

        store = make_study(TEXTS)
        add_people(store)
        from affectlab.study._answers import Submission
        from affectlab.study._entry import enter

        service, token = Service(store), enter(store, Visitor())
        state = service.advance(token, "instructions", {})
        answer = {"chosen": ["joy"], "suggestion": "<img src=x onerror=alert(1)>"}
        service.answer(
            token, Submission(int(state["trial"]["id"]), answer, "k" * 32, "checkbox", 900)
        )
        desk = Desk(make_app(store), "viewer")
        rater = pseudonym(store, 1)
        reply = desk.client.get(f"/dashboard/api/people/{rater}")
        assert reply.headers["content-type"] == "application/json"
        assert reply.json()["trials"][0]["answer"].startswith("joy; suggests '<img")
