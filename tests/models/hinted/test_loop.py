"""The loop: what it asks for, when it stops, and what a killed run does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models.hinted.annotators import LABELS, PAINTED, Simulated, killed_plan, paint, watched

from affectlab.core.errors import InputError
from affectlab.core.inference import wilson_interval
from affectlab.core.result import read_result
from affectlab.evaluation import control_checks, outcome_table
from affectlab.models.hinted import HintedPlan, annotate_until
from affectlab.models.hinted.loop import checked
from affectlab.models.hinted.result import Answer, HintedRun, coverage_table
from affectlab.models.vlm import VlmAnnotator, VlmRater
from affectlab.ratings import read_ratings
from affectlab.stimuli.generation import ImageGenerator, read_manifest

ALL = dict.fromkeys(LABELS, 1.0)


def plan(**given: Any) -> HintedPlan:
    usual: dict[str, Any] = {"labels": LABELS, "target": 20, "initial": 20, "decoys": 0.0}
    return HintedPlan(**usual | given)


def run(folder: Path, told: HintedPlan, hit: dict[str, float], hint: float = 0.0) -> HintedRun:
    return annotate_until(told, PAINTED, Simulated(folder, hit, hint), folder)


def lines(folder: Path, key: str) -> list[dict[str, Any]]:
    """Give the lines of a ledger that have a key."""
    told = map(json.loads, (folder / "ledger.jsonl").read_text().splitlines())
    return [line for line in told if key in line]


def prompts(folder: Path, round: int) -> list[dict[str, Any]]:
    return next(line["prompts"] for line in lines(folder, "prompts") if line["round"] == round)


def outcomes(found: HintedRun) -> dict[str, int]:
    return outcome_table(found.ratings).to_frame("usable").row(0, named=True)


class Changing:
    """Answers as it is told for the moment."""

    name, version = "changing", "1"

    def __init__(self, answer: Callable[[str, str], Any]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def __call__(self, images: Any, hints: Any) -> list[Any]:
        pairs = [(one.stimulus, hint) for one, hint in zip(images, hints, strict=True)]
        self.asked += pairs
        return [self.answer(*pair) for pair in pairs]


def test_labels_that_lack_ratings_get_pictures_and_hints(tmp_path: Path) -> None:
    annotator = Simulated(tmp_path / "r", {"Awe": 1.0, "Fear": 0.5, "Anger": 0.25, "Shame": 1.0})
    found = annotate_until(plan(target=60), PAINTED, annotator, tmp_path / "r")
    table = found.to_frame()
    assert found.stopped == "every label has its target"
    assert (table["n"] >= 60).all()
    assert set(table["status"]) == {"met"}
    made = dict(table.select("label", "made").iter_rows())
    # What is seen less often needs more pictures.
    assert made["Anger"] > made["Fear"] > made["Awe"]
    # Hints name the target, and the first round has none.
    first = {row["stimulus"] for row in prompts(tmp_path / "r", 0)}
    for stimulus, hint in annotator.asked:
        assert hint == ("" if stimulus in first else annotator.label_of(stimulus))
    # Counted again from the ratings, which are in the folder.
    again = read_ratings(tmp_path / "r" / "ratings.parquet")
    assert again.equals(found.ratings)
    above = again.to_frame().filter(pl.col("value") > 0).group_by("label").len()
    assert dict(above.iter_rows()) == dict(table.select("label", "n").iter_rows())
    written = read_result(tmp_path / "r")
    assert written.tables == found.tables
    assert written.settings["n_made"] == sum(made.values()) == len(annotator.asked)


def test_acceptance_and_suggestibility_are_recovered(tmp_path: Path) -> None:
    told = plan(target=500, decoys=0.5, rounds=2, per_round=180)
    found = run(tmp_path / "r", told, dict.fromkeys(LABELS, 0.4), 0.25)
    # A right hint is followed when the label is seen, or else by persuasion.
    table = found.to_frame()
    n, k = table["asked"].sum(), table["n_hinted"].sum()
    assert n > 800
    low, high = wilson_interval(k, n)
    assert low < 0.4 + 0.6 * 0.25 < high
    assert (table["acceptance_low"] - 0.03 < 0.55).all()
    assert (table["acceptance_high"] + 0.03 > 0.55).all()
    key = ("simulated", "simulated (decoy hints)")
    wrong = found.hints[(*key, "accepted")]
    assert wrong.low < 0.25 < wrong.high
    assert wrong.n_items > 300
    # Without the wrong hint, nobody sees what is not there.
    assert found.hints[(*key, "unprompted")].value == 0
    assert found.hints[(*key, "difference")].low > 0.15
    # The same from all ratings.
    checks = control_checks(found.ratings, n_boot=0)
    assert checks.hints[(*key, "accepted")].value == pytest.approx(wrong.value)


def test_wrong_hints_are_never_the_target_and_cover_nothing(tmp_path: Path) -> None:
    told = plan(target=30, initial=4, decoys=1.0, rounds=2, per_round=20, floor=0)
    found = run(tmp_path / "r", told, dict.fromkeys(LABELS, 0.0), 1.0)
    rows = prompts(tmp_path / "r", 1)
    assert all(row["decoy"] != row["label"] for row in rows)
    assert len({row["decoy"] for row in rows}) > 5
    assert not any(row["decoy"] for row in prompts(tmp_path / "r", 0))
    key = ("simulated", "simulated (decoy hints)", "accepted")
    assert found.hints[key].value == 1
    table = found.to_frame()
    # Right hints were followed; wrong ones, too, but they count for nothing.
    assert (table["n"] == table["made"] - 1).all()


class TestStopping:
    def test_the_target_the_rounds_and_the_budget(self, tmp_path: Path) -> None:
        found = run(tmp_path / "a", plan(target=5), ALL)
        assert (found.settings["n_rounds"], found.settings["n_made"]) == (0, 20)
        found = run(tmp_path / "b", plan(rounds=2, per_round=3), ALL)
        assert (found.settings["n_rounds"], found.settings["n_made"]) == (2, 20 + 2 * 4 * 3)
        found = run(tmp_path / "c", plan(budget=37), dict.fromkeys(LABELS, 0.3))
        assert found.settings["n_made"] == 37
        assert len(list((tmp_path / "c" / "pictures" / "images").iterdir())) == 37
        # A smaller budget, and a floor of zero that never gives up.
        found = run(tmp_path / "c", plan(budget=21), dict.fromkeys(LABELS, 0.3))
        assert found.settings["n_made"] == 37
        found = run(tmp_path / "d", plan(per_round=5, floor=0, rounds=6), ALL | {"Shame": 0.0})
        assert (found.settings["given_up"], found.settings["n_rounds"]) == ([], 6)

    def test_a_label_that_hints_bring_nothing_is_given_up(self, tmp_path: Path) -> None:
        told = plan(per_round=10, floor=0.1)
        found = run(tmp_path / "r", told, ALL | {"Shame": 0.0})
        assert found.settings["given_up"] == ["Shame"]
        shame = found.to_frame("rounds").filter(label="Shame")["asked"].to_list()
        # 0 of 30 could be .11; 0 of 40 could not be .1.
        assert shame == [0, 10, 20, 30, 40]
        assert found.to_frame().filter(label="Shame")["status"][0] == "given up"

    @pytest.mark.parametrize(("p", "most_lost"), [(0.3, 0.0), (0.1, 0.0), (0.05, 0.03)])
    def test_small_rounds_do_not_give_a_label_up_by_chance(
        self, p: float, most_lost: float
    ) -> None:
        told = HintedPlan(initial=1, target=10**6, labels=["Awe"])
        rng = np.random.default_rng(0)
        lost = 0
        for _ in range(200):
            answers: list[Answer] = []
            for size in (2, 4, 8, 16, 32, 64, 128, 256):
                for got in rng.random(size) < p:
                    values = {"Awe": 1.0} if got else {}
                    answers.append(Answer("a", "", "Awe", "Awe", 1, "ok", values))
                if coverage_table(told, 1, answers, {})["status"][0] == "given up":
                    lost += 1
                    break
        assert lost / 200 <= most_lost
        # Pictures without a usable answer are no evidence.
        refused = [Answer("a", "", "Awe", "Awe", 1, "refused")] * 1000
        assert coverage_table(told, 1, refused, {})["status"][0] == "lacking"

    def test_more_may_be_asked_for_later_with_the_same_seed(self, tmp_path: Path) -> None:
        first = run(tmp_path / "r", plan(rounds=1, per_round=2, decoys=0.5), ALL)
        asked = Simulated(tmp_path / "r", ALL)
        told = plan(rounds=3, per_round=2, decoys=0.5)
        more = annotate_until(told, PAINTED, asked, tmp_path / "r")
        assert (first.settings["n_rounds"], more.settings["n_rounds"]) == (1, 3)
        assert 2 * 4 * 2 <= len(asked.asked) <= 2 * 4 * 3
        assert more.to_frame("rounds").filter(pl.col("round") <= 1).equals(first.to_frame("rounds"))
        # The same as all at once, to the byte.
        run(tmp_path / "s", told, ALL)
        assert lines(tmp_path / "s", "outcome") == lines(tmp_path / "r", "outcome")
        for name in ("ratings.parquet", "coverage.csv", "rounds.csv", "hints.csv"):
            assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "s" / name).read_bytes()


def test_people_are_shared_out_over_all_rounds(tmp_path: Path) -> None:
    run(tmp_path / "r", plan(target=120, per_round=40, initial=8), ALL)
    table = read_manifest(tmp_path / "r" / "pictures")
    for _, mine in table.group_by("label"):
        women = dict(mine["gender"].value_counts(normalize=True).iter_rows())["woman"]
        assert abs(women - 0.45) < 0.04


def test_given_pictures_are_annotated_first(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for k in range(3):
        Image.new("RGB", (8, 8), (k, 0, 0)).save(tmp_path / "mine" / f"face-0000{k + 1}.png")
    annotator = Changing(lambda _, hint: {hint: 2} if hint else {"awe": 7})
    told = plan(images=str(tmp_path / "mine"), labels=["Awe", "Fear"], target=4, initial=2)
    found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
    assert annotator.asked[:3] == [(f"face-0000{k}", "") for k in (1, 2, 3)]
    # Names of new pictures are none of those that are there.
    assert len({stimulus for stimulus, _ in annotator.asked}) == len(annotator.asked)
    assert found.to_frame()["n"].min() >= 4


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "outcome"),
        [
            ({"Awe": 8}, "schema_invalid"),
            ({"Awe": 3.5}, "schema_invalid"),
            ({"Joy of life": 1}, "schema_invalid"),
            ({"Awe": "high"}, "schema_invalid"),
            ({"Awe": 1, "awe": 2}, "schema_invalid"),
            ({3: 1}, "schema_invalid"),
            (dict.fromkeys(("Awe", "Fear", "Anger", "Shame", "Pride", "Relief"), 1), "rule"),
            (dict.fromkeys(("Awe", "Fear", "Anger", "Shame", "Pride"), 1) | {"Pain": 0}, "ok"),
            ("refused", "refused"),
            ("ok", "unparseable"),
            (None, "unparseable"),
            ({}, "ok"),
        ],
    )
    def test_what_an_answer_becomes(self, answer: Any, outcome: str) -> None:
        assert checked(answer, plan())[0].startswith(outcome)

    def test_labels_left_out_are_zero_only_where_there_is_an_answer(self, tmp_path: Path) -> None:
        told = plan(initial=4, rounds=0)
        annotator = Changing(lambda name, _: {"Awe": 1} if int(name[-1]) % 2 else "refused")
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        fear = found.ratings.to_frame().filter(label="Fear").sort("stimulus")
        assert fear["value"].to_list() == [0, None, 0, None]
        with pytest.raises(InputError, match="unknown outcome 'fine'"):
            annotate_until(told, PAINTED, Changing(lambda *_: "fine"), tmp_path / "s")
        annotator.left_out = "not rated"  # type: ignore[attr-defined]
        with pytest.raises(InputError, match="left_out='zero'"):
            annotate_until(told, PAINTED, annotator, tmp_path / "t")
        assert not (tmp_path / "t").exists()

    @pytest.mark.parametrize("left_out", [None, "not rated", "zero"])
    def test_a_model_must_be_told_that_what_it_leaves_out_is_zero(
        self, left_out: Any, tmp_path: Path
    ) -> None:
        rater = VlmRater("openai-api/fake/model", ledger=tmp_path / "vlm", left_out=left_out)
        annotator = VlmAnnotator(rater)
        assert annotator.left_out == (left_out or "not rated")
        if left_out != "zero":
            with pytest.raises(InputError, match="left_out='zero'"):
                annotate_until(plan(initial=2), PAINTED, annotator, tmp_path / "r")

    @pytest.mark.parametrize(
        ("problem", "in_flight"),
        [(InputError("no key: nothing was sent"), 0), (RuntimeError("connection lost"), 5)],
    )
    def test_an_annotator_that_fails(
        self, problem: Exception, in_flight: int, tmp_path: Path
    ) -> None:
        calls = []

        def annotator(images: Any, hints: Any) -> Any:
            calls.append(len(images))
            if len(calls) == 3:
                raise problem
            return [{"Awe": 1}] * (len(images) - (len(calls) == 4))

        told = plan(initial=20, batch=5, rounds=0)
        with pytest.raises(InputError, match=str(problem)):
            annotate_until(told, PAINTED, annotator, tmp_path / "r")
        # There are tables of what was answered, and what was not sent was not in flight.
        assert read_ratings(tmp_path / "r" / "ratings.parquet").n_stimuli == 10
        assert str(problem) in read_result(tmp_path / "r").settings["stopped"]
        with pytest.raises(InputError, match="gave 4 answers about 5 pictures"):
            annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert len(read_result(tmp_path / "r").settings["in_flight"]) == in_flight
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
        assert found.ratings.n_stimuli == 20
        assert calls == [5] * 6

    @pytest.mark.parametrize("outcome", ["transport", "rejected"])
    def test_failures_are_asked_about_again_and_are_no_evidence(
        self, outcome: str, tmp_path: Path
    ) -> None:
        # One picture that never gets through holds nothing up.
        annotator = Changing(lambda name, _: outcome if name == "face-00003" else {"Awe": 2})
        found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert outcomes(found)[outcome] == 1
        annotator.answer = lambda _, hint: outcome if hint else {"Awe": 2}
        for n in (1 + 24, 24):
            annotator.asked.clear()
            with pytest.raises(InputError, match="in a row that cannot be used"):
                annotate_until(plan(batch=8), PAINTED, annotator, tmp_path / "r")
            assert len(annotator.asked) == n
        assert len(lines(tmp_path / "r", "prompts")) == 2
        annotator.answer = lambda _, hint: {hint or "Awe": 2}
        found = annotate_until(plan(batch=8), PAINTED, annotator, tmp_path / "r")
        assert found.stopped == "every label has its target"
        assert outcomes(found)[outcome] == 0

    def test_refusals_stop_the_run(self, tmp_path: Path) -> None:
        annotator = Changing(lambda _, hint: "refused" if hint else {"Awe": 2})
        told = plan(batch=4, labels=("Awe", "Fear"))
        for expected in (20 + 20, 20, 0):
            annotator.asked.clear()
            with pytest.raises(InputError, match="again=refused"):
                annotate_until(told, PAINTED, annotator, tmp_path / "r")
            # In the end all are in the folder: nobody is asked.
            assert len(annotator.asked) == expected
        annotator.answer = lambda _, hint: {hint or "Awe": 2}
        found = annotate_until(told, PAINTED, annotator, tmp_path / "r", again="refused")
        assert found.stopped == "every label has its target"
        with pytest.raises(InputError, match="unknown outcome 'refusal'"):
            annotate_until(told, PAINTED, annotator, tmp_path / "r", again=["refusal"])

    def test_few_usable_answers_stop_the_run_unless_the_plan_allows_it(
        self, tmp_path: Path
    ) -> None:
        third = Changing(lambda name, _: {"Awe": 1} if int(name[-5:]) % 3 == 0 else "unparseable")
        with pytest.raises(InputError, match=r"14 answers of the 20 in round 0"):
            annotate_until(plan(rounds=0, batch=4), PAINTED, third, tmp_path / "r")
        for usable in (0.3, 0.0):
            told = plan(rounds=0, batch=4, usable=usable)
            assert outcomes(annotate_until(told, PAINTED, third, tmp_path / "r"))["ok"] == 6
        with pytest.raises(InputError, match="1 answer in a row"):
            annotate_until(plan(batch=1, usable=1), PAINTED, third, tmp_path / "s")

    def test_prompts_without_a_picture_are_passed_over(self, tmp_path: Path) -> None:
        def some(batch: Any) -> Any:
            return [
                ValueError("unsafe") if prompt.seed % 3 == 0 else paint([prompt])[0]
                for prompt in batch
            ]

        annotator = Simulated(tmp_path / "r", ALL)
        found = annotate_until(plan(), ImageGenerator("some", some), annotator, tmp_path / "r")
        assert found.stopped == "every label has its target"
        assert found.settings["n_made"] > found.ratings.n_stimuli


class TestFolders:
    def test_what_is_refused(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        with pytest.raises(InputError, match=r"another plan or annotator \(decoys and seed\)"):
            run(tmp_path / "r", plan(rounds=0, seed=3, decoys=0.5), ALL)
        other = Simulated(tmp_path / "r", ALL)
        other.version = "2"
        with pytest.raises(InputError, match=r"another plan or annotator \(version\)"):
            annotate_until(plan(rounds=0), PAINTED, other, tmp_path / "r")
        (tmp_path / "thesis").mkdir()
        (tmp_path / "thesis" / "thesis.doc").write_text("x")
        with pytest.raises(InputError, match="holds other files"):
            run(tmp_path / "thesis", plan(), ALL)
        (tmp_path / "f").write_text("x")
        with pytest.raises(InputError, match="cannot be made"):
            run(tmp_path / "f", plan(), ALL)
        (tmp_path / "r" / "ledger.jsonl").write_bytes(b"nonsense\n")
        with pytest.raises(InputError, match="is no ledger"):
            run(tmp_path / "r", plan(rounds=0), ALL)

    def test_a_ledger_that_somebody_edited(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        ledger = tmp_path / "r" / "ledger.jsonl"
        text = ledger.read_text().splitlines(keepends=True)
        place = next(k for k, line in enumerate(text) if '"outcome"' in line)
        other = json.loads(text[place])
        wrong = [
            *(other | change for change in WRONG),
            {"round": 1, "prompts": [1]},
            {"prompts": []},
        ]
        rest = [*text[:place], "nonsense\n", *text[place + 1 :]]
        ledger.write_text("".join(rest) + "".join(json.dumps(one) + "\n" for one in wrong))
        annotator = Simulated(tmp_path / "r", ALL)
        found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert annotator.asked == [(other["stimulus"], "")]
        assert found.settings["n_broken"] == 1 + len(wrong)

    def test_two_runs_at_a_time(self, tmp_path: Path) -> None:
        def annotator(images: Any, hints: Any) -> Any:
            with pytest.raises(InputError, match="in use by another run"):
                run(tmp_path / "r", plan(rounds=0), ALL)
            return [{"Awe": 1}] * len(images)

        found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
        assert found.ratings.n_stimuli == 20

    def test_a_picture_that_was_made_anew_is_asked_about_again(self, tmp_path: Path) -> None:
        run(tmp_path / "r", plan(rounds=0), ALL)
        (tmp_path / "r" / "pictures" / "images" / "face-00007.png").unlink()
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

folder, point, after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count = 0

def tick(name):
    global count
    count += name == point
    if name == point and count == after:
        os.kill(os.getpid(), signal.SIGKILL)

add = LineFile.add

def counted(self, *lines):
    add(self, *lines)
    tick("line")

LineFile.add = counted
annotate_until(killed_plan(), *watched(folder, tick), folder)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    annotate_until(killed_plan(), *watched(folder), folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    ("point", "after"),
    # The schema, the plan, the first prompts, a question, an answer; those of a later round.
    [*(("line", n) for n in (1, 2, 3, 4, 5, 10, 13)), ("picture", 5), ("asked", 6)],
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
    for name in ("ratings.parquet", "rounds.csv", "hints.csv"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    for key in ("begun", "prompts", "outcome"):
        assert lines(folder, key) == lines(whole, key)
    # Nothing is made twice; of answers only those that were under way are asked for again.
    asked = Counter(folder.with_suffix(".asked").read_text().splitlines())
    made = Counter(folder.with_suffix(".made").read_text().splitlines())
    assert set(made) == set(whole.with_suffix(".made").read_text().splitlines())
    assert max(made.values()) == 1
    assert sum(times > 1 for times in asked.values()) == (4 if point == "asked" else 0)
    # What the annotator had is named by the next run, and by no other.
    twice = {line.split()[0] for line in asked if asked[line] > 1}
    in_flight = set(done.settings["in_flight"])
    assert in_flight == twice if point != "line" else twice <= in_flight
    third = annotate_until(killed_plan(), *watched(folder), folder)
    assert third.settings["in_flight"] == []
