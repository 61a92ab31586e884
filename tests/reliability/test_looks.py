"""Looks at a running study: the boundary, what is said at a look, and how often it holds."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks._looks import Design, study
from scipy.stats import norm

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import enough_ratings, krippendorff_alpha
from affectlab.reliability.planning import confidence_at_any_look


def ratings(n: int, seed: int = 1, **labels: float) -> Ratings:
    """Five raters of n stimuli, by label with so much noise."""
    rng = np.random.default_rng(seed)
    stimulus, rater = (part.ravel() for part in np.indices((n, 5)))
    felt = rng.normal(3.5, 1.5, n)[stimulus]
    names = list(labels or {"joy": 1.0})
    value = [felt + rng.normal(0, labels.get(name, 1.0), n * 5) for name in names]
    return Ratings(
        {
            "stimulus": np.tile(stimulus, len(names)),
            "rater": [f"r{k}" for k in np.tile(rater, len(names))],
            "label": np.repeat(names, n * 5),
            "value": np.clip(np.concatenate(value), 0, 7),
        },
        scale="0..7 interval",
    )


def test_a_brownian_motion_stays_within_the_boundary_as_often_as_is_said() -> None:
    """Of 2,000 looks, which leave out some crossings, and of 20."""
    once = confidence_at_any_look(0.95)
    assert once == pytest.approx(0.975)
    edge = norm.ppf((1 + once) / 2)
    rng = np.random.default_rng(1)
    path = rng.normal(0, 1 / np.sqrt(2000), (4000, 2000)).cumsum(axis=1)
    inside = (np.abs(path) <= edge).all(axis=1).mean()
    assert 0.945 <= inside <= 0.965
    # A plain interval at each of twenty looks: Armitage, McPherson and Rowe (1969), table 2, have
    # .248 for the chance that one of them misses.
    looks = np.arange(99, 2000, 100)
    plain = np.abs(path[:, looks]) <= 1.96 * np.sqrt((looks + 1) / 2000)
    assert plain.all(axis=1).mean() == pytest.approx(1 - 0.248, abs=0.025)


def test_it_stops_when_the_interval_of_97_5_percent_is_narrow() -> None:
    table = ratings(120)
    (row,) = krippendorff_alpha(table, confidence=0.975).to_frame().to_dicts()
    width = row["high"] - row["low"]
    result = enough_ratings(table, width=width * 1.001)
    (found,) = result.to_frame().to_dicts()
    assert (found["low"], found["high"]) == (row["low"], row["high"])
    assert found["reached"]
    assert found["times"] == 1
    assert result.finding.startswith("joy: stop, Krippendorff's alpha is ")


def test_before_it_stops_the_interval_is_wider_and_says_how_much_is_missing() -> None:
    table = ratings(60)
    (plain,) = krippendorff_alpha(table, confidence=0.975).to_frame().to_dicts()
    width = (plain["high"] - plain["low"]) / 1.5
    result = enough_ratings(table, width=width)
    (found,) = result.to_frame().to_dicts()
    assert not found["reached"]
    assert found["times"] == pytest.approx(1.5**2)
    assert found["width"] == pytest.approx(1.5 * width)
    confidence = 2 * norm.cdf(1.5 * norm.ppf(0.9875)) - 1
    (wider,) = krippendorff_alpha(table, confidence=confidence).to_frame().to_dicts()
    assert found["low"] == pytest.approx(wider["low"], abs=1e-9)
    assert found["high"] == pytest.approx(wider["high"], abs=1e-9)
    assert "go on" in result.finding
    assert "about 2.2 times the ratings" in result.finding


def test_each_label_and_any_coefficient_is_asked_by_itself() -> None:
    table = ratings(80, joy=0.5, fear=2.0)
    result = enough_ratings(table, width=0.15)
    found = {row["label"]: row for row in result.to_frame().to_dicts()}
    assert found["joy"]["reached"]
    assert not found["fear"]["reached"]
    other = enough_ratings(table, width=0.15, coefficient="intraclass_correlation").to_frame()
    assert set(other["label"]) == {"joy", "fear"}
    assert other["form"].n_unique() == other.height // 2
    raters = enough_ratings(table, width=0.15, target="stimuli").to_frame()
    assert set(raters["target"]) == {"stimuli"}


def test_without_an_interval_it_goes_on() -> None:
    table = Ratings(
        {"stimulus": [0, 0, 1, 1], "rater": ["a", "b"] * 2, "value": [1, 2, 1, 1]}, scale="0-7"
    )
    result = enough_ratings(table, width=0.2)
    assert result.finding == "rating: go on, Krippendorff's alpha has no interval yet."
    assert not result.to_frame()["reached"][0]


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="width 0: expected a width above 0"):
        enough_ratings(ratings(20), width=0)
    with pytest.raises(InputError, match="width"):
        enough_ratings(ratings(20), width=float("nan"))
    with pytest.raises(InputError, match="suits none of the labels"):
        enough_ratings(ratings(20), width=0.1, coefficient="fleiss_kappa")
    with pytest.raises(InputError, match="confidence"):
        enough_ratings(ratings(20), width=0.1, confidence=1.0)


@pytest.mark.long
def test_all_looks_hold_together_where_plain_intervals_do_not() -> None:
    design = Design("normal", "stimuli", 600, 6, 6, 0.12)
    found = [study(design, k) for k in range(200)]
    held, every, stimuli = zip(*(one["any look"] for one in found), strict=True)
    assert np.mean([one for one in held if one is not None]) >= 0.93
    assert np.mean(every) >= 0.92
    _, plain, before = zip(*(one["plain"] for one in found), strict=True)
    assert np.mean(plain) < 0.85
    assert 1.1 < np.mean(stimuli) / np.mean(before) < 1.5
