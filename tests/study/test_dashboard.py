"""The dashboard: what it shows and what it changes, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, update

from affectlab.study import study_status
from affectlab.study.people.invitations import create_invitations as invite
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, events, participants, sessions, tasks
from affectlab.study.watch.overview import overview

from .conftest import FACES, VERIFY
from .dashboard import PAID, REASON, Maker, app, make_app, n_events, researcher, scalar, store
from .desk import SECRET, Desk, add_people, session_of, take_part, token_after, until

__all__ = ["app", "make_app", "researcher", "store"]

pytest.importorskip("argon2")

pytestmark = pytest.mark.long


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
        from affectlab.study.people.login import make_setup

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
        from affectlab.study.tables import trials

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
        (secret,) = invite(store, 1, about=[{"age": 98765432, "note": "known to us"}])
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
        for private in ("98765432", "known to us", secret):
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
        from affectlab.study.delivery.answers import Submission
        from affectlab.study.people.entry import enter

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
