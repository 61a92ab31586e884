"""Many at once on PostgreSQL: nobody waits without need, and all counts stay right."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, select, text, update
from sqlalchemy.exc import OperationalError

pytest.importorskip("fastapi")

from affectlab.study import database as _database, open_store
from affectlab.study.delivery.answers import Submission, save_answer
from affectlab.study.delivery.claims import claim, hold_tasks
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, sessions, tasks, trials

Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
MANY = {"faces = 6": "faces = 24", "trials = 3": "trials = 12", "raters = 2": "raters = 6"}
FEW = {"faces = 6": "faces = 4", "trials = 3": "trials = 4", "raters = 2": "raters = 1"}
CUT = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
SOON = text("SET LOCAL lock_timeout = '3s'")


def given(state: dict[str, Any]) -> Submission:
    ratings = {state["trial"]["labels"][0]["name"]: 2}
    return Submission(
        int(state["trial"]["id"]), {"ratings": ratings}, uuid.uuid4().hex, "radio", 500
    )


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run calls at the same moment; a refusal is given back instead of a result."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except StudyError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def rows(store: Store, *columns: Any) -> list[Any]:
    with store.database.read() as connection:
        return connection.execute(select(*columns)).all()


def newcomer(store: Store) -> Any:
    """Let somebody enter; give the row of the session."""
    enter(store, Visitor())
    with store.database.read() as connection:
        newest = select(sessions).order_by(sessions.c.id.desc()).limit(1)
        return connection.execute(newest).mappings().one()


def claim_for(connection: Any, store: Store, session: Any) -> list[int]:
    return claim(connection, store, session["id"], session["participant_id"], session["seed"])


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """Note what is sent to the database."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(store.database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(store.database.engine, "before_cursor_execute", note)


class TestClaims:
    def test_a_claim_does_not_wait_for_another(self, make_study: Maker, postgres: str) -> None:
        store = make_study(replace={**MANY, "raters = 6": "raters = 1"}, database=postgres)
        first, second = newcomer(store), newcomer(store)
        with store.database.write() as one, store.database.write() as two:
            two.execute(SOON)
            mine, theirs = claim_for(one, store, first), claim_for(two, store, second)
        assert len(mine) == len(theirs) == 12
        assert not set(mine) & set(theirs)
        assert set(rows(store, tasks.c.leased)) == {(1,)}

    def test_at_the_end_a_claim_waits_for_what_comes_back(
        self, make_study: Maker, postgres: str
    ) -> None:
        store = make_study(replace=FEW, database=postgres)
        first, second = newcomer(store), newcomer(store)
        with ThreadPoolExecutor(1) as pool:
            with store.database.write() as one:
                assert len(claim_for(one, store, first)) == 4

                def later() -> list[int]:
                    with store.database.write() as two:
                        return claim_for(two, store, second)

                waiting = pool.submit(later)
                with pytest.raises(TimeoutError):
                    waiting.result(0.7)
                one.rollback()
            assert len(waiting.result(10)) == 4

    @pytest.mark.parametrize("more", [0, 3])
    def test_two_servers_share_out_all_work_and_no_more(
        self, make_study: Maker, postgres: str, more: int
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        with open_store(store.study, postgres) as other:
            services = [Service(store), Service(other)]
            tokens = [enter(store, Visitor()) for _ in range(12 + more)]
            found = together(
                [
                    lambda number=number, one=one: services[number % 2].advance(
                        one, "instructions", {}
                    )
                    for number, one in enumerate(tokens)
                ]
            )
        # Six ratings of each of 24 faces are twelve whole sessions; nothing is left for others.
        stages = Counter((one["stage"], one["progress"]["total"]) for one in found)
        assert stages == Counter({("trials", 12): 12, ("waiting", 0): more})
        assert set(rows(store, tasks.c.leased)) == {(6,)}
        held = Counter(rows(store, trials.c.participant_id, trials.c.stimulus_id))
        assert set(held.values()) == {1}

    def test_coverage_stays_even_while_people_answer(
        self, make_study: Maker, postgres: str
    ) -> None:
        store = make_study(replace={**MANY, "raters = 6": "raters = 60"}, database=postgres)
        with open_store(store.study, postgres) as other:
            services = [Service(store), Service(other)]

            def person(number: int) -> str:
                service = services[number % 2]
                token = enter(service.store, Visitor())
                state = service.advance(token, "instructions", {})
                while state["stage"] == "trials":
                    state = service.answer(token, given(state))
                return str(state["stage"])

            assert set(together([lambda n=n: person(n) for n in range(16)])) == {"complete"}
        counts = [row.valid + row.leased for row in rows(store, tasks.c.valid, tasks.c.leased)]
        assert sum(counts) == 16 * 12
        # Eight of each on average; who comes passes over a task whose answer is just being counted.
        assert max(counts) - min(counts) <= 3


class TestAnswers:
    def test_one_in_the_middle_takes_two_statements_and_its_picture_one(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        with statements(store) as sent:
            state = service.answer(token, given(state))
        assert [one.split()[0] for one in sent] == ["SELECT", "WITH"]
        address = state["trial"]["stimulus"]["images"][0].removeprefix("/media/")
        with statements(store) as sent:
            assert service.picture(token, address) is not None
        assert len(sent) == 1

    def test_the_short_way_stores_and_tells_what_the_long_way_does(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        quick = service.answer(token, given(state))
        assert quick == service.state(token)
        long = given(quick)
        with store.database.write() as connection:
            save_answer(connection, store, token, long)
        read = select(
            *(one for one in answers.c if one.name not in ("trial_id", "key", "submitted_at")),
            trials.c.state,
            tasks.c.valid,
            tasks.c.leased,
            events.c.kind,
            events.c.session_id,
            events.c.participant_id,
            events.c.body,
        ).select_from(
            answers.join(trials, trials.c.id == answers.c.trial_id)
            .join(tasks, tasks.c.id == trials.c.task_id)
            .join(events, events.c.trial_id == trials.c.id)
        )
        with store.database.read() as connection:
            one, other = connection.execute(read.order_by(trials.c.position)).all()
        label = quick["trial"]["labels"][0]["name"]
        assert label in one.value
        assert tuple(one) == tuple(other)

    def test_an_answer_does_not_wait_for_claims(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        task = select(trials.c.task_id).where(trials.c.id == int(state["trial"]["id"]))
        with store.database.write() as other:
            hold_tasks(other)
            # Another's claim of all tasks but this one.
            mine = other.execute(task).scalar_one()
            other.execute(update(tasks).where(tasks.c.id != mine).values(leased=tasks.c.leased))
            with ThreadPoolExecutor(1) as pool:
                state = pool.submit(service.answer, token, given(state)).result(10)
        assert state["progress"]["done"] == 1

    def test_the_same_answer_to_two_servers_at_once_is_one(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        with open_store(store.study, postgres) as other:
            both = [service, Service(other)]
            one = given(state)
            found = together([lambda n=n: both[n % 2].answer(token, one) for n in range(6)])
            assert [state["progress"]["done"] for state in found] == [1] * 6
            # Others to the same trial: one is the next, the others contradict it.
            many = [replace(given(found[0]), key=uuid.uuid4().hex) for _ in range(6)]
            found = together(
                [lambda n=n, one=one: both[n % 2].answer(token, one) for n, one in enumerate(many)]
            )
        assert Counter(getattr(one, "status", 200) for one in found) == {200: 1, 409: 5}
        assert len(rows(store, answers.c.key)) == 2
        assert sum(row.valid for row in rows(store, tasks.c.valid)) == 2


class TestBrokenConnections:
    def test_an_answer_is_stored_though_all_connections_were_cut(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        with open_store(store.study, postgres) as other, other.database.read() as connection:
            assert connection.execute(CUT).scalar_one() >= 1
        assert service.answer(token, given(state))["progress"]["done"] == 1
        assert len(rows(store, answers.c.key)) == 1

    def test_an_answer_whose_reply_was_lost_on_the_way_is_stored_once(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace=MANY, database=postgres)
        service, token, state = begin(store)
        lost: list[str] = []

        def lose(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            if statement.lstrip().startswith("WITH seat") and not lost:
                lost.append(statement)
                raise OperationalError(statement, None, Exception("the connection broke"))

        event.listen(store.database.engine, "after_cursor_execute", lose)
        one = given(state)
        told = service.answer(token, one)
        assert lost
        assert told["progress"]["done"] == 1
        assert rows(store, answers.c.key) == [(one.key,)]
        assert service.answer(token, one) == told

    def test_no_step_needs_a_second_connection(
        self, make_study: Maker, begin: Begin, postgres: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_database, "_CONNECTIONS", 1)
        store = make_study(database=postgres)
        store.database.engine.pool._timeout = 2  # type: ignore[attr-defined]
        service, token, state = begin(store)
        while state["stage"] == "trials":
            address = state["trial"]["stimulus"]["images"][0].removeprefix("/media/")
            assert service.picture(token, address) is not None
            state = service.answer(token, given(state))
        assert state["stage"] == "complete"
