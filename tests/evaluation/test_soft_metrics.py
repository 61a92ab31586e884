"""Models beside people's distributions, with what people reach and a baseline."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import label_distributions, soft_label_metrics
from affectlab.evaluation.soft_labels import (
    LabelDistributions,
    earth_movers_distance,
    jensen_shannon,
)
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

WHEEL = load_taxonomy("mikels")
SCALE = "nominal:" + ",".join(WHEEL.labels)
ONE, HALVES, MEAN = (
    "a person against the others",
    "half the people against half",
    "mean of all stimuli",
)


def panel(n=60, raters=8, seed=1, spread=0.6) -> tuple[Ratings, np.ndarray]:
    """People who draw their answers from a known distribution per stimulus."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(8, spread), n)
    rows = {"stimulus": [], "rater": [], "value": []}
    for stimulus in range(n):
        for rater in range(raters):
            rows["stimulus"].append(f"s{stimulus}")
            rows["rater"].append(f"p{rater}")
            rows["value"].append(WHEEL.labels[rng.choice(8, p=truth[stimulus])])
    return Ratings(rows, scale=SCALE, taxonomy="mikels"), truth


def given(values, n=60) -> LabelDistributions:
    return LabelDistributions.of(values, WHEEL.labels, [f"s{k}" for k in range(n)])


def test_values_are_means_over_stimuli_by_hand():
    people, truth = panel()
    found = soft_label_metrics(people, {"oracle": given(truth)}, seed=1)
    p = label_distributions(people).values
    plain = {
        "jensen_shannon": jensen_shannon(p, truth).mean(),
        "jensen_shannon_distance": np.sqrt(jensen_shannon(p, truth)).mean(),
        "earth_movers_distance": earth_movers_distance(p, truth, WHEEL.cost_matrix()).mean(),
        "brier": ((p - truth) ** 2).sum(axis=1).mean(),
        "mean_absolute_difference": np.abs(p - truth).mean(),
        "cross_entropy": -(p * np.log(truth)).sum(axis=1).mean(),
    }
    for name, value in plain.items():
        assert found["oracle", name].value == pytest.approx(value)
        assert found["oracle", name].ok
    assert found["oracle", "brier"].n_ratings == 480


def test_people_are_judged_by_the_others():
    rows = {
        "stimulus": ["a"] * 3 + ["b"] * 2 + ["c"],
        "rater": ["r", "s", "t", "r", "s", "r"],
        "value": ["awe", "awe", "fear", "fear", "fear", "awe"],
    }
    people = Ratings(rows, scale=SCALE)
    model = Ratings({"stimulus": ["a"], "rater": ["m"], "value": ["awe"]}, scale=SCALE)
    found = soft_label_metrics(people, model, metrics=["brier"], by_person=True, seed=1)
    # Of a, the two who said awe see half awe and half fear; the third sees awe only.
    first = (0.5 + 0.5 + 2) / 3
    assert found[ONE, "brier"].value == pytest.approx((first + 0) / 2)
    assert found[ONE, "brier"].n_items == 2
    assert found["t", "brier"].value == pytest.approx(2)
    assert found["r", "brier"].value == pytest.approx((0.5 + 0) / 2)
    assert set(found.frame["role"]) == {"model", "people", "person", "baseline"}


def test_order_of_who_is_close():
    people, truth = panel(n=300)
    models = {"oracle": given(truth, 300), "uniform": given(np.full((300, 8), 1 / 8), 300)}
    found = soft_label_metrics(people, models, n_boot=200, seed=3)
    for name in ("jensen_shannon", "brier", "earth_movers_distance"):
        order = [found[rater, name].value for rater in ("oracle", HALVES, ONE)]
        assert order == sorted(order)
        assert found["oracle", name].high < found[MEAN, name].low
        assert found["uniform", name].value > found["oracle", name].value
    assert found["oracle", "brier"].target == "stimuli"


def test_infinite_cross_entropy_says_so_and_a_floor_helps():
    people, _ = panel(n=10)
    certain = given(np.tile(np.eye(8)[0], (10, 1)), 10)
    found = soft_label_metrics(people, {"m": certain}, n_boot=20, seed=1)
    assert np.isinf(found["m", "cross_entropy"].value)
    why = found["m", "cross_entropy"].reason
    assert why is not None
    assert why.cause is Cause.ZERO_CHANCE
    assert np.isnan(found["m", "cross_entropy"].low)
    floored = soft_label_metrics(people, {"m": certain}, floor=0.01, seed=1)
    assert np.isfinite(floored["m", "cross_entropy"].value)
    assert "floor 0.01" in floored["m", "cross_entropy"].options
    assert floored["m", "brier"].options == ("sum over labels",)


def test_models_that_score_labels_and_cover_a_part():
    rows = {"stimulus": [], "rater": [], "label": [], "value": []}
    for stimulus, votes in (("a", (1, 0)), ("b", (0, 1)), ("c", (1, 1))):
        for rater in ("r", "s"):
            for label, vote in zip(("joy", "fear"), votes, strict=True):
                for name, entry in zip(rows, (stimulus, rater, label, vote), strict=True):
                    rows[name].append(entry)
    people = Ratings(rows, scale="binary")
    scores = {
        "stimulus": ["a", "a", "c", "c", "z", "z"],
        "rater": ["m"] * 6,
        "label": ["joy", "fear"] * 3,
        "value": [0.9, 0.1, 0.2, 0.2, 1, 0],
    }
    model = Ratings(scores, scale="0-1 interval")
    found = soft_label_metrics(people, model, seed=1)
    assert found["m", "brier"].n_items == 2
    assert found["m", "brier"].value == pytest.approx(0.02 / 2)
    assert found["m", "earth_movers_distance"].reason == Reason(Cause.NO_COSTS)


def test_levels_of_a_scale_are_as_far_apart_as_their_places():
    people = Ratings({"stimulus": ["a", "a"], "rater": ["r", "s"], "value": [1, 5]}, scale="1-5")
    model = Ratings({"stimulus": ["a"], "rater": ["m"], "value": [1]}, scale="1-5")
    found = soft_label_metrics(people, model, seed=1)
    assert found["m", "earth_movers_distance"].value == pytest.approx(2)


def test_same_seed_same_bytes():
    people, truth = panel(n=20)
    tables = [
        soft_label_metrics(people, {"m": given(truth, 20)}, n_boot=50, seed=7).frame
        for _ in range(2)
    ]
    assert tables[0].equals(tables[1])


@pytest.mark.long
def test_intervals_cover_the_mean_over_stimuli():
    # The value that more stimuli of the same kind would give lies in 95 % of the intervals.
    population, truth = panel(n=4000, seed=5)
    whole = soft_label_metrics(
        population, {"m": given(truth, 4000)}, metrics=["brier"], n_splits=0, seed=1
    )["m", "brier"].value
    names = np.array(population.stimulus_names)
    covered = 0
    for trial in range(60):
        rng = np.random.default_rng(trial)
        some = np.sort(rng.choice(4000, 60, replace=False))
        part = population.select(stimuli=names[some].tolist())
        model = LabelDistributions.of(truth[some], WHEEL.labels, names[some].tolist())
        found = soft_label_metrics(
            part, {"m": model}, metrics=["brier"], n_splits=0, n_boot=200, seed=trial
        )["m", "brier"]
        covered += found.low <= whole <= found.high
    assert covered >= 51


def test_bad_input():
    people, truth = panel(n=5)
    model = given(truth[:5], 5)
    with pytest.raises(InputError, match="unknown metric 'brie'; did you mean 'brier'"):
        soft_label_metrics(people, {"m": model}, metrics=["brie"])
    with pytest.raises(InputError, match="at least one model"):
        soft_label_metrics(label_distributions(people))
    other = LabelDistributions.of([[0.5, 0.5]], ["awe", "boredom"], ["s0"])
    with pytest.raises(InputError, match="'boredom', which people were not asked"):
        soft_label_metrics(people, {"m": other})
    with pytest.raises(InputError, match="floor"):
        soft_label_metrics(people, {"m": model}, floor=0.2)
    with pytest.raises(InputError, match="confidence"):
        soft_label_metrics(people, {"m": model}, confidence=95)
    with pytest.raises(InputError, match="unknown label"):
        soft_label_metrics(people, {"m": model}, costs=load_taxonomy("ekman").cost_matrix())


def test_a_model_without_a_shared_stimulus():
    people, _ = panel(n=5)
    far = LabelDistributions.of(np.eye(8)[:1], WHEEL.labels, ["elsewhere"])
    found = soft_label_metrics(people, {"m": far}, seed=1)
    assert found["m", "brier"].reason == Reason(Cause.NONE, of="stimulus in common with people")


def test_one_person_has_nobody_beside():
    people = Ratings(
        {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": ["awe", "awe"]}, scale=SCALE
    )
    model = Ratings({"stimulus": ["a"], "rater": ["m"], "value": ["awe"]}, scale=SCALE)
    found = soft_label_metrics(people, model, seed=1)
    assert found[ONE, "brier"].reason == Reason(Cause.NONE, of="stimulus with two people")
    assert found[HALVES, "brier"].reason == Reason(Cause.NONE, of="stimulus with two people")
    assert found["m", "brier"].value == 0
