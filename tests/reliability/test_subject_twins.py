"""Kernels of the subject model beside plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.reliability.subject_models import kernels
from affectlab.reliability.subject_models.panels import Grouped, sweeping

N_STIMULI, N_RATERS = 7, 5


@st.composite
def ratings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stimulus, rater and value of ratings in any order, repeats and missing values included."""
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value = rng.normal(50, 20, n)
    value[rng.random(n) < 0.1] = np.nan
    return (
        rng.integers(0, N_STIMULI, n).astype(np.int32),
        rng.integers(0, N_RATERS, n).astype(np.int32),
        value,
    )


def grouped(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Grouped:
    return Grouped(*kernels.group_ratings(*given_ratings, N_STIMULI), n_raters=N_RATERS)


def sorted_twin(
    given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    stimulus, rater, value = given_ratings
    kept = ~np.isnan(value)
    order = np.argsort(stimulus[kept], kind="stable")
    return stimulus[kept][order], rater[kept][order], value[kept][order]


def weights(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(0.1, 3, N_RATERS), rng.normal(0, 5, N_RATERS)])


@settings(deadline=None)
@given(ratings())
def test_grouping(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    data = grouped(given_ratings)
    stimulus, rater, value = sorted_twin(given_ratings)
    np.testing.assert_array_equal(data.rater, rater)
    np.testing.assert_array_equal(data.value, value)
    np.testing.assert_array_equal(data.stimulus, stimulus)


@settings(deadline=None)
@given(ratings(), st.integers(0, 1000))
def test_sweep(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> None:
    data, state = grouped(given_ratings), weights(seed)
    before = np.linspace(-1, 1, N_STIMULI)
    score = before.copy()
    with sweeping(data, parallel=True) as sweep:
        sums, change = sweep(state, score)
    j, i, x = sorted_twin(given_ratings)
    w, b = state.T
    total = np.bincount(j, w[i], N_STIMULI)
    with np.errstate(invalid="ignore"):
        expected = np.bincount(j, w[i] * (x - b[i]), N_STIMULI) / total
    expected[total == 0] = before[total == 0]
    np.testing.assert_allclose(score, expected, rtol=1e-12)
    r = x - expected[j] - b[i]
    for column, terms in enumerate((r, r**2, 1 / total[j])):
        twin = np.bincount(i, terms, N_RATERS)
        np.testing.assert_allclose(sums[:, column], twin, rtol=1e-10, atol=1e-10)
    assert change == pytest.approx(((expected - before) ** 2).sum())


@settings(deadline=None)
@given(ratings(), st.integers(0, 1000))
def test_description(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> None:
    data, state = grouped(given_ratings), weights(seed)
    total, spread, raters, sums = kernels.describe(data.start, data.rater, data.value, state)
    j, i, x = sorted_twin(given_ratings)
    w, b = state.T
    np.testing.assert_allclose(total, np.bincount(j, w[i], N_STIMULI), rtol=1e-12)
    h = w[i] / total[j]
    shared = raters[j] > 1
    for stimulus in range(N_STIMULI):
        mine = j == stimulus
        assert raters[stimulus] == np.unique(i[mine]).size
        if mine.any():
            assert spread[stimulus] == pytest.approx(np.std(x[mine] - b[i[mine]]), abs=1e-9)
    for column, terms in enumerate((h, (1 - h) ** 2, h * shared, shared)):
        twin = np.bincount(i, terms, N_RATERS)
        np.testing.assert_allclose(sums[:, column], twin, rtol=1e-10, atol=1e-12)


@settings(deadline=None)
@given(ratings(), st.integers(0, 1000))
def test_pairs(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray], seed: int) -> None:
    data, state = grouped(given_ratings), weights(seed)
    j, i, _ = sorted_twin(given_ratings)
    w = state[:, 0].copy()
    total = np.bincount(j, w[i], N_STIMULI).astype(float)
    shares = np.zeros((N_STIMULI, N_RATERS))
    np.add.at(shares, (j, i), w[i] / total[j])
    together, crossed = kernels.pair_sums(data.start, data.rater, w, total)
    np.testing.assert_allclose(together, shares.T @ shares, atol=1e-12)
    np.testing.assert_allclose(crossed, shares.T @ (total[:, None] * shares), atol=1e-12)
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, N_RATERS, N_RATERS))
    found = kernels.pair_terms(data.start, data.rater, w, total, first, second)
    for result, matrix in zip(found, (first, second), strict=True):
        twin = np.einsum("ja,ab,jb->j", shares, matrix, shares)
        np.testing.assert_allclose(result, twin, atol=1e-10)
    terms = rng.normal(size=(N_RATERS, 3))
    out = kernels.weighted_terms(data.start, data.rater, w, total, terms)
    h = w[i] / total[j]
    for column, power in enumerate((h, h**2, h**2)):
        twin = np.bincount(j, power * terms[i, column], N_STIMULI)
        np.testing.assert_allclose(out[:, column], twin, atol=1e-10)


@settings(deadline=None)
@given(ratings())
def test_connections(given_ratings: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    data = grouped(given_ratings)
    j, i, _ = sorted_twin(given_ratings)
    linked = np.eye(N_RATERS, dtype=bool)
    for a in range(N_RATERS):
        for b in range(N_RATERS):
            linked[a, b] |= bool(np.intersect1d(j[i == a], j[i == b]).size)
    reach = np.linalg.matrix_power(linked.astype(int), N_RATERS) > 0
    np.testing.assert_array_equal(data.group[:, None] == data.group, reach)


def test_chunks_give_the_sums_of_one_pass() -> None:
    rng = np.random.default_rng(0)
    n = 300_000
    arrays = (
        rng.integers(0, 9000, n).astype(np.int32),
        rng.integers(0, 300, n).astype(np.int32),
        rng.normal(50, 20, n),
    )
    data = Grouped(*kernels.group_ratings(*arrays, 9000), n_raters=300)
    state = np.column_stack([rng.uniform(0.1, 3, 300), rng.normal(0, 5, 300)])
    results = []
    for parallel in (True, False, True):
        score = np.zeros(9000)
        with sweeping(data, parallel=parallel) as sweep:
            sums, change = sweep(state, score)
            results.append((sums.copy(), score, change))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-10)
    np.testing.assert_array_equal(results[0][0], results[2][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert results[0][2] == results[2][2]
