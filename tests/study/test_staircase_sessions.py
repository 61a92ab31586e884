"""Staircases when things go wrong: replays, crowds, servers that end, people who leave."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import update

from affectlab.study import export, open_store, study_status
from affectlab.study.delivery.answers import Submission
from affectlab.study.delivery.claims import expire
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, tasks, trials

from .answering import consistent, table
from .staircases import (
    BLOCK,
    STUDY,
    Begin,
    Maker,
    finish,
    runs,
    saw,
    shown,
    transitions,
)

__all__ = ["transitions"]


class TestExactlyOnce:
    def test_a_replay_changes_nothing(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        for _ in range(5):
            given = saw(store, state)
            state = service.answer(token, given)
            before = runs(store), table(store, trials.c.id, trials.c.layout)
            assert service.answer(token, given) == state
            assert (runs(store), table(store, trials.c.id, trials.c.layout)) == before
        assert sum(len(run.frames) for run in runs(store).values()) == 5
        other = replace(given, answer={"value": "different"})
        if given.answer == other.answer:
            other = replace(given, answer={"value": "same"})
        with pytest.raises(StudyError, match="under this key"):
            service.answer(token, other)
        assert runs(store) == before[0]

    def test_many_submissions_of_one_trial_at_once(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        for step in range(1, 4):

            def send(_: int, state: dict[str, Any] = state) -> str:
                try:
                    service.answer(token, saw(store, state))
                except StudyError as error:
                    return error.code
                return "stored"

            with ThreadPoolExecutor(6) as pool:
                codes = Counter(pool.map(send, range(6)))
            assert codes == {"stored": 1, "out_of_order": 5}
            assert sum(len(run.frames) for run in runs(store).values()) == step
            state = service.state(token)
        assert len(table(store, answers.c.trial_id)) == 3

    def test_another_process_goes_on_where_it_was(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        for _ in range(3):
            state = service.answer(token, saw(store, state))
        with open_store(store.study, database) as again:
            assert Service(again).state(token) == service.state(token)
            state = Service(again).answer(token, saw(again, state))
        assert finish(store, service, token, state)["stage"] == "complete"

    @pytest.mark.parametrize("answer", [{"value": "maybe"}, {"value": 1}, {"value": None}, {}])
    def test_other_answers_are_refused(
        self, transitions: Path, make_study: Maker, begin: Begin, answer: dict[str, Any]
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        given = Submission(int(state["trial"]["id"]), answer, "k" * 20, "buttons")
        with pytest.raises(StudyError):
            service.answer(token, given)
        assert not table(store, answers.c.trial_id)
        assert sum(len(run.frames) for run in runs(store).values()) == 0


class TestLeases:
    def forget(self, store: Store) -> None:
        """Let all leases run out."""
        with store.database.write() as connection:
            connection.execute(update(trials).values(lease_until=1))
            expire(connection)

    def test_who_comes_back_goes_on(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        for _ in range(7):
            state = service.answer(token, saw(store, state))
        self.forget(store)
        assert set(table(store, tasks.c.leased)) == {(0,)}
        assert service.state(token)["trial"] == state["trial"]
        consistent(store)
        assert finish(store, service, token, state)["stage"] == "complete"
        assert set(table(store, tasks.c.valid, tasks.c.leased)) == {(1, 0)}

    def test_a_late_answer_counts(self, transitions: Path, make_study: Maker, begin: Begin) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        self.forget(store)
        state = service.answer(token, saw(store, state))
        assert state["progress"]["done"] == 1
        consistent(store)
        assert finish(store, service, token, state)["stage"] == "complete"

    def test_what_others_took_is_left_and_the_rest_goes_on(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        first = shown(store, state["trial"]["id"])["name"]
        for _ in range(4):
            state = service.answer(token, saw(store, state))
        self.forget(store)
        # Somebody else takes the sequence that was begun; the other one stays free.
        with store.database.write() as connection:
            begun = next(n for n, one in store.content.items() if one["name"] == first)
            connection.execute(update(tasks).where(tasks.c.stimulus_id == begun).values(leased=1))
        state = service.state(token)
        assert shown(store, state["trial"]["id"])["name"] != first
        assert state["progress"] == {"done": BLOCK, "total": 2 * BLOCK}
        assert finish(store, service, token, state)["stage"] == "complete"
        # The four answers are there; the run they belong to has not ended.
        assert len(table(store, answers.c.trial_id)) == 4 + BLOCK
        export(store, transitions / "out")
        status = pl.read_csv(transitions / "out" / "staircases.csv")["status"].to_list()
        assert sum(one in ("unfinished", "undefined") for one in status) == 2

    def test_leaving_gives_the_sequences_back(
        self, transitions: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        for _ in range(3):
            state = service.answer(token, saw(store, state))
        assert service.withdraw(token)["stage"] == "ended"
        consistent(store)
        service, token, state = begin(store)
        assert state["progress"] == {"done": 0, "total": 2 * BLOCK}

    def test_a_frame_that_cannot_be_shown_ends_its_sequence(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        first = shown(store, state["trial"]["id"])["name"]
        for _ in range(3):
            state = service.answer(token, saw(store, state))
        state = service.skip(token, int(state["trial"]["id"]), "image failed")
        assert shown(store, state["trial"]["id"])["name"] != first
        consistent(store)
        assert finish(store, service, token, state)["stage"] == "complete"
        consistent(store)
        assert sorted(table(store, tasks.c.valid, tasks.c.leased)) == [(0, 0), (1, 0)]
        assert "skipped" in {kind for (kind,) in table(store, events.c.kind)}

    def test_the_last_frame_of_a_session_cannot_be_shown(
        self, transitions: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        while state["progress"]["done"] < 2 * BLOCK - 1:
            state = service.answer(token, saw(store, state))
        assert service.skip(token, int(state["trial"]["id"]), "x")["stage"] == "complete"
        assert sorted(table(store, tasks.c.valid, tasks.c.leased)) == [(0, 0), (1, 0)]
        consistent(store)

    def test_many_people_at_once(
        self, transitions: Path, make_study: Maker, database: str | None
    ) -> None:
        text = STUDY.replace("raters = 1", "raters = 2").replace(
            f"trials = {2 * BLOCK}", f"trials = {BLOCK}"
        )
        store = make_study(text, database=database)

        def person(_: int) -> str:
            service, token = Service(store), enter(store, Visitor())
            state = service.advance(token, "instructions", {})
            while state["stage"] == "waiting":
                time.sleep(0.05)
                state = service.advance(token, "waiting", {})
            return str(finish(store, service, token, state)["stage"])

        with ThreadPoolExecutor(6) as pool:
            stages = Counter(pool.map(person, range(6)))
        assert stages == {"complete": 4, "ended": 2}
        assert set(table(store, tasks.c.valid, tasks.c.leased)) == {(2, 0)}
        assert study_status(store).answers == 4 * BLOCK
        consistent(store)
