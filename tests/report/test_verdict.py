"""The first sentence says what the numbers allow, and no more."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from affectlab.core.estimates import Estimates
from affectlab.core.jackknife import Jackknife, LeftOut
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha
from affectlab.report import write_report
from affectlab.report.statistics.agreement import agreement_of, grade
from affectlab.report.statistics.study import Study
from affectlab.report.verdict import verdict

PRAISE = ("firm conclusions", "for tentative conclusions")


def noisy(
    error: float, *, n: int = 120, labels: int = 1, models: int = 0, seed: int = 0
) -> Ratings:
    """Five people (and models) with errors of one size on a scale of 0 to 7."""
    rng = np.random.default_rng(seed)
    names = [f"r{k}" for k in range(5 + models)]
    rows = []
    for label in range(labels):
        truth = rng.uniform(0, 7, n)
        values = np.clip(np.rint(truth[:, None] + rng.normal(0, error, (n, len(names)))), 0, 7)
        rows += [
            (f"s{j}", name, f"l{label}", values[j, k])
            for j in range(n)
            for k, name in enumerate(names)
        ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kinds = {"rater": names, "rater_kind": ["human"] * 5 + ["model"] * models}
    return Ratings(frame, scale="0-7", raters=kinds)


@pytest.mark.parametrize(
    ("error", "said", "low", "high"),
    [
        (0.3, "people agree well enough for firm conclusions", 0.8, 1.0),
        (1.2, "people agree well enough for tentative conclusions", 0.67, 0.8),
        (1.8, "people agree in part, below what is usually asked", 0.0, 0.67),
        (60.0, "people cannot be shown to agree more than by chance", -0.2, 0.0),
    ],
)
def test_words_follow_the_interval(tmp_path, error, said, low, high):
    paths = write_report(noisy(error), tmp_path, n_boot=400)
    text = paths.html.read_text(encoding="utf-8")
    row = pl.read_csv(tmp_path / "tables" / "agreement.csv").row(0, named=True)
    assert said in text
    assert low <= row["low"] < high
    shown = re.search(r"alpha (\S+), 95\u00a0% interval (\S+) to (\S+)\)", text)
    numbers = [float(part.replace("−", "-")) for part in shown.groups()]
    assert numbers == pytest.approx([row["value"], row["low"], row["high"]], abs=0.006)


def test_an_interval_across_the_marks_leaves_the_question_open():
    ratings = noisy(1.45, n=40)
    alpha = krippendorff_alpha(
        ratings, n_boot=1000, seed=0, interval="percentile", target="stimuli"
    )["l0"]
    assert alpha.low < 0.67 < alpha.high
    sentence = verdict(Study(ratings))
    assert "agree more than by chance, but whether well enough for conclusions is open" in sentence


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
    assert krippendorff_alpha(ratings, by_label=False).value > 0.75
    sentence = verdict(Study(ratings))
    assert "people cannot be shown to agree more than by chance" in sentence
    assert "alpha, median of 2 labels: 0.00, 95\u00a0% interval −0.0" in sentence
    assert "0.8" not in sentence


def test_page_gives_the_median_over_labels(write):
    ratings = noisy(1.0, labels=3)
    median = np.median(krippendorff_alpha(ratings).to_frame()["value"])
    text = write(ratings)
    tile = text[text.index("Krippendorff&#39;s alpha") :][:200]
    assert f"{median:.2f}" in tile
    assert "median of 3 labels" in tile


@pytest.mark.parametrize("n", [3, 12, 29])
def test_few_stimuli_are_not_graded(n):
    sentence = verdict(Study(noisy(0.2, n=n, models=1)))
    assert (
        f"{n} stimuli with two or more answers are too few to say how far people agree" in sentence
    )
    assert "interval" not in sentence
    assert "the model" not in sentence
    assert not any(praise in sentence for praise in PRAISE)


def test_no_bootstrap_no_grade():
    sentence = verdict(Study(noisy(0.2), n_boot=0))
    assert "intervals were not asked for, so how far people agree is not graded" in sentence
    assert not any(praise in sentence for praise in PRAISE)


def test_one_yes_in_many_is_not_certain():
    frame = {
        "stimulus": np.repeat(np.arange(40), 2).astype(str),
        "rater": ["a", "b"] * 40,
        "value": [1, 1] + [0] * 78,
    }
    sentence = verdict(Study(Ratings(frame, scale="binary")))
    assert "leave alpha without an interval, so how far people agree is not graded" in sentence


def test_leaving_people_out_is_judged_label_by_label(write):
    base = noisy(0.8, labels=3).to_frame()
    lost = base.filter(rater="r0").with_columns(rater=pl.lit("bored"), value=pl.lit(3.0))
    ratings = Ratings(pl.concat([base, lost]), scale="0-7")
    before, after = (
        np.median(krippendorff_alpha(part).to_frame()["value"])
        for part in (ratings, Ratings(base, scale="0-7"))
    )
    expected = f"Without bored the median alpha of 3 labels would be {after:.2f}, not {before:.2f};"
    assert expected in write(ratings)


def alphas(value, low, high, items, *, asked: bool = True) -> Estimates:
    """Alpha of labels, all of which stimuli that are left out move together, up or down."""
    names = [f"l{k}" for k in range(len(value))]
    status = ["undefined: one category" if math.isnan(v) else "ok" for v in value]
    table = Estimates.build(
        {"label": names}, value=value, low=low, high=high, n_items=items, status=status
    )
    n = 400
    step = (np.asarray(high) - np.asarray(low)) / 2 / stats.t.ppf(0.975, n - 1) / np.sqrt(n - 1)
    values = np.asarray(value) + np.resize([-1, 1], n)[:, None] * step
    left_out = LeftOut("units", values, np.ones(values.shape, dtype=bool))
    jackknife = Jackknife(np.asarray(value), (left_out,), (-np.inf, np.inf)) if asked else None
    return Estimates.of(table.frame, table.keys, jackknife=jackknife)


def test_one_odd_person_does_not_hide_that_these_people_agree():
    """Of other people nothing is sure, as one of few answers against the rest."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(0, 1.0, 80) + rng.normal(0, 0.7, (6, 80))
    matrix[5] = -matrix[5]
    rater, stimulus = np.indices(matrix.shape).reshape(2, -1)
    columns = {"stimulus": stimulus, "rater": rater, "value": matrix.ravel()}
    study = Study(Ratings(columns, scale="interval"))
    assert study.agreement is not None
    assert study.agreement.low <= 0
    assert study.agreement.beyond_chance
    assert "cannot be shown to agree" not in verdict(study)


def test_labels_are_counted_by_the_lower_end():
    nan = math.nan
    found = agreement_of(
        alphas(
            [0.95, 0.86, 0.75, 0.9, nan],
            [0.9, 0.72, 0.61, 0.85, nan],
            [1, 1, 0.89, 0.95, nan],
            [100, 100, 100, 10, 0],
        )
    )
    assert (found.n_labels, found.n_all) == (4, 5)
    assert (found.n_tentative, found.n_firm) == (2, 1)
    assert found.value == pytest.approx(0.88)
    # The label with ten stimuli may lie anywhere: below all others, and above them.
    assert (found.low, found.high) == pytest.approx((0.665, 1.0), abs=1e-3)
    assert "median of 4 of 5 labels: 0.88" in found.words
    assert found.reached.endswith("lies above 0.67 on 2 of them and above 0.80 on 1")


def test_half_of_the_labels_without_an_interval_are_too_many():
    nan = math.nan
    found = agreement_of(alphas([0.9, 0.9], [0.85, nan], [0.95, nan], [50, 50]))
    assert found.ungraded == "no interval"
    assert math.isnan(found.low)
    assert agreement_of(alphas([0.9, 0.9], [0.8, 0.8], [1, 1], [50, 5])).ungraded == "few"
    assert agreement_of(alphas([nan], [nan], [nan], [0])).ungraded == "undefined"
    assert agreement_of(alphas([0.9], [0.8], [1.0], [50], asked=False)).ungraded == "not asked"


def test_the_interval_of_the_median_counts_that_labels_share_stimuli():
    """Equal labels: the median varies as one label does. Labels apart: less than one label does."""
    same = noisy(1.4, n=100).to_frame()
    copies = pl.concat([same.with_columns(label=pl.lit(f"l{k}")) for k in range(8)])
    one, shared, apart = (
        agreement_of(krippendorff_alpha(ratings))
        for ratings in (
            Ratings(same, scale="0-7"),
            Ratings(copies, scale="0-7"),
            noisy(1.4, n=100, labels=8),
        )
    )
    assert (shared.low, shared.high) == pytest.approx((one.low, one.high))
    assert apart.high - apart.low < 0.6 * (one.high - one.low)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_grades_never_say_more_than_the_interval(a, b):
    low, high = min(a, b), max(a, b)
    text = grade(low, high)
    assert ("firm" in text) == (low >= 0.8)
    assert ("enough for tentative" in text) == (0.67 <= low < 0.8)
    if "below what is usually asked" in text or "weakly" in text or "hardly" in text:
        assert low > 0
        assert high < 0.67
    if "disagree" in text:
        assert high < 0
    if "more than by chance, but" in text:
        assert low > 0
