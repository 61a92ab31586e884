"""Outcomes of answers: which class, how many, and how sure."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import proportion_confint

from affectlab.core.errors import InputError
from affectlab.core.inference import wilson_interval
from affectlab.evaluation.outcomes import (
    OUTCOMES,
    Response,
    classify_outcome,
    looks_like_refusal,
    outcome_table,
)
from affectlab.evaluation.wording import NO_OUTCOMES, partly_asked
from affectlab.ratings import Ratings
from affectlab.ratings.schema import OUTCOMES as KNOWN_TO_RATINGS

GOOD = Response(text='{"joy": 3}', parsed={"joy": 3}, stop_reason="stop", http_status=200)


# -- classes ------------------------------------------------------------------------------------


def test_classes_are_those_of_ratings_and_explain_themselves():
    assert set(OUTCOMES) == set(KNOWN_TO_RATINGS)
    assert list(OUTCOMES)[-1] == "ok"
    assert [name for name, found in OUTCOMES.items() if found.usable] == ["ok"]
    assert [name for name, found in OUTCOMES.items() if found.retried] == ["transport"]
    assert all(found.meaning.endswith(".") for found in OUTCOMES.values())
    with pytest.raises(TypeError):
        OUTCOMES["ok"] = OUTCOMES["empty"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({}, "ok"),
        ({"transport_error": "timeout"}, "transport"),
        ({"http_status": 429}, "transport"),
        ({"http_status": 503}, "transport"),
        ({"http_status": 400}, "rejected"),
        ({"http_status": 401}, "rejected"),
        ({"rejection": "prompt blocked"}, "rejected"),
        ({"stop_reason": "content_filter"}, "refused"),
        ({"stop_reason": "SAFETY"}, "refused"),
        ({"stop_reason": "refusal"}, "refused"),
        ({"refusal": "I will not."}, "refused"),
        ({"text": "I'm sorry, but I can't help.", "parsed": None}, "refused"),
        ({"text": None, "parsed": None}, "empty"),
        ({"text": " \n", "parsed": None}, "empty"),
        ({"text": "", "parsed": None, "stop_reason": "max_tokens"}, "empty"),
        ({"text": '{"joy"', "parsed": None, "stop_reason": "max_tokens"}, "truncated"),
        ({"stop_reason": "MAX_TOKENS"}, "truncated"),
        ({"stop_reason": "length"}, "truncated"),
        ({"text": "joy, mostly", "parsed": None}, "unparseable"),
        ({"schema_errors": ("joy = 9",)}, "schema_invalid"),
        ({"schema_errors": ("joy = 9",), "rule_errors": ("six labels",)}, "schema_invalid"),
        ({"rule_errors": ("six labels",)}, "rule_violation"),
        ({"text": None}, "ok"),
        ({"text": '{"why": "I cannot see the eyes"}'}, "ok"),
        ({"retries": 3}, "ok"),
    ],
)
def test_classify(change, outcome):
    assert classify_outcome(replace(GOOD, **change)) == outcome


_REASONS = {
    "transport": {"transport_error": "timeout"},
    "rejected": {"rejection": "no"},
    "refused": {"refusal": "no"},
    "truncated": {"stop_reason": "length"},
    "schema_invalid": {"schema_errors": ("x",)},
    "rule_violation": {"rule_errors": ("x",)},
}


@given(st.sets(st.sampled_from(sorted(_REASONS)), min_size=1))
def test_the_first_reason_in_order_counts(reasons):
    changes = {key: value for name in reasons for key, value in _REASONS[name].items()}
    first = next(name for name in OUTCOMES if name in reasons)
    assert classify_outcome(replace(GOOD, **changes)) == first


def test_own_test_for_refusals():
    said = Response(text="Das möchte ich nicht beurteilen.")
    assert classify_outcome(said) == "unparseable"
    assert classify_outcome(said, is_refusal=lambda text: "nicht beurteilen" in text) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "I cannot assist with identifying emotions of real people.",
        "I’m unable to analyze this image.",
        "As an AI language model, I do not have eyes.",
        "This request violates our content policy.",
        "We won't rate faces.",
    ],
)
def test_refusals_in_words(text):
    assert looks_like_refusal(text)


@pytest.mark.parametrize(
    "text", ["", "joy: 3", "The person could not be happier.", "x" * 500 + " I cannot"]
)
def test_no_refusals(text):
    assert not looks_like_refusal(text)


def test_responses_that_cannot_be():
    with pytest.raises(InputError, match="http_status 42"):
        classify_outcome(Response(http_status=42))
    with pytest.raises(InputError, match="retries -1"):
        classify_outcome(Response(retries=-1))


# -- Wilson -------------------------------------------------------------------------------------


@given(st.integers(1, 5000), st.data(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_equals_statsmodels(n, data, confidence):
    k = data.draw(st.integers(0, n))
    low, high = wilson_interval(k, n, confidence)
    expected = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
    np.testing.assert_allclose([low, high], expected, atol=1e-12)
    assert 0 <= low <= k / n <= high <= 1


def test_wilson_shapes_and_edges():
    low, high = wilson_interval([[0, 1], [2, 3]], [3, 3])
    assert low.shape == high.shape == (2, 2)
    assert low[0, 0] == 0.0
    assert high[1, 1] == 1.0
    assert np.isnan(wilson_interval(0, 0)).all()
    assert np.ndim(wilson_interval(1, 2)[0]) == 0


@pytest.mark.parametrize(
    ("k", "n", "confidence", "words"),
    [
        (3, 2, 0.95, "at most n"),
        (-1, 2, 0.95, "from 0 on"),
        (np.nan, 2, 0.95, "from 0 on"),
        ("x", 2, 0.95, "expected counts"),
        ([1, 2], [3, 4, 5], 0.95, "fit each other"),
        (1, 2, 1.5, "confidence"),
    ],
)
def test_wilson_bad_input(k, n, confidence, words):
    with pytest.raises(InputError, match=words):
        wilson_interval(k, n, confidence)


def test_wilson_covers():
    rng = np.random.default_rng(0)
    k = rng.binomial(60, 0.07, 20_000)
    low, high = wilson_interval(k, 60)
    assert abs(((low <= 0.07) & (high >= 0.07)).mean() - 0.95) < 0.03


# -- tables -------------------------------------------------------------------------------------


def simulated(n=60, seed=0):
    """Two models under two prompts each and two people, on three labels."""
    rng = np.random.default_rng(seed)
    rows = []
    for rater in ("m1/a", "m1/b", "m2/a", "m2/b", "p1", "p2"):
        for stimulus in range(n):
            if rater == "m2/b" and stimulus % 7 == 0:
                continue
            outcomes = ["ok"] * 3
            if rater[0] == "m" and rng.random() < 0.4:
                outcomes = rng.choice(list(OUTCOMES), 3).tolist()
            rows += [
                (f"s{stimulus}", rater, label, float(rng.integers(8)), outcome)
                for label, outcome in zip("xyz", outcomes, strict=True)
            ]
    frame = pl.DataFrame(
        rows, schema=["stimulus", "rater", "label", "value", "outcome"], orient="row"
    )
    frame = frame.with_columns(
        pl.when(pl.col("outcome") == "ok").then(pl.col("value")).alias("value")
    )
    raters = {
        "rater": ["m1/a", "m1/b", "m2/a", "m2/b", "p1", "p2"],
        "rater_kind": ["model"] * 4 + ["human"] * 2,
        "model": ["m1", "m1", "m2", "m2", None, None],
        "prompt": ["a", "b", "a", "b", None, None],
    }
    return Ratings(frame, scale="0-7", raters=raters)


def plain_counts(ratings, by):
    """Count answers one row at a time."""
    frame = ratings.to_frame().join(ratings.raters, on="rater")
    answers = defaultdict(set)
    for row in frame.iter_rows(named=True):
        answers[(*(row[name] for name in by), row["rater"], row["stimulus"])].add(row["outcome"])
    counts = defaultdict(Counter)
    for key, found in answers.items():
        counts[key[: len(by)]][next(name for name in OUTCOMES if name in found)] += 1
    return counts


@pytest.mark.parametrize("by", [("rater", "prompt"), ("model",), ("prompt", "model")])
def test_counts_equal_plain_counting(by):
    ratings = simulated()
    table = outcome_table(ratings, by=by)
    expected = plain_counts(ratings.models(), by)
    assert len(table.usable) == len(expected)
    for (*group, outcome), found in table.shares:
        counted = expected[tuple(group)]
        assert found.value == pytest.approx(counted[outcome] / counted.total())
        assert found.n_ratings == counted.total()
        low, high = proportion_confint(counted[outcome], counted.total(), method="wilson")
        assert (found.low, found.high) == pytest.approx((low, high))
    assert table.to_frame("usable")["n_ratings"].sum() == sum(
        counted.total() for counted in expected.values()
    )


def test_prompt_is_told_apart_where_there_is_one():
    assert outcome_table(simulated()).by == ("rater", "prompt")
    bare = Ratings({"stimulus": ["a"], "rater": ["m"], "value": [1]}, scale="0-7")
    assert outcome_table(bare).by == ("rater",)


def test_prompt_as_column_and_session():
    columns = {
        "stimulus": ["a", "b"] * 2,
        "rater": ["m"] * 4,
        "value": [1, 2, 3, None],
        "session": ["one", "one", "two", "two"],
        "prompt": ["short", "short", "long", "long"],
        "outcome": ["ok", "ok", "ok", "empty"],
    }
    ratings = Ratings(columns, scale="0-7", raters={"rater": ["m"], "rater_kind": ["model"]})
    assert outcome_table(ratings).usable["m", "long"].value == 0.5
    assert outcome_table(ratings, by="session").usable["one"].value == 1.0


def test_people_count_on_request_or_when_alone():
    ratings = simulated()
    assert len(outcome_table(ratings, by="rater").usable) == 4
    assert len(outcome_table(ratings, by="rater", everyone=True).usable) == 6
    assert len(outcome_table(ratings.humans(), by="rater").usable) == 2
    assert (
        outcome_table(ratings, by=("rater", "prompt"), everyone=True).usable["p1", "–"].value == 1
    )


def test_models_in_a_table_of_their_own():
    ratings = simulated()
    apart = outcome_table(ratings.humans(), models=ratings.models())
    assert apart.to_frame().equals(outcome_table(ratings).to_frame())
    assert apart.usable.frame.equals(outcome_table(ratings).usable.frame)
    both = outcome_table(ratings.humans(), by="rater", models=ratings.models(), everyone=True)
    assert len(both.usable) == 6


def test_coverage_and_its_warning():
    table = outcome_table(simulated(70))
    assert table.usable.to_frame()["coverage"].to_list() == [1, 1, 1, 60 / 70]
    assert partly_asked(["m2/b, b"], 60, 70, 0) in table.notes


def test_retries_are_summed_once_per_answer():
    columns = {
        "stimulus": ["a", "a", "b", "b"],
        "rater": ["m"] * 4,
        "label": ["x", "y"] * 2,
        "value": [1, 2, 3, 4],
        "retries": [2, 2, 0, 0],
    }
    ratings = Ratings(columns, scale="0-7")
    assert outcome_table(ratings).usable.to_frame()["retries"].to_list() == [2]


def test_without_outcomes_a_warning():
    ratings = Ratings({"stimulus": ["a"], "rater": ["m"], "value": [1]}, scale="0-7")
    assert outcome_table(ratings).notes == (NO_OUTCOMES,)


def test_trials_of_all_kinds_count():
    columns = {
        "stimulus": ["a"] * 3,
        "rater": ["m"] * 3,
        "value": [1, 2, None],
        "trial_kind": ["main", "repeat", "golden"],
        "outcome": ["ok", "ok", "refused"],
    }
    assert outcome_table(Ratings(columns, scale="0-7")).usable["m"].n_ratings == 3


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict])
def test_data_frames(make):
    data = make(
        {"rater": ["m", "m", "k"], "outcome": ["ok", "refused", "ok"], "retries": [0, 1, 4]}
    )
    table = outcome_table(data)
    assert table.shares["m", "refused"].value == 0.5
    assert table.usable.to_frame()["retries"].to_list() == [1, 4]
    assert table.usable.to_frame()["coverage"].is_nan().all()


def test_responses():
    asked = [replace(GOOD, rater="m", prompt="a", stimulus=f"s{k}") for k in range(3)]
    asked.append(replace(GOOD, rater="m", prompt="a", stimulus="s3", stop_reason="length"))
    table = outcome_table(asked)
    assert table.by == ("rater", "prompt")
    assert table.shares["m", "a", "truncated"].value == 0.25
    assert table.usable.to_frame()["coverage"].to_list() == [1.0]
    assert outcome_table(GOOD).usable[""].value == 1.0


@pytest.mark.parametrize(
    ("data", "by", "words"),
    [
        ({"rater": ["m"]}, None, "'outcome' is missing"),
        ({"rater": ["m"], "outcome": ["fine"]}, None, "row 1: unknown outcome 'fine'"),
        ({"outcome": ["ok"]}, None, "no column 'rater'"),
        ({"rater": ["m"], "outcome": ["ok"]}, "promt", "unknown column 'promt'"),
        ({"rater": ["m"], "outcome": ["ok"]}, [], "by is empty"),
        ({"rater": ["m"], "outcome": ["ok"], "retries": ["x"]}, None, "retries 'x'"),
        ({"rater": ["m"], "outcome": ["ok"], "retries": [-1]}, None, "retries -1"),
        ({"rater": [], "outcome": []}, None, "no answer to count"),
        ([1, 2], None, "got a int"),
    ],
)
def test_bad_tables(data, by, words):
    with pytest.raises(InputError, match=words):
        outcome_table(data, by=by)


def test_shown_for_people():
    from rich.console import Console

    console = Console(width=100, file=io.StringIO())
    console.print(outcome_table(simulated()))
    text = console.file.getvalue()
    assert "Usable" in text
    assert "Refused" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 100
