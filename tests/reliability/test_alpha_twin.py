"""Krippendorff's alpha against a slow, plain-Python twin written straight from the definition."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.reliability import krippendorff_alpha
from affectlab.reliability.agreement.alpha_levels import Pairable, level_maker

LEVELS = ("nominal", "ordinal", "interval", "ratio")
NAN = math.nan

tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(1, 12)),
    elements=st.sampled_from([NAN, NAN, 0.0, 1.0, 2.0, 3.0, 7.0]),
)


def plain_alpha(units, level, *, rater_weights=None, unit_weights=None):
    """Krippendorff's alpha of a list of units, each a list of (rater, value).

    A rater of weight g stands for g copies that are never paired with each other.
    """
    rater_weights = rater_weights or {}
    coincidences = Counter()
    for position, unit in enumerate(units):
        weight = 1.0 if unit_weights is None else unit_weights[position]
        present = [(r, value, rater_weights.get(r, 1)) for r, value in unit]
        m = sum(g for _, _, g in present)
        n_pairs = m**2 - sum(g**2 for _, _, g in present)
        if n_pairs == 0:
            continue
        for (_, c, g), (_, k, h) in permutations(present, 2):
            coincidences[c, k] += weight * g * h * m / n_pairs
    margins = Counter()
    for (c, _), count in coincidences.items():
        margins[c] += count
    values = sorted(margins)
    n = sum(margins.values())

    def distance(c, k):
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return (c - k) ** 2
        if level == "ratio":
            return 0.0 if c + k == 0 else ((c - k) / (c + k)) ** 2
        low, high = min(c, k), max(c, k)
        between = sum(margins[g] for g in values if low <= g <= high)
        return (between - (margins[c] + margins[k]) / 2) ** 2

    observed = sum(count * distance(c, k) for (c, k), count in coincidences.items())
    expected = sum(margins[c] * margins[k] * distance(c, k) for c in values for k in values)
    return math.nan if expected == 0 else 1 - (n - 1) * observed / expected


def units_of(matrix):
    """Units of a (raters, units) matrix as lists of (rater, value), ``nan`` left out."""
    return [
        [(r, row[u]) for r, row in enumerate(matrix) if not math.isnan(row[u])]
        for u in range(len(matrix[0]))
    ]


def pairable(matrix: np.ndarray) -> Pairable:
    """Pairable ratings of a matrix in which every unit has at least two."""
    unit, rater = np.nonzero(~np.isnan(matrix.T))
    value = matrix.T[unit, rater]
    order = np.lexsort((value, unit))
    return Pairable(
        unit[order],
        rater[order],
        value[order],
        np.arange(matrix.shape[1]),
        n_units=matrix.shape[1],
        n_raters=matrix.shape[0],
    )


def full_panel(seed: int, raters: int = 5, units: int = 9, share: float = 0.3) -> np.ndarray:
    """Ratings 0..4 with gaps, at least two ratings in every unit."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 5, (raters, units)).astype(float)
    gaps = rng.random((raters, units)) < share
    gaps[:2] = False
    matrix[gaps] = NAN
    return matrix


class TestAgainstThePlainTwin:
    @given(tables, st.sampled_from(LEVELS))
    @settings(max_examples=200, deadline=None)
    def test_equals_the_definition(self, matrix, level):
        expected = plain_alpha(units_of(matrix.tolist()), level)
        result = krippendorff_alpha(matrix, level=level)
        if math.isnan(expected):
            assert math.isnan(result.value)
            assert not result.ok
            assert result.reason is not None
        else:
            assert result.value == pytest.approx(expected, abs=1e-10)
            assert result.ok

    @pytest.mark.parametrize("level", LEVELS)
    def test_weights_on_units_are_copies_of_units(self, level):
        matrix = full_panel(1)
        copies = np.array([0, 1, 1, 2, 0, 3, 1, 1, 0])
        _, make = level_maker(level, None, None)
        bound = make(pairable(matrix))
        value = bound.from_totals(copies[None, :].astype(float) @ bound.statistics())[0]
        expected = krippendorff_alpha(np.repeat(matrix, copies, axis=1), level=level).value
        assert value == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("level", LEVELS)
    def test_weights_on_raters_never_pair_a_rater_with_itself(self, level):
        matrix = full_panel(2)
        drawn = [2.0, 0.0, 1.0, 1.0, 1.0]
        units = [1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.0]
        _, make = level_maker(level, None, None)
        part = pairable(matrix)
        value = make(part).weighted(np.array([drawn]), np.array([units]))[0]
        expected = plain_alpha(
            units_of(matrix.tolist()),
            level,
            rater_weights=dict(enumerate(drawn)),
            unit_weights=units,
        )
        assert value == pytest.approx(expected, abs=1e-12)

    @given(tables, st.sampled_from(LEVELS))
    @settings(max_examples=50, deadline=None)
    def test_order_of_raters_and_units_means_nothing(self, matrix, level):
        shuffled = matrix[::-1, ::-1]
        first, second = (
            krippendorff_alpha(matrix, level=level),
            krippendorff_alpha(shuffled, level=level),
        )
        assert second.value == pytest.approx(first.value, abs=1e-10, nan_ok=True)

    @given(tables)
    @settings(max_examples=50, deadline=None)
    def test_interval_is_blind_to_shift_and_unit(self, matrix):
        first = krippendorff_alpha(matrix, level="interval").value
        second = krippendorff_alpha(1e6 - 3 * matrix, level="interval").value
        assert second == pytest.approx(first, abs=1e-9, nan_ok=True)

    @given(tables)
    @settings(max_examples=50, deadline=None)
    def test_ordinal_needs_the_order_only(self, matrix):
        first = krippendorff_alpha(matrix, level="ordinal").value
        second = krippendorff_alpha(np.exp(matrix), level="ordinal").value
        assert second == pytest.approx(first, abs=1e-10, nan_ok=True)
