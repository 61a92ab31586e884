"""Distances of distributions: exact transport, information measures, their bounds and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from affectlab.core.errors import InputError
from affectlab.evaluation.soft_labels import (
    cross_entropy,
    earth_movers_distance,
    jensen_shannon,
    kullback_leibler,
)
from affectlab.taxonomy import CostMatrix, load_taxonomy


def by_linear_program(p, q, distance):
    """Minimise the cost over all ways to turn p into q: the plain twin."""
    k = p.size
    leave = np.kron(np.eye(k), np.ones(k))
    arrive = np.kron(np.ones(k), np.eye(k))
    found = linprog(distance.ravel(), A_eq=np.vstack([leave, arrive]), b_eq=np.concatenate([p, q]))
    assert found.status == 0
    return found.fun


def distances(rng, k, kind):
    if kind == "plane":
        points = rng.normal(size=(k, 2))
        return np.linalg.norm(points[:, None] - points[None], axis=2)
    if kind == "whole":
        steps = rng.integers(1, 5, (k, k)).astype(float)
    else:
        steps = rng.random((k, k)) + (0.2 if kind == "any" else 0)
    steps = np.triu(steps, 1)
    return steps + (steps.T if kind != "one way" else np.tril(rng.random((k, k)), -1))


@pytest.mark.parametrize("kind", ["plane", "whole", "any", "one way"])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_transport_is_the_linear_program(k, kind):
    rng = np.random.default_rng(k)
    distance = distances(rng, k, kind)
    p = rng.dirichlet(np.full(k, 0.4), 12)
    q = np.vstack([rng.dirichlet(np.full(k, 0.4), 10), np.eye(k)[:2]])
    expected = [by_linear_program(a, b, distance) for a, b in zip(p, q, strict=True)]
    # The solver of the twin is exact up to 1e-7.
    np.testing.assert_allclose(earth_movers_distance(p, q, distance), expected, atol=1e-6)


def test_transport_of_counts_with_many_ties():
    rng = np.random.default_rng(4)
    wheel = load_taxonomy("mikels").cost_matrix()
    p, q = rng.multinomial(6, np.full(8, 1 / 8), (2, 40)) / 6
    expected = [by_linear_program(a, b, wheel.matrix - 1) for a, b in zip(p, q, strict=True)]
    np.testing.assert_allclose(earth_movers_distance(p, q, wheel), expected, atol=1e-6)


def test_transport_over_an_ordered_scale_is_wasserstein():
    rng = np.random.default_rng(5)
    place = np.arange(8.0)
    p, q = rng.dirichlet(np.ones(8), (2, 20))
    expected = [wasserstein_distance(place, place, a, b) for a, b in zip(p, q, strict=True)]
    distance = np.abs(place[:, None] - place[None])
    np.testing.assert_allclose(earth_movers_distance(p, q, distance), expected)


def test_one_answer_for_another_costs_what_emc_divides_by():
    for name in ("mikels", "ekman", "goemotions"):
        costs = load_taxonomy(name).cost_matrix()
        k = len(costs.labels)
        one = np.repeat(np.eye(k), k, axis=0)
        other = np.tile(np.eye(k), (k, 1))
        found = earth_movers_distance(one, other, costs).reshape(k, k)
        np.testing.assert_allclose(found, costs.matrix - 1)


distribution = st.lists(st.integers(0, 5), min_size=6, max_size=6).filter(any)


def normal(counts):
    return np.array(counts, dtype=float) / sum(counts)


@given(distribution, distribution, distribution, st.sampled_from(["ring", "groups"]))
def test_transport_is_a_metric_under_a_wheel_and_groups(a, b, c, kind):
    name = "mikels" if kind == "ring" else "goemotions"
    matrix = load_taxonomy(name).cost_matrix().matrix[:6, :6]
    p, q, r = normal(a), normal(b), normal(c)
    pq, qp, qr, pr, pp = earth_movers_distance([p, q, q, p, p], [q, p, r, r, p], matrix - 1)
    assert pq == pytest.approx(qp, abs=1e-12)
    assert pr <= pq + qr + 1e-12
    assert pp == 0
    assert (pq < 1e-12) == np.allclose(p, q)
    assert 0 <= pq <= matrix.max() - 1 + 1e-12


@given(distribution, distribution)
def test_jensen_shannon_is_bounded_and_symmetric(a, b):
    p, q = normal(a), normal(b)
    found, back, same = jensen_shannon([p, q, p], [q, p, p])
    assert 0 <= found <= 1
    assert found == pytest.approx(back, abs=1e-12)
    assert same == 0
    assert np.sqrt(found) == pytest.approx(jensenshannon(p, q, base=2), abs=1e-7)
    assert (found < 1e-12) == np.allclose(p, q)


@given(distribution, distribution)
def test_cross_entropy_is_entropy_and_divergence(a, b):
    p, q = normal(a), normal(b)
    (crossed,) = cross_entropy([p], [q])
    (apart,) = kullback_leibler([p], [q])
    assert crossed == pytest.approx(entropy(p) + apart)
    assert apart == pytest.approx(entropy(p, q))
    assert np.isinf(crossed) == bool(((q == 0) & (p > 0)).any())
    (finite,) = cross_entropy([p], [q], floor=0.01)
    assert np.isfinite(finite)


def test_floor_raises_and_renormalises():
    (found,) = cross_entropy([[0, 1.0]], [[1.0, 0]], floor=0.1)
    assert found == pytest.approx(-np.log(0.1 / 1.1))


def test_missing_rows_stay_missing():
    nan = float("nan")
    rows, other = [[nan, nan], [0.5, 0.5]], [[1, 0], [0.5, 0.5]]
    for function in (cross_entropy, kullback_leibler, jensen_shannon):
        assert np.isnan(function(rows, other)).tolist() == [True, False]
    found = earth_movers_distance(rows, other, [[0, 1], [1, 0]])
    assert np.isnan(found).tolist() == [True, False]


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_detours_are_taken_only_where_they_exist(seed):
    # Where the triangle inequality fails, mass that both sides have may still move.
    rng = np.random.default_rng(seed)
    distance = np.array([[0, 1, 9.0], [1, 0, 1], [9, 1, 0]])
    p, q = rng.dirichlet(np.ones(3), 2)
    (found,) = earth_movers_distance([p], [q], distance)
    assert found == pytest.approx(by_linear_program(p, q, distance), abs=1e-6)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "3 x 3; expected 2 x 2"),
        ([[0, -1], [1, 0]], "at least 0"),
        ([[1, 1], [1, 1]], "0 on the diagonal"),
        ([["a", "b"], ["c", "d"]], "array of distances"),
        (CostMatrix(("a", "b", "c"), [[1, 2, 3], [2, 1, 2], [3, 2, 1]]), "expected 2 x 2"),
    ],
)
def test_bad_costs(costs, words):
    with pytest.raises(InputError, match=words):
        earth_movers_distance([[0.5, 0.5]], [[1, 0]], costs)


def test_bad_shapes():
    with pytest.raises(InputError, match="expected the same"):
        jensen_shannon([[0.5, 0.5]], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match="floor"):
        cross_entropy([[0.5, 0.5]], [[1, 0]], floor=0.5)
