"""Sessions of a study of differences: which count, by the checks and by a policy."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import select

from affectlab import InputError, Ratings
from affectlab.protocols import load_protocol
from affectlab.reliability import screen
from affectlab.study import accept_session, export, study_status, workload
from affectlab.study.delivery.answers import save_answer
from affectlab.study.delivery.movement import travelled
from affectlab.study.design.policy import live_policy, policy_of_checks
from affectlab.study.errors import StudyError
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import Store
from affectlab.study.tables import events, participants, sessions, tasks, trials
from affectlab.study.verdicts import judge_completed

from .answering import consistent, table
from .differences import (
    N_MAIN,
    STUDY,
    Begin,
    Maker,
    Say,
    complete,
    pairs,
    rated,
    shown,
    truth,
)

__all__ = ["pairs"]


def off(by: float, kinds: dict[str, int]) -> Say:
    """Answer some trials of a kind wrongly: the first ones, as many as said."""
    left = dict(kinds)
    first: dict[str, float] = {}

    def say(one: dict[str, Any]) -> float:
        kind, value = one["kind"], truth(one["name"])
        if left.get(kind, 0) > 0:
            left[kind] -= 1
            return value + by if value + by <= 100 else value - by
        first.setdefault(one["name"], value)
        return value

    return say


class TestJudging:
    def test_a_careful_session_counts(
        self, pairs: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        assert complete(store, service, token, state)["stage"] == "complete"
        assert table(store, sessions.c.verdict, sessions.c.pay) == [("", "yes")]
        assert study_status(store).valid == N_MAIN

    @pytest.mark.parametrize(
        ("wrong", "use"),
        [
            ({"golden": 2}, True),
            ({"golden": 3}, False),
            ({"repeat": 2}, True),
            ({"repeat": 3}, False),
            ({"golden": 2, "repeat": 1}, True),
            ({"golden": 2, "repeat": 2}, False),
        ],
    )
    def test_the_limits_of_the_checks(
        self,
        pairs: Path,
        make_study: Maker,
        begin: Begin,
        wrong: dict[str, int],
        use: bool,
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        complete(store, service, token, state, off(25, wrong))
        ((verdict, pay),) = table(store, sessions.c.verdict, sessions.c.pay)
        assert (verdict, pay) == (("", "yes") if use else ("rejected", "yes"))
        consistent(store)

    def test_less_than_the_tolerance_is_no_violation(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        complete(store, service, token, state, off(24.9, {"golden": 5, "repeat": 5}))
        assert table(store, sessions.c.verdict) == [("",)]

    def test_rejected_sessions_are_topped_up_and_the_reasons_told(
        self, pairs: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        complete(store, service, token, state, lambda _: 50.0)
        assert study_status(store).valid == 0
        for _ in range(2):
            service, token, state = begin(store)
            assert complete(store, service, token, state)["stage"] == "complete"
        service, token, state = begin(store)
        assert state["ended"]["reason"] == "full"
        assert set(table(store, tasks.c.valid, tasks.c.wanted, tasks.c.leased)) == {(2, 2, 0)}
        consistent(store)
        status = study_status(store)
        assert (status.judged, status.rejected_sessions, status.unpaid) == (3, 1, 0)
        assert status.reasons["equal ratings"] == 1
        log = {
            kind: json.loads(body)
            for kind, body in table(store, events.c.kind, events.c.body)
            if kind in ("judged", "rejected")
        }
        assert log["judged"]["use"] is True
        assert log["rejected"]["answers"] == 24
        assert log["rejected"]["by"] == "policy checks of protocol difference"
        assert "equal ratings" in log["rejected"]["reason"]
        done = export(store, pairs / "out")
        assert (done.n_ratings, done.n_rejected) == (48, 24)
        told = pl.read_csv(pairs / "out" / "sessions.csv").filter(pl.col("stage") == "complete")
        assert told["use"].to_list() == [False, True, True]
        assert told["pay"].to_list() == [True, True, True]
        assert "golden" in told["reasons"][0]

    @pytest.mark.parametrize("kind", ["golden", "repeat"])
    def test_checks_that_are_left_out_have_failed(
        self, pairs: Path, make_study: Maker, begin: Begin, kind: str
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        while state["stage"] == "trials":
            one = shown(store, state["trial"]["id"])
            if one["kind"] == kind:
                state = service.skip(token, int(state["trial"]["id"]), "image failed")
            else:
                state = service.answer(token, rated(state, truth(one["name"])))
        assert state["stage"] == "complete"
        ((verdict, reasons),) = table(store, sessions.c.verdict, sessions.c.reasons)
        assert verdict == "rejected"
        assert "left out" in reasons
        consistent(store)

    def test_half_of_the_main_trials_are_swapped(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        for _ in range(2):
            begin(store)
        for session in (1, 2):
            with store.database.read() as connection:
                found = connection.execute(
                    select(trials.c.layout).where(
                        trials.c.session_id == session, trials.c.kind == "main"
                    )
                ).scalars()
                assert sum(json.loads(one)["swapped"] for one in found) == N_MAIN // 2

    def test_a_person_has_the_last_word(self, pairs: Path, make_study: Maker, begin: Begin) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        complete(store, service, token, state, lambda _: 50.0)
        assert accept_session(store, 1, "it was me") == 24
        assert judge_completed(store) == 0
        assert study_status(store).valid == N_MAIN
        consistent(store)

    def test_still_sliders_do_not_count(self, pairs: Path, make_study: Maker, begin: Begin) -> None:
        """Right answers, by ways that are all of one length: 200 points, whatever the answer."""
        store = make_study(STUDY)
        service, token, state = begin(store)
        while state["stage"] == "trials":
            value = truth(shown(store, state["trial"]["id"])["name"])
            far = (200 + value) / 4 if value <= 66 else (200 - value) / 2
            way = [[1, far], [2, 0], [3, far], [4, value]]
            assert travelled(way, 0) == 200
            state = service.answer(token, rated(state, value, way))
        ((reasons,),) = table(store, sessions.c.reasons)
        assert [one["rule"] for one in json.loads(reasons)] == ["still slider"]
        assert table(store, sessions.c.verdict) == [("rejected",)]

    def test_a_server_that_died_before_it_judged(
        self, pairs: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        _, token, state = begin(store)
        while state["stage"] == "trials":
            with store.database.write() as connection:
                save_answer(connection, store, token, rated(state, 50))
            state = _told(store, token)
        assert table(store, sessions.c.verdict, sessions.c.pay) == [("", "")]
        service, token, state = begin(store)
        complete(store, service, token, state)
        found = sorted(table(store, sessions.c.id, sessions.c.verdict, sessions.c.pay))
        assert found == [(1, "rejected", "yes"), (2, "", "yes")]
        consistent(store)

    def test_a_replay_of_the_last_answer_judges_nothing_twice(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        while state["stage"] == "trials":
            last = rated(state, 50)
            state = service.answer(token, last)
        assert service.answer(token, last)["complete"] == state["complete"]
        kinds = [kind for (kind,) in table(store, events.c.kind)]
        assert kinds.count("judged") == kinds.count("rejected") == 1

    def test_many_end_at_once(self, pairs: Path, make_study: Maker, database: str | None) -> None:
        text = STUDY.replace("raters = 2", "raters = 4")
        store = make_study(text, database=database)

        def person(number: int) -> str:
            service, token = Service(store), enter(store, Visitor())
            state = service.state(token)
            if state["stage"] == "ended":
                return "ended"  # the others were done before this person came
            state = service.advance(token, "instructions", {})
            careless = number % 3 == 0
            say: Say = (lambda _: 50.0) if careless else (lambda one: truth(one["name"]))
            return str(complete(store, service, token, state, say)["stage"])

        with ThreadPoolExecutor(6) as pool:
            stages = list(pool.map(person, range(12)))
        assert "complete" in stages
        consistent(store)
        found = table(store, sessions.c.stage, sessions.c.pay)
        assert all(pay == "yes" for stage, pay in found if stage == "complete")
        assert all(valid <= 4 for (valid,) in table(store, tasks.c.valid))

    def test_a_policy_may_refuse_pay_and_block(self, pairs: Path, make_study: Maker) -> None:
        store = make_study(STUDY.replace("[study]", 'policy = "faceexpressions"\n[study]', 1))
        service, person = Service(store), Visitor("prolific", external_id="p1")
        token = enter(store, person)
        state = service.advance(token, "instructions", {})
        complete(store, service, token, state, lambda _: 50.0)
        assert table(store, sessions.c.verdict, sessions.c.pay) == [("rejected", "no")]
        assert table(store, participants.c.blocked) == [(True,)]
        with pytest.raises(StudyError, match="cannot take part"):
            enter(store, person)

    def test_a_policy_that_compares_people_leaves_it_to_the_checks(
        self, pairs: Path, make_study: Maker
    ) -> None:
        store = make_study(STUDY.replace("[study]", 'policy = "bt500"\n[study]', 1))
        policy = live_policy(store.study)
        assert policy is not None
        assert policy.name == "checks of protocol difference"
        assert any(
            "it compares raters with each other" in one for one in workload(store.study).warnings
        )

    def test_a_policy_that_is_not_there_is_named(self, pairs: Path, make_study: Maker) -> None:
        with pytest.raises(InputError, match=r"study\.toml: policy: .*did you mean"):
            make_study(STUDY.replace("[study]", 'policy = "faceexpression"\n[study]', 1))


def _told(store: Store, token: str) -> dict[str, Any]:
    """The state of a session, asked for without judging anything."""
    from affectlab.study.delivery.session import find_session
    from affectlab.study.delivery.view import view

    with store.database.read() as connection:
        return view(connection, store, find_session(connection, store, token))


@settings(max_examples=60, deadline=None)
@given(
    golden=st.lists(st.sampled_from([0, 24, 25, 60]), min_size=5, max_size=5),
    repeats=st.lists(st.sampled_from([0, 24, 25, 60]), min_size=5, max_size=5),
    spread=st.sampled_from([0.0, 1.0]),
)
def test_checks_are_judged_as_the_paper_says(
    golden: list[int], repeats: list[int], spread: float
) -> None:
    """A plain count of the rules of section 3.4.5 decides as the policy does."""
    main = [spread * value for value in (5, 12, 20, 30, 38, 45, 5, 12, 20, 30)]
    rows = [("m", k, value, "main") for k, value in enumerate(main)]
    rows += [("g", k, 20.0 + miss, "golden") for k, miss in enumerate(golden)]
    rows += [("m", k, main[k] + miss, "repeat") for k, miss in enumerate(repeats)]
    frame = pl.DataFrame(
        [(f"{letter}{k}", "r", value, kind, "1") for letter, k, value, kind in rows],
        schema=["stimulus", "rater", "value", "trial_kind", "session"],
        orient="row",
    ).with_columns(movement=pl.Series(range(len(rows))).cast(pl.Float64) * 3)
    policy = policy_of_checks(load_protocol("difference"))
    assert policy is not None
    known = {f"g{k}": 20.0 for k in range(5)}
    found = screen(Ratings(frame, scale="0-100 interval"), policy=policy, golden=known).to_frame()
    bad_golden = sum(abs(miss) >= 25 for miss in golden)
    bad_repeats = sum(abs(miss) >= 25 for miss in repeats)
    refused = (
        float(np.std(main)) < 5
        or bad_golden >= 3
        or bad_repeats >= 3
        or bad_golden + bad_repeats >= 4
    )
    assert found["use"].to_list() == [not refused]
    assert found["pay"].to_list() == [True]
