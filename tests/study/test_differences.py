"""Pairs on a slider: sides, movement, checks, and sessions judged as they are completed."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sqlalchemy import select

from affectlab import InputError, Ratings
from affectlab.protocols import load_protocol
from affectlab.reliability import screen
from affectlab.study import (
    Service,
    Store,
    StudyError,
    accept_session,
    collect,
    export,
    load_study,
    open_store,
    simulate_study,
    study_status,
    workload,
)
from affectlab.study._answers import Submission, save_answer
from affectlab.study._entry import Visitor, enter
from affectlab.study._export import answer_rows
from affectlab.study._live_policy import live_policy, policy_of_checks
from affectlab.study._movement import travelled
from affectlab.study._policy import judge_completed
from affectlab.study._tables import answers, events, participants, sessions, tasks, trials

from .test_engine import consistent, table

STUDY = """
[study]
name = "pairs"
title = "How different are these faces?"
[protocol]
name = "difference"
change = { checks = { training = 2 } }
[stimuli]
table = "pairs.csv"
golden = "known.csv"
training = ["train0", "train1"]
[sessions]
trials = 12
raters = 2
"""
N_MAIN = 12
KNOWN = {
    "gold0": 0,
    "gold1": 30,
    "gold2": 60,
    "gold3": 80,
    "gold4": 100,
    "train0": 20,
    "train1": 90,
}

Maker = Callable[..., Store]
Begin = Callable[..., tuple[Service, str, dict[str, Any]]]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pictures, the table of pairs and that of known answers."""
    names = [*(f"pair{k:02d}" for k in range(N_MAIN)), *KNOWN]
    rows = ["stimulus,file_a,file_b,actor"]
    for number, name in enumerate(names):
        for side in "ab":
            shade = (number * 5, 0 if side == "a" else 255, 90)
            Image.new("RGB", (8, 8), shade).save(tmp_path / f"secret-{name}-{side}.png")
        rows.append(f"{name},secret-{name}-a.png,secret-{name}-b.png,actor{number % 3}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows), encoding="utf-8")
    known = "\n".join(f"{name},{value}" for name, value in KNOWN.items())
    (tmp_path / "known.csv").write_text(f"stimulus,value\n{known}", encoding="utf-8")
    return tmp_path


def truth(name: str) -> float:
    """What a careful rater says of a pair."""
    return float(KNOWN[name] if name in KNOWN else 8 * int(name.removeprefix("pair")))


def shown(store: Store, trial: str) -> dict[str, Any]:
    with store.database.read() as connection:
        row = connection.execute(select(trials).where(trials.c.id == int(trial))).mappings().one()
    return {
        "name": store.content[row["stimulus_id"]]["name"],
        "files": store.content[row["stimulus_id"]]["files"],
        "kind": row["kind"],
        **json.loads(row["layout"]),
    }


def rated(state: dict[str, Any], value: float, movement: Any = None) -> Submission:
    way = [[100, value / 2], [250, value]] if movement is None else movement
    return Submission(
        int(state["trial"]["id"]), {"value": value}, uuid.uuid4().hex, "slider", 900, way
    )


Say = Callable[[dict[str, Any]], float]


def complete(
    store: Store,
    service: Service,
    token: str,
    state: dict[str, Any],
    say: Say = lambda one: truth(one["name"]),
) -> dict[str, Any]:
    """Answer all trials of a session."""
    while state["stage"] == "trials":
        one = shown(store, state["trial"]["id"])
        state = service.answer(token, rated(state, say(one)))
    return state


class TestPages:
    def test_sides_are_drawn_logged_and_kept(
        self, pairs: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        sides = []
        while state["stage"] == "trials":
            assert service.state(token)["trial"] == state["trial"]
            one = shown(store, state["trial"]["id"])
            expected = [Path(file).name for file in one["files"]]
            if one["swapped"]:
                expected.reverse()
            images = state["trial"]["stimulus"]["images"]
            given = [service.picture(token, image.removeprefix("/media/")) for image in images]
            assert [file and file.name for file in given] == expected
            sides.append(one["swapped"])
            state = service.answer(token, rated(state, truth(one["name"])))
        assert {True, False} == set(sides)
        consistent(store)

    def test_no_name_reaches_the_browser(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        told = ""
        while state["stage"] == "trials":
            told += json.dumps(state)
            state = service.answer(token, rated(state, 50))
        for word in ("secret", "pair0", "gold", "train0", "actor", "swapped", "repeat"):
            assert word not in told

    def test_training_comes_first_with_feedback_and_checks_look_like_the_rest(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        kinds, told, feedback = [], [], []
        while state["stage"] == "trials":
            one = shown(store, state["trial"]["id"])
            kinds.append(one["kind"])
            told.append(state["trial"]["kind"])
            state = service.answer(token, rated(state, 20))
            feedback.append(state["feedback"])
        assert kinds[:2] == told[:2] == ["training", "training"]
        assert set(told[2:]) == {"main"}
        counts = {kind: kinds.count(kind) for kind in set(kinds)}
        assert counts == {"training": 2, "main": 12, "golden": 5, "repeat": 5}
        # 20 is right for one training pair; the other one is 90.
        assert sorted(one["right"] for one in feedback[:2]) == [False, True]
        assert feedback[2:] == [None] * 22

    def test_repeats_never_follow_their_first(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        for _ in range(2):
            begin(store)
        found = table(store, trials.c.session_id, trials.c.position, trials.c.kind)
        columns = (trials.c.session_id, trials.c.position, trials.c.stimulus_id)
        stimuli = {
            (session, position): stimulus for session, position, stimulus in table(store, *columns)
        }
        repeats = [(session, position) for session, position, kind in found if kind == "repeat"]
        assert len(repeats) == 10
        for session, position in repeats:
            before = [p for (s, p), one in stimuli.items() if s == session and p < position]
            same = [p for p in before if stimuli[session, p] == stimuli[session, position]]
            assert len(same) == 1
            assert same[0] < position - 1


class TestMovement:
    @pytest.mark.parametrize(
        ("value", "movement", "sentence"),
        [
            (0, [], "moved or confirmed"),
            (40, [], "moved or confirmed"),
            (40, [[10, 30]], "last place to be the answer"),
            (40, [[10, 30], [5, 40]], "order of time"),
            (40, [[10, 130], [15, 40]], "ms from 0"),
            (40, [[-1, 40]], "ms from 0"),
            (40, [[10, 40, 1]], "pairs of two numbers"),
            (40, [[float("nan"), 40]], "pairs of two numbers"),
            (40, [["10", 40]], "pairs of two numbers"),
            (40, [[True, 40]], "pairs of two numbers"),
            (40, [[k, 40] for k in range(2001)], "at most 2000"),
        ],
    )
    def test_what_no_slider_did_is_refused(
        self,
        pairs: Path,
        make_study: Maker,
        begin: Begin,
        value: float,
        movement: Any,
        sentence: str,
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        with pytest.raises(StudyError, match=sentence) as refused:
            service.answer(token, rated(state, value, movement))
        assert refused.value.status == 422
        assert not table(store, answers.c.trial_id)
        assert service.state(token)["trial"] == state["trial"]

    def test_none_is_refused(self, pairs: Path, make_study: Maker, begin: Begin) -> None:
        service, token, state = begin(make_study(STUDY))
        given = Submission(int(state["trial"]["id"]), {"value": 4}, "k" * 20, "slider")
        with pytest.raises(StudyError, match="places of the slider"):
            service.answer(token, given)

    def test_a_confirmation_counts_and_the_way_is_exported(
        self, pairs: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        state = service.answer(token, rated(state, 0, [[900, 0]]))
        state = service.answer(token, rated(state, 55, [[100, 40], [300, 60.5], [420, 55]]))
        with store.database.read() as connection:
            found = list(answer_rows(connection, store))
        assert [row["movement"] for row in found] == [0, 66]
        assert {type(row["swapped"]) for row in found} == {bool}
        stored = [json.loads(one) for (one,) in table(store, answers.c.movement)]
        assert stored == [[[900, 0]], [[100, 40], [300, 60.5], [420, 55]]]


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
        assert "equal ratings: SD of 12 ratings 0 < 5" in log["rejected"]["reason"]
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
    from affectlab.study._session import find_session
    from affectlab.study._view import view

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
    found = screen(Ratings(frame, scale="0-100 interval"), policy, golden=known).to_frame()
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


class TestStimuli:
    @pytest.mark.parametrize(
        ("rows", "sentence"),
        [
            ("stimulus,file_a\np,a.png", "file_b"),
            ("stimulus,file_a,file_b\np,a.png,", "has no file_b"),
            ("stimulus,file_a,file_b\np,a.png,gone.png", "is not in"),
            ("stimulus,file_a,file_b\np,a.png,../../etc/passwd.png", "lies outside"),
            ("stimulus,file_a,file_b\np,a.png,pairs.csv", "no picture"),
            ("stimulus,file_a,file_b\np,a.png,a.png\np,a.png,a.png", "comes twice"),
        ],
    )
    def test_tables_that_cannot_be_used(
        self, tmp_path: Path, make_study: Maker, rows: str, sentence: str
    ) -> None:
        Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
        (tmp_path / "pairs.csv").write_text(rows, encoding="utf-8")
        text = STUDY.replace('golden = "known.csv"\ntraining = ["train0", "train1"]\n', "")
        with pytest.raises(InputError, match=sentence):
            make_study(text)

    def test_a_folder_says_nothing_of_pairs(self, tmp_path: Path, make_study: Maker) -> None:
        (tmp_path / "faces").mkdir()
        text = STUDY.replace('table = "pairs.csv"\ngolden = "known.csv"', 'folder = "faces"')
        with pytest.raises(InputError, match="says nothing about pairs"):
            make_study(text.replace('training = ["train0", "train1"]\n', ""))

    def test_checks_without_stimuli_are_said(self, pairs: Path, make_study: Maker) -> None:
        text = STUDY.replace('golden = "known.csv"\ntraining = ["train0", "train1"]\n', "")
        told = workload(make_study(text).study).warnings
        assert any("wants 5 golden trials, and there are 0" in one for one in told)
        assert any("wants 2 training trials, and there are 0" in one for one in told)
        assert not any("wants" in one for one in workload(load_study(_example())).warnings)


def _example() -> Path:
    return Path(__file__).parents[2] / "examples" / "study-differences.toml"


def test_the_planted_differences_are_recovered(tmp_path: Path) -> None:
    """Simulated people over HTTP: careless ones are rejected, and the scores follow the truth."""
    from affectlab.reliability import subject_model

    text = _example().read_text(encoding="utf-8")
    for old, new in (("faces = 24", "faces = 14"), ("trials = 24", "trials = 14")):
        text = text.replace(old, new)
    path = tmp_path / "pairs.toml"
    path.write_text(text.replace("raters = 10", "raters = 6"), encoding="utf-8")
    done = simulate_study(path, people=8, careless=2, seed=3)
    assert done.careless == 2
    with open_store(load_study(path)) as store:
        found = collect(store)
        status = study_status(store)
        export(store, tmp_path / "out")
    assert found is not None
    planted = pl.read_csv(done.truth)
    known = dict(zip(planted["stimulus"], planted["value"], strict=True))
    main = found.where((found.frame["trial_kind"].cast(str) == "main").to_numpy())
    scores = subject_model(main).to_frame()
    true = [known[name] for name in scores["stimulus"].to_list()]
    assert len(true) == 14
    assert np.corrcoef(scores["value"].to_numpy(), true)[0, 1] > 0.95
    assert status.rejected_sessions >= 1
    told = pl.read_csv(tmp_path / "out" / "sessions.csv")
    rejected = set(told.filter(~pl.col("use"))["rater"])
    people = found.raters
    honest = set(people.filter(~pl.col("careless"))["rater"].cast(str))
    assert not rejected & honest
    assert status.valid == status.wanted == 14 * 6
