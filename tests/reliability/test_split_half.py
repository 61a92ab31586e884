"""Split-half correlation: slow twin, recovery, collapse, hostile input."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import split_half, subject_model
from affectlab.reliability.agreement import Half
from affectlab.reliability.agreement.wording import HALF_SCORES, IN_BOTH_HALVES, collapsed_halves
from affectlab.reliability.rank_correlation_kernels import rank_correlation

NAN = np.nan


def simulate(n_stimuli: int, sds: list[float], seed: int = 0, present: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    sd = np.array(sds)[:, None]
    matrix = rng.uniform(0, 100, n_stimuli) + rng.normal(0, 6, sd.shape)
    matrix = matrix + sd * rng.standard_normal(matrix.shape)
    matrix[rng.random(matrix.shape) >= present] = NAN
    return matrix


class _Recorder:
    """A scorer that keeps the halves it gets, and gives means."""

    def __init__(self) -> None:
        self.halves: list[np.ndarray] = []

    def __call__(self, half: Half) -> np.ndarray:
        matrix = np.full((half.n_raters, half.n_stimuli), NAN)
        matrix[half.rater, half.stimulus] = half.value
        self.halves.append(matrix)
        n = np.bincount(half.stimulus, minlength=half.n_stimuli)
        total = np.bincount(half.stimulus, half.value, half.n_stimuli)
        return np.divide(total, n, out=np.full(n.size, NAN), where=n > 0)


@pytest.mark.parametrize("scorer", ["mean", "reml", "p910"])
def test_equals_the_slow_way(scorer: str) -> None:
    """The halves of the same seed, scored one by one and correlated by scipy."""
    matrix = simulate(120, [4, 6, 8, 10, 12, 5, 7, 9, 11, 25, 6, 8, 10, 12, 5, 7], present=0.9)
    recorder = _Recorder()
    split_half(matrix, scorer=recorder, n_splits=6, seed=3, target="sample")
    rhos = []
    for first, second in zip(recorder.halves[::2], recorder.halves[1::2], strict=True):
        if scorer == "mean":
            scores = [np.nanmean(half, axis=0) for half in (first, second)]
        else:
            scores = [
                subject_model(half, method=scorer).to_frame()["value"].to_numpy()  # type: ignore[arg-type]
                for half in (first, second)
            ]
        rhos.append(spearmanr(*scores).statistic)
    found = split_half(matrix, scorer=scorer, n_splits=6, seed=3)
    assert found["rating"].value == pytest.approx(np.mean(rhos), abs=1e-9)
    assert found.frame["sd_splits"][0] == pytest.approx(np.std(rhos, ddof=1), abs=1e-9)


def test_interval_comes_from_leaving_out() -> None:
    """Stimuli from the correlation of the same scores, few raters with halves dealt anew."""
    matrix = simulate(30, [14, 16, 18, 20, 30])
    recorder = _Recorder()
    split_half(matrix, scorer=recorder, n_splits=6, seed=3, target="sample")
    pairs = list(zip(recorder.halves[::2], recorder.halves[1::2], strict=True))
    scores = [[np.nanmean(half, axis=0) for half in pair] for pair in pairs]
    without = [
        np.mean([spearmanr(*(np.delete(side, u) for side in pair)).statistic for pair in scores])
        for u in range(30)
    ]
    of_stimuli = math.sqrt(29) * np.std(without)
    found = {
        target: split_half(matrix, scorer="mean", n_splits=6, seed=3, target=target)["rating"]
        for target in ("stimuli", "raters", "both")
    }
    assert found["stimuli"].se == pytest.approx(of_stimuli)
    options = {"scorer": "mean", "n_splits": 400, "target": "sample"}
    without = [
        split_half(np.delete(matrix, r, axis=0), seed=r, **options)["rating"].value
        for r in range(5)
    ]
    assert found["raters"].se == pytest.approx(math.sqrt(4) * np.std(without), rel=0.3)
    assert found["both"].se == pytest.approx(math.hypot(of_stimuli, found["raters"].se))
    assert found["both"].target == "both"
    # Of many raters, the halves stay as they are but for one of them.
    many = simulate(30, [20] * 12)
    one_out = split_half(many, scorer="mean", n_splits=6, seed=3, target="raters")["rating"]
    assert 0 < one_out.se < found["raters"].se


def test_halves_are_equal_and_share_nothing() -> None:
    matrix = simulate(50, [5.0] * 9, present=0.8)
    recorder = _Recorder()
    split_half(matrix, scorer=recorder, n_splits=40, seed=0, target="sample")
    n = (~np.isnan(matrix)).sum(axis=0)
    left_out = np.zeros_like(matrix)
    for first, second in zip(recorder.halves[::2], recorder.halves[1::2], strict=True):
        in_first, in_second = ~np.isnan(first), ~np.isnan(second)
        assert not (in_first & in_second).any()
        assert (in_first.sum(axis=0) == n // 2).all()
        assert (in_second.sum(axis=0) == n // 2).all()
        np.testing.assert_array_equal(first[in_first], matrix[in_first])
        np.testing.assert_array_equal(second[in_second], matrix[in_second])
        left_out += ~in_first & ~in_second & ~np.isnan(matrix)
    assert (left_out.sum(axis=0) == 40 * (n % 2)).all()
    # The odd one is a random one, not always the last.
    odd = n % 2 == 1
    assert (left_out[:, odd] > 0).sum(axis=0).min() > 3


def test_every_half_is_as_likely() -> None:
    """All 20 ways to take 3 of 6, by a chi-squared of 19 degrees of freedom."""
    recorder = _Recorder()
    matrix = np.tile(np.arange(6.0)[:, None], (1, 200))
    split_half(matrix, scorer=recorder, n_splits=50, seed=1, target="sample")
    codes = [(~np.isnan(half)).T @ (1 << np.arange(6)) for half in recorder.halves[::2]]
    _, counts = np.unique(np.concatenate(codes), return_counts=True)
    assert counts.size == 20
    expected = 10_000 / 20
    assert ((counts - expected) ** 2 / expected).sum() < 43.8


def test_recovers_the_reliability_of_half_the_raters() -> None:
    """Parallel ratings: rho of half panels, and Spearman-Brown that of whole ones."""
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 20, 4000)
    panels = truth + rng.normal(0, 30, (2, 12, 4000))
    found = split_half(panels[0], scorer="mean", seed=0)
    whole = spearmanr(*panels.mean(axis=1)).statistic
    assert found["rating"].value == pytest.approx(20**2 / (20**2 + 30**2 / 6), abs=0.02)
    assert found.to_frame()["corrected"][0] == pytest.approx(whole, abs=0.01)
    assert found["rating"].value < whole - 0.05


def test_collapse_is_counted() -> None:
    matrix = simulate(100, [4, 6, 8, 10, 12, 9])
    found = split_half(matrix, scorer="p910", n_splits=10, seed=0)
    assert found.to_frame()["collapsed"][0] > 10
    assert collapsed_halves(found.to_frame()["collapsed"][0], 20) in found["rating"].options
    sound = split_half(matrix, scorer="reml", n_splits=10, seed=0)
    assert sound.to_frame()["collapsed"][0] == 0
    assert len(sound["rating"].options) == len(found["rating"].options) - 1
    assert sound["rating"].value > found["rating"].value


def test_reml_discounts_a_guessing_rater() -> None:
    matrix = simulate(200, [6, 6, 6, 6, 6, 6, 60, 60])
    reml, mean = (
        split_half(matrix, scorer=name, n_splits=20, seed=0)["rating"].value
        for name in ("reml", "mean")
    )
    assert reml > mean + 0.02


def test_rounds_that_run_out_are_counted() -> None:
    matrix = simulate(100, [4, 6, 8, 10, 12, 9])
    frame = split_half(matrix, scorer="p910", n_splits=5, seed=0, max_iter=2).to_frame()
    assert frame["not_converged"][0] == 10


@pytest.mark.long
def test_labels_apart_and_together() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"s{s}", f"r{r}", label, float(s % 8 + rng.normal(0, noise)))
        for label, noise in (("joy", 0.5), ("fear", 8.0))
        for s in range(40)
        for r in range(6)
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    ratings = Ratings(frame, scale="interval")
    apart = split_half(ratings, seed=0)
    assert apart["joy"].value > 0.9 > apart["fear"].value
    assert apart["joy"].n_items == 40
    together = split_half(ratings, seed=0, by_label=False)
    assert together["all"].n_items == 80


def test_a_rater_counts_once_per_stimulus() -> None:
    """Repeats of the same rater in both halves would pass for agreement."""
    matrix = simulate(60, [5, 6, 7, 8])
    rater, stimulus = np.indices(matrix.shape).reshape(2, -1)
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{code:02d}" for code in stimulus],
            "rater": [f"r{code}" for code in rater],
            "value": matrix.ravel(),
        }
    )
    once = split_half(Ratings(frame.with_columns(trial=1), scale="interval"), seed=0).frame
    twice = pl.concat([frame.with_columns(trial=1), frame.with_columns(trial=2)])
    assert split_half(Ratings(twice, scale="interval"), seed=0).frame.equals(once)


FEW = Reason(Cause.FEWER, least=2, of=IN_BOTH_HALVES)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[1.0, 2.0, 3.0]], FEW),
        ([[1.0, NAN], [NAN, 2.0]], FEW),
        ([[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]], Reason(Cause.CONSTANT, of=HALF_SCORES)),
    ],
)
def test_undefined(matrix: list[list[float]], reason: Reason) -> None:
    found = split_half(matrix, scorer="mean", n_splits=4, seed=0)["rating"]
    assert np.isnan(found.value)
    assert found.reason == reason


def test_same_seed_same_bytes() -> None:
    matrix = simulate(300, [5, 6, 7, 8, 9, 10], present=0.9)
    one, other, third = (split_half(matrix, n_splits=6, seed=seed).to_frame() for seed in (1, 1, 2))
    assert one.equals(other)
    assert not one.equals(third)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": "median"}, "unknown scorer 'median'; did you mean 'mean'"),
        ({"n_splits": 0}, "n_splits = 0: expected a whole number from 1"),
        ({"scorer": lambda half: half.value}, "the scorer gave an array of shape"),
        ({"confidence": 2}, "confidence 2"),
    ],
)
def test_options_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        split_half(simulate(10, [5, 6, 7, 8]), seed=0, **options)  # type: ignore[arg-type]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.one_of(st.integers(0, 5), st.floats(-9, 9))), max_size=30
    )
)
def test_rank_correlation_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T.copy()
    found = rank_correlation(x, y, np.argsort(x), np.argsort(y))
    if np.unique(x).size < 2 or np.unique(y).size < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.long
def test_small_panels_have_a_number() -> None:
    """Fits of halves of few binary answers may drift without an end; none may stop the rest."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        answers = (rng.random((5, 13)) < 0.5).astype(float)
        answers[rng.random(answers.shape) < 0.3] = np.nan
        assert split_half(answers, n_splits=20, seed=1)["rating"].ok
    shifted = np.tile([1.0, 2, 3, 4, 5, 1, 2, 3], (4, 1)) + np.arange(4)[:, None]
    assert split_half(shifted, n_splits=20, seed=1)["rating"].value > 0.9
