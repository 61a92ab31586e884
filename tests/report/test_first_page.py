"""Page one answers what is asked first, and says what the numbers allow, and no more."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.noisy_ratings import noisy

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause
from affectlab.core.inference import wilson_interval
from affectlab.core.jackknife import Jackknife, LeaveOneOut
from affectlab.ratings import Ratings
from affectlab.reliability import (
    intraclass_correlation,
    krippendorff_alpha,
    mean_opinion_scores,
    mixed_model,
)
from affectlab.report import write_report
from affectlab.report.cautions import cautions
from affectlab.report.first_page.scores import scores_question
from affectlab.report.page import in_words
from affectlab.report.statistics.agreement import agreement_of
from affectlab.report.statistics.study import Study

# How reliable are these ratings?


@pytest.mark.parametrize(
    ("error", "words", "low", "high"),
    [
        (0.3, "is highly reliable, enough for decisions about single stimuli", 0.9, 1.0),
        (1.8, "is reliable, enough for comparisons of groups of stimuli", 0.8, 0.9),
        (2.6, "is reliable enough for a first look", 0.7, 0.8),
        (60.0, "is not reliable enough", 0.0, 0.0),
    ],
)
def test_words_follow_the_interval(tmp_path, error, words, low, high):
    paths = write_report(noisy(error, n=400), tmp_path, n_boot=100)
    text = paths.html.read_text(encoding="utf-8")
    row = pl.read_csv(tmp_path / "tables" / "reliability.csv").row(0, named=True)
    assert f"The mean of 5 raters per stimulus {words}" in text
    assert low <= row["low"] <= high
    shown = re.search(r": (\S+) \(95 % interval (\S+) to (\S+)\) for other raters", text)
    numbers = [float(part.replace("−", "-")) for part in shown.groups()]
    assert numbers == pytest.approx([row["value"], row["low"], row["high"]], abs=0.006)


def test_labels_on_other_scales_are_answered_for_too(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    truth = rng.normal(0, 1, (60, 2))
    for k in range(5):
        for j in range(60):
            valence = float(np.clip(np.rint(2 * truth[j, 0] + rng.normal(0, 0.5)), -3, 3))
            arousal = float(np.clip(np.rint(5 + 2 * truth[j, 1] + rng.normal(0, 0.5)), 1, 9))
            rows += [(f"s{j}", f"r{k}", "valence", valence), (f"s{j}", f"r{k}", "arousal", arousal)]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    ratings = Ratings(frame, scale={"valence": "-3-3", "arousal": "1-9"})
    study = Study(ratings, n_boot=50)
    assert sorted(study.reliability.to_frame()["label"]) == ["arousal", "valence"]
    means = frame.group_by("label", "stimulus").agg(pl.col("value").mean())
    arousal = means.filter(label="arousal").sort("value")
    assert re.search(
        rf"[aA]rousal runs from {arousal['value'][0]:.1f} \(s\d+\) to {arousal['value'][-1]:.1f} ",
        in_words(scores_question(study)),
    )


# What are the scores?


def test_scores_are_means_with_their_intervals(panel):
    ours = Study(panel, n_boot=0).scores.frame.sort("label", "stimulus")
    theirs = mean_opinion_scores(panel.humans()).to_frame().sort("label", "stimulus")
    for name in ("value", "low", "high", "sd", "n_ratings"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    assert ours["middle"].to_list() == pytest.approx(
        theirs.select(pl.col("value").mean().over("label"))["value"].to_list()
    )


@pytest.mark.long
def test_all_scores_are_files(report):
    folder = report.html.parent / "tables"
    csv, parquet = pl.read_csv(folder / "scores.csv"), pl.read_parquet(folder / "scores.parquet")
    assert csv.height == parquet.height == 8 * 30
    assert csv["value"].to_list() == parquet["value"].to_list()
    text = report.html.read_text(encoding="utf-8")
    for suffix in ("csv", "parquet"):
        assert f'href="tables/scores.{suffix}"' in text
        assert folder / f"scores.{suffix}" in report.tables


def test_answers_are_counted_and_disputes_are_found():
    columns = {
        "stimulus": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
        "rater": list("wxyz") * 3,
        "value": [1, 1, 1, 2, 1, 1, 7, 7, 7, 7, 7, 6],
    }
    study = Study(Ratings(columns, scale="1-7"), n_boot=0)
    answers = dict(study.scores.frame.select("stimulus", "answers").rows())
    assert answers == {"a": "1 ×3, 2", "b": "1 ×2, 7 ×2", "c": "7 ×3, 6"}
    cards = scores_question(study).blocks[-1]
    assert cards.heads == ("Highest", "Lowest", "Most disputed")
    ((_, row),) = cards.rows
    assert [card.name for card in row] == ["c", "a", "b"]
    # An interval ends on the scale, and knows how far raters differ on the other stimuli.
    assert [card.score for card in row] == [
        "6.8 (3.8 to 7.0)",
        "1.2 (1.0 to 4.2)",
        "4.0 (1.7 to 6.3)",
    ]


def test_yes_and_categories_have_shares():
    yes = {
        "stimulus": ["a"] * 5 + ["b"] * 5,
        "rater": list("vwxyz") * 2,
        "value": [1, 1, 1, 1, 1, 0, 0, 1, 1, 0],
    }
    frame = Study(Ratings(yes, scale="binary"), n_boot=0).scores.frame
    assert frame["value"].to_list() == [1.0, 0.4]
    low, high = wilson_interval([5, 2], 5)
    np.testing.assert_allclose(frame.select("low", "high").to_numpy().T, [low, high])
    named = yes | {"value": ["joy"] * 4 + ["fear"] + ["fear"] * 3 + ["joy", "awe"]}
    study = Study(Ratings(named, scale="nominal:awe,fear,joy"), n_boot=0)
    assert study.scores.frame.select("answer", "value", "answers").rows() == [
        ("joy", 0.8, "joy ×4, fear"),
        ("fear", 0.6, "fear ×3, awe, joy"),
    ]
    assert in_words(scores_question(study)).startswith(
        "The most frequent answer is fear for 1 and joy for 1 of 2 stimuli; least clear is b"
    )


def test_groups_differ_as_the_mixed_model_says():
    rng = np.random.default_rng(0)
    frame = noisy(1.0, n=80).to_frame()
    women = [f"s{j}" for j in range(0, 80, 2)]
    value = pl.col("value") + pl.when(pl.col("stimulus").is_in(women)).then(3.0).otherwise(0.0)
    stimuli = {
        "stimulus": [f"s{j}" for j in range(80)],
        "gender": ["woman", "man"] * 40,
        "hair": rng.choice(["short", "long"], 80).tolist(),
    }
    ratings = Ratings(frame.with_columns(value=value), scale="0-10", stimuli=stimuli)
    row = (
        mixed_model(ratings, fixed=["gender"], factors=["stimulus", "rater", "rater:gender"])
        .to_frame("contrasts")
        .row(0, named=True)
    )
    answer = in_words(scores_question(Study(ratings, n_boot=50)))
    difference = f"{abs(row['value']):.2f}"
    assert f"By gender, l0 is {difference} higher for woman than for man" in answer
    assert "No difference by hair could be shown." in answer


def test_groups_of_raters_differ_as_the_mixed_model_says():
    """Raters are random within their groups: few of them tell little, however many answers."""
    rng = np.random.default_rng(3)
    level, own = rng.normal(5, 1, 30), rng.normal(0, 0.5, 40)
    own[::2] += 1.5
    value = np.clip(level + own[:, None] + rng.normal(0, 1, (40, 30)), 0, 10)
    who, what = np.indices(value.shape).reshape(2, -1)
    frame = {
        "stimulus": [f"s{k}" for k in what],
        "rater": [f"r{k}" for k in who],
        "value": value.ravel(),
    }
    raters = {
        "rater": [f"r{k}" for k in range(40)],
        "condition": ["music", "silence"] * 20,
        "country": rng.choice(["DE", "UK"], 40).tolist(),
        "one": ["x"] * 36 + ["y"] * 4,
    }
    ratings = Ratings(frame, scale="0-10 interval", raters=raters)
    study = Study(ratings, n_boot=0)
    model = mixed_model(
        ratings, fixed=["condition"], factors=["stimulus", "rater", "stimulus:condition"]
    )
    row = model.to_frame("contrasts").row(0, named=True)
    frame = study.differences.to_frame()
    condition, country = (frame.filter(attribute=name) for name in ("condition", "country"))
    assert condition.select("of", "attribute").row(0) == ("raters", "condition")
    assert condition["value"][0] == pytest.approx(row["value"])
    assert row["df"] < 45
    answer = in_words(scores_question(study))
    difference = f"{abs(row['value']):.2f}"
    said = f"the score is {difference} higher in group music than in group silence"
    assert f"By raters' condition, {said}" in answer
    assert country["p_holm"][0] > 0.05
    assert "No difference by raters' country could be shown." in answer


def test_groups_without_differences_to_test_are_left_out():
    """Answers that are all the same fit no model."""
    frame = noisy(1.0, n=40).to_frame().with_columns(value=pl.lit(3.0))
    stimuli = {"stimulus": [f"s{j}" for j in range(40)], "gender": ["woman", "man"] * 20}
    study = Study(Ratings(frame, scale="0-7", stimuli=stimuli), n_boot=0)
    assert study.differences is None
    assert in_words(scores_question(study)) == "L0 is 3.0 throughout."


def test_a_stimulus_is_shown_where_it_is_a_text(write):
    frame = noisy(0.5, n=40).to_frame()
    texts = {
        "stimulus": [f"s{j}" for j in range(40)],
        "text": [f"Sentence {j}." for j in range(40)],
    }
    text = write(Ratings(frame, scale="0-7", stimuli=texts))
    means = frame.group_by("stimulus").agg(pl.col("value").mean()).sort("value", "stimulus")
    highest = means["stimulus"][-1].removeprefix("s")
    assert f"<q><bdi>Sentence {highest}.</bdi></q>" in text


# What to worry about.


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (
            (40, 40, 7),
            "1 of 3 labels rests on fewer than 30 stimuli with two answers (the smallest ",
        ),
        ((40, 9, 7), "2 of 3 labels rest on fewer than 30 stimuli with two answers (the smallest "),
        ((7,), "Agreement rests on 7 stimuli with two answers"),
    ],
)
def test_labels_on_few_stimuli_are_counted(sizes: tuple[int, ...], sentence: str) -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"s{k:02d}", rater, f"e{label}", int(rng.integers(0, 5)))
        for label, size in enumerate(sizes)
        for k in range(size)
        for rater in ("a", "b", "c")
    ]
    frame = pl.DataFrame(rows, ["stimulus", "rater", "label", "value"], orient="row")
    found = cautions(Study(Ratings(frame, scale="0-4")))
    assert any(said.startswith(sentence) for said in found)


def test_at_most_five_worries_and_the_worst_first(panel):
    base = noisy(0.8, n=60).to_frame().with_columns(pl.col("rater").cast(pl.String))
    copy = base.filter(rater="r1").with_columns(rater=pl.lit("again"))
    lost = base.filter(rater="r0").with_columns(rater=pl.lit("bored"), value=pl.lit(3.0))
    ratings = Ratings(pl.concat([base, lost, copy]), scale="0-7")
    found = cautions(Study(ratings))
    assert "again" in found[0]
    assert "careless" in found[1]
    assert "bored" in found[1]


def test_leaving_people_out_is_told_by_the_reliability_of_the_mean(write):
    base = noisy(0.8, labels=3).to_frame()
    lost = base.filter(rater="r0").with_columns(rater=pl.lit("bored"), value=pl.lit(3.0))
    ratings = Ratings(pl.concat([base, lost]), scale="0-7")
    before, after = (
        np.median(intraclass_correlation(part, forms=("2,k",)).to_frame()["value"])
        for part in (ratings, Ratings(base, scale="0-7"))
    )
    expected = (
        "Without bored, who is taken to be careless, the median reliability of the means of 3 "
        f"labels would be {after:.2f}, not {before:.2f}."
    )
    assert expected in write(ratings)


# Agreement over labels.


def alphas(value, low, high, items, *, asked: bool = True) -> Estimates:
    """Alpha of labels, all of which stimuli that are left out move together, up or down."""
    names = [f"l{k}" for k in range(len(value))]
    reason = [Cause.ONE_CATEGORY if math.isnan(v) else None for v in value]
    table = Estimates.build(
        {"label": names}, value=value, low=low, high=high, n_items=items, reason=reason
    )
    n = 400
    step = (np.asarray(high) - np.asarray(low)) / 2 / stats.t.ppf(0.975, n - 1) / np.sqrt(n - 1)
    values = np.asarray(value) + np.resize([-1, 1], n)[:, None] * step
    left_out = LeaveOneOut("stimuli", values, np.ones(values.shape, dtype=bool))
    jackknife = Jackknife(np.asarray(value), (left_out,), (-np.inf, np.inf)) if asked else None
    return Estimates.of(table.frame, table.keys, jackknife=jackknife)


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
