"""Scales of systems from pairwise choices, against choix, evalica and statsmodels."""

from __future__ import annotations

from typing import Any

import choix
import evalica
import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.evaluation import preference_scale
from affectlab.evaluation.preference.scale import chance_of_win, connected, why_undefined
from affectlab.ratings import Ratings

Floats = NDArray[np.float64]


def strengths(wins: Any, **options: Any) -> Floats:
    scale = preference_scale(wins, **options)
    place = dict(scale.to_frame().select("system", "value").iter_rows())
    return np.array([place[str(k)] for k in range(len(place))])


def games(wins: Any) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(wins) for j, n in enumerate(row) for _ in range(int(n))]
    return [i for i, _ in cells], [j for _, j in cells]


def random_wins(seed: int, k: int) -> Floats:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 12, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


# Each example takes both libraries half a second.
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_bradley_terry_equals_choix_and_evalica(seed: int, k: int) -> None:
    wins = random_wins(seed, k)
    won, lost = games(wins)
    theirs = evalica.bradley_terry(
        won, lost, [evalica.Winner.X] * len(won), tolerance=1e-13, limit=100_000
    ).scores
    log = np.log([theirs[k] for k in sorted(theirs.index)])
    assert strengths(wins) == pytest.approx(log - log.mean(), abs=1e-5)
    assert strengths(wins) == pytest.approx(choix.ilsr_pairwise_dense(wins), abs=1e-6)


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_both_models_equal_a_regression(model: str) -> None:
    wins = random_wins(3, 4)
    won, lost = games(wins)
    design = np.zeros((len(won), 4))
    design[np.arange(len(won)), won] += 1
    design[np.arange(len(won)), lost] -= 1
    links = {
        "bradley-terry": sm.families.links.Logit(),
        "thurstone": sm.families.links.Probit(),
    }
    both = np.vstack([design, -design])[:, :3]
    outcome = np.repeat([1.0, 0.0], len(won))
    fit = sm.GLM(outcome, both, family=sm.families.Binomial(links[model])).fit()
    theirs = np.append(fit.params, 0)
    assert strengths(wins, model=model) == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def arena(seed: int, truth: dict[str, float], items: int, judges: int, ties: float) -> Ratings:
    rng = np.random.default_rng(seed)
    names = list(truth)
    rows, stimuli = [], []
    for item in range(items):
        a, b = rng.choice(len(names), 2, replace=False)
        stimuli.append((f"i{item}", names[a], names[b]))
        p = 1 / (1 + np.exp(-(truth[names[a]] - truth[names[b]])))
        for judge in range(judges):
            choice = "both" if rng.random() < ties else "A" if rng.random() < p else "B"
            rows.append((f"i{item}", f"j{judge}", choice))
    table = {
        name: [row[k] for row in rows] for k, name in enumerate(("stimulus", "rater", "value"))
    }
    about = {name: [row[k] for row in stimuli] for k, name in enumerate(("stimulus", "A", "B"))}
    return Ratings(table, scale="nominal:A,B,both,neither", stimuli=about)


def test_a_planted_scale_is_recovered_and_covered() -> None:
    truth = {"human": 1.2, "large": 0.4, "small": -0.4, "tiny": -1.2}
    hits, errors = [], []
    for seed in range(12):
        ratings = arena(seed, truth, 300, 3, ties=0.0)
        scale = preference_scale(ratings, n_boot=200, seed=seed)
        for name, value in truth.items():
            one = scale[name]
            hits.append(one.low <= value <= one.high)
            errors.append(one.value - value)
        assert scale.to_frame()["system"].to_list() == list(truth)
    assert np.mean(hits) >= 0.85
    assert abs(np.mean(errors)) < 0.02
    assert np.std(errors) < 0.15


def wins_of(scale: Any) -> float:
    """Count wins, where a tie is half a win for both."""
    return float(scale.to_frame().select(pl.col("wins") + pl.col("ties") / 2).to_series().sum())


def test_ties_count_half_or_not_at_all() -> None:
    truth = {"a": 0.5, "b": 0.0, "c": -0.5}
    ratings = arena(1, truth, 100, 4, ties=0.3)
    half, dropped = preference_scale(ratings), preference_scale(ratings, ties="drop")
    assert half["a"].value < dropped["a"].value
    frame = half.to_frame()
    assert frame["wins"].sum() == frame["losses"].sum()
    assert frame["ties"].sum() == 2 * int((ratings.value == 2).sum())
    assert wins_of(half) == 400
    assert dropped.to_frame()["wins"].sum() == 400 - (ratings.value == 2).sum()


def test_where_there_is_no_scale() -> None:
    champion = [[0, 5, 5], [0, 0, 3], [0, 2, 0]]
    scale = preference_scale(champion, systems=["a", "b", "c"])
    assert np.isnan(scale["a"].value)
    assert scale["b"].status.startswith("undefined: a never lost to the others")
    regular = preference_scale(champion, systems=["a", "b", "c"], prior=0.5)
    assert regular["a"].value > 1
    assert "0.5 wins beforehand" in regular["a"].method
    apart = preference_scale([[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 4], [0, 0, 1, 0]])
    assert "2 groups of systems were never compared" in apart["0"].status
    assert preference_scale(champion, prior=0.5, model="thurstone")["0"].value > 0.5


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 7), share=st.floats(0.1, 0.9))
def test_the_two_checks_of_connection_agree(seed: int, k: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    wins = (rng.random((k, k)) < share) * rng.integers(1, 4, (k, k)).astype(float)
    np.fill_diagonal(wins, 0)
    names = tuple(map(str, range(k)))
    assert connected(wins) == (why_undefined(wins, names) == "")
    if connected(wins):
        for model in ("bradley-terry", "thurstone"):
            found = strengths(wins, model=model)
            # At the maximum every system wins as often as the scale expects.
            chance = chance_of_win(found[:, None] - found, model)
            played = wins + wins.T
            if model == "bradley-terry":
                assert (played * chance).sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-4)
            assert found.mean() == pytest.approx(0, abs=1e-9)


def test_replicates_without_a_scale_are_counted() -> None:
    scale = preference_scale([[0, 9], [1, 0]], n_boot=300, seed=0)
    assert "without a scale" in scale["0"].method
    assert "no interval" in scale["0"].method
    assert np.isnan(scale["0"].low)
    steady = preference_scale([[0, 9], [1, 0]], n_boot=300, seed=0, prior=0.5)
    assert steady["0"].low > 0


def test_pairs_compare_strengths() -> None:
    wins = [[0, 40, 45], [20, 0, 40], [15, 20, 0]]
    scale = preference_scale(wins, systems=["a", "b", "c"], n_boot=400, seed=0)
    frame = scale.to_frame("pairs")
    one = frame.row(0, named=True)
    assert (one["system"], one["other"]) == ("a", "b")
    assert one["difference"] == pytest.approx(scale["a"].value - scale["b"].value)
    assert one["value"] == pytest.approx(1 / (1 + np.exp(-one["difference"])))
    assert one["observed"] == pytest.approx(2 / 3)
    assert one["low"] < one["value"] < one["high"]
    assert frame.filter(frame["other"] == "c")["p"].max() < 0.05
    assert scale.to_frame()["first"][0] > 0.9
    once = preference_scale(wins, n_boot=50, seed=2).to_frame()
    assert once.equals(preference_scale(wins, n_boot=50, seed=2).to_frame())


def test_input_that_cannot_be_used() -> None:
    def fails(words: str, data: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=words):
            preference_scale(data, **options)

    fails("shape", [[0, 1, 2], [1, 0, 2]])
    fails("array of numbers", [["x", 1], [1, 0]])
    fails("whole numbers", [[0, 1.5], [1, 0]])
    fails("whole numbers", [[0, -1], [1, 0]])
    fails("diagonal", [[1, 1], [1, 0]])
    fails("no win", [[0, 0], [0, 0]])
    fails("2 different names", [[0, 1], [1, 0]], systems=["a", "a"])
    fails("unknown model", [[0, 1], [1, 0]], model="elo")
    fails("unknown ties", [[0, 1], [1, 0]], ties="count")
    fails("prior", [[0, 1], [1, 0]], prior=-1)
    fails("prior", [[0, 1], [1, 0]], prior=float("nan"))
    fails("two or more judges", [[0, 1], [1, 0]], target="both")
    ratings = arena(0, {"a": 0.0, "b": 0.0}, 5, 2, ties=0.0)
    fails("ratings name their systems", ratings, systems=["a", "b"])
    fails("n_boot", ratings, n_boot=-1)
