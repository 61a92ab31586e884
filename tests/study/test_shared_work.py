"""Work shared fairly: who gets which trials, many at once, and what cannot be left out."""

from __future__ import annotations

import threading
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError

pytest.importorskip("fastapi")

from affectlab.study import load_study, open_store, simulate_study
from affectlab.study.delivery.answers import Submission
from affectlab.study.delivery.claims import expire
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.people.invitations import create_invitations as invite
from affectlab.study.recruit import approve_sessions, decisions
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, participants, sessions, tasks, trials
from affectlab.study.verdicts import accept_session, reject_session
from affectlab.study.watch.status import study_status

Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]
MANY = {"faces = 6": "faces = 24", "trials = 3": "trials = 12", "raters = 2": "raters = 6"}
TEXTS = """
[study]
name = "texts"
title = "What do these texts express?"
[protocol]
name = "multilabel"
[stimuli]
table = "texts.csv"
"""


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run calls at the same moment."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def given(state: dict[str, Any]) -> Submission:
    ratings = {state["trial"]["labels"][0]["name"]: 2}
    number = int(state["trial"]["id"])
    return Submission(number, {"ratings": ratings}, uuid.uuid4().hex, "radio", 500)


def complete(service: Service, token: str, state: dict[str, Any]) -> dict[str, Any]:
    while state["stage"] == "trials":
        state = service.answer(token, given(state))
    return state


def column(store: Store, *columns: Any) -> list[Any]:
    with store.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def consistent(store: Store) -> None:
    held = Counter(
        task for task, state in column(store, trials.c.task_id, trials.c.state) if state == "open"
    )
    with store.database.read() as connection:
        counted = select(trials.c.task_id, func.count()).join(answers).where(answers.c.valid)
        valid = dict(connection.execute(counted.group_by(trials.c.task_id)).all())
    for task, leased, n in column(store, tasks.c.id, tasks.c.leased, tasks.c.valid):
        assert (leased, n) == (held[task], valid.get(task, 0))


class TestManyAtOnce:
    def test_who_begin_together_get_whole_sessions(
        self, make_study: Maker, database: str | None
    ) -> None:
        store = make_study(replace=MANY, database=database)
        service = Service(store)
        tokens = [enter(store, Visitor()) for _ in range(12)]
        found = together([lambda one=t: service.advance(one, "instructions", {}) for t in tokens])
        assert [(one["stage"], one["progress"]["total"]) for one in found] == [("trials", 12)] * 12
        assert set(column(store, tasks.c.leased)) == {(6,)}
        consistent(store)

    def test_one_invitation_opened_at_once_is_one_session(
        self, make_study: Maker, database: str | None
    ) -> None:
        store = make_study(database=database)
        (secret,) = invite(store, 1)
        found = together([lambda: enter(store, Visitor("link", invitation=secret))] * 6)
        assert all(isinstance(one, str) for one in found)
        assert len(column(store, sessions.c.id)) == 1

    def test_one_person_of_a_platform_comes_twice_at_once(
        self, make_study: Maker, database: str | None
    ) -> None:
        store = make_study(database=database)
        visitor = Visitor("prolific", external_id="p1", external_session="s1")
        found = together([lambda: enter(store, visitor)] * 6)
        assert all(isinstance(one, str) for one in found)
        assert len(column(store, participants.c.id)) == len(column(store, sessions.c.id)) == 1

    def test_errors_of_the_database_name_nobody(
        self, make_study: Maker, database: str | None
    ) -> None:
        store = make_study(database=database)
        row = {"source": "prolific", "external_id": "secret-name", "created_at": None}
        with pytest.raises(IntegrityError) as error, store.database.write() as connection:
            connection.execute(participants.insert(), row)
        assert "[SQL parameters hidden" in str(error.value)

    def test_a_lease_that_ends_during_an_answer_is_counted_down_once(
        self, make_study: Maker, begin: Begin, postgres: str
    ) -> None:
        store = make_study(replace={"faces = 6": "faces = 3"}, database=postgres)
        service, token, state = begin(store)
        begin(store)
        with store.database.write() as connection:
            connection.execute(update(trials).where(trials.c.session_id == 1).values(lease_until=1))
        with open_store(store.study, postgres) as other:
            running = threading.Event()

            def keep_expiring() -> None:
                while not running.is_set():
                    with other.database.write() as connection:
                        expire(connection)

            thread = threading.Thread(target=keep_expiring)
            thread.start()
            try:
                assert complete(service, token, state)["stage"] == "complete"
            finally:
                running.set()
                thread.join()
        consistent(store)


class TestDesign:
    def test_people_share_stimuli_with_all_others_in_some_way(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(replace=MANY)
        for number in range(12):
            begin(store)
            counts = [n for (n,) in column(store, tasks.c.leased)]
            assert max(counts) - min(counts) <= 1, number
        seen = defaultdict(set)
        for person, stimulus in column(store, trials.c.participant_id, trials.c.stimulus_id):
            seen[person].add(stimulus)
        reached, ahead = {1}, [1]
        while ahead:
            mine = seen[ahead.pop()]
            new = {other for other in seen if mine & seen[other]} - reached
            reached |= new
            ahead += new
        assert reached == set(seen)
        assert len({frozenset(one) for one in seen.values()}) > 2

    @pytest.mark.long
    def test_a_rehearsal_can_be_repeated(self, tmp_path: Path) -> None:
        found = []
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            path = folder / "study.toml"
            path.write_text(
                '[study]\nname = "faces"\ntitle = "t"\n[protocol]\nname = "intensity"\n'
                "change = { asks = { taxonomy = 'mikels', group_by = [] } }\n"
                "[stimuli]\nfaces = 8\n[sessions]\ntrials = 4\nraters = 2\n",
                encoding="utf-8",
            )
            done = simulate_study(path, people=6, careless=1, seed=4)
            with open_store(load_study(path)) as store:
                shown = (trials.c.participant_id, trials.c.position, trials.c.stimulus_id)
                with store.database.read() as connection:
                    rows = connection.execute(
                        select(*shown, answers.c.value).join(answers).order_by(*shown)
                    ).all()
            found.append((done.completed, [tuple(row) for row in rows]))
        assert found[0] == found[1]
        assert found[0][0] == 4


class TestLeavingOut:
    def test_leaving_out_everything_earns_nothing(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(
            replace={**MANY, "raters = 2": 'raters = 2\n[recruitment]\nplatform = "prolific"'},
            database=database,
        )
        service, token, state = begin(store, Visitor("prolific", external_id="p"))
        n = 0
        while state["stage"] == "trials":
            state = service.skip(token, int(state["trial"]["id"]), "image failed")
            n += 1
        # A quarter of 12 may be left out; the next one ends it.
        assert (n, state["stage"], state["complete"]) == (4, "ended", None)
        assert state["ended"]["reason"] == "unshown"
        assert decisions(store) == []
        assert study_status(store).skipped == 4
        consistent(store)

    def test_who_left_out_much_is_looked_at(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(replace={"raters = 2": "raters = 2\n[recruitment]\nplatform='prolific'"})
        service, token, state = begin(store, Visitor("prolific", external_id="p"))
        for _ in range(2):
            state = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert complete(service, token, state)["stage"] == "complete"
        (one,) = decisions(store)
        assert (one.action, one.answered, one.of) == ("review", 1, 3)
        assert approve_sessions(store, [], everyone=True) == []
        assert approve_sessions(store, [one.session]) == [one.session]
        assert decisions(store)[0].action == "approve"

    def test_pictures_that_the_server_lacks_are_nobodys_fault(
        self, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(replace=MANY)
        service, token, state = begin(store)
        for file in store.media.values():
            file.unlink()
        for _ in range(6):
            state = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert state["stage"] == "trials"
        assert all('"missing": ["' in body for (body,) in column(store, events.c.body)[-6:])

    def test_a_text_cannot_fail_to_load(self, make_study: Maker, begin: Begin) -> None:
        store = make_study(TEXTS)
        service, token, state = begin(store)
        with pytest.raises(StudyError, match="shows no picture"):
            service.skip(token, int(state["trial"]["id"]), "image failed")

    def test_who_slept_while_others_did_all_has_not_completed(
        self, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(
            replace={"raters = 2": "raters = 1", "trials = 3": "trials = 6"}, database=database
        )
        service, token, _ = begin(store)
        with store.database.write() as connection:
            connection.execute(update(trials).values(lease_until=1))
        assert complete(*begin(store))["stage"] == "complete"
        state = service.state(token)
        assert (state["stage"], state["ended"]["reason"]) == ("ended", "full")


def test_a_rejected_session_is_over(make_study: Maker, begin: Begin, database: str | None) -> None:
    store = make_study(database=database)
    service, token, state = begin(store)
    state = service.answer(token, given(state))
    assert reject_session(store, 1, "careless") == 1
    with pytest.raises(StudyError, match="stage ended"):
        service.answer(token, given(state))
    assert service.state(token)["ended"]["reason"] == "rejected"
    assert column(store, answers.c.valid) == [(False,)]
    consistent(store)
    assert accept_session(store, 1) == 1
    consistent(store)
