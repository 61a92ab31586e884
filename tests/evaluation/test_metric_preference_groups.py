"""Intervals of areas: few groups, areas at the edge, and the best of many metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from affectlab.core.inference import expanded, few_units
from affectlab.evaluation import evaluate_preference_metrics
from affectlab.evaluation.preference.areas import edge_interval


def verdicts(machine: int, human: int, both: int, bad: int = 0) -> dict[str, str]:
    said = ["machine"] * machine + ["human"] * human + ["both good"] * both + ["both bad"] * bad
    order = np.random.default_rng(7).permutation(len(said))
    return {f"i{k:03d}": said[at] for k, at in enumerate(order)}


def table(said: dict[str, str], **scores: Any) -> dict[str, list[Any]]:
    """Make a long table of scores, each an array or a number by verdict."""
    rows: dict[str, list[Any]] = {"item": [], "metric": [], "score": []}
    for metric, values in scores.items():
        rows["item"] += list(said)
        rows["metric"] += [metric] * len(said)
        rows["score"] += list(map(float, values))
    return rows


def planted(seed: int, n: int = 200, *, apart: float, shared: float = 0.0) -> tuple[Any, Any, Any]:
    """Items, three to a pair; with `shared`, items of a pair share a part of both."""
    rng = np.random.default_rng(seed)
    pair = np.arange(n) // 3
    drawn = rng.normal(size=n) + shared * rng.normal(size=n)[pair]
    good = drawn > 0.4
    score = rng.normal(size=n) + shared * rng.normal(size=n)[pair] + apart * good
    said = dict(zip([f"i{k}" for k in range(n)], np.where(good, "model", "human"), strict=True))
    return {k: str(v) for k, v in said.items()}, score, [f"p{k}" for k in pair]


def test_intervals_have_the_size_of_theory() -> None:
    said, score, _ = planted(4, 300, apart=0.6)
    found = evaluate_preference_metrics(said, table(said, m=score), n_boot=400, seed=0)
    row = found.to_frame("areas").to_dicts()[0]
    good = np.array([verdict == "model" for verdict in said.values()])
    u = stats.mannwhitneyu(score[good], score[~good])
    assert row["value"] == pytest.approx(u.statistic / (good.sum() * (~good).sum()))
    a = row["value"]
    # Hanley and McNeil (1982).
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    m, n = int(good.sum()), int((~good).sum())
    se = np.sqrt((a * (1 - a) + (m - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)) / (m * n))
    assert row["se"] == pytest.approx(se, rel=0.15)


def test_intervals_cover_also_with_few_groups() -> None:
    """Six groups of six: with a normal quantile about 89 of 100 intervals hold the truth."""
    rng = np.random.default_rng(0)

    def one(n_groups: int) -> tuple[Any, Any, Any]:
        group = np.repeat(np.arange(n_groups), 6)
        good = rng.normal(size=group.size) + rng.normal(size=n_groups)[group] > 0.2
        score = rng.normal(size=group.size) + rng.normal(size=n_groups)[group] + 0.7 * good
        return group, good, score

    _, good, score = one(20_000)
    truth, hits, runs = float(roc_auc_score(good, score)), 0, 150
    for seed in range(runs):
        group, good, score = one(6)
        said = {f"i{k}": "model" if side else "human" for k, side in enumerate(good)}
        scores = {**table(said, m=score), "pair": [f"p{k}" for k in group]}
        row = (
            evaluate_preference_metrics(said, scores, cluster="pair", n_boot=120, seed=seed)
            .to_frame("areas")
            .to_dicts()[0]
        )
        hits += row["low"] <= truth <= row["high"]
    assert hits / runs > 0.93


def test_few_groups_widen_as_a_t_distribution_does() -> None:
    for n in (2, 5, 40):
        widened = few_units(0.9, n) * stats.norm.ppf(0.95)
        assert widened == pytest.approx(stats.t.ppf(0.95, n - 1) * np.sqrt(n / (n - 1)))
        tail = max(stats.norm.cdf(-widened), 5e-10)
        assert (1 - expanded(0.9, n)) / 2 == pytest.approx(tail, rel=1e-6)
    assert few_units(0.95, 10**6) == pytest.approx(1, abs=1e-5)


def test_a_metric_that_never_errs_is_said_to_see_where_there_are_enough() -> None:
    for n, verdict in ((2, "does not show that it sees"), (12, "sees")):
        said = {f"g{k}": "model" for k in range(n)} | {f"p{k}": "human" for k in range(n)}
        score = np.arange(2 * n)[::-1]
        found = evaluate_preference_metrics(said, table(said, m=score, w=-score), n_boot=50, seed=0)
        row, turned = found.to_frame("areas").to_dicts()
        assert (row["value"], row["high"], row["verdict"]) == (1.0, 1.0, verdict)
        assert 0 < row["low"] < 1
        assert (turned["low"], turned["high"]) == (0.0, pytest.approx(1 - row["low"]))
    # Items of one group are no cases of their own.
    scores = {**table(said, m=score), "pair": ["x"] * (2 * n)}
    alone = evaluate_preference_metrics(said, scores, cluster="pair", n_boot=50, seed=0)
    assert alone.to_frame("areas")["verdict"][0] == "does not show that it sees"


@pytest.mark.parametrize(("good", "poor"), [(3, 3), (5, 40), (100, 60)])
def test_the_interval_of_an_area_of_one_is_that_of_a_grid(good: int, poor: int) -> None:
    theta = np.linspace(0, 1, 200_001)
    n = (good + poor) / 2
    variance = theta * (1 - theta) / (good * poor)
    variance *= 1 + (n - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    kept = theta[1 - theta <= stats.norm.ppf(0.975) * np.sqrt(variance)]
    assert edge_interval(1.0, good, poor, 0.95)[0] == pytest.approx(kept.min(), abs=1e-5)
    assert np.isnan(edge_interval(0.9, good, poor, 0.95)).all()


@pytest.mark.long
def test_the_best_of_many_metrics_is_not_simply_said_to_see() -> None:
    found = None
    for seed in range(60):
        rng = np.random.default_rng(seed)
        said = {f"i{k}": "model" if rng.random() < 0.5 else "human" for k in range(80)}
        blind = {f"m{m}": rng.normal(size=80) for m in range(8)}
        found = evaluate_preference_metrics(said, table(said, **blind), n_boot=100, seed=0)
        rows = found.to_frame("areas").to_dicts()
        lucky = [row for row in rows if row["verdict"] == "sees" and row["all_low"] < 0.5]
        if lucky:
            break
    assert found is not None
    sentence = next(s for s in found.sentences if s.startswith(f"{lucky[0]['metric']}:"))
    assert "though not with simultaneous intervals of 8 metrics" in sentence
    differences = [s for s in found.sentences if s.startswith("AUC of")]
    assert all("simultaneous interval of 28" in s for s in differences)
    for row, sentence in zip(found.to_frame("differences").to_dicts(), differences, strict=True):
        # What is said and the ends beside it agree.
        shown = row["all_low"] > 0 or row["all_high"] < 0
        assert shown != sentence.endswith("no difference is shown.")


@pytest.mark.wording
def test_few_groups_are_said_to_be_few_also_with_many_items() -> None:
    said, score, _ = planted(0, 120, apart=0.5)
    scores = {**table(said, m=score), "pair": [f"p{k % 6}" for k in range(120)]}
    found = evaluate_preference_metrics(said, scores, cluster="pair", n_boot=50, seed=0)
    assert "With fewer than 10 groups with good or poor ones" in " ".join(found.sentences)
    apart = evaluate_preference_metrics(said, table(said, m=score), n_boot=50, seed=0)
    assert not any("are rough" in sentence for sentence in apart.sentences)
