"""What answers cannot tell, however many there are, is said and not estimated."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab import Ratings, evaluation, reliability
from affectlab.core.facts import Cause


def ratings(values: np.ndarray, scale: str = "interval", **stimuli: list[str]) -> Ratings:
    """Make a table of answers, shape (raters, stimuli)."""
    rater, stimulus = np.nonzero(~np.isnan(values))
    names = [f"s{k:03d}" for k in range(values.shape[1])]
    frame = {
        "stimulus": [names[k] for k in stimulus],
        "rater": [f"r{k}" for k in rater],
        "value": values[rater, stimulus],
    }
    return Ratings(frame, scale=scale, stimuli={"stimulus": names, **stimuli})


def test_fixed_effect_that_is_the_random_factor_is_not_tested() -> None:
    values = np.random.default_rng(0).normal(size=(5, 30))
    table = ratings(values, condition=[f"c{k}" for k in range(30)])
    found = reliability.mixed_model(table, fixed=["condition"])
    terms = found.to_frame()
    assert terms["reason"].to_list() == [Cause.CONFOUNDED]
    assert terms["p"].is_nan().all()


def test_groups_of_one_rater_each_are_not_tested() -> None:
    values = np.random.default_rng(0).normal(size=(2, 40))
    table = ratings(values).with_raters({"rater": ["r0", "r1"], "group": ["a", "b"]})
    terms = reliability.mixed_model(table, fixed=["group"]).to_frame()
    assert terms["reason"].to_list() == [Cause.CONFOUNDED]


@pytest.mark.parametrize("fixed", [["condition"], ["condition", "size"]])
def test_two_attributes_that_tell_all_stimuli_apart(fixed: list[str]) -> None:
    """Of four stimuli, two crossed attributes with their interaction leave no variance."""
    values = np.random.default_rng(0).normal(size=(8, 4))
    table = ratings(values, condition=["a", "a", "b", "b"], size=["s", "l", "s", "l"])
    crossed = [*fixed, "*".join(fixed)] if len(fixed) > 1 else fixed
    terms = reliability.mixed_model(table, fixed=crossed).to_frame()
    expected = Cause.CONFOUNDED if len(fixed) > 1 else None
    assert terms["reason"].unique().to_list() == [expected]


def test_dawid_skene_says_nothing_of_a_single_rater() -> None:
    values = np.random.default_rng(0).integers(0, 5, (1, 40)).astype(np.float64)
    found = reliability.dawid_skene(values)
    assert found.to_frame("raters")["reason"].to_list() == [Cause.FEWER]
    for name in ("raters", "confusion", "classes"):
        assert found.to_frame(name).select("value", "low").null_count().sum_horizontal()[0] == 0
        assert found.to_frame(name)["value"].is_nan().all()
        assert found.to_frame(name)["low"].is_nan().all()
    assert found.to_frame("posterior")["probability"].is_nan().all()
    assert found.to_frame("consensus")["category"].is_null().all()
    assert len(found.sentences) == 1


def test_dawid_skene_says_nothing_of_one_answer_a_rater() -> None:
    values = np.full((30, 10), np.nan)
    values[np.arange(30), np.arange(30) % 10] = np.random.default_rng(0).integers(0, 3, 30)
    raters = reliability.dawid_skene(values).to_frame("raters")
    assert raters["reason"].unique().to_list() == [Cause.FEWER]
    assert raters["beyond_chance"].is_nan().all()


def test_dawid_skene_tells_of_the_others() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 60)
    values = np.where(rng.random((5, 60)) < 0.8, truth, rng.integers(0, 3, (5, 60))).astype(float)
    values[4, 1:] = np.nan
    with_one = reliability.dawid_skene(values, n_draws=0).to_frame("raters")
    assert with_one["reason"].to_list() == [Cause.NO_DRAWS] * 4 + [Cause.FEWER]
    assert with_one["value"].is_nan().to_list() == [False] * 4 + [True]


def test_prior_alone_does_not_link_groups_that_were_never_compared() -> None:
    wins = np.zeros((5, 5))
    wins[:3, :3] = [[0, 6, 6], [0, 0, 3], [0, 3, 0]]
    wins[3:, 3:] = [[0, 4], [2, 0]]
    scale = evaluation.preference_scale(wins, systems=list("ABCDE"), prior=0.5)
    assert scale.to_frame()["first"].is_nan().all()
    pairs = scale.to_frame("pairs")
    between = pl.col("system").is_in(["A", "B", "C"]) != pl.col("other").is_in(["A", "B", "C"])
    assert pairs.filter(between)["reason"].unique().to_list() == [Cause.NEVER_COMPARED]
    assert pairs.filter(between)["value"].is_nan().all()
    assert pairs.filter(~between)["value"].is_not_nan().all()
    assert pairs.filter(~between)["reason"].is_null().all()


def test_constant_answer_that_passes_the_alternative_annotator_test_is_named() -> None:
    rng = np.random.default_rng(3)
    people = np.clip(np.rint(rng.normal(3.5, 0.8, 60) + rng.normal(0, 1.4, (8, 60))), 0, 7)
    names = [f"s{k:03d}" for k in range(60)]
    models = Ratings(
        {
            "stimulus": names * 2,
            "rater": ["same"] * 60 + ["other"] * 60,
            "value": [4.0] * 60 + np.rint(people.mean(axis=0)).tolist(),
        },
        scale="0-7",
        raters={"rater": ["same", "other"], "rater_kind": ["model"] * 2},
    )
    found = evaluation.alt_test(ratings(people, "0-7"), models)
    frame = found.to_frame().sort("rater")
    assert frame["constant_answer"].to_list() == [False, True]
    assert frame["passed"].to_list() == [True, True]
    by_alignment = evaluation.alignment(ratings(people, "0-7"), models).to_frame().sort("rater")
    assert by_alignment["constant_answer"].to_list() == [False, True]


@pytest.mark.parametrize("raters", [2, 3, 4, 5])
@pytest.mark.parametrize("scorer", ["reml", "p910", "mle", "mean"])
def test_halves_of_perfect_ratings_are_equal(raters: int, scorer: str) -> None:
    found = reliability.split_half(np.tile(np.arange(8.0), (raters, 1)), scorer=scorer)
    assert found["rating"].value == pytest.approx(1.0)


def test_halves_of_one_rating_each_are_scored_by_it() -> None:
    rng = np.random.default_rng(0)
    values = 2 * rng.normal(size=20) + rng.normal(size=(3, 20))
    by_model, by_mean = (
        reliability.split_half(values, scorer=scorer, seed=1)["rating"].value
        for scorer in ("reml", "mean")
    )
    assert by_model == by_mean


def test_agreement_on_two_stimuli_has_no_interval() -> None:
    two = reliability.krippendorff_alpha([[1.0, 2], [1, 3], [2, 2]], level="interval")
    assert two.value == two.value
    assert np.isnan([two.low, two.high]).all()
    three = reliability.krippendorff_alpha([[1.0, 2, 5], [1, 3, 4], [2, 2, 5]], level="interval")
    assert three.low < three.value < three.high
