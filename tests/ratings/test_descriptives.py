"""Descriptive statistics of each label, as a summary of ratings has them."""

import json

import numpy as np
import pytest
from scipy import stats
from tests.cli.command import run_here

from affectlab.ratings import Ratings


@pytest.fixture
def ratings():
    return Ratings(
        {
            "stimulus": [*"aabbc", *"aabb"],
            "rater": [*"xyxyx", *"xyxy"],
            "label": ["valence"] * 5 + ["emotion"] * 4,
            "value": [1, 2, 6, 3, 4, 0, 1, 0, 0],
        },
        scale={"valence": "1-9", "emotion": "nominal:joy,fear"},
    )


def test_numbers_are_those_of_a_sample(ratings):
    frame = ratings.summary().to_frame("descriptives")
    valence, emotion = frame.rows(named=True)
    values = np.array([1.0, 2, 6, 3, 4])
    assert (valence["label"], valence["n"], valence["missing"]) == ("valence", 5, 0)
    assert valence["mean"] == pytest.approx(values.mean())
    assert valence["sd"] == pytest.approx(values.std(ddof=1))
    assert (valence["median"], valence["min"], valence["max"]) == (3, 1, 6)
    assert valence["skewness"] == pytest.approx(stats.skew(values, bias=False))
    assert valence["kurtosis"] == pytest.approx(stats.kurtosis(values, bias=False))
    # Categories without order have no mean; one stimulus that x rated was not asked about.
    assert (emotion["n"], emotion["missing"], emotion["mean"]) == (4, 1, None)
    assert emotion["mode"] == "joy"


def test_people_and_models_stand_apart():
    ratings = Ratings(
        {"stimulus": ["a", "b"] * 2, "rater": ["x", "x", "m", "m"], "value": [1, 2, 5, 5]},
        scale="1-7",
        raters={"rater": ["m"], "rater_kind": ["model"]},
    )
    table = ratings.summary().table("descriptives")
    assert table.keys == ("label", "rater_kind")
    rows = table.frame.select("rater_kind", "mean", "sd").rows()
    assert rows == [("human", 1.5, pytest.approx(0.5**0.5)), ("model", 5.0, 0.0)]


def test_no_answers_have_no_rows():
    ratings = Ratings(
        {"stimulus": ["a"], "rater": ["m"], "value": [None], "outcome": ["refused"]}, scale="1-7"
    )
    assert ratings.summary().to_frame("descriptives").height == 0


def test_the_verb_prints_them(tmp_path, ratings):
    file = tmp_path / "ratings.csv"
    ratings.write(file)
    told = json.loads(run_here("ratings", "describe", file, "--json").stdout)["result"]["summary"]
    assert [row["n"] for row in told["descriptives"]] == [5, 4]
    printed = run_here("ratings", "describe", file).stdout
    assert "Answers by label." in printed
    assert "Most frequent" in printed
