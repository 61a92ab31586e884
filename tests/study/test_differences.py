"""Pairs on a slider: sides, movement, checks, and sessions judged as they are completed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from affectlab import InputError
from affectlab.study import (
    collect,
    export,
    load_study,
    open_store,
    simulate_study,
    study_status,
    workload,
)
from affectlab.study.dataset.ratings import answer_rows
from affectlab.study.delivery.answers import Submission
from affectlab.study.errors import StudyError
from affectlab.study.tables import answers, trials

from .answering import consistent, table
from .differences import (
    STUDY,
    Begin,
    Maker,
    pairs,
    rated,
    shown,
    truth,
)

__all__ = ["pairs"]


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


class TestStimuli:
    @pytest.mark.parametrize(
        ("rows", "sentence"),
        [
            ("stimulus,file_a\np,a.png", "file_b"),
            ("stimulus,file_a,file_b\np,a.png,", "has no file_b"),
            ("stimulus,file_a,file_b\np,a.png,gone.png", "is not in"),
            ("stimulus,file_a,file_b\np,a.png,../../etc/passwd.png", "lies outside"),
            ("stimulus,file_a,file_b\np,a.png,pairs.csv", "no picture"),
            ("stimulus,file_a,file_b\np,a.png,a.png\np,a.png,a.png", "stands twice"),
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


@pytest.mark.long
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
