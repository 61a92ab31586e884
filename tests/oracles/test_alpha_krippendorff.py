"""Parity with the PyPI package krippendorff."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.reliability import krippendorff_alpha

krippendorff = pytest.importorskip("krippendorff")

values = st.one_of(
    st.just(np.nan), st.integers(-2, 7).map(float), st.sampled_from([0.5, 2.25, 100.0])
)
tables = arrays(np.float64, st.tuples(st.integers(2, 7), st.integers(2, 25)), elements=values)


@pytest.mark.long
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@given(matrix=tables)
@settings(max_examples=150, deadline=None)
def test_equals_krippendorff(level, matrix):
    paired = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    assume(np.unique(paired[~np.isnan(paired)]).size > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement=level)
    assume(np.isfinite(expected))
    assert krippendorff_alpha(matrix, level=level).value == pytest.approx(expected, abs=1e-9)
