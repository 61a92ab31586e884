"""Does a metric see what people prefer: areas under the curve, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.core.result import Result
from affectlab.evaluation import evaluate_preference_metrics, preferences
from affectlab.evaluation.preference.areas import area, delong_errors, replicated_areas
from affectlab.ratings import Ratings


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 80),
    levels=st.integers(1, 30),
)
def test_the_area_equals_scikit_learn(seed: int, n: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    values, good = rng.integers(0, levels, n).astype(float), rng.random(n) < 0.5
    good[:2] = True, False
    assert area(values, good) == pytest.approx(roc_auc_score(good, values))
    weights = rng.multinomial(n, [1 / n] * n, 4).astype(float)
    for found, weight in zip(replicated_areas(values, good, weights), weights, strict=True):
        drawn = weight > 0
        if good[drawn].all() or not good[drawn].any():
            assert np.isnan(found)
        else:
            theirs = roc_auc_score(good[drawn], values[drawn], sample_weight=weight[drawn])
            assert found == pytest.approx(theirs)


def slow_delong(values: Any, good: Any) -> tuple[float, float]:
    """The definition: a table of every good against every poor item."""
    high, low = values[good], values[~good]
    wins = (high[:, None] > low).astype(float) + 0.5 * (high[:, None] == low)
    variance = wins.mean(axis=1).var(ddof=1) / high.size + wins.mean(axis=0).var(ddof=1) / low.size
    return float(wins.mean()), float(np.sqrt(variance))


@given(seed=st.integers(0, 10**6), n=st.integers(6, 60))
def test_delong_equals_its_definition(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    values, good = rng.integers(0, 8, n).astype(float), rng.random(n) < 0.4
    good[:4] = True, True, False, False
    assert delong_errors(values, good) == pytest.approx(slow_delong(values, good))


def planted(seed: int, n: int = 300, apart: float = 0.8) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(seed)
    said = rng.choice(["model", "human", "both", "neither"], n, p=[0.25, 0.55, 0.15, 0.05])
    good = np.isin(said, ["model", "both"])
    return rng.normal(0, 1, n) + apart * good, said.tolist()


def judge(said: Any, *values: Any, **options: Any) -> Result:
    """Ask of metrics ``0``, ``1``, … whether they see the verdicts on some items."""
    items = [f"i{k}" for k in range(len(said))]
    table = {
        "item": items * len(values),
        "metric": [str(m) for m in range(len(values)) for _ in items],
        "score": [float(x) for of in values for x in of],
    }
    given_ = {"n_boot": 0, "n_permutations": 0, "seed": 0, **options}
    return evaluate_preference_metrics(dict(zip(items, said, strict=True)), table, **given_)


def test_errors_of_bootstrap_and_delong_agree() -> None:
    for seed in range(5):
        values, said = planted(seed, 150)
        row = judge(said, values, n_boot=200, seed=seed).to_frame("areas").row(0, named=True)
        assert row["se"] == pytest.approx(row["se_delong"], rel=0.25)


def test_means_and_permutation_tests() -> None:
    values, said = planted(1)
    found = judge(said, values, n_boot=100, n_permutations=9999)
    means = {row["group"]: row for row in found.to_frame("means").to_dicts()}
    good, poor = np.isin(said, ["model", "both"]), np.array(said) == "human"
    assert means["good"]["value"] == pytest.approx(values[good].mean())
    apart = means["good less poor"]
    assert apart["value"] == pytest.approx(values[good].mean() - values[poor].mean())
    assert apart["low"] < apart["value"] < apart["high"]
    row = found.to_frame("areas").row(0, named=True)
    assert (row["n_good"], row["n_poor"]) == (good.sum(), poor.sum())
    assert sum(found.settings["set_aside"].values()) == said.count("neither")
    assert row["p"] == 1e-4
    of_areas, of_means = [], []
    for seed in range(150):
        noise, said = planted(seed, 60, apart=0.0)
        table = judge(said, noise, n_permutations=199, seed=seed)
        of_areas.append(table.to_frame("areas")["p"][0])
        of_means.append(table.to_frame("means")["p"].drop_nans()[0])
    for ps in (of_areas, of_means):
        assert stats.kstest(ps, "uniform").pvalue > 0.001
        assert np.mean(np.array(ps) <= 0.05) < 0.12


def test_the_permutation_test_of_the_area_is_the_u_test() -> None:
    values, said = planted(3, 80, apart=0.4)
    good, poor = np.isin(said, ["model", "both"]), np.array(said) == "human"
    p = judge(said, values, n_permutations=20_000).to_frame("areas")["p"][0]
    assert p == pytest.approx(stats.mannwhitneyu(values[good], values[poor]).pvalue, abs=0.02)


def test_items_that_belong_together_are_not_permuted_one_by_one() -> None:
    values, said = planted(3, 40)
    items = pl.DataFrame(
        {"item": [f"i{k}" for k in range(40)], "pair": [k // 2 for k in range(40)]}
    )
    assert np.isnan(judge(said, values, items=items, n_permutations=99).to_frame("areas")["p"][0])


def test_both_bad_is_left_out_unless_it_is_said_to_be_poor() -> None:
    values = [3.0, 2, 1, 0, 5]
    said = ["model", "both good", "human", "both bad", "tie"]
    by_default = judge(said, values)
    assert sum(by_default.settings["set_aside"].values()) == 2
    also = judge(said, values, poor=["human", "both bad"]).settings
    assert (also["n_poor"], sum(also["set_aside"].values())) == (2, 1)
    assert judge(said, values, good=["model"], poor=["human"]).settings["n_good"] == 1
    other = judge(said, values, system="human")
    assert by_default.to_frame("areas")["value"][0] == 1.0
    assert (
        other.settings["n_good"],
        other.settings["n_poor"],
        other.to_frame("areas")["value"][0],
    ) == (2, 1, 0.0)


def test_gaps_of_a_metric() -> None:
    values, said = planted(2, 100)
    gappy = values.copy()
    gappy[::2] = np.nan
    found = judge(said, values, gappy, np.full(100, np.nan), n_boot=50).to_frame("areas")
    alone = judge(said[1::2], values[1::2]).to_frame("areas")
    assert found["value"][1] == alone["value"][0]
    assert found["reason"][2] == Cause.FEWER
    assert np.isnan(found["se_delong"][2])


def test_ratings_of_metrics_meet_verdicts_by_name() -> None:
    values, said = planted(5, 60)
    items = [f"i{k}" for k in range(60)]
    votes = Ratings(
        {"stimulus": items, "rater": ["j"] * 60, "value": said},
        scale="nominal:human,model,both,neither",
    )
    order = np.random.default_rng(0).permutation(60)
    metric = Ratings(
        {
            "stimulus": [items[k] for k in order],
            "rater": ["clip"] * 60,
            "value": values[order],
        },
        scale="interval",
    )
    ours = evaluate_preference_metrics(preferences(votes), metric, n_boot=50, seed=0).to_frame(
        "areas"
    )
    assert ours["metric"].to_list() == ["clip"]
    assert ours["value"][0] == judge(said, values).to_frame("areas")["value"][0]
    assert (
        evaluate_preference_metrics(votes, metric, n_boot=50, seed=0)
        .to_frame("areas")
        .equals(ours, null_equal=True)
    )
    other = Ratings({"stimulus": ["x"], "rater": ["clip"], "value": [1.0]}, scale="interval")
    with pytest.raises(InputError, match="share no item"):
        evaluate_preference_metrics(votes, other)
    with pytest.raises(InputError, match="what metrics say"):
        evaluate_preference_metrics(votes)


def test_input_that_cannot_be_used() -> None:
    def fails(words: str, values: Any, said: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=words):
            judge(said, values, **options)

    fails("infinite", [np.inf, 1], ["model", "human"])
    fails("expected system to name it", [1.0, 2], ["a", "b"])
    fails("unknown system 'c'", [1.0, 2], ["a", "b"], system="c")
    fails("no item is poor", [1.0, 2], ["model", "human"], poor=["neither"])
    fails("no item is good", [1.0, 2], ["human", "model"], good=["x"], poor=["human"])
    fails("both good and poor", [1.0, 2], ["a", "b"], good=["a"], poor=["a"], system="a")
    fails("n_permutations", [1.0, 2], ["model", "human"], n_permutations=-1)
    fails("confidence", [1.0, 2], ["model", "human"], confidence=2)


def test_interval_of_the_area_covers_with_few_items() -> None:
    true = float(stats.norm.cdf(1.5 / np.sqrt(2)))
    covered, n = 0, 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        good = rng.integers(0, 2, 30)
        x = rng.normal(0, 1, 30) + 1.5 * good
        said = ["model" if each else "human" for each in good]
        row = judge(said, x, n_boot=200, seed=seed).to_frame("areas").row(0, named=True)
        if np.isnan(row["low"]):
            continue
        n += 1
        covered += row["low"] <= true <= row["high"]
    # About 0.96; percentiles cover 0.90, and an interval about the area itself 0.87.
    assert n > 115
    assert covered >= 0.915 * n
