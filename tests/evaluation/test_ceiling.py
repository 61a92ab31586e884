"""What people reach with one another, leaving one out in turn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import alignment, human_ceiling

Array = NDArray[np.float64]


def people_of(values: Array, scale: str = "0-7", prefix: str = "p") -> Ratings:
    """Make ratings of an array by person, label and stimulus; ``nan`` is no answer."""
    rater, label, unit = np.nonzero(~np.isnan(values))
    return Ratings(
        {
            "stimulus": [f"s{k:03d}" for k in unit],
            "rater": [f"{prefix}{k:02d}" for k in rater],
            "label": [f"e{k}" for k in label],
            "value": values[rater, label, unit],
        },
        scale=scale,
    )


def simulated(seed: int, n_people: int, n: int, n_labels: int = 2, noise: float = 1.5) -> Array:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 2, (n_labels, n))
    said = truth + noise * rng.normal(size=(n_people, n_labels, n))
    return np.asarray(np.clip(np.rint(said), 0, 7))


def test_values_are_those_of_scipy_and_scikit_learn() -> None:
    values = simulated(1, 5, 50)
    found = human_ceiling(people_of(values))
    kappa, rank = np.zeros((5, 2)), np.zeros((5, 2))
    for i in range(5):
        for e in range(2):
            kappa[i, e] = np.mean(
                [
                    cohen_kappa_score(
                        values[i, e], values[j, e], weights="quadratic", labels=range(8)
                    )
                    for j in range(5)
                    if j != i
                ]
            )
            median = np.median(np.delete(values[:, e], i, axis=0), axis=0)
            rank[i, e] = spearmanr(values[i, e], median).statistic
    for name, expected in (("kappa", kappa), ("spearman", rank)):
        for i in range(5):
            assert found.people[name, f"p{i:02d}"].value == pytest.approx(expected[i].mean())
        assert found[name].value == pytest.approx(expected.mean())
        row = {row["measure"]: row for row in found.to_frame().iter_rows(named=True)}[name]
        own = expected.mean(axis=1)
        assert row["min"] == pytest.approx(own.min())
        assert row["max"] == pytest.approx(own.max())
        assert row["sd"] == pytest.approx(own.std(ddof=1))
        assert row["best"] == f"p{own.argmax():02d}"


def test_it_is_the_ceiling_of_an_alignment() -> None:
    values = simulated(2, 6, 60)
    models = people_of(simulated(3, 1, 60), prefix="m")
    found = alignment(people_of(values), models, seed=4).ceiling
    alone = human_ceiling(people_of(values), seed=4)
    assert found.frame.equals(alone.frame)
    assert found.people.frame.equals(alone.people.frame)


@pytest.mark.long
def test_intervals_cover_the_agreement_of_other_people_on_other_stimuli() -> None:
    """People who differ: the truth is the mean over many of them, and many stimuli."""

    def panel(rng: np.random.Generator, n_people: int, n: int) -> Ratings:
        truth = rng.normal(3, 2, (1, n))
        noise = rng.uniform(0.6, 2.4, n_people)[:, None, None]
        said = truth + noise * rng.normal(size=(n_people, 1, n))
        return people_of(np.clip(np.rint(said), 0, 7))

    truth = np.mean(
        [
            human_ceiling(panel(np.random.default_rng(700 + k), 60, 500))["kappa"].value
            for k in range(6)
        ]
    )
    rng = np.random.default_rng(5)
    n_studies, covered = 80, 0
    for seed in range(n_studies):
        row = human_ceiling(panel(rng, 8, 60), seed=seed)["kappa"]
        covered += row.low <= truth <= row.high
    assert covered / n_studies > 0.87


def test_more_noise_lowers_the_ceiling() -> None:
    means = [
        human_ceiling(people_of(simulated(6, 6, 200, noise=noise)))["kappa"].value
        for noise in (0.5, 1.5, 3.0)
    ]
    assert means == sorted(means, reverse=True)
    same = human_ceiling(people_of(np.repeat(simulated(7, 1, 40), 4, axis=0)))
    assert same["kappa"].value == pytest.approx(1.0)
    assert same["spearman"].value == pytest.approx(1.0)


@given(st.integers(0, 5_000), st.floats(0, 0.7), st.integers(2, 6), st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_people_may_be_renamed_and_answers_missing(
    seed: int, gaps: float, n_people: int, n: int
) -> None:
    rng = np.random.default_rng(seed)
    values = simulated(seed, n_people, n)
    values[:, :, 1:][rng.random((n_people, 2, n - 1)) < gaps] = np.nan
    found = human_ceiling(people_of(values), seed=0)
    order = rng.permutation(n_people)
    mixed = human_ceiling(people_of(values[order]), target="sample")
    for name in ("kappa", "spearman"):
        assert found[name].value == pytest.approx(mixed[name].value, abs=1e-9, nan_ok=True)
        for k, i in enumerate(order):
            one, other = found.people[name, f"p{i:02d}"], mixed.people[name, f"p{k:02d}"]
            assert one.value == pytest.approx(other.value, abs=1e-9, nan_ok=True)
            assert math.isnan(one.value) or -1 - 1e-9 <= one.value <= 1 + 1e-9


def test_models_are_left_out_and_one_person_is_alone() -> None:
    values = simulated(8, 4, 30)
    models = people_of(simulated(9, 1, 30), prefix="m")
    models = models.with_raters({"rater": ["m00"], "rater_kind": ["model"]})
    together = human_ceiling(people_of(values).merge(models))
    assert together["kappa"].value == human_ceiling(people_of(values))["kappa"].value
    alone = human_ceiling(people_of(values[:1]), seed=0)
    assert math.isnan(alone["kappa"].value)
    assert alone["kappa"].reason == Reason(Cause.ONE_PERSON)
    with pytest.raises(InputError, match="no rater is human"):
        human_ceiling(models)


def test_constant_people() -> None:
    found = human_ceiling(people_of(np.full((4, 2, 20), 3.0)), seed=0)
    assert found["kappa"].reason == Reason(Cause.NONE, of="label with varied answers")
    assert found.to_frame()["best"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 0.0}, "confidence"),
        ({"target": "rows"}, "target"),
        ({"exclude": ["joy"]}, "unknown label"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        human_ceiling(people_of(simulated(10, 3, 10)), **options)


def test_two_others_tell_nothing_of_other_people() -> None:
    values = simulated(5, 3, 60)
    ratings = people_of(values)
    found = human_ceiling(ratings)
    assert set(found.frame["target"]) == {"both"}
    each = found.people.frame
    assert set(each["target"]) == {"stimuli"}
    assert all(made["over"] == ["stimuli"] for made in each["interval"])
    assert {why["cause"] for why in each["reason"]} == {Cause.TWO_RATERS}
    assert (each["low"] < each["value"]).all()
    parts = (people_of(np.delete(values, k, axis=2)) for k in range(60))
    alone = np.array([human_ceiling(part, target="sample").people.frame["value"] for part in parts])
    se = np.sqrt(((alone - alone.mean(axis=0)) ** 2).sum(axis=0) * 59 / 60)
    np.testing.assert_allclose(each["se"], se, rtol=1e-9)

    raters = human_ceiling(ratings, target="raters").people.frame
    assert raters["low"].is_nan().all()
    assert {why["cause"] for why in raters["reason"]} == {Cause.TWO_RATERS}
    four = human_ceiling(people_of(simulated(5, 4, 60))).people.frame
    assert set(four["target"]) == {"both"}
