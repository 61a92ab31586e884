"""Parity of the interrater correlation with a plain loop over scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata, spearmanr

from affectlab.reliability import interrater_correlation
from affectlab.reliability.rank_correlation import grouped_midranks

tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(2, 20)),
    elements=st.sampled_from([np.nan, np.nan, 0.0, 1.0, 2.0, 5.0]),
)


def plain(matrix):
    found = []
    for rater in range(matrix.shape[0]):
        others = np.delete(matrix, rater, axis=0)
        shared = ~np.isnan(matrix[rater]) & ~np.isnan(others).all(axis=0)
        rho = np.nan
        if shared.sum() >= 2:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                means = np.nanmean(others[:, shared], axis=0)
                rho = spearmanr(matrix[rater, shared], np.round(means, 9)).statistic
        found.append(rho)
    return np.array(found)


@given(tables)
@settings(max_examples=150, deadline=None)
def test_equals_a_loop_over_spearmanr(matrix):
    expected = plain(matrix)
    table = interrater_correlation(matrix)["rating"]
    defined = ~np.isnan(expected)
    assert table.n_raters == defined.sum()
    if defined.any():
        assert table.value == pytest.approx(expected[defined].mean(), abs=1e-9)
    else:
        assert np.isnan(table.value)
    by_rater = interrater_correlation(matrix, by_rater=True)
    for (_, rater), estimate in by_rater:
        assert estimate.value == pytest.approx(expected[int(rater)], abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("table_size", [0, 1 << 24])
@given(
    values=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=40), data=st.data()
)
@settings(max_examples=60, deadline=None)
def test_midranks_equal_rankdata(table_size, values, data):
    group = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    )
    x = np.array(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("affectlab.reliability.rank_correlation._TABLE", table_size)
        ranks = grouped_midranks(x, group, 9)
    for code in np.unique(group):
        np.testing.assert_array_equal(ranks[group == code], rankdata(x[group == code]))
