"""The alternative-annotator test: by hand, beside a plain twin, and where it is not defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import ttest_1samp

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import benjamini_yekutieli
from affectlab.evaluation import alt_test


def table(prefix: str, values: Any, scale: str, labels: bool = False) -> Ratings:
    """Make ratings of an array by rater, label and stimulus."""
    cube = np.asarray(values, dtype=float)
    cube = cube[:, None] if cube.ndim == 2 else cube
    rater, label, unit = np.nonzero(~np.isnan(cube))
    frame = {
        "stimulus": [f"s{k:03d}" for k in unit],
        "rater": [f"{prefix}{k}" for k in rater],
        "value": cube[rater, label, unit],
    }
    if labels:
        frame["label"] = [f"e{k}" for k in label]
    return Ratings(frame, scale=scale)


def plain(
    people: np.ndarray, model: np.ndarray, score: str, epsilon: float, least: int, enough: int
) -> dict[str, Any]:
    """Follow the definition item by item; people and model by label and stimulus."""
    n_people, _n_labels, n = people.shape

    def closeness(own: np.ndarray, others: list[np.ndarray]) -> float:
        if score == "accuracy":
            return float(np.mean([np.mean(own == other) for other in others]))
        if score == "rmse":
            return -float(np.sqrt(np.mean([(own - other) ** 2 for other in others])))
        found = []
        for other in others:
            union = np.sum((own == 1) | (other == 1))
            found.append(np.sum((own == 1) & (other == 1)) / union if union else 1.0)
        return float(np.mean(found))

    p, rho, tested = [], [], []
    for j in range(n_people):
        model_wins, person_wins = [], []
        for s in range(n):
            here = [k for k in range(n_people) if not np.isnan(people[k, 0, s])]
            if j not in here or len(here) < least or np.isnan(model[0, s]):
                continue
            others = [people[k, :, s] for k in here if k != j]
            f, h = closeness(model[:, s], others), closeness(people[j, :, s], others)
            model_wins.append(f >= h - 1e-12)
            person_wins.append(h >= f - 1e-12)
        if len(model_wins) < enough:
            continue
        difference = np.array(person_wins, float) - np.array(model_wins, float)
        if np.ptp(difference) == 0:
            p.append(0.0 if difference[0] < epsilon else 1.0)
        else:
            p.append(float(ttest_1samp(difference, epsilon, alternative="less").pvalue))
        rho.append(np.mean(model_wins))
        tested.append(j)
    if len(tested) < least:
        return {"rate": np.nan, "advantage": np.nan, "p": p, "tested": tested}
    order = np.argsort(p)
    m = len(p)
    harmonic = sum(1 / k for k in range(1, m + 1))
    passed = [k for k in range(m) if p[order[k]] <= 0.05 * (k + 1) / (m * harmonic)]
    rate = (max(passed) + 1) / m if passed else 0.0
    return {"rate": rate, "advantage": float(np.mean(rho)), "p": p, "tested": tested}


def test_by_hand() -> None:
    """Three people and four stimuli, so that every indicator can be counted.

    Person a left out, others b and c; squared distances (model, a) to the two others:
    s0: model 3 to 3, 4 -> 1; a 3 -> 1: tie. s1: model 0 to 1, 1 -> 2; a 0 -> 2: tie.
    s2: model 5 to 5, 7 -> 4; a 6 -> 2: a wins. s3: model 2 to 2, 2 -> 0; a 4 -> 8: the model wins.
    """
    people = [[3, 0, 6, 4], [3, 1, 5, 2], [4, 1, 7, 2]]
    found = alt_test(
        table("p", people, "0-7"), table("m", [[3, 0, 5, 2]], "0-7"), min_items=4, epsilon=0.2
    )
    row = found.people.row(0, named=True)
    assert row["person"] == "p0"
    assert row["n_items"] == 4
    assert row["advantage"] == pytest.approx(3 / 4)
    assert row["person_advantage"] == pytest.approx(3 / 4)
    assert row["difference"] == pytest.approx(0.0)
    expected = ttest_1samp([0, 0, 1, -1], 0.2, alternative="less")
    assert row["t"] == pytest.approx(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue)


def test_both_win_a_tie() -> None:
    """A model that always gives what people all give ties everywhere, and wins against everyone."""
    same = np.tile(np.arange(40) % 8, (3, 1))
    found = alt_test(table("p", same, "0-7"), table("m", same[:1], "0-7"))
    assert found.people["advantage"].to_list() == [1.0] * 3
    assert found.people["person_advantage"].to_list() == [1.0] * 3
    assert found.people["p"].to_list() == [0.0] * 3
    row = found.frame.row(0, named=True)
    assert (row["value"], row["passed"], row["advantage"]) == (1.0, True, 1.0)


@pytest.mark.parametrize(
    ("scale", "score", "n_labels"),
    [
        ("0-7", "rmse", 1),
        ("0-7", "rmse", 4),
        ("nominal:a,b,c,d", "accuracy", 1),
        ("0-7", "accuracy", 3),
        ("binary", "accuracy", 1),
        ("binary", "jaccard", 5),
    ],
)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_as_a_plain_twin(scale: str, score: Any, n_labels: int, gaps: float) -> None:
    rng = np.random.default_rng(len(scale) + n_labels)
    for trial in range(4):
        n_people, n = 5, 50
        top = {"0-7": 7, "nominal:a,b,c,d": 3, "binary": 1}[scale]
        truth = rng.integers(0, top + 1, (n_labels, n))

        def answers(noise: float, truth: Any = truth, top: int = top) -> np.ndarray:
            random = rng.integers(0, top + 1, truth.shape)
            return np.where(rng.random(truth.shape) < noise, random, truth).astype(float)

        people = np.stack([answers(0.5) for _ in range(n_people)])
        people[np.broadcast_to((rng.random((n_people, 1, n)) < gaps), people.shape)] = np.nan
        model = answers(0.2 + 0.2 * trial)
        model[:, rng.random(n) < gaps / 2] = np.nan
        several = n_labels > 1
        found = alt_test(
            table("p", people, scale, several),
            table("m", model[None], scale, several),
            score=score,
            epsilon=0.1,
            min_items=15,
        )
        expected = plain(people, model, score, 0.1, 3, 15)
        known = found.people.filter(found.people["status"] == "ok")
        assert [int(name[1:]) for name in known["person"]] == expected["tested"]
        np.testing.assert_allclose(known["p"].to_numpy(), expected["p"], atol=1e-10)
        row = found.frame.row(0, named=True)
        assert row["value"] == pytest.approx(expected["rate"], nan_ok=True)
        assert row["advantage"] == pytest.approx(expected["advantage"], nan_ok=True)


def test_the_score_follows_the_scale() -> None:
    rng = np.random.default_rng(1)
    for scale, n_labels, score in (
        ("0-7", 2, "rmse"),
        ("binary", 1, "accuracy"),
        ("binary", 3, "jaccard"),
        ("nominal:a,b", 1, "accuracy"),
    ):
        values = rng.integers(0, 2, (4, n_labels, 40))
        several = n_labels > 1
        found = alt_test(
            table("p", values[:3], scale, several), table("m", values[3:], scale, several)
        )
        assert found.score == score


def test_cells_are_items_when_asked() -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 8, (4, 3, 40))
    people, model = table("p", values[:3], "0-7", True), table("m", values[3:], "0-7", True)
    assert alt_test(people, model).people["n_items"].to_list() == [40] * 3
    assert alt_test(people, model, items="cells").people["n_items"].to_list() == [120] * 3


def test_models_keep_their_fractions_for_distances() -> None:
    people = np.tile(np.arange(40) % 8, (3, 1)).astype(float)
    people[0] = np.clip(people[0] + 1, 0, 7)
    near, far = people[1:2] + 0.25, people[1:2] + 0.75
    wins = [
        alt_test(table("p", people, "0-7"), table("m", np.clip(m, 0, 7), "0-7 interval")).people[
            "advantage"
        ][0]
        for m in (near, far)
    ]
    assert wins[0] == 1.0
    assert wins[1] == 1.0
    rounded = alt_test(
        table("p", people, "0-7"), table("m", np.clip(near, 0, 7), "0-7 interval"), score="accuracy"
    )
    assert rounded.people["advantage"][0] == 1.0


def test_an_average_answer_passes_and_a_random_one_does_not() -> None:
    """The jury: a model that gives the mean of people is closer to them than any person."""
    rng = np.random.default_rng(4)
    truth = rng.normal(3.5, 2, 200)
    people = np.clip(np.rint(truth + rng.normal(0, 1.5, (6, 200))), 0, 7)
    models = np.stack([people.mean(axis=0), rng.uniform(0, 7, 200)])
    found = alt_test(table("p", people, "0-7"), table("m", models, "0-7 interval")).to_frame()
    assert found["passed"].to_list() == [True, False]
    assert found["advantage"][0] > 0.7 > 0.4 > found["advantage"][1]


def test_undefined_where_people_or_items_are_too_few() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 8, (5, 40))
    two = alt_test(table("p", values[:2], "0-7"), table("m", values[4:], "0-7"))
    row = two.frame.row(0, named=True)
    assert np.isnan(row["value"])
    assert row["passed"] is None
    why = Reason(Cause.FEWER, least=3, of="people with 30 stimuli")
    assert Reason.of_row(row["reason"]) == why
    allowed = alt_test(table("p", values[:2], "0-7"), table("m", values[4:], "0-7"), min_people=2)
    assert allowed.frame["status"].to_list() == ["ok"]
    few = alt_test(table("p", values[:4, :20], "0-7"), table("m", values[4:, :20], "0-7"))
    assert few.people["status"].to_list() == ["undefined"] * 4
    assert few.people["reason"].to_list() == [Cause.FEWER.value] * 4


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=50)
def test_benjamini_yekutieli_as_statsmodels(p: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    given_p = np.array(p)
    expected = multipletests(given_p, method="fdr_by")[1]
    np.testing.assert_allclose(benjamini_yekutieli(given_p), expected, atol=1e-12)


@given(st.integers(0, 1000), st.floats(0, 0.4))
@settings(max_examples=20)
def test_a_larger_epsilon_never_makes_it_harder(seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (5, 35))
    people, model = table("p", values[:4], "0-3"), table("m", values[4:], "0-3")
    low, high = (
        alt_test(people, model, epsilon=e).frame["value"][0] for e in (epsilon, epsilon + 0.2)
    )
    assert high >= low


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 1.0}, "epsilon"),
        ({"epsilon": -0.1}, "epsilon"),
        ({"score": "f1"}, "score"),
        ({"score": "jaccard"}, "yes/no"),
        ({"items": "rows"}, "items"),
        ({"min_people": 1}, "min_people"),
        ({"min_items": 1}, "min_items"),
        ({"alpha": 0.0}, "alpha"),
        ({"exclude": ["joy"]}, "unknown label"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    values = np.tile(np.arange(8), (4, 1))
    with pytest.raises(InputError, match=words):
        alt_test(table("p", values[:3], "0-7"), table("m", values[3:], "0-7"), **options)


def test_distances_need_numbers() -> None:
    values = np.zeros((4, 40))
    people, model = table("p", values[:3], "nominal:a,b"), table("m", values[3:], "nominal:a,b")
    with pytest.raises(InputError, match="needs numbers"):
        alt_test(people, model, score="rmse")
