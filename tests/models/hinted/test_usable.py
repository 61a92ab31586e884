"""Answers that cannot be used say nothing about hints, and many of them end a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.models.hinted.annotators import LABELS, PAINTED, Simulated
from tests.models.vlm.fake_server import FakeServer, values

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.models.hinted import HintedPlan, annotate_until
from affectlab.models.hinted.coverage import Tally
from affectlab.models.hinted.loop import most_in_a_row
from affectlab.models.vlm import AskSettings, VlmAnnotator, VlmRater


def plan(**given: Any) -> HintedPlan:
    usual: dict[str, Any] = {"labels": LABELS, "target": 20, "initial": 20, "decoys": 0.0}
    return HintedPlan(**usual | given)


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


@pytest.mark.parametrize("outcome", ["transport", "rejected"])
def test_failures_are_asked_about_again_and_never_taken_for_hints(
    outcome: str, tmp_path: Path
) -> None:
    annotator = Changing(lambda _, hint: outcome if hint else {"Awe": 2})
    # More often than a single picture may fail.
    for _ in range(5):
        before = len(annotator.asked)
        with pytest.raises(InputError, match=r"in a row that cannot be used .*another run goes on"):
            annotate_until(plan(batch=8), PAINTED, annotator, tmp_path / "r")
        # A batch nobody took is enough: no more were asked about, and no more pictures made.
        assert len(annotator.asked) - before <= 20 + 8
    made = len(list((tmp_path / "r" / "prompts").glob("*.csv")))
    assert made == 2
    annotator.answer = lambda _, hint: {hint or "Awe": 2}
    found = annotate_until(plan(batch=8), PAINTED, annotator, tmp_path / "r")
    assert found.given_up == ()
    assert found.stopped == "every label has its target"
    assert outcome_table(found.ratings).to_frame("usable")[outcome][0] == 0


def test_a_picture_that_is_rejected_holds_nothing_up(tmp_path: Path) -> None:
    annotator = Changing(lambda stimulus, _: "rejected" if stimulus == "face-00003" else {})
    told = plan(initial=10, batch=5, rounds=0)
    found = annotate_until(told, PAINTED, annotator, tmp_path / "r")
    assert outcome_table(found.ratings).to_frame("usable")["rejected"][0] == 1
    annotator.answer = lambda *_: {"Awe": 1}
    annotator.asked.clear()
    again = annotate_until(told, PAINTED, annotator, tmp_path / "r")
    assert annotator.asked == [("face-00003", "")]
    assert outcome_table(again.ratings).to_frame("usable")["ok"][0] == 10


def test_refusals_of_hinted_pictures_stop_the_run(tmp_path: Path) -> None:
    annotator = Changing(lambda _, hint: "refused" if hint else {"Awe": 2})
    told = plan(batch=4, labels=("Awe", "Fear"))
    for expected in (20 + 20, 0):
        annotator.asked.clear()
        with pytest.raises(InputError) as stopped:
            annotate_until(told, PAINTED, annotator, tmp_path / "r")
        # The second time they are in the folder: nobody is asked.
        assert len(annotator.asked) == expected
        if expected:
            assert "gave 20 answers in a row that cannot be used (20 refused)" in str(stopped.value)
            # The rest of the round comes with the next run, until the row is full again.
            annotator.answer = lambda *_: "refused"
            for _ in range(3):
                with pytest.raises(InputError):
                    annotate_until(told, PAINTED, annotator, tmp_path / "r")
    assert "40 answers of the 40 in round 1 cannot be used (40 refused)" in str(stopped.value)
    assert "--config again=refused" in str(stopped.value)
    annotator.answer = lambda _, hint: {hint or "Awe": 2}
    found = annotate_until(told, PAINTED, annotator, tmp_path / "r", again="refused")
    assert found.given_up == ()
    assert found.stopped == "every label has its target"


def test_few_usable_answers_stop_the_run_unless_the_plan_allows_it(tmp_path: Path) -> None:
    def third(stimulus: str, _: str) -> Any:
        return {"Awe": 1} if int(stimulus[-5:]) % 3 == 0 else "unparseable"

    with pytest.raises(InputError, match=r"14 answers of the 20 in round 0 .* at least 50"):
        annotate_until(plan(rounds=0, batch=4), PAINTED, Changing(third), tmp_path / "r")
    told = plan(rounds=0, batch=4, usable=0.3)
    found = annotate_until(told, PAINTED, Changing(third), tmp_path / "r")
    assert outcome_table(found.ratings).to_frame("usable")["unparseable"][0] == 14
    with pytest.raises(InputError, match="unknown outcome 'refusal'"):
        annotate_until(told, PAINTED, Changing(third), tmp_path / "r", again=["refusal"])


def test_answers_in_a_row_are_no_chance() -> None:
    for share in (0.05, 0.2, 0.5, 0.9):
        most = most_in_a_row(share)
        assert (1 - share) ** most <= 1e-6 < (1 - share) ** (most - 1)
    assert most_in_a_row(1) == 1
    assert most_in_a_row(0) == math.inf


def reached(p: float, seed: int, target: int) -> tuple[bool, int]:
    """Go through rounds of a label whose hints are followed at a known rate."""
    rng = np.random.default_rng(seed)
    told = HintedPlan(initial=1, target=target, labels=["Awe"])
    above, n = 0, 0
    asked: dict[tuple[int, str], int] = {}
    accepted: dict[tuple[int, str], int] = {}
    for round in range(1, 21):
        tally = Tally(told, ("Awe",), {"Awe": above}, {}, asked, accepted, dict(asked))
        orders = tally.orders()
        if not orders:
            break
        n = orders["Awe"]
        asked[round, "Awe"], accepted[round, "Awe"] = n, int(rng.binomial(n, p))
        above += accepted[round, "Awe"]
    return above >= target, sum(asked.values())


@pytest.mark.parametrize(("p", "most_lost"), [(0.3, 0.0), (0.1, 0.0), (0.05, 0.02)])
def test_small_rounds_do_not_give_a_label_up_by_chance(p: float, most_lost: float) -> None:
    for target in (1, 3, 20):
        found = [reached(p, seed, target)[0] for seed in range(200)]
        assert 1 - np.mean(found) <= most_lost


def test_a_label_that_is_never_followed_is_given_up_after_enough_pictures() -> None:
    ok, asked = reached(0.0, 0, 1)
    # 0 of 189 has an interval that ends at .02; each round doubles what there was.
    assert not ok
    assert 189 <= asked < 2 * 189 + 10


def test_pictures_without_a_usable_answer_are_no_evidence() -> None:
    told = HintedPlan(initial=1, target=5, labels=["Awe"], floor=0.5, patience=2)
    made = {(round, "Awe"): 50 for round in range(1, 9)}
    unheard = Tally(told, ("Awe",), {}, {}, {}, {}, made)
    assert unheard.given_up() == ()
    heard = Tally(told, ("Awe",), {}, {}, {(1, "Awe"): 50, (8, "Awe"): 50}, {}, made)
    assert heard.given_up() == ("Awe",)


def test_the_sentence_names_no_others_where_there_are_none(tmp_path: Path) -> None:
    told = plan(labels=("Fear",), floor=0.4, patience=1)
    found = annotate_until(told, PAINTED, Simulated(tmp_path / "r", {}), tmp_path / "r")
    assert found.stopped == "hints bring too little: 1 label given up"


@pytest.mark.long
@pytest.mark.parametrize("left_out", [None, "not rated", "zero"])
def test_a_model_is_told_that_what_it_leaves_out_is_zero(left_out: Any, tmp_path: Path) -> None:
    with FakeServer(lambda _: values(Awe=3)) as server:
        rater = VlmRater(
            "openai-api/fake/model",
            ledger=tmp_path / "vlm",
            left_out=left_out,
            settings=AskSettings(base_url=server.url, key_env="FAKE_KEY"),
        )
        told = plan(initial=2, rounds=0)
        if left_out != "zero":
            with pytest.raises(InputError, match="left_out='zero'"):
                annotate_until(told, PAINTED, VlmAnnotator(rater), tmp_path / "r")
            assert server.calls == []
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FAKE_KEY", "fake-key-0123456789")
            found = annotate_until(told, PAINTED, VlmAnnotator(rater), tmp_path / "r")
    assert "leave out counts as 0" in server.calls[0].text
    assert found.ratings.to_frame().filter(pl.col("label") == "Fear")["value"].unique()[0] == 0


def test_an_annotator_that_does_not_rate_what_it_leaves_out_is_refused(tmp_path: Path) -> None:
    annotator = Changing(lambda *_: {"Awe": 3})
    annotator.left_out = "not rated"  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="left_out='zero'"):
        annotate_until(plan(), PAINTED, annotator, tmp_path / "r")
    assert not (tmp_path / "r").exists()
    annotator.left_out = "zero"  # type: ignore[attr-defined]
    found = annotate_until(plan(rounds=0), PAINTED, annotator, tmp_path / "r")
    assert found.ratings.to_frame().filter(pl.col("label") == "Fear")["value"].unique()[0] == 0
