"""Brennan and Prediger's coefficient: one file, and seen wherever agreement is measured."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.reliability.test_coefficients import DISTRIBUTION, RAW4, from_distribution

from affectlab.cli import main
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import fairness, list_metrics
from affectlab.ratings import Ratings
from affectlab.reliability import brennan_prediger, list_coefficients, percent_agreement
from affectlab.reliability.agreement.wording import PAIRED_UNIT


def test_published_value_and_standard_error() -> None:
    """``bp.coeff.raw(cac.raw4raters)`` of irrCAC."""
    estimate = brennan_prediger(
        RAW4, scale="1-5", interval="analytic", target="stimuli", standard_error="gwet"
    )
    assert round(estimate.value, 5) == 0.77273
    assert round(estimate.se, 5) == 0.14472
    assert (estimate.n_items, estimate.n_raters, estimate.n_ratings) == (11, 4, 41)


def test_by_hand() -> None:
    data = from_distribution(DISTRIBUTION)
    share = percent_agreement(data)
    estimate = brennan_prediger(data, scale="0-4")
    assert estimate.value == pytest.approx((share.value - 0.2) / 0.8, abs=1e-12)
    assert estimate.se == pytest.approx(share.se / 0.8, abs=1e-12)
    # Levels that a scale declares are choices that raters had.
    assert brennan_prediger(data, scale="0-9").value == pytest.approx((share.value - 0.1) / 0.9)
    # Three levels with quadratic weights; of three pairs one is a step apart and one is two.
    steps = np.array([[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]])
    pairs = [steps[0, 1], steps[2, 0], steps[1, 1]]
    expected = (np.mean(pairs) - steps.mean()) / (1 - steps.mean())
    weighted = brennan_prediger([[1, 3, 2], [2, 1, 2]], scale="1-3", weights="quadratic")
    assert weighted.value == pytest.approx(expected, abs=1e-12)


def test_what_is_not_defined() -> None:
    assert brennan_prediger([[1, 1], [1, 1]], scale="1-3").value == 1
    lonely = brennan_prediger([[1, nan], [nan, 2]], scale="1-3")
    assert lonely.reason == Reason(Cause.NONE, of=PAIRED_UNIT)


@pytest.fixture
def study(tmp_path: Path) -> tuple[Ratings, Path]:
    rng = np.random.default_rng(1)
    stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    noise = rng.integers(0, 2, 240) * (rater > 2)
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{k:02}" for k in stimulus],
            "rater": [f"r{k}" for k in rater],
            "value": 1 + (stimulus % 5 + noise) % 5,
        }
    )
    frame.write_csv(tmp_path / "ratings.csv")
    groups = pl.DataFrame({"stimulus": [f"s{k:02}" for k in range(40)], "half": ["a", "b"] * 20})
    return Ratings(frame, scale="1-5", stimuli=groups), tmp_path / "ratings.csv"


def test_seen_by_the_command_line_and_by_fairness(study, capsys) -> None:
    ratings, file = study
    expected = brennan_prediger(ratings, weights="quadratic")["rating"]
    assert "brennan_prediger" in list_coefficients()
    with pytest.raises(SystemExit) as left:
        main(["reliability", "agreement", str(file), "--scale", "1-5", "--more", "--json"])
    assert left.value.code == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["brennan_prediger"][0]["value"] == pytest.approx(expected.value)
    assert "brennan_prediger" in list_metrics()
    groups = fairness(ratings, by="stimulus.half", metric="brennan_prediger", seed=1).groups
    halves = groups.frame.sort("group")["value"].to_list()
    for half, value in zip("ab", halves, strict=True):
        stimuli = [f"s{k:02}" for k in range(40) if "ab"[k % 2] == half]
        own = brennan_prediger(ratings.select(stimuli=stimuli), weights="quadratic")["rating"]
        assert value == pytest.approx(own.value, abs=1e-12)
