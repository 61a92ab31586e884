"""Relevance by name, soft labels, and decisions by expected cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.losses import expected_cost_labels, expected_costs, soft_labels
from affectlab.models.losses.costs import costs_among, rank_relevance
from affectlab.taxonomy import CostMatrix, load_taxonomy

WHEEL = ["amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger"]
MIKELS = load_taxonomy("mikels")
ORDERS = ("true", "random", "reversed")


@pytest.mark.parametrize("costs", ["mikels", MIKELS, MIKELS.cost_matrix()])
def test_the_row_of_amusement_is_the_published_one(costs: object) -> None:
    found = rank_relevance(costs, WHEEL)  # type: ignore[arg-type]
    assert found[0].tolist() == [7, 6, 5, 4, 0, 1, 2, 3]  # 8 - (1 2 3 4 8 7 6 5)


@given(st.permutations(WHEEL), st.sampled_from(ORDERS), st.integers(0, 3))
def test_relevance_belongs_to_names_and_not_to_places(
    labels: list[str], order: str, seed: int
) -> None:
    base = rank_relevance("mikels", WHEEL, order, seed=seed)  # type: ignore[arg-type]
    places = [WHEEL.index(name) for name in labels]
    found = rank_relevance("mikels", labels, order, seed=seed)  # type: ignore[arg-type]
    assert np.array_equal(found, base[np.ix_(places, places)])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("taxonomy", ["mikels", "ekman"])
def test_the_truth_stays_first_and_alone(order: str, taxonomy: str) -> None:
    labels = list(load_taxonomy(taxonomy).cost_matrix().labels)
    found = rank_relevance(taxonomy, labels, order, seed=5)  # type: ignore[arg-type]
    assert (found.argmax(axis=1) == np.arange(len(labels))).all()
    assert ((found == found.max(axis=1, keepdims=True)).sum(axis=1) == 1).all()


def test_random_keeps_the_numbers_of_a_row_and_follows_the_seed() -> None:
    true = rank_relevance("mikels", WHEEL)
    one, again, other = (rank_relevance("mikels", WHEEL, "random", seed=s) for s in (1, 1, 2))
    assert np.array_equal(np.sort(one, axis=1), np.sort(true, axis=1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, true)


def test_reversed_turns_every_pair_of_wrong_labels_round() -> None:
    true = rank_relevance("mikels", WHEEL)
    turned = rank_relevance("mikels", WHEEL, "reversed")
    for row in range(8):
        others = [place for place in range(8) if place != row]
        one, two = true[row, others], turned[row, others]
        assert np.array_equal(np.sign(one[:, None] - one), -np.sign(two[:, None] - two))
        assert (one.min(), one.max()) == (two.min(), two.max())


def test_synonyms_are_found_and_unknown_labels_are_not() -> None:
    matrix = CostMatrix(("joy", "fear", "rage"), [[1, 5, 4], [5, 1, 2], [4, 2, 1]])
    assert costs_among(matrix, ["rage", "joy"]).matrix.tolist() == [[1, 4], [4, 1]]
    with pytest.raises(InputError, match="'hunger'"):
        rank_relevance(matrix, ["joy", "hunger"])
    with pytest.raises(InputError, match="'hunger'"):
        soft_labels("mikels", ["awe", "hunger"])
    with pytest.raises(InputError, match="two at least"):
        rank_relevance("mikels", ["awe"])
    with pytest.raises(InputError, match="not the one text"):
        rank_relevance("mikels", "awe")
    with pytest.raises(InputError, match="unknown order 'revered'"):
        rank_relevance("mikels", WHEEL, "revered")  # type: ignore[arg-type]


@given(st.permutations(WHEEL), st.floats(0.05, 20))
def test_soft_labels_are_the_softmax_of_costs(labels: list[str], temperature: float) -> None:
    found = soft_labels("mikels", labels, temperature)
    costs = MIKELS.cost_matrix()
    for row, name in zip(found, labels, strict=True):
        raw = np.array([np.exp(-costs.cost(name, other) / temperature) for other in labels])
        assert np.allclose(row, raw / raw.sum(), rtol=1e-9)
    assert np.allclose(found.sum(axis=1), 1)


def test_a_low_temperature_leaves_all_to_the_truth() -> None:
    assert np.allclose(soft_labels("mikels", WHEEL, 0.01), np.eye(8), atol=1e-12)
    assert np.isfinite(soft_labels("mikels", WHEEL, 1e-300)).all()
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="temperature"):
            soft_labels("mikels", WHEEL, bad)


@given(st.integers(0, 1000), st.permutations(WHEEL))
def test_decisions_cost_least_of_all(seed: int, labels: list[str]) -> None:
    proba = np.random.default_rng(seed).dirichlet(np.full(8, 0.5), 6)
    costs = MIKELS.cost_matrix()
    found = expected_costs(proba, "mikels", labels)
    for row, name in enumerate(expected_cost_labels(proba, "mikels", labels)):
        plain = {
            k: sum(p * costs.cost(y, k) for p, y in zip(proba[row], labels, strict=True))
            for k in labels
        }
        assert np.allclose(found[row], list(plain.values()))
        assert plain[name] <= min(plain.values()) * (1 + 1e-9)


def test_equal_costs_go_to_the_more_probable_label() -> None:
    even = CostMatrix(("a", "b", "c"), [[1, 2, 2], [2, 1, 2], [2, 2, 1]])
    proba = [[0.2, 0.5, 0.3], [0.25, 0.25, 0.5]]
    assert expected_cost_labels(proba, even, ["a", "b", "c"]) == ["b", "c"]
    two = CostMatrix(("a", "b"), [[1, 2], [2, 1]])
    assert expected_cost_labels([[0.5, 0.5]], two, ["b", "a"]) == ["b"]


@pytest.mark.parametrize(
    ("proba", "said"),
    [
        ([[0.5, 0.6]], "row 0"),
        ([[0.5, 0.5], [-0.1, 1.1]], "row 1"),
        ([[float("nan"), 1.0]], "row 0"),
        ([[0.2, 0.3, 0.5]], "shape"),
        ([0.5, 0.5], "shape"),
        ([["a", "b"]], "numbers"),
    ],
)
def test_probabilities_are_checked(proba: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        expected_cost_labels(proba, "mikels", ["awe", "fear"])  # type: ignore[arg-type]
