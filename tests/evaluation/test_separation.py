"""Does a metric see what people prefer: areas under the curve, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from affectlab.core.errors import InputError
from affectlab.evaluation import metric_sees_preference, preferences
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
    weights = rng.multinomial(n, [1 / n] * n, 20).astype(float)
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


def test_intervals_of_bootstrap_and_delong_agree_and_cover() -> None:
    truth = float(stats.norm.cdf(0.8 / np.sqrt(2)))
    hits = checks = 0
    for seed in range(100):
        values, said = planted(seed, 150)
        found = metric_sees_preference(said, values, n_boot=200, n_permutations=0, seed=seed)
        one, check = found["0", "auc"], found["0", "auc_delong"]
        assert one.value == check.value
        hits += one.low <= truth <= one.high
        checks += check.low <= truth <= check.high
    assert 0.87 <= hits / 100 <= 1
    assert 0.87 <= checks / 100 <= 1
    assert one.se == pytest.approx(check.se, rel=0.25)


def test_means_and_permutation_tests() -> None:
    values, said = planted(1)
    found = metric_sees_preference(said, values, names=["clip"], n_boot=100, seed=0)
    rows = {r["statistic"]: r for r in found.to_frame().to_dicts()}
    good, poor = np.isin(said, ["model", "both"]), np.array(said) == "human"
    assert rows["mean_good"]["value"] == pytest.approx(values[good].mean())
    assert rows["difference"]["value"] == pytest.approx(values[good].mean() - values[poor].mean())
    assert (rows["auc"]["n_good"], rows["auc"]["n_poor"]) == (good.sum(), poor.sum())
    assert rows["auc"]["n_left_out"] == said.count("neither")
    assert rows["auc"]["p"] == 1e-4
    for statistic in ("auc", "difference"):
        ps = []
        for seed in range(150):
            noise, said = planted(seed, 60, apart=0.0)
            table = metric_sees_preference(said, noise, n_permutations=199, seed=seed).to_frame()
            ps.append(table.filter(table["statistic"] == statistic)["p"][0])
        assert stats.kstest(ps, "uniform").pvalue > 0.001
        assert np.mean(np.array(ps) <= 0.05) < 0.12


def test_the_permutation_test_of_the_area_is_the_u_test() -> None:
    values, said = planted(3, 80, apart=0.4)
    good, poor = np.isin(said, ["model", "both"]), np.array(said) == "human"
    found = metric_sees_preference(said, values, n_permutations=20_000, seed=0).to_frame()
    theirs = stats.mannwhitneyu(values[good], values[poor]).pvalue
    assert found["p"][0] == pytest.approx(theirs, abs=0.02)


def test_both_bad_is_left_out_unless_it_is_said_to_be_poor() -> None:
    values = [3.0, 2, 1, 0, 5]
    said = ["model", "both good", "human", "both bad", "tie"]
    by_default = metric_sees_preference(said, values).to_frame()
    assert by_default["n_left_out"][0] == 2
    also = metric_sees_preference(said, values, poor=["human", "both bad"]).to_frame()
    assert (also["n_poor"][0], also["n_left_out"][0]) == (2, 1)
    alone = metric_sees_preference(said, values, good=["model"], poor=["human"]).to_frame()
    assert alone["n_good"][0] == 1
    other = metric_sees_preference(said, values, system="human").to_frame()
    assert by_default["value"][0] == 1.0
    assert (other["n_good"][0], other["n_poor"][0], other["value"][0]) == (2, 1, 0.0)


def test_gaps_of_a_metric() -> None:
    values, said = planted(2, 100)
    gappy = np.stack([values, values])
    gappy[1, ::2] = np.nan
    gappy = np.vstack([gappy, np.full(100, np.nan)])
    found = metric_sees_preference(said, gappy, names=["a", "b", "c"], n_boot=50, seed=0)
    alone = metric_sees_preference(said[1::2], values[1::2])
    assert found["b", "auc"].value == alone["0", "auc"].value
    assert found["c", "auc"].status.startswith("undefined: no good or no poor item")
    assert found["c", "auc_delong"].status != "ok"


def test_perfect_separation_has_no_delong_interval() -> None:
    found = metric_sees_preference(["model", "model", "human", "human"], [3.0, 4, 1, 2])
    one = found["0", "auc_delong"]
    assert one.value == 1
    assert np.isnan(one.low)
    assert "no interval" in one.method


def test_ratings_of_metrics_meet_verdicts_by_name() -> None:
    values, said = planted(5, 60)
    items = [f"i{k}" for k in range(60)]
    votes = Ratings(
        {"stimulus": items, "rater": ["j"] * 60, "value": said},
        scale="nominal:human,model,both,neither",
    )
    found = preferences(votes)
    order = np.random.default_rng(0).permutation(60)
    metric = Ratings(
        {
            "stimulus": [items[k] for k in order],
            "rater": ["clip"] * 60,
            "value": values[order],
        },
        scale="interval",
    )
    ours = metric_sees_preference(found, metric, n_boot=50, seed=0)
    plain = metric_sees_preference(said, values, names=["clip"], n_boot=50, seed=0)
    assert ours["clip", "auc"].value == plain["clip", "auc"].value
    other = Ratings({"stimulus": ["x"], "rater": ["clip"], "value": [1.0]}, scale="interval")
    with pytest.raises(InputError, match="share no item"):
        metric_sees_preference(found, other)
    with pytest.raises(InputError, match="verdicts from preferences"):
        metric_sees_preference(said, metric)


def test_input_that_cannot_be_used() -> None:
    def fails(words: str, values: Any, said: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=words):
            metric_sees_preference(said, values, **options)

    fails("2 values and 1 verdicts", [1.0, 2], ["model"])
    fails("one word", [1.0], "model")
    fails("infinite", [np.inf, 1], ["model", "human"])
    fails("array of numbers", ["x", "y"], ["model", "human"])
    fails("expected system to name it", [1.0, 2], ["a", "b"])
    fails("unknown system 'c'", [1.0, 2], ["a", "b"], system="c")
    fails("no verdict is poor", [1.0, 2], ["model", "both"])
    fails("no verdict is good", [1.0, 2], ["human", "neither"], good=["x"], poor=["human"])
    fails("no verdict is poor", [1.0, 2], ["model", "neither"])
    fails("both good and poor", [1.0, 2], ["a", "b"], good=["a"], poor=["a"])
    fails("different names", [[1.0, 2], [2, 3]], ["model", "human"], names=["x", "x"])
    fails("n_permutations", [1.0, 2], ["model", "human"], n_permutations=-1)
    fails("confidence", [1.0, 2], ["model", "human"], confidence=2)


def test_interval_of_the_area_covers_with_few_items():
    from scipy.stats import norm

    true = float(norm.cdf(1.5 / np.sqrt(2)))
    covered, delong, n = 0, 0, 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        good = rng.integers(0, 2, 30)
        x = rng.normal(0, 1, 30) + 1.5 * good
        said = ["model" if each else "human" for each in good]
        found = metric_sees_preference(said, x, n_boot=200, n_permutations=0, seed=seed)
        if np.isnan(found["0", "auc"].low):
            continue
        n += 1
        covered += found["0", "auc"].low <= true <= found["0", "auc"].high
        delong += found["0", "auc_delong"].low <= true <= found["0", "auc_delong"].high
        assert 0 < found["0", "auc"].low < found["0", "auc"].value < found["0", "auc"].high < 1
    # About 0.96; percentiles cover 0.90, and an interval about the area itself 0.87.
    assert n > 115
    assert covered >= 0.915 * n
    assert delong >= 0.915 * n
