"""Looks at a running study: the boundary, what is said at a look, and how often it holds."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import pytest
from benchmarks._looks import Design, study
from scipy.stats import norm

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import enough_ratings, krippendorff_alpha
from affectlab.reliability.planning import confidence_at_any_look
from affectlab.reliability.planning.wording import models_unused, needed_text


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
    assert found["needed"] == ["stimuli", "raters"]


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
    assert result.to_frame()["reason"][0] == Cause.FEW_UNITS
    assert not result.to_frame()["reached"][0]


@pytest.mark.parametrize("target", ["stimuli", "raters"])
def test_what_is_needed_is_of_the_kind_that_the_target_names(
    target: Literal["stimuli", "raters"],
) -> None:
    (row,) = enough_ratings(ratings(60), width=0.05, target=target).to_frame().to_dicts()
    assert row["needed"] == [target]


def test_whole_clusters_are_needed() -> None:
    clusters = {str(k): f"a{k // 4}" for k in range(60)}
    result = enough_ratings(ratings(60), width=0.05, cluster=clusters)
    (row,) = result.to_frame().to_dicts()
    assert row["needed"] == ["clusters", "raters"]
    assert needed_text(row["times"], 1000, row["needed"]) in result.finding


def noisy(n: int, raters: int, seed: int) -> Ratings:
    """Raters who differ in noise, so that agreement depends on who they are."""
    rng = np.random.default_rng(seed)
    value = rng.normal(50, 20, (n, 1)) + np.abs(rng.normal(0, 20, raters)) * rng.normal(
        size=(n, raters)
    )
    stimulus, rater = (part.ravel() for part in np.indices(value.shape))
    return Ratings(
        {"stimulus": stimulus, "rater": rater, "value": np.clip(value, 0, 100).ravel()},
        scale="0-100 interval",
    )


def test_more_stimuli_alone_do_not_narrow_intervals_about_other_raters() -> None:
    def width(n: int, raters: int) -> float:
        found = [enough_ratings(noisy(n, raters, k), width=0.1).to_frame() for k in range(8)]
        return float(np.median([one["width"][0] for one in found]))

    own = width(100, 5)
    assert width(400, 5) > 0.75 * own
    assert width(400, 20) < 0.6 * own


def test_a_large_factor_has_no_digits() -> None:
    result = enough_ratings(ratings(20), width=1e-9, target="stimuli")
    assert needed_text(1e9, 1000, ["stimuli"]) in result.finding


def test_why_nothing_varies_is_said() -> None:
    stimulus, rater = (part.ravel() for part in np.indices((12, 4)))
    for value, cause in (
        (stimulus % 5, Cause.NO_VARIATION),
        (np.ones(48), Cause.ONE_CATEGORY),
    ):
        table = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="0-4")
        (row,) = enough_ratings(table, width=0.1).to_frame().to_dicts()
        assert row["reason"] == cause


def test_whom_intervals_are_about_is_noted() -> None:
    table = ratings(60)
    two = table.select(raters=["r0", "r1"])
    result = enough_ratings(two, width=0.1)
    assert len(result.notes) == 1
    assert result.to_frame()["target"][0] == "stimuli"
    assert result.to_frame()["reason"][0] == Cause.TWO_RATERS
    assert result.to_frame()["needed"].to_list() == [["stimuli"]]
    assert enough_ratings(two, width=0.1, target="stimuli").notes == ()
    assert enough_ratings(table, width=0.1).notes == ()


def test_counted_votes_have_no_count_of_raters() -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(8, [0.5, 0.3, 0.2], 30)
    frame = pl.DataFrame(
        {"stimulus": [f"f{k}" for k in range(30)], **dict(zip("abc", counts.T, strict=True))}
    )
    table = read_ratings(frame, wide="votes", scale="nominal:a,b,c")
    result = enough_ratings(table, width=0.1)
    assert result.to_frame()["n_raters"].to_list() == [None]
    assert "n_raters" not in [column.key for column in result.tables[0].columns]
    assert result.to_frame()["n_ratings"].to_list() == [240]


def test_models_that_are_not_used_are_noted() -> None:
    table = ratings(30).to_frame()
    kinds = {"rater": ["r4"], "rater_kind": ["model"]}
    mixed = Ratings(table, scale="0..7 interval", raters=kinds)
    assert enough_ratings(mixed, width=0.1).notes == (models_unused(1),)
    assert enough_ratings(mixed, width=0.1, everyone=True).notes == ()


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="target 'sample'; expected one of: stimuli, raters, both"):
        enough_ratings(ratings(20), width=0.1, target="sample")  # type: ignore[arg-type]
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
