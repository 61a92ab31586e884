"""Staircases in a study: drawn one by one, nothing lost, nothing twice, and the JND recovered."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from affectlab import InputError, read_ratings
from affectlab.analysis import FrameStaircase
from affectlab.protocols import load_protocol
from affectlab.study import export, load_study, open_store, reject_session, simulate_study, workload
from affectlab.study.tables import tasks, trials

from .answering import consistent, table
from .staircases import (
    BLOCK,
    CATCH,
    JND,
    N_FRAMES,
    STUDY,
    TRIALS,
    Begin,
    Maker,
    draw,
    finish,
    history,
    runs,
    saw,
    shown,
    transitions,
)

__all__ = ["transitions"]


class TestPlaythrough:
    def test_every_trial_follows_from_the_answers_before(
        self, transitions: Path, make_study: Maker, begin: Begin, database: str | None
    ) -> None:
        store = make_study(STUDY, database=database)
        service, token, state = begin(store)
        done = 0
        while state["stage"] == "trials":
            assert state["progress"] == {"done": done, "total": 2 * BLOCK}
            open_now = [
                layout
                for layout, kind in table(store, trials.c.layout, trials.c.state)
                if kind == "open" and "frames" in json.loads(layout)
            ]
            assert len(open_now) == 1
            assert service.state(token)["trial"] == state["trial"]
            state = service.answer(token, saw(store, state))
            done += 1
        assert done == 2 * BLOCK
        # Replayed from the answers alone, each run asks for the very frames that were shown.
        for (_name, anchor), steps in history(store, 1).items():
            again = FrameStaircase.begin(N_FRAMES, anchor, trials=TRIALS, threshold=0.75)
            for frame, different in steps:
                assert frame in (again.anchor_frame, again.next_frame())
                again = again.update(frame, different)
            assert again.done
            assert again in runs(store).values()
        assert len(runs(store)) == 4
        assert set(table(store, tasks.c.valid, tasks.c.wanted, tasks.c.leased)) == {(1, 1, 0)}
        consistent(store)

    def test_both_ends_are_anchors_and_the_sides_are_drawn(
        self, transitions: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        found = []
        while state["stage"] == "trials":
            one = shown(store, state["trial"]["id"])
            files = store.content[one["stimulus_id"]]["files"]
            pair = [Path(files[frame]).name for frame in one["frames"]]
            images = state["trial"]["stimulus"]["images"]
            found_files = [service.picture(token, one.removeprefix("/media/")) for one in images]
            assert [file and file.name for file in found_files] == (
                pair[:: -1 if one["swapped"] else 1]
            )
            # Also a frame beside itself cannot be told by its address.
            assert len(set(images)) == 2
            assert one["frames"][0] == {"peak": 0, "neutral": N_FRAMES - 1}[one["anchor"]]
            found.append((one["name"], one["anchor"], one["swapped"], one["kind"]))
            state = service.answer(token, saw(store, state))
        assert len({swapped for *_, swapped, _ in found}) == 2
        # Within a run half of each four comparisons are swapped.
        for run in {one[:2] for one in found}:
            sides = [swapped for *of, swapped, kind in found if (*of,) == run and kind == "main"]
            fours = [sides[place : place + 4] for place in range(0, len(sides) - 3, 4)]
            assert all(sum(four) == 2 for four in fours)
        per_run = Counter((name, anchor, kind) for name, anchor, _, kind in found)
        assert set(per_run.values()) == {TRIALS, CATCH}
        # One sequence after the other, its two runs mixed.
        assert len({name for name, *_ in found[:BLOCK]}) == 1
        first = [anchor for _, anchor, *_ in found[:BLOCK]]
        assert sum(a != b for a, b in pairwise(first)) > 1
        for (_, anchor), steps in history(store, 1).items():
            fixed = 0 if anchor == "peak" else N_FRAMES - 1
            assert steps[-1][0] != fixed

    def test_all_that_may_come_next_is_preloaded_and_nothing_else_is_told(
        self, transitions: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        ready: set[str] = set(state["trial"]["stimulus"]["images"])
        told = ""
        while state["stage"] == "trials":
            images = set(state["trial"]["stimulus"]["images"])
            assert images <= ready
            assert state["trial"]["kind"] == "main"
            told += json.dumps(state)
            ready = images | set(state["preload"])
            assert len(state["preload"]) <= 6
            assert all(service.picture(token, one.removeprefix("/media/")) for one in ready)
            state = service.answer(token, saw(store, state))
        for word in (
            "secret",
            "ann-joy",
            "bob-awe",
            "peak",
            "neutral",
            "frames",
            "swapped",
            "catch",
        ):
            assert word not in told

    def test_export_gives_ratings_and_the_frames_1_jnd_away(
        self, transitions: Path, make_study: Maker, begin: Begin
    ) -> None:
        store = make_study(STUDY)
        service, token, state = begin(store)
        finish(store, service, token, state)
        done = export(store, transitions / "out")
        assert {"staircases.csv", "staircases.parquet"} <= {file.name for file in done.files}
        frame = pl.read_parquet(transitions / "out" / "staircases.parquet")
        assert frame.shape[0] == pl.read_csv(transitions / "out" / "staircases.csv").shape[0] == 4
        for row in frame.iter_rows(named=True):
            steps = history(store, 1)[row["stimulus"], row["anchor"]]
            again = FrameStaircase.begin(N_FRAMES, row["anchor"], trials=TRIALS)
            for number, different in steps:
                again = again.update(number, different)
            expected = again.result()
            assert row["distance"] == pytest.approx(expected.distance)
            assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
            assert row["frame"] == expected.frame
            assert (row["n_trials"], row["n_catch"], row["n_false_alarms"]) == (TRIALS, CATCH, 0)
            assert row["low"] < JND[row["anchor"]] < row["high"]
            assert row["valid"]
        found = read_ratings(transitions / "out" / "ratings.parquet")
        assert found.n_ratings == 2 * BLOCK
        assert str(found.scale.kind) == "nominal"
        assert {"anchor", "frame", "swapped"} <= set(found.frame.columns)
        reject_session(store, 1, "asleep")
        second, other, state = begin(store)
        finish(store, second, other, state)
        export(store, transitions / "out")
        valid = pl.read_csv(transitions / "out" / "staircases.csv")["valid"].to_list()
        assert valid == [False] * 4 + [True] * 4


class TestStimuli:
    def test_a_table_gives_the_order_of_frames(self, tmp_path: Path, make_study: Maker) -> None:
        draw(tmp_path / "pictures", ("a",), 4)
        rows = ["stimulus,frame,file,actor"]
        rows += [f"one,{9 - k},a/secret{k}.png,ann" for k in range(4)]
        (tmp_path / "frames.csv").write_text("\n".join(rows), encoding="utf-8")
        store = make_study(
            STUDY.replace('folder = "transitions"', 'table = "frames.csv"\nfolder = "pictures"')
        )
        (content,) = store.content.values()
        assert [Path(file).stem for file in content["files"]] == [
            "secret3",
            "secret2",
            "secret1",
            "secret0",
        ]
        assert json.loads(content["attributes"]) == {"actor": "ann"}

    def test_frames_stand_in_the_order_of_their_numbers(
        self, transitions: Path, make_study: Maker
    ) -> None:
        for content in make_study(STUDY).content.values():
            stems = [Path(file).stem for file in content["files"]]
            assert stems == [f"secret{k}" for k in range(N_FRAMES)]

    def test_a_picture_outside_of_a_sequence(self, transitions: Path, make_study: Maker) -> None:
        Image.new("RGB", (8, 8)).save(transitions / "transitions" / "loose.png")
        with pytest.raises(InputError, match="belongs to no sequence"):
            make_study(STUDY)

    def test_too_few_frames(self, tmp_path: Path, make_study: Maker) -> None:
        draw(tmp_path / "transitions", ("short",), 2)
        with pytest.raises(InputError, match="'short' has 2 frames; expected at least 3"):
            make_study(STUDY)

    def test_no_sequences(self, tmp_path: Path, make_study: Maker) -> None:
        (tmp_path / "transitions").mkdir()
        with pytest.raises(InputError, match="there are no stimuli"):
            make_study(STUDY)

    @pytest.mark.parametrize(
        ("rows", "sentence"),
        [
            ("stimulus,frame,file\na,1,x.png\na,1,x.png\na,2,x.png", "frame 1 stands twice"),
            ("stimulus,frame,file\na,one,x.png", "the number of the frame"),
            ("stimulus,file\na,../x.png", "lies outside"),
        ],
    )
    def test_tables_that_cannot_be_used(
        self, tmp_path: Path, make_study: Maker, rows: str, sentence: str
    ) -> None:
        Image.new("RGB", (8, 8)).save(tmp_path / "x.png")
        (tmp_path / "frames.csv").write_text(rows, encoding="utf-8")
        with pytest.raises(InputError, match=sentence):
            make_study(STUDY.replace('folder = "transitions"', 'table = "frames.csv"'))

    def test_golden_items_do_not_go_with_a_staircase(
        self, transitions: Path, make_study: Maker
    ) -> None:
        (transitions / "known.csv").write_text("stimulus,value\nann-joy,same\n")
        text = STUDY.replace("[sessions]", 'golden = "known.csv"\n[sessions]')
        with pytest.raises(InputError, match=r"staircase\.catch"):
            make_study(text)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"scale": "nominal:a,b,c"}, "two categories"),
            ({"scale": "0-7"}, "two categories"),
            ({"staircase": {"anchors": ["peak", "peak"]}}, "twice"),
            ({"staircase": {"anchors": ["start"]}}, "'peak', the first frame"),
            ({"staircase": {"anchors": ["a", "b", "c"]}}, "anchors"),
            ({"staircase": {"catch": -1}}, "catch"),
        ],
    )
    def test_protocols_that_cannot_be_a_staircase(
        self, change: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(InputError, match=sentence):
            load_protocol("staircase").revise(**change)

    def test_one_anchor_alone(self, transitions: Path, make_study: Maker, begin: Begin) -> None:
        text = STUDY.replace("staircase = { ", 'staircase = { anchors = ["neutral"], ')
        store = make_study(text)
        service, token, state = begin(store)
        assert state["progress"]["total"] == 2 * (TRIALS + CATCH)
        finish(store, service, token, state)
        assert {anchor for *_, anchor in runs(store)} == {"neutral"}

    def test_check_says_how_long_a_session_is(self, transitions: Path, make_study: Maker) -> None:
        store = make_study(STUDY.replace(f"trials = {2 * BLOCK}", "trials = 10"))
        found = workload(store.study)
        assert (found.tasks, found.sessions, found.trials_per_session) == (2, 2, BLOCK)
        assert any("a sequence takes 20 comparisons" in one for one in found.warnings)


@pytest.mark.long
def test_the_planted_jnds_are_recovered(tmp_path: Path) -> None:
    """Simulated observers over HTTP: what is exported is what was planted in them."""
    draw(tmp_path / "transitions", ("ann-joy", "bob-awe"), 61)
    path = tmp_path / "study.toml"
    text = STUDY
    for old, new in (
        (f"trials = {2 * BLOCK}", "trials = 84"),
        (f"trials = {TRIALS}, catch = {CATCH}", "trials = 40, catch = 2"),
        ("raters = 1", "raters = 3"),
    ):
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    done = simulate_study(path, people=6, careless=1, seed=5)
    assert (done.completed, done.answers) == (6, 6 * 84)
    with open_store(load_study(path)) as store:
        export(store, tmp_path / "out")
    planted = {
        (row["stimulus"], row["anchor"]): row["jnd"]
        for row in pl.read_csv(done.truth).iter_rows(named=True)
    }
    found = pl.read_csv(tmp_path / "out" / "staircases.csv")
    about = read_ratings(tmp_path / "out" / "ratings.parquet").raters
    careless = set(about.filter(pl.col("careless"))["rater"].cast(str))
    share = dict(zip(about["rater"].cast(str), about["planted_share"], strict=True))
    errors, inside = [], []
    for row in found.filter(~pl.col("rater").is_in(list(careless))).iter_rows(named=True):
        true = planted[row["stimulus"], row["anchor"]] * share[row["rater"]]
        errors.append(math.log(row["distance"] / true))
        inside.append(row["low"] <= true <= row["high"])
    assert len(errors) == 10
    assert abs(float(np.mean(errors))) < 0.08
    assert float(np.std(errors)) < 0.2
    assert sum(inside) >= 8
