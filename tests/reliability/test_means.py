"""Reliability of the mean of raters, and of one: numbers, and what may be said of them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from tests.noisy_ratings import noisy

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import (
    fleiss_kappa,
    intraclass_correlation,
    krippendorff_alpha,
    reliability_of_means,
    spearman_brown,
    variance_components,
)
from affectlab.reliability.means import grade_of, raters_for


def said(ratings: Ratings, **options: Any) -> str:
    return " ".join(reliability_of_means(ratings, **options).sentences)


def first(ratings: Ratings, **options: Any) -> dict[str, Any]:
    return reliability_of_means(ratings, **options).to_frame().row(0, named=True)


@pytest.fixture(scope="module")
def panel() -> Ratings:
    """Five people and a model, with errors of two sizes."""
    good, poor = (noisy(error, labels=1, models=1, seed=7).to_frame() for error in (0.6, 2.0))
    kinds = {"rater": [f"r{k}" for k in range(6)], "rater_kind": ["human"] * 5 + ["model"]}
    frame = pl.concat([good, poor.with_columns(label=pl.lit("l1"))])
    return Ratings(frame, scale="0-7", raters=kinds)


def test_the_mean_of_many_is_not_blamed_for_what_one_rater_is():
    """51 raters: the mean is reliable to .99, a single one to about .6."""
    rng = np.random.default_rng(0)
    answers = rng.normal(50, 20, 80) + rng.normal(0, 16, (51, 80))
    rater, stimulus = np.indices(answers.shape).reshape(2, -1)
    columns = {"stimulus": stimulus, "rater": rater, "value": answers.ravel()}
    answer = said(Ratings(columns, scale="interval"))
    assert "The mean of 51 raters per stimulus is highly reliable" in answer
    assert "A single rater alone reaches 0.59" in answer
    assert "below" not in answer
    assert "3 raters per stimulus would do for 0.80" in answer


def test_reliability_is_the_intraclass_correlation(panel):
    frame = reliability_of_means(panel).to_frame()
    theirs = intraclass_correlation(panel.humans(), forms=("2,1", "2,k")).to_frame()
    for row in frame.iter_rows(named=True):
        one, mean = theirs.filter(label=row["label"]).rows(named=True)
        assert (row["single"], row["single_low"]) == (one["value"], one["low"])
        assert (row["value"], row["low"], row["high"]) == (mean["value"], mean["low"], mean["high"])
        assert row["k"] == mean["k"]


def test_more_raters_are_those_of_a_decision_study(panel):
    """The mean of as many as are asked for reaches 0.80, that of one less does not."""
    frame = reliability_of_means(panel, target="sample").to_frame()
    for label, wanted in frame.select("label", "raters_wanted").iter_rows():
        k = [max(int(wanted) - 1, 1), int(wanted)]
        found = variance_components(panel.humans().select(labels=label), k=k)
        values = found.to_frame("reliability").filter(coefficient="agreement")["value"]
        assert values[-1] >= 0.8
        assert wanted == 1 or values[0] < 0.8


def test_shares_of_answers_follow_from_alpha():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    answers = np.where(rng.random((4, 60)) < 0.7, truth, rng.integers(0, 3, (4, 60)))
    rater, stimulus = np.indices(answers.shape).reshape(2, -1)
    columns = {"stimulus": stimulus, "rater": rater, "value": answers.ravel()}
    ratings = Ratings(columns, scale="nominal:a,b,c")
    row = first(ratings, target="sample")
    alpha = krippendorff_alpha(ratings).to_frame()["value"][0]
    assert row["single"] == pytest.approx(alpha)
    assert row["k"] == 4
    assert row["value"] == pytest.approx(4 * alpha / (1 + 3 * alpha))


def test_raters_of_their_own_for_every_stimulus():
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, 50)
    columns = {
        "stimulus": np.repeat(np.arange(50), 3),
        "rater": np.arange(150),
        "value": np.repeat(truth, 3) + rng.normal(0, 1, 150),
    }
    ratings = Ratings(columns, scale="interval")
    row = first(ratings, target="sample")
    theirs = intraclass_correlation(ratings, forms=("1,k",)).to_frame()["value"][0]
    assert row["value"] == theirs


@given(st.floats(0.01, 0.99), st.floats(0.5, 0.95))
def test_raters_for_is_the_least_number(single, wanted):
    n = raters_for(wanted, single)
    assert spearman_brown(single, n) >= wanted - 1e-9
    assert n == 1 or spearman_brown(single, n - 1) < wanted


def test_no_number_of_raters_helps_where_one_tells_nothing():
    assert raters_for(0.8, 0.0) == math.inf
    answer = said(noisy(1e6, n=60, seed=1))
    assert "To reach 0.80, ask at least " in answer
    assert "inf" not in answer


def rare(n_items: int, n_raters: int, seed: int) -> Ratings:
    """Yes or no, with 5 % yes."""
    rng = np.random.default_rng(seed)
    felt = rng.normal(size=(n_items, 1)) + rng.normal(0, 0.5, (1, n_raters))
    yes = felt + rng.normal(size=(n_items, n_raters)) > 2.47
    stimulus, rater = np.indices(yes.shape).reshape(2, -1)
    columns = {"stimulus": stimulus, "rater": rater, "value": yes.ravel().astype(int)}
    return Ratings(columns, scale="binary")


@pytest.mark.parametrize("seed", [1, 3])
def test_where_nothing_can_be_said_it_says_what_there_is_too_little_of(seed):
    """Three raters and 5 % yes: the estimate and the least number stand, and no grade."""
    ratings = rare(300, 3, seed)
    row, answer = first(ratings), said(ratings)
    assert row["low"] <= 0
    assert row["high"] > 0.7
    assert "with too few raters per stimulus (3) and answers other than the most" in answer
    assert f"about {row['raters_wanted']:.0f}, and at least " in answer
    assert "more raters per stimulus, or stimuli with the rarer answers, would tell" in answer
    assert "inf" not in answer
    assert not re.search(r"is (highly |probably )?(not )?reliable|enough for", answer)


def test_one_rater_and_fleiss_kappa_are_compatible():
    """100 x 4 answers from 0 to 7, most of them 0: both estimate the same number."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        felt = 1.6 * rng.normal(size=(100, 1)) * np.exp(0.4 * rng.normal(size=(1, 4)))
        felt = felt + rng.normal(0, 0.6, (1, 4)) + rng.normal(0, 1.6, (100, 4)) - 1.8
        value = np.clip(np.rint(felt), 0, 7)
        assert 0.7 < (value == 0).mean() < 0.9
        stimulus, rater = np.indices(value.shape).reshape(2, -1)
        columns = {"stimulus": stimulus, "rater": rater, "value": value.ravel()}
        ratings = Ratings(columns, scale="0-7")
        kappa = fleiss_kappa(ratings, weights="quadratic")["rating"]
        row = first(ratings)
        assert row["single"] == pytest.approx(kappa.value, abs=0.04)
        assert row["single_low"] == pytest.approx(max(kappa.low, 0.0), abs=0.06)
        assert row["single_high"] == pytest.approx(kappa.high, abs=0.06)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_grades_never_say_more_than_the_interval(a, b, c):
    low, value, high = sorted((a, b, c))
    grade = grade_of({"value": value, "low": low, "high": high})
    assert (grade == "high") == (low >= 0.9)
    assert (grade == "good") == (0.8 <= low < 0.9)
    assert (grade == "fair") == (0.7 <= low < 0.8)
    assert (grade == "poor") == (high < 0.7)
    assert (grade == "open") == (low <= 0 and high >= 0.7)


def test_labels_stand_under_what_is_said_of_them():
    good, poor = (noisy(error, n=200, seed=3).to_frame() for error in (0.4, 6.0))
    frame = pl.concat([good, poor.with_columns(label=pl.lit("other"))])
    answer = said(Ratings(frame, scale="0-7"))
    assert re.search(
        r"is highly reliable \(l0\) and (probably )?not reliable enough \(other\)", answer
    )
    assert re.search(r"To reach 0.80 for other, the least reliable, ask (about )?\d+", answer)


def test_differences_between_labels_are_no_agreement():
    """Noise within each of two labels, one low and one high: pooled, alpha would be 0.8."""
    rng = np.random.default_rng(0)
    rows = [
        (f"s{j}", f"r{k}", label, base + int(rng.integers(0, 2)))
        for j in range(100)
        for k in range(5)
        for label, base in (("low", 0), ("high", 6))
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    ratings = Ratings(frame, scale="0-7")
    assert krippendorff_alpha(ratings, by_label=False)["pooled"].value > 0.75
    assert "not reliable enough (both labels)" in said(ratings)


@pytest.mark.parametrize("n", [3, 12, 29])
def test_few_stimuli_are_not_graded(n):
    answer = said(noisy(0.2, n=n, models=1))
    assert f"{n} stimuli with two or more answers are too few to conclude from" in answer
    assert "reliable" not in answer.replace("reliability", "")


def test_no_intervals_no_grade():
    answer = said(noisy(0.2), target="sample")
    assert "intervals were not asked for, so it is not graded" in answer
    assert "interval 0" not in answer


def test_refusals():
    with pytest.raises(InputError, match="one rater alone"):
        reliability_of_means(noisy(0.2).humans().select(raters=["r0"]))
    with pytest.raises(InputError, match="wanted"):
        reliability_of_means(noisy(0.2), wanted=1.0)
