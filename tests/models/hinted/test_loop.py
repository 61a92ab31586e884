"""The loop: what it asks for, when it stops, and what a killed run does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models.hinted.annotators import (
    LABELS,
    PAINTED,
    Simulated,
    killed_plan,
    paint,
    watched,
)

from affectlab.core.errors import InputError
from affectlab.evaluation import control_checks, outcome_table
from affectlab.models.hinted import HintedPlan, annotate_until
from affectlab.models.hinted.result import HintedRun
from affectlab.ratings import read_ratings
from affectlab.stimuli.generation import ImageGenerator

ALL = dict.fromkeys(LABELS, 1.0)


def plan(**given: Any) -> HintedPlan:
    usual: dict[str, Any] = {"labels": LABELS, "target": 20, "initial": 20, "decoys": 0.0}
    return HintedPlan(**usual | given)


def run(folder: Path, told: HintedPlan, hit: dict[str, float], hint: float = 0.0) -> HintedRun:
    return annotate_until(told, PAINTED, Simulated(folder, hit, hint), folder)


def test_labels_that_lack_ratings_get_pictures_until_they_have_them(tmp_path: Path) -> None:
    hit = {"Awe": 1.0, "Fear": 0.5, "Anger": 0.25, "Shame": 1.0}
    found = run(tmp_path / "r", plan(), hit)
    assert found.stopped == "every label has its target"
    table = found.coverage
    assert table["label"].to_list() == ["Awe", "Fear", "Anger", "Shame"] or set(
        table["label"]
    ) == set(LABELS)
    assert (table["n"] >= 20).all()
    assert (table["status"] == "met").all()
    made = dict(table.select("label", "made").iter_rows())
    # What is seen less often needs more pictures.
    assert made["Anger"] > made["Fear"] > made["Awe"]
    # Counted again from the ratings.
    ratings = found.ratings.to_frame()
    above = ratings.filter(pl.col("value") > 0).group_by("label").len()
    assert dict(above.iter_rows()) == dict(table.select("label", "n").iter_rows())
    hinted = found.ratings.to_frame().filter(pl.col("value") > 0)
    joined = hinted.join(found.ratings.stimuli, on="stimulus", how="left", suffix="_s")
    assert joined.height == hinted.height


def test_the_first_round_has_no_hints_and_later_ones_name_the_target(tmp_path: Path) -> None:
    annotator = Simulated(tmp_path / "r", dict.fromkeys(LABELS, 0.6))
    found = annotate_until(plan(), PAINTED, annotator, tmp_path / "r")
    table = pl.read_parquet(tmp_path / "r" / "ratings.parquet")
    rounds = {}
    for place in sorted((tmp_path / "r" / "prompts").glob("*.csv")):
        rounds[place.stem] = dict(pl.read_csv(place).select("stimulus", "label").iter_rows())
    for stimulus, hint in annotator.asked:
        first = stimulus in rounds["round-000"]
        assert hint == ("" if first else annotator.label_of(stimulus))
    assert {"hinted", "hint", "target", "round"} <= set(table.columns) | set(
        found.ratings.stimuli.columns
    )
    again = read_ratings(tmp_path / "r" / "ratings.parquet")
    assert again.equals(found.ratings)


def test_acceptance_and_suggestibility_are_recovered(tmp_path: Path) -> None:
    hit = dict.fromkeys(LABELS, 0.4)
    told = plan(target=500, initial=20, decoys=0.5, rounds=2, per_round=180)
    found = run(tmp_path / "r", told, hit, 0.25)
    # A right hint is followed when the label is seen, or else by persuasion.
    right = found.acceptance["all", "hinted"]
    assert right.low < 0.4 + 0.6 * 0.25 < right.high
    assert right.n_items > 800
    wrong = found.acceptance["all", "decoy"]
    assert wrong.low < 0.25 < wrong.high
    assert wrong.n_items > 300
    # Without the wrong hint, nobody sees what is not there.
    assert found.acceptance["all", "unprompted"].value == 0
    for label in LABELS:
        one = found.acceptance[label, "hinted"]
        assert one.low - 0.03 < 0.55 < one.high + 0.03
    # As evaluation reads it from the ratings alone.
    checks = control_checks(found.ratings, n_boot=50)
    audit = checks.hints["simulated", "simulated (decoy hints)", "accepted"]
    assert audit.value == pytest.approx(wrong.value)
    assert audit.n_items == wrong.n_items
    frame = pl.read_csv(tmp_path / "r" / "acceptance.csv")
    assert frame.filter((pl.col("label") == "all") & (pl.col("quantity") == "decoy"))["value"][
        0
    ] == pytest.approx(wrong.value)


def test_wrong_hints_do_not_cover_labels(tmp_path: Path) -> None:
    told = plan(target=30, initial=4, decoys=1.0, rounds=2, per_round=20, floor=0)
    found = run(tmp_path / "r", told, dict.fromkeys(LABELS, 0.0), 1.0)
    # Right hints were followed; the wrong ones, too, but they count for nothing.
    assert found.acceptance["all", "decoy"].value == 1
    made = dict(found.coverage.select("label", "made").iter_rows())
    first = Counter(pl.read_csv(tmp_path / "r" / "prompts" / "round-000.csv")["label"].to_list())
    for label, n in found.coverage.select("label", "n").iter_rows():
        assert n == made[label] - first[label]


def test_decoys_are_never_the_target(tmp_path: Path) -> None:
    run(tmp_path / "r", plan(decoys=1.0, rounds=1), dict.fromkeys(LABELS, 0.5))
    table = pl.read_csv(tmp_path / "r" / "prompts" / "round-001.csv")
    assert (table["decoy"] != table["label"]).all()
    assert table["decoy"].n_unique() > 5


class TestStopping:
    def test_nothing_to_do(self, tmp_path: Path) -> None:
        found = run(tmp_path / "r", plan(target=5), ALL)
        assert (found.n_rounds, found.stopped) == (0, "every label has its target")

    def test_rounds(self, tmp_path: Path) -> None:
        found = run(tmp_path / "r", plan(rounds=2, per_round=3), ALL)
        assert (found.n_rounds, found.stopped) == (2, "all 2 rounds of the plan are over")
        assert found.n_made == 20 + 2 * 4 * 3

    def test_the_budget(self, tmp_path: Path) -> None:
        found = run(tmp_path / "r", plan(budget=37), dict.fromkeys(LABELS, 0.3))
        assert found.stopped == "all 37 pictures of the plan are made"
        assert found.n_made == 37
        assert len(list((tmp_path / "r" / "pictures" / "images").iterdir())) == 37

    def test_a_label_that_hints_bring_nothing_is_given_up(self, tmp_path: Path) -> None:
        hit = ALL | {"Shame": 0.0}
        found = run(tmp_path / "r", plan(patience=3, per_round=10, floor=0.1), hit)
        assert found.given_up == ("Shame",)
        assert "1 label given up" in found.stopped
        shame = found.history.filter(label="Shame")["asked"].to_list()
        # The first round has no hints; then the patience, and one more: 0 of 30 could be .11.
        assert np.diff(shame).tolist()[:4] == [10, 10, 10, 10]
        assert shame[-1] == 40
        assert found.coverage.filter(label="Shame")["status"][0] == "given up"

    def test_floor_of_zero_never_gives_up(self, tmp_path: Path) -> None:
        hit = ALL | {"Shame": 0.0}
        found = run(tmp_path / "r", plan(patience=1, per_round=5, floor=0, rounds=6), hit)
        assert found.given_up == ()
        assert found.n_rounds == 6

    def test_more_may_be_asked_for_later(self, tmp_path: Path) -> None:
        first = run(tmp_path / "r", plan(rounds=1, per_round=2), ALL)
        asked = Simulated(tmp_path / "r", ALL)
        more = annotate_until(plan(rounds=3, per_round=2), PAINTED, asked, tmp_path / "r")
        assert (first.n_rounds, more.n_rounds) == (1, 3)
        assert len(asked.asked) == 2 * 4 * 2
        assert more.history.filter(pl.col("round") <= 1).equals(first.history)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    hit = dict.fromkeys(LABELS, 0.5)
    one = run(tmp_path / "a", plan(decoys=0.3), hit, 0.2)
    two = run(tmp_path / "b", plan(decoys=0.3), hit, 0.2)
    assert one.ratings.equals(two.ratings)
    for name in ("ledger.jsonl", "coverage.csv", "acceptance.csv", "prompts/round-001.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    other = run(tmp_path / "c", plan(decoys=0.3, seed=1), hit, 0.2)
    assert not one.ratings.equals(other.ratings)


def test_people_are_shared_out_over_all_rounds(tmp_path: Path) -> None:
    run(tmp_path / "r", plan(target=120, per_round=40, initial=8), ALL)
    tables = [pl.read_csv(place) for place in (tmp_path / "r" / "prompts").glob("*.csv")]
    for _, mine in pl.concat(tables).group_by("label"):
        share = mine["gender"].value_counts(normalize=True)
        women = dict(share.iter_rows())["woman"]
        assert abs(women - 0.45) < 0.04


class TestGivenPictures:
    def test_a_folder_is_annotated_first(self, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        for k in range(3):
            Image.new("RGB", (8, 8), (k, 0, 0)).save(tmp_path / "mine" / f"face-0000{k + 1}.png")
        seen: list[tuple[str, str]] = []

        def annotator(images: Any, hints: Any) -> Any:
            seen.extend(zip((image.stimulus for image in images), hints, strict=True))
            return [{hint: 2} if hint else {"awe": 7} for hint in hints]

        told = HintedPlan(
            images=str(tmp_path / "mine"), labels=["Awe", "Fear"], target=4, decoys=0, expected=1
        )
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert seen[:3] == [(f"face-0000{k}", "") for k in (1, 2, 3)]
        # Names of new pictures are none of those that are there.
        assert len({stimulus for stimulus, _ in seen}) == len(seen) == 3 + 1 + 4
        assert dict(found.coverage.select("label", "n").iter_rows()) == {"Awe": 4, "Fear": 4}

    def test_with_pictures_of_the_same_names(self, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        Image.new("RGB", (8, 8)).save(tmp_path / "mine" / "face-00001.png")
        told = plan(images=str(tmp_path / "mine"), initial=4, rounds=1)

        def annotator(images: Any, hints: Any) -> Any:
            return [{"Awe": 1}] * len(images)

        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert found.ratings.n_stimuli == 1 + found.n_made


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [
            ({"Awe": 8}, "schema_invalid"),
            ({"Awe": 3.5}, "schema_invalid"),
            ({"Joy of life": 1}, "schema_invalid"),
            ({"Awe": "high"}, "schema_invalid"),
            (dict.fromkeys(("Awe", "Fear", "Anger", "Shame", "Pride", "Relief"), 1), "rule"),
            (dict.fromkeys(("Awe", "Fear", "Anger", "Shame", "Pride"), 1) | {"Pain": 0}, "ok"),
            ("refused", "refused"),
            ("ok", "schema_invalid"),
            (None, "unparseable"),
            ({}, "ok"),
        ],
    )
    def test_outcomes(self, answer: Any, outcome: str, tmp_path: Path) -> None:
        def annotator(images: Any, hints: Any) -> Any:
            return [answer] * len(images)

        told = plan(initial=2, rounds=0, usable=0)
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        outcomes = found.ratings.to_frame()["outcome"].unique().to_list()
        assert next(str(one) for one in outcomes).startswith(outcome)
        values = found.ratings.to_frame()["value"]
        # Labels that were left out are 0 only where there is an answer.
        assert (values.null_count() == 0) == (outcome == "ok")
        assert outcome_table(found.ratings).to_frame("usable")["n_ratings"][0] == 2

    def test_an_outcome_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="unknown outcome 'fine'"):
            annotate_until(
                plan(initial=2), PAINTED, lambda images, hints: ["fine"] * 2, tmp_path / "r"
            )

    def test_an_annotator_that_fails_keeps_what_was_answered(self, tmp_path: Path) -> None:
        calls = []

        def annotator(images: Any, hints: Any) -> Any:
            calls.append(len(images))
            if len(calls) == 3:
                raise RuntimeError("no memory")
            return [{"Awe": 1}] * len(images)

        told = plan(initial=20, batch=5, rounds=0)
        with pytest.raises(InputError, match=r"failed on 5 pictures.*RuntimeError: no memory"):
            annotate_until(told, PAINTED, annotator, tmp_path / "r")
        # There are tables of what was answered.
        assert read_ratings(tmp_path / "r" / "ratings.parquet").n_stimuli == 10
        state = json.loads((tmp_path / "r" / "state.json").read_text())
        assert (state["step"], "no memory" in state["stopped"]) == ("stopped", True)
        assert pl.read_csv(tmp_path / "r" / "coverage.csv")["round"].to_list() == [0] * 4
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert calls == [5, 5, 5, 5, 5]
        assert found.ratings.n_stimuli == 20
        with pytest.raises(InputError, match="gave 1 answers about 5 pictures"):
            annotate_until(
                plan(initial=20, batch=5),
                PAINTED,
                lambda images, hints: [{}],
                tmp_path / "other",
            )

    @pytest.mark.parametrize(
        ("problem", "in_flight"),
        [(InputError("no key: nothing was sent"), 0), (RuntimeError("connection lost"), 5)],
    )
    def test_what_was_not_sent_was_not_in_flight(
        self, problem: Exception, in_flight: int, tmp_path: Path
    ) -> None:
        calls = []

        def annotator(images: Any, hints: Any) -> Any:
            calls.append(len(images))
            if len(calls) == 2:
                raise problem
            return [{"Awe": 1}] * len(images)

        told = plan(initial=10, batch=5, rounds=0)
        with pytest.raises(InputError, match=str(problem)):
            annotate_until(told, PAINTED, annotator, tmp_path / "r")
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert len(found.in_flight) == in_flight
        assert found.ratings.n_stimuli == 10
        assert calls == [5, 5, 5]

    def test_pictures_that_did_not_get_through_are_asked_about_again(self, tmp_path: Path) -> None:
        state = {"lost": True}
        seen: list[str] = []

        def annotator(images: Any, hints: Any) -> Any:
            seen.extend(image.stimulus for image in images)
            return [
                "transport" if state["lost"] and image.stimulus[-1] == "3" else {}
                for image in images
            ]

        told = plan(initial=20, batch=5, rounds=0)
        for _ in range(2):
            found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
            counts = outcome_table(found.ratings).to_frame("usable").row(0, named=True)
            assert (counts["transport"], counts["ok"]) == (2, 18)
        state["lost"] = False
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert outcome_table(found.ratings).to_frame("usable")["ok"][0] == 20
        assert len(seen) == 20 + 2 + 2

    def test_prompts_without_a_picture_are_passed_over(self, tmp_path: Path) -> None:
        def some(batch: Any) -> Any:
            return [
                ValueError("unsafe") if prompt.seed % 3 == 0 else paint([prompt])[0]
                for prompt in batch
            ]

        annotator = Simulated(tmp_path / "r", ALL)
        maker = ImageGenerator("some", some)
        found = annotate_until(plan(), maker, annotator, tmp_path / "r")
        assert found.stopped == "every label has its target"
        assert found.n_made > found.ratings.n_stimuli


class TestFolders:
    def test_another_plan_is_refused(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        with pytest.raises(InputError, match=r"another plan \(decoys, seed\)"):
            run(tmp_path / "r", plan(rounds=0, seed=3, decoys=0.5), ALL)

    def test_another_annotator_is_refused(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        other = Simulated(tmp_path / "r", ALL)
        other.version = "2"
        with pytest.raises(InputError, match="whose version is '1', not '2'"):
            annotate_until(plan(rounds=0), PAINTED, other, tmp_path / "r")

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "r").mkdir()
        (tmp_path / "r" / "thesis.doc").write_text("x")
        with pytest.raises(InputError, match="holds other files"):
            run(tmp_path / "r", plan(), ALL)
        (tmp_path / "f").write_text("x")
        with pytest.raises(InputError, match="is a file"):
            run(tmp_path / "f", plan(), ALL)

    @pytest.mark.parametrize("text", ["", "[]", '{"schema": "other"}', "{"])
    def test_a_state_that_is_none(self, text: str, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        (tmp_path / "r" / "state.json").write_text(text)
        with pytest.raises(InputError, match=r"state\.json"):
            run(tmp_path / "r", plan(rounds=0), ALL)

    def test_a_ledger_that_is_none(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        ledger = tmp_path / "r" / "ledger.jsonl"
        lines = ledger.read_bytes().splitlines(keepends=True)
        # Half a line is what a killed run leaves; its picture is asked about again.
        ledger.write_bytes(b"".join(lines)[:-30])
        annotator = Simulated(tmp_path / "r", ALL)
        annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert len(annotator.asked) == 1
        place = next(k for k, line in enumerate(lines) if b'"outcome"' in line)
        other = json.loads(lines[place])
        wrong = [other | change for change in WRONG]
        ledger.write_bytes(
            b"".join([*lines[:place], b"nonsense\n", *lines[place + 1 :]])
            + "".join(json.dumps(one) + "\n" for one in wrong).encode()
        )
        annotator.asked.clear()
        found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert annotator.asked == [(other["stimulus"], "")]
        assert found.n_broken == 1 + len(WRONG)
        ledger.write_bytes(b"nonsense\n")
        with pytest.raises(InputError, match="is no ledger"):
            run(tmp_path / "r", plan(rounds=0), ALL)

    def test_two_runs_at_a_time(self, tmp_path: Path) -> None:
        def annotator(images: Any, hints: Any) -> Any:
            with pytest.raises(InputError, match="in use by another run"):
                run(tmp_path / "r", plan(rounds=0), ALL)
            return [{"Awe": 1}] * len(images)

        found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert found.ratings.n_stimuli == 20

    def test_a_picture_that_was_made_anew_is_asked_about_again(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        place = tmp_path / "r" / "pictures" / "images" / "face-00007.png"
        place.unlink()
        other = ImageGenerator("other", lambda batch: [Image.new("RGB", (4, 4)) for _ in batch])
        annotator = Simulated(tmp_path / "r", ALL)
        annotate_until(plan(rounds=0), other, annotator, tmp_path / "r")
        assert annotator.asked == [("face-00007", "")]


WRONG: tuple[dict[str, Any], ...] = (
    {"outcome": "fine"},
    {"values": {"Nothing": 1.0}},
    {"values": {"Awe": "high"}},
    {"values": []},
    {"round": "first"},
    {"more": 1},
)
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.models.hinted.annotators import killed_plan, watched
from affectlab.models.hinted import annotate_until
from affectlab.models.ask import LineFile
from affectlab.models.hinted import loop

folder, point, after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count = 0

def tick(name):
    global count
    count += name == point
    if name == point and count == after:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(name, function):
    def call(self, *given, **more):
        function(self, *given, **more)
        tick(name)
    return call

LineFile.add = counted("answers", LineFile.add)
loop._Folder.keep_prompts = counted("prompts", loop._Folder.keep_prompts)
loop._Folder.say = counted("state", loop._Folder.say)
annotate_until(killed_plan(), *watched(folder, tick), folder)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    annotate_until(killed_plan(), *watched(folder), folder)
    return folder


def ledger_of(folder: Path) -> tuple[list[str], list[str]]:
    """Give the answers of a ledger, and the stimuli that stand in it as asked about."""
    answers, asked = [], []
    for line in (folder / "ledger.jsonl").read_text().splitlines():
        told = json.loads(line)
        if "asking" in told:
            asked.append(told["asking"]["stimulus"])
        else:
            answers.append(line)
    return answers, asked


@pytest.mark.long
@pytest.mark.parametrize(
    ("point", "after"),
    [("state", 1), ("prompts", 2), ("picture", 5), ("asked", 6), ("answers", 9)],
)
def test_a_killed_run_goes_on(point: str, after: int, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    root = Path(__file__).parents[3]
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), point, str(after)],
        check=False,
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    done = annotate_until(killed_plan(), *watched(folder), folder)
    for name in ("ratings.parquet", "coverage.csv", "acceptance.csv"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert ledger_of(folder)[0] == ledger_of(whole)[0]
    assert Counter(ledger_of(folder)[1]) == Counter(ledger_of(whole)[1]) + Counter(done.in_flight)
    # The batch that the annotator had is named by the next run, and by no other.
    last = folder.with_suffix(".asked").read_text().splitlines()
    times = Counter(last)
    twice = {line.split()[0] for line in last if times[line] > 1}
    assert set(done.in_flight) == twice
    assert annotate_until(killed_plan(), *watched(folder), folder).in_flight == ()
    made = Counter(folder.with_suffix(".made").read_text().splitlines())
    asked = Counter(folder.with_suffix(".asked").read_text().splitlines())
    assert set(made) == set(whole.with_suffix(".made").read_text().splitlines())
    # Nothing is made twice; of answers only those that were under way are asked for again.
    assert max(made.values()) == 1
    assert sum(times > 1 for times in asked.values()) == (4 if point == "asked" else 0)
    assert max(asked.values()) <= 2


def test_the_state_tells_people_where_it_is(tmp_path: Path) -> None:
    run(tmp_path / "r", plan(rounds=1), ALL)
    told = json.loads((tmp_path / "r" / "state.json").read_text())
    assert (told["round"], told["step"]) == (1, "done")
    assert told["annotator"] == {"name": "simulated", "version": "1"}
    assert told["plan"]["target"] == 20
    answers, asked = ledger_of(tmp_path / "r")
    # The first line says what the file is.
    assert len(answers) - 1 == len(asked)
