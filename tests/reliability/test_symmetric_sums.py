"""Moments of pairs against every pair, analysis of variance, and full refits by likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from affectlab import Ratings
from affectlab.core.facts import Cause, Reason
from affectlab.core.statistic import Draws
from affectlab.reliability import intraclass_correlation, variance_components
from affectlab.reliability.components.symmetric_sums import (
    CrossedSums,
    FacetSums,
    far_from_normal,
)

Floats = NDArray[np.float64]


def sparse(seed: int, n: int = 12, k: int = 6, share: float = 0.6) -> tuple[Floats, ...]:
    """Stimulus, rater and value of the answers of a table with gaps."""
    rng = np.random.default_rng(seed)
    stimulus, rater = np.nonzero(rng.random((n, k)) < share)
    value = rng.normal(0, 1, n)[stimulus] + rng.normal(0, 0.5, k)[rater]
    return stimulus, rater, value + rng.normal(0, 1, stimulus.size)


def by_every_pair(stimulus, rater, value, w: Floats, v: Floats) -> list[float]:
    """Mean half squared differences, with stimuli that count w and raters that count v times."""
    i, j = np.triu_indices(value.size, 1)
    apart, same_s, same_r = (
        (value[i] - value[j]) ** 2 / 2,
        stimulus[i] == stimulus[j],
        rater[i] == rater[j],
    )
    both = w[stimulus[i]] * v[rater[i]] * w[stimulus[j]] * v[rater[j]]

    def within(same, code, pairs, own, other_code, other) -> float:
        total = count = 0.0
        for level in np.unique(code):
            chosen = same & (code[i] == level)
            weight = pairs[chosen]
            if weight.sum() > 0:
                n = own[level] * other[other_code[code == level]].sum()
                total += n * (weight @ apart[chosen]) / weight.sum()
                count += n
        return total / count if count else np.nan

    def mean(chosen) -> float:
        weight = both[chosen].sum()
        return both[chosen] @ apart[chosen] / weight if weight else np.nan

    return [
        within(same_s, stimulus, v[rater[i]] * v[rater[j]], w, rater, v),
        within(same_r, rater, w[stimulus[i]] * w[stimulus[j]], v, stimulus, w),
        mean(~same_s),
        mean(~same_s & ~same_r),
    ]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_weights_are_those_of_every_pair(seed: int) -> None:
    """Also of several stimuli left out at once, as clusters are, and of some drawn twice."""
    stimulus, rater, value = sparse(seed)
    rng = np.random.default_rng(seed)
    sums = CrossedSums.of([stimulus, stimulus], [rater, rater], [value, value**2], 12, 6)
    rows = np.array([[np.ones(12), rng.integers(0, 2, 12), rng.integers(0, 4, 12)]])[0]
    raters = np.array([rng.integers(0, 3, 6), np.ones(6), rng.integers(0, 2, 6)])
    for w, v in ((rows, None), (None, raters), (rows, raters)):
        found = np.stack(sums(Draws(3, stimulus=w, rater=v)))
        for row in range(3):
            of_w = np.ones(12) if w is None else w[row]
            of_v = np.ones(6) if v is None else v[row]
            for label, own in enumerate((value, value**2)):
                wanted = by_every_pair(stimulus, rater, own, of_w, of_v)
                np.testing.assert_allclose(found[:, row, label], wanted, rtol=1e-9, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_one_left_out_is_a_weight_of_zero(seed: int) -> None:
    stimulus, rater, value = sparse(seed)
    sums = CrossedSums.of([stimulus], [rater], [value], 12, 6)
    fast = np.stack(sums(Draws(12, without=np.arange(12))))
    np.testing.assert_allclose(fast, np.stack(sums(Draws(12, stimulus=1 - np.eye(12)))), rtol=1e-9)
    fast = np.stack(sums(Draws(6, rater=1 - np.eye(6))))
    slow = sums._weighted(Draws(6, rater=1 - np.eye(6)))
    np.testing.assert_allclose(fast, np.stack(slow), rtol=1e-9)


def test_complete_tables_are_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(0, 1, (20, 1)) + rng.normal(0, 1, (1, 5)) + rng.normal(0, 1, (20, 5))
    stimulus, rater = (part.ravel() for part in np.indices(table.shape))
    left = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    rest = (left**2).sum() / (19 * 4)
    wanted = [
        table.mean(1).var(ddof=1) - rest / 5,
        table.mean(0).var(ddof=1) - rest / 20,
        rest,
    ]
    value = table.ravel()
    crossed = CrossedSums.of([stimulus], [rater], [value], 20, 5).whole.components
    np.testing.assert_allclose(np.ravel(crossed), wanted)
    levels = {"stimulus": stimulus, "rater": rater}
    facets = FacetSums(levels, value - value.mean(), stimulus, rater)
    np.testing.assert_allclose(facets(Draws(1), 20)[0], wanted)


def test_three_facets_are_told_apart() -> None:
    """On average over studies with gaps, whatever the distribution."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        stimulus, rater, _ = np.nonzero(rng.random((40, 8, 4)) < 0.5)
        value = rng.exponential(1, 40)[stimulus] + rng.normal(0, 0.7, 8)[rater]
        value += rng.normal(0, 0.5, (40, 8))[stimulus, rater] + rng.normal(0, 1, stimulus.size)
        levels = {"stimulus": stimulus, "rater": rater, "stimulus:rater": stimulus * 8 + rater}
        found.append(FacetSums(levels, value - value.mean(), stimulus, rater)(Draws(1), 40)[0])
    np.testing.assert_allclose(np.mean(found, axis=0), [1, 0.49, 0.25, 1], atol=0.12)


def refitted(data: Floats, axis: int) -> Floats:
    """ICC(2,1) by restricted likelihood without each rater (axis 0) or unit (axis 1)."""
    return np.array(
        [
            intraclass_correlation(np.delete(data, at, axis), forms=["2,1"], target="sample")[
                "rating", "2,1"
            ].value
            for at in range(data.shape[axis])
        ]
    )


def test_what_leaving_out_changes_is_close_to_full_refits() -> None:
    """Errors over random sparse designs: on average those of refits, each within a factor of 2."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, k = ((40, 6), (60, 8), (80, 5), (50, 10))[seed % 4]
        data = rng.normal(0, 1, (1, n)) + rng.normal(0, 0.5, (k, 1)) + rng.normal(0, 1, (k, n))
        data[rng.random(data.shape) < 0.35] = np.nan
        data = data[:, (~np.isnan(data)).any(axis=0)]
        found = intraclass_correlation(data, forms=["2,1"])
        for part, axis in zip(found.jackknife.parts, (1, 0), strict=True):
            full = refitted(data, axis)
            count = full.size
            error = np.sqrt((count - 1) / count * ((full - full.mean()) ** 2).sum())
            ratios.append(float(part.error()[0]) / error)
            assert np.corrcoef(part.values[:, 0], full)[0, 1] > 0.7
    assert min(ratios) > 0.5
    assert max(ratios) < 2
    assert np.mean(ratios) == pytest.approx(1.05, abs=0.15)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_the_same_number_has_the_same_interval_in_both_verbs(gaps: float) -> None:
    rng = np.random.default_rng(4)
    data = rng.normal(0, 1, (1, 60)) + rng.normal(0, 0.5, (5, 1)) + rng.normal(0, 1, (5, 60))
    data[rng.random(data.shape) < gaps] = np.nan
    rater, stimulus = np.nonzero(~np.isnan(data))
    ratings = Ratings(
        {"stimulus": stimulus, "rater": rater, "value": data[rater, stimulus]}, scale="interval"
    )
    for target in ("stimuli", "raters", "both"):
        rows = variance_components(ratings, k=[1], target=target).to_frame("reliability")
        table = intraclass_correlation(ratings, forms=["2,1", "3,1"], target=target).frame
        for column in ("value", "se", "low", "high"):
            np.testing.assert_allclose(rows[column], table[column], rtol=1e-4, atol=1e-6)
        assert rows["target"].to_list() == table["target"].to_list() == [target] * 2


def test_far_from_normal_is_said_with_its_reason() -> None:
    assert far_from_normal(np.random.default_rng(0).normal(size=300)) is None
    alike = far_from_normal(np.repeat([0.0, 1.0, 2.0], [80, 10, 10]))
    assert alike == Reason(Cause.FAR_FROM_NORMAL, of="80% are 0")
    skewed = far_from_normal(np.random.default_rng(0).exponential(size=300))
    assert skewed is not None
    assert skewed.cause is Cause.FAR_FROM_NORMAL
    assert skewed.of.startswith("skewness ")
