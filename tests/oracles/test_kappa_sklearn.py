"""Parity with scikit-learn's Cohen's kappa, its errors by leaving out, and statsmodels' errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.reliability import pairwise_kappa, weighted_kappa

sklearn_metrics = pytest.importorskip("sklearn.metrics")

NAMES = {"quadratic": "quadratic", "linear": "linear", "nominal": None}
levels = st.integers(0, 7)
pairs = st.integers(2, 40).flatmap(
    lambda n: st.tuples(arrays(np.int64, n, elements=levels), arrays(np.int64, n, elements=levels))
)


@pytest.mark.parametrize("weights", NAMES)
@given(pair=pairs)
@settings(max_examples=100, deadline=None)
def test_equals_sklearn_on_the_declared_scale(weights, pair):
    a, b = pair
    assume(np.unique(np.concatenate(pair)).size > 1)
    expected = sklearn_metrics.cohen_kappa_score(a, b, labels=range(8), weights=NAMES[weights])
    result = weighted_kappa(a, b, weights=weights, scale="0-7")
    assert result.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("weights", NAMES)
def test_every_pair_with_gaps_equals_sklearn(weights):
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 8, (6, 40)).astype(float)
    matrix[rng.random(matrix.shape) < 0.4] = np.nan
    table = pairwise_kappa(matrix, weights=weights, scale="0-7")
    assert len(table) == 15
    for (_, first, second), estimate in table:
        both = ~np.isnan(matrix[int(first)]) & ~np.isnan(matrix[int(second)])
        a, b = matrix[int(first), both].astype(int), matrix[int(second), both].astype(int)
        expected = sklearn_metrics.cohen_kappa_score(a, b, labels=range(8), weights=NAMES[weights])
        assert estimate.value == pytest.approx(expected, abs=1e-12)
        assert estimate.n_items == both.sum()


@pytest.mark.parametrize("weights", NAMES)
def test_standard_error_is_that_of_sklearn_without_each_item(weights):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 5, 60)
    b = np.clip(a + rng.integers(-1, 3, 60), 0, 4)
    left_out = [
        sklearn_metrics.cohen_kappa_score(
            np.delete(a, k), np.delete(b, k), labels=range(5), weights=NAMES[weights]
        )
        for k in range(60)
    ]
    result = weighted_kappa(a, b, weights=weights, scale="0-4")
    assert result.se == pytest.approx(math.sqrt(59 * np.var(left_out)), rel=1e-9)


@pytest.mark.parametrize("weights", NAMES)
def test_standard_error_of_many_items_is_that_of_statsmodels(weights):
    interrater = pytest.importorskip("statsmodels.stats.inter_rater")
    rng = np.random.default_rng(1)
    a = rng.integers(0, 5, 20_000)
    b = np.clip(a + rng.integers(-1, 3, 20_000), 0, 4)
    counts = np.zeros((5, 5))
    np.add.at(counts, (a, b), 1)
    expected = interrater.cohens_kappa(counts, wt=NAMES[weights])
    result = weighted_kappa(a, b, weights=weights, scale="0-4")
    assert result.value == pytest.approx(expected.kappa, abs=1e-12)
    assert result.se == pytest.approx(math.sqrt(expected.var_kappa), rel=1e-3)
