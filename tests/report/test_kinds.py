"""Page one answers what a lab of each kind asks, with the numbers of the verbs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.kinds import KINDS, beside, intensities, pairs, recognised, traces

from affectlab.analysis import circumplex, label_correlations
from affectlab.evaluation import alignment, preference_scale, preferences, recognition
from affectlab.ratings import Ratings
from affectlab.reliability import concordance, screen, traces as judge_traces
from affectlab.report import write_report
from affectlab.report.first_page import QUESTIONS, lead
from affectlab.report.page import in_words
from affectlab.report.statistics import Kind
from affectlab.report.statistics.study import Study

PAGE_ONE = {
    "intensities": (Kind.SCALES, ["reliability", "scores"]),
    "careless": (Kind.SCALES, ["reliability", "scores"]),
    "recognised": (Kind.RECOGNITION, ["recognition", "reliability"]),
    "recognised-models": (Kind.RECOGNITION, ["recognition", "reliability", "verdict"]),
    "categories": (Kind.CATEGORIES, ["scores", "reliability"]),
    "label-sets": (Kind.LABEL_SETS, ["trusted", "together"]),
    "label-sets-models": (Kind.LABEL_SETS, ["trusted", "together", "verdict"]),
    "pairs": (Kind.PAIRS, ["preference", "sides", "judges"]),
    "dimensions": (Kind.DIMENSIONS, ["reliability", "plane"]),
    "dimensions-models": (Kind.DIMENSIONS, ["reliability", "plane", "verdict"]),
    "traces": (Kind.TRACES, ["traces"]),
    "beside": (Kind.SCALES, ["verdict", "reliability", "scores"]),
}


WORDS = Path(__file__).with_name("page_one.txt")
"""What page one says of each kind in its own words, without its numbers."""


def own_words(study: Study) -> list[str]:
    """Give what page one says, with … for the sentences of results, and # for numbers."""
    asked = (ask(study) for ask in QUESTIONS[study.kind])
    words = [f"{one.title} {in_words(one)}" for one in asked if one is not None]
    placed = [
        *(study.reliability, study.scores, study.differences, study.traces, study.sides),
        *(study.recognised, study.plane, study.concordance, study.bias, *(study.preferred or ())),
        *(study.beside.alignment, study.careless),
    ]
    for result in placed:
        for sentence in () if result is None else result.sentences:
            words = [text.replace(sentence, "…") for text in words]
    written = [lead(study), *words]
    return [re.sub(r"−?\d[\d,.]*\d|\d", "#", text) for text in written]


@pytest.mark.parametrize("name", KINDS)
def test_page_one_is_that_of_its_kind(name: str) -> None:
    study = Study(KINDS[name](), n_boot=20)
    kind, keys = PAGE_ONE[name]
    assert study.kind is kind
    asked = [ask(study) for ask in QUESTIONS[study.kind]]
    assert [section.key for section in asked if section is not None] == keys
    expected = WORDS.read_text(encoding="utf-8").split(f"== {name}\n")[1].split("\n\n")[0]
    assert own_words(study) == expected.splitlines()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Write a report of one kind, and give a reader of its tables."""

    def write(ratings: Ratings):
        folder = tmp_path_factory.mktemp("kind")
        write_report(ratings, folder, n_boot=20)
        return lambda name: pl.read_csv(folder / "tables" / f"{name}.csv")

    return write


def same(ours: pl.DataFrame, theirs: pl.DataFrame, *columns: str) -> None:
    assert ours.height == theirs.height > 0
    for name in columns:
        np.testing.assert_allclose(
            ours[name].cast(pl.Float64), theirs[name].cast(pl.Float64), rtol=1e-12
        )


def test_recognition_is_that_of_the_verb(tables) -> None:
    ratings = recognised()
    table, found = tables(ratings), recognition(ratings)
    same(table("recognition"), found.to_frame(), "hit_rate", "unbiased_hit_rate_low", "chance")
    same(table("confusion"), found.to_frame("confusion"), "count", "share")
    same(table("recognition_stimuli"), found.to_frame("stimuli"), "hit_rate", "other_share")


def test_a_scale_of_systems_is_that_of_the_verb(tables) -> None:
    ratings = pairs()
    table, found = tables(ratings), preference_scale(ratings)
    same(table("preference_scale"), found.to_frame(), "value", "low", "high", "first")
    same(table("preference_pairs"), found.to_frame("pairs"), "value", "p")
    assert table("preference_effects")["effect"].to_list() == ["left", "tie"]
    assert table("judges")["rater"][0] == "judge9"


def test_two_systems_have_a_verdict(tables) -> None:
    ratings = pairs()
    two = ratings.stimuli.filter(
        pl.col("A").is_in(["large", "medium"]) & pl.col("B").is_in(["large", "medium"])
    )
    part = ratings.where(pl.col("stimulus").cast(pl.String).is_in(two["stimulus"].implode()))
    part = part.with_stimuli(two)
    table, found = tables(part), preferences(part)
    same(table("preference_shares"), found.to_frame(), "value", "low", "high", "count")


def test_one_system_that_never_lost_has_a_place_by_a_prior() -> None:
    columns = {
        "stimulus": [f"i{k}" for k in range(6)] * 3,
        "rater": np.repeat(list("xyz"), 6),
        "value": ["A"] * 18,
    }
    stimuli = {
        "stimulus": [f"i{k}" for k in range(6)],
        "A": ["best", "best", "good", "best", "good", "best"],
        "B": ["good", "poor", "poor", "good", "poor", "poor"],
    }
    study = Study(Ratings(columns, scale="nominal:A,B,both", stimuli=stimuli))
    assert study.preferred is not None
    without, found = study.preferred
    assert without.to_frame()["value"].is_nan().all()
    assert found.to_frame()["system"][0] == "best"


def test_traces_are_judged_over_time(tables) -> None:
    ratings = traces()
    table, found = tables(ratings), judge_traces(ratings)
    same(table("trace_raters"), found.to_frame("raters"), "value", "lag", "weight")
    same(table("gold"), found.to_frame("gold"), "mean", "ewe", "sd")
    apart = table("segments").filter("apart")
    assert apart["stimulus"].unique().to_list() == ["film2"]
    assert apart["start"].min() >= 36


def test_dimensions_have_concordance_and_a_plane(tables) -> None:
    ratings = KINDS["dimensions"]()
    table = tables(ratings)
    same(table("concordance"), concordance(ratings).to_frame(), "value", "low", "high")
    same(table("plane"), circumplex(ratings).to_frame(), "x", "y")


def test_labels_that_go_together_are_those_of_the_verb(tables) -> None:
    ratings = KINDS["label-sets"]()
    theirs = label_correlations(ratings, n_boot=20).to_frame("strongest")
    theirs = theirs.sort(pl.col("value").abs(), descending=True)
    same(tables(ratings)("labels_together"), theirs, "value", "low", "high")


def test_careless_people_are_one_list_everywhere(tmp_path) -> None:
    ratings = beside()
    study = Study(ratings, n_boot=20)
    screened = screen(ratings.humans()).raters_to_drop()
    assert study.careless_names == screened == ("p7",)
    assert study.beside.alignment is not None
    assert study.beside.alignment.without == screened
    assert alignment(ratings).without == screened
    page = write_report(ratings, tmp_path, n_boot=20).answers
    # Verdicts on models come first; they leave p7 out.
    assert page[0].split("people? ")[1].startswith("Of 3 models")
    assert page[1].split("ratings? ")[1].startswith("Without p7")


def test_what_careless_people_change_comes_first(tmp_path) -> None:
    answers = write_report(intensities(careless=3), tmp_path / "a", n_boot=0).answers
    assert answers[0].removeprefix("How reliable are these ratings? ").startswith("Without p09")
    answers = write_report(intensities(), tmp_path / "b", n_boot=0).answers
    assert "Without" not in answers[0]
