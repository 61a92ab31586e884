"""The simulation of EmoNet-Face: what is planted has to come out again."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from affectlab.evaluation.human_alignment import AlignmentResult
from affectlab.recipes import reproduce
from affectlab.recipes.emonet_face.agreement import PEOPLE, STAND_INS, Compared, compare, paper_name
from affectlab.recipes.emonet_face.heads import HEADS_MISSING
from affectlab.recipes.emonet_face.human_level import MARGIN, human_level, level_notes
from affectlab.recipes.emonet_face.people import (
    BLIND,
    NOISE,
    PER_IMAGE,
    Faces,
    ask_experts,
    ask_models,
    faces,
)
from affectlab.recipes.emonet_face.simulate import QUICK, play, prefer

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def shown() -> Faces:
    return faces(700, seed=1)


@pytest.fixture(scope="module")
def compared(shown: Faces) -> Compared:
    people = ask_experts(shown, seed=1)
    return compare(people, ask_models(shown, people, seed=1), n_boot=0, seed=1)


@pytest.fixture(scope="module")
def level(compared: Compared) -> AlignmentResult:
    return human_level(compared, seed=1)


def test_four_experts_rate_each_face(compared: Compared) -> None:
    per_face = compared.people.frame.group_by("stimulus").agg(pl.col("rater").n_unique())
    assert set(per_face["rater"]) == {PER_IMAGE}
    assert set(compared.people.rater_kinds) == {"simulated"}
    assert compared.said == " (simulated)"


def test_raters_stand_in_the_order_of_their_errors(compared: Compared) -> None:
    mean = dict(compared.tables.raters.select("rater", "mean").iter_rows())  # type: ignore[union-attr]
    people = [spearmanr([NOISE[n] for n in PEOPLE], [mean[n] for n in PEOPLE]).statistic]
    readers = [name for name in NOISE if name not in PEOPLE]
    found = [mean[STAND_INS[name]] for name in readers]
    assert people[0] < -0.7
    assert found == sorted(found, reverse=True)
    assert max(abs(mean[STAND_INS[name]]) for name in BLIND) < 0.02


def test_emotions_that_faces_show_clearly_have_a_higher_alpha(
    shown: Faces, compared: Compared
) -> None:
    alpha = compared.tables.alpha.frame.filter(pl.col("side") == "human")
    value = dict(alpha.select("label", "value").iter_rows())
    labels = list(value)
    found = spearmanr([shown.clarity[name] for name in labels], [value[name] for name in labels])
    assert found.statistic > 0.9
    assert abs(value["Interest"]) < 0.05 < value["Elation"]


def test_a_reader_at_human_level_passes_and_bad_ones_do_not(level: AlignmentResult) -> None:
    rows = {row["rater"]: row for row in level.to_frame().iter_rows(named=True)}
    good = rows[STAND_INS["Gemini 2.5 Pro 03-25 ZS"]]
    assert good["verdict"] == "inside"
    assert good["passed"]
    for name in (*BLIND, "Gemini 2.0 Flash MS", "Random Baseline"):
        assert rows[STAND_INS[name]]["verdict"] == "below"
        assert not rows[STAND_INS[name]]["passed"]


def test_notes_say_the_verdicts_and_the_ranks(compared: Compared, level: AlignmentResult) -> None:
    first, *_, board = level_notes(compared, level)
    assert f"margin {MARGIN:g}" in first
    inside = first.split("inside the human range: ")[1].split(";")[0]
    assert STAND_INS["Gemini 2.5 Pro 03-25 ZS"] in inside
    assert STAND_INS["GPT-4o ZS"] not in inside
    names = [part.split("~")[1].split(" (")[0] for part in board.split(", ") if "~" in part]
    assert len(names) == len(STAND_INS) - 2
    assert board.index("Gemini 2.5 Pro") < board.index("Gemini 2.0 Flash MS")


def test_gemini_answers_a_part_of_the_images(compared: Compared) -> None:
    name = STAND_INS["Gemini 2.5 Pro 03-25 ZS"]
    assert compared.models.select(raters=name).n_stimuli == round(1847 / 2500 * 700)
    assert compared.models.select(raters=STAND_INS["GPT-4o ZS"]).n_stimuli == 700


def test_only_one_model_gives_fractions(compared: Compared) -> None:
    for name in compared.models.rater_names:
        value = compared.models.select(raters=name).value
        assert np.all(value == np.rint(value)) == (paper_name(name) != "Hume Face*")


def test_judges_prefer_people_to_a_blind_model_and_not_to_a_good_one(
    shown: Faces, compared: Compared
) -> None:
    people, models = compared.people, compared.models
    shares = {
        name: prefer(shown, people, models, STAND_INS[name], most=200, seed=2)[0]
        for name in ("GPT-4o ZS", "Gemini 2.0 Flash ZS")
    }
    blind, good = (shares[name]["preference.share"].value for name in shares)
    assert blind is not None
    assert good is not None
    assert blind > 0.75
    assert good < blind - 0.1
    counts = shares["GPT-4o ZS"]
    assert counts["preference.images"].value == 200
    assert sum(counts[f"preference.{who}"].value or 0 for who in ("human", "model")) == 200


def test_without_torch_heads_are_left_out_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from affectlab.recipes.emonet_face import simulate as _emonet_chain

    monkeypatch.setattr(_emonet_chain, "has_torch", lambda: False)
    found = play(QUICK, 2, lambda _: None)
    assert sum(HEADS_MISSING in note for note in found.notes) == 1
    assert found.findings["table6.empathic-insight-face-large.mean"].value is None
    assert found.findings["preference.share"].why == "not played in this simulation"
    assert found.findings["table6.gpt-4o-zs.mean"].value is not None


def test_the_whole_chain_gives_values_figures_and_no_verdict() -> None:
    pytest.importorskip("torch")
    found = reproduce("emonet-face", simulate=True, quick=True, seed=3)
    assert not found.failures
    rows = {row.figure.key: row for row in found.rows}
    assert {row.verdict for row in found.rows} == {"no verdict: simulated data"}
    known = {key: row.finding.value for key, row in rows.items() if row.finding.value is not None}
    assert len(known) >= 130
    assert all(math.isfinite(value) for value in known.values())
    assert known["heads.small.parameters"] == 151745
    assert "heads.width" not in known
    assert any("Set after the paper" in note and "Table 6" in note for note in found.notes)
    # Heads learn what faces show, from a machine that errs as experts do.
    assert known["table6.empathic-insight-face-small.mean"] > 0.1
    assert known["table6.empathic-insight-face-large.mean"] > 0.05
    assert known["test.p.random"] < 0.001
    own = next(note for note in found.notes if note.startswith("By the paper's test"))
    assert f"p = {known['test.p']:.3f}, from 400 values" in own
    drawn = {one.name: one.draw() for one in found.figures}
    assert len(drawn) == 10
    for name, figure in drawn.items():
        said = {axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes}
        assert any("(simulated)" in text for text in said), name
    groups = [text.get_text() for text in drawn["agreement-groups"].axes[0].get_yticklabels()]
    assert groups[:2] == ["people", "EmpathicInsight-Face"]
    discrepancy = [text.get_text() for text in drawn["discrepancy"].axes[0].get_xticklabels()]
    assert STAND_INS["Random Baseline"] not in discrepancy
    assert len(discrepancy) == 13
