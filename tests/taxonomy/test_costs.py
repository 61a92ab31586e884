"""Costs of mistakes: the published wheel, and properties of all the others."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.taxonomy import (
    CostMatrix,
    Taxonomy,
    cost_from_confusions,
    cost_from_correlation,
    cost_from_differences,
    cost_from_groups,
    cost_from_reference,
    cost_from_ring,
    load_taxonomy,
)
from affectlab.taxonomy.label import Label

POSITIVE = ("amusement", "contentment", "awe", "excitement")
NEGATIVE = ("fear", "sadness", "disgust", "anger")
EMOSET = ["amusement", "awe", "contentment", "excitement", "anger", "disgust", "fear", "sadness"]


def test_amusement_row_is_the_published_one() -> None:
    costs = load_taxonomy("mikels").cost_matrix()
    assert costs.labels == POSITIVE + NEGATIVE
    assert costs.matrix[0].tolist() == [1, 2, 3, 4, 8, 7, 6, 5]


def test_whole_matrix_is_the_published_one() -> None:
    path = Path(__file__).parents[2] / ".." / "shared" / "data" / "ecc" / "ecc_reference.json"
    if not path.is_file():
        pytest.skip("the shared reference data are absent")
    reference = json.loads(path.read_text())
    costs = load_taxonomy("mikels").cost_matrix(lam=reference["alpha"])
    assert list(costs.labels) == reference["order"]
    np.testing.assert_array_equal(costs.matrix, reference["W"])
    np.testing.assert_array_equal(8 - costs.matrix, reference["listmle_relevance"])


def test_structure_of_the_wheel() -> None:
    matrix = load_taxonomy("mikels").cost_matrix().matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    # A circle has no end: every row holds the same steps, so the same sum.
    np.testing.assert_array_equal(matrix.sum(axis=1), np.full(8, 36))
    np.testing.assert_array_equal(matrix[:4, :4], matrix[4:, 4:])
    np.testing.assert_array_equal(matrix[:4, 4:], matrix[4:, :4])
    same = matrix[:4, :4][~np.eye(4, dtype=bool)]
    assert same.max() == 4
    assert matrix[:4, 4:].min() == 5


def test_lookup_is_by_name_whatever_the_order() -> None:
    costs = load_taxonomy("mikels").cost_matrix()
    emoset = costs.reorder(EMOSET)
    assert emoset.labels == tuple(EMOSET)
    for one in EMOSET:
        for other in EMOSET:
            assert emoset.cost(one, other) == costs.cost(one, other)
    assert emoset.reorder(costs.labels) == costs
    # By position it would be wrong in 40 of the 56 cells off the diagonal.
    assert int((emoset.matrix != costs.matrix).sum()) == 40


@given(st.permutations(POSITIVE + NEGATIVE), st.floats(1, 100))
def test_reordering_never_changes_a_cost(order: list[str], lam: float) -> None:
    costs = load_taxonomy("mikels").cost_matrix(lam=lam)
    other = costs.reorder(order)
    place = [costs.labels.index(label) for label in order]
    np.testing.assert_array_equal(other.matrix, costs.matrix[np.ix_(place, place)])


def test_ekman_costs() -> None:
    costs = load_taxonomy("ekman").cost_matrix()
    mikels = load_taxonomy("mikels").cost_matrix()
    for one in NEGATIVE:
        for other in NEGATIVE:
            assert costs.cost(one, other) == mikels.cost(one, other)
        assert costs.cost("surprise", one) == pytest.approx(5)
        assert costs.cost("joy", one) == np.mean([mikels.cost(p, one) for p in POSITIVE])
    assert costs.cost("joy", "fear") == 6.5
    assert costs.cost("joy", "sadness") == 7
    assert costs.cost("joy", "surprise") == pytest.approx(5)


def test_plutchik_costs() -> None:
    costs = load_taxonomy("plutchik").cost_matrix()
    assert costs.cost("joy", "trust") == 2
    assert costs.cost("joy", "sadness") == 4 + 4
    assert costs.cost("surprise", "anticipation") == 1 + 4
    assert costs.cost("joy", "anticipation") == 4 + 1


def test_goemotions_costs_follow_the_tree() -> None:
    costs = load_taxonomy("goemotions").cost_matrix()
    assert len(costs.labels) == 28
    assert costs.cost("anger", "annoyance") == 2
    assert costs.cost("anger", "fear") == 3
    assert costs.cost("anger", "joy") == 4
    assert costs.cost("neutral", "joy") == 4
    one_level = load_taxonomy("goemotions").cost_matrix(levels=["sentiment"])
    assert one_level.cost("anger", "fear") == 2


def test_what_a_taxonomy_lacks_is_said() -> None:
    with pytest.raises(InputError, match="russell: has no ring, no reference"):
        load_taxonomy("russell").cost_matrix()
    with pytest.raises(InputError, match="goemotions: has no ring"):
        load_taxonomy("goemotions").cost_matrix("ring")
    with pytest.raises(InputError, match="lam has no part"):
        load_taxonomy("goemotions").cost_matrix(lam=3)
    with pytest.raises(InputError, match="levels have no part"):
        load_taxonomy("mikels").cost_matrix("ring", levels=["sentiment"])
    with pytest.raises(InputError, match="must nest"):
        load_taxonomy("goemotions").cost_matrix(levels=["directed", "sentiment"])
    with pytest.raises(InputError, match="unknown kind of cost matrix 'rings'"):
        load_taxonomy("mikels").cost_matrix("rings")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="polarity: label 'a' has none"):
        Taxonomy.from_labels(["a", "b"], ring=["a", "b"]).cost_matrix()


@pytest.mark.parametrize("lam", [0.5, float("nan"), float("inf"), -3])
def test_lam_below_one_is_refused(lam: float) -> None:
    with pytest.raises(InputError, match="lam"):
        load_taxonomy("mikels").cost_matrix(lam=lam)


@given(
    st.integers(2, 12).flatmap(lambda k: st.lists(st.sampled_from("pn"), min_size=k, max_size=k))
)
def test_any_wheel_gives_valid_costs(sides: list[str]) -> None:
    ring = [f"e{place}" for place in range(len(sides))]
    polarity = dict(zip(ring, sides, strict=True))
    costs = cost_from_ring(ring, polarity)
    size = len(ring)
    for i, one in enumerate(ring):
        for j, other in enumerate(ring):
            steps = min((i - j) % size, (j - i) % size)
            expected = steps + (1 if polarity[one] == polarity[other] else 4)
            assert costs.cost(one, other) == expected


def test_neutral_has_no_place_on_the_wheel() -> None:
    entries = (
        Label("neutral", polarity="neutral"),
        Label("down", polarity="negative"),
        Label("up", polarity="positive"),
    )
    taxonomy = Taxonomy("mood", entries, ring=("up", "down"), neutral="neutral")
    costs = taxonomy.cost_matrix()
    assert costs.labels == ("down", "up")
    assert costs.matrix.tolist() == [[1, 5], [5, 1]]


squares = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 50), min_size=k, max_size=k), min_size=k, max_size=k)
)


@given(squares)
def test_confusions_rank_costs(rows: list[list[int]]) -> None:
    counts = np.array(rows, dtype=float) + np.eye(len(rows))
    labels = [f"e{place}" for place in range(len(rows))]
    matrix = cost_from_confusions(counts, labels).matrix
    off = ~np.eye(len(rows), dtype=bool)
    assert matrix[off].min() >= 2
    assert matrix[off].max() <= 8
    rates = counts / counts.sum(axis=1, keepdims=True)
    closeness = rates + rates.T
    if closeness[off].max() > 0:
        assert matrix[off].min() == 2
    order = np.argsort(closeness[off], kind="stable")
    assert np.all(np.diff(matrix[off][order]) <= 1e-9)


def test_confusions_known_answer() -> None:
    costs = cost_from_confusions([[6, 4, 0], [0, 8, 2], [0, 0, 5]], ["a", "b", "c"])
    # s_ab = (.4 + 0) / 2 = .2 is the most; s_bc = (.2 + 0) / 2 = .1 is half of it.
    np.testing.assert_allclose(costs.matrix, [[1, 2, 8], [2, 1, 5], [8, 5, 1]])
    none = cost_from_confusions(np.eye(2), ["a", "b"])
    assert none.cost("a", "b") == 8


def test_correlation_known_answer() -> None:
    costs = cost_from_correlation([[1, 0.5, -1], [0.5, 1, 0], [-1, 0, 1]], ["a", "b", "c"])
    np.testing.assert_allclose(costs.matrix, [[1, 3.5, 8], [3.5, 1, 5], [8, 5, 1]])


def test_differences_known_answer() -> None:
    seen = [[0, 20, 80], [20, 0, 50], [80, 50, 0]]
    costs = cost_from_differences(seen, ["a", "b", "c"], largest=100, highest=12)
    np.testing.assert_allclose(costs.matrix, [[1, 4, 10], [4, 1, 7], [10, 7, 1]])


def test_groups_are_a_tree() -> None:
    fine = {"a": "x", "b": "x", "c": "y", "d": "z"}
    coarse = {"a": "1", "b": "1", "c": "1", "d": "2"}
    costs = cost_from_groups(list("abcd"), [fine, coarse])
    assert costs.matrix.tolist() == [[1, 2, 3, 4], [2, 1, 3, 4], [3, 3, 1, 4], [4, 4, 4, 1]]


def test_labels_that_stand_for_the_same_are_closest() -> None:
    base = CostMatrix(["x", "y"], [[1, 6], [6, 1]])
    costs = cost_from_reference(["a", "b", "c"], base, {"a": ["x"], "b": ["x"], "c": ["x", "y"]})
    assert costs.cost("a", "b") == 2
    assert costs.cost("a", "c") == 6


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 2]], "shape is 1 x 2"),
        ([[1, 1.5], [1.5, 1]], "at least 2 off the diagonal"),
        ([[1, 3], [4, 1]], "the other way round 4"),
        ([[0, 3], [3, 0]], "'a' and 'a' have 0; expected 1"),
        ([[1, float("nan")], [float("nan"), 1]], "expected finite"),
        ([[1, float("inf")], [float("inf"), 1]], "expected finite"),
        ([["x", "y"], ["z", "w"]], "matrix of numbers"),
    ],
)
def test_bad_matrices_are_refused(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CostMatrix(["a", "b"], matrix)


def test_bad_sources_are_refused() -> None:
    with pytest.raises(InputError, match="row of 'b' is empty"):
        cost_from_confusions([[1, 0], [0, 0]], ["a", "b"])
    with pytest.raises(InputError, match="no negative"):
        cost_from_confusions([[1, -1], [0, 1]], ["a", "b"])
    with pytest.raises(InputError, match="expected -1 to 1"):
        cost_from_correlation([[1, 2], [2, 1]], ["a", "b"])
    with pytest.raises(InputError, match="other way round"):
        cost_from_correlation([[1, 0.2], [0.1, 1]], ["a", "b"])
    with pytest.raises(InputError, match="the largest is 0"):
        cost_from_differences(np.zeros((2, 2)), ["a", "b"])
    with pytest.raises(InputError, match="exceeds the largest"):
        cost_from_differences([[0, 5], [5, 0]], ["a", "b"], largest=4)
    with pytest.raises(InputError, match="above 2"):
        cost_from_correlation(np.eye(2), ["a", "b"], highest=2)
    with pytest.raises(InputError, match="cannot be told apart"):
        CostMatrix(["a", "A"], [[1, 2], [2, 1]])
    with pytest.raises(InputError, match="stands for no label"):
        cost_from_reference(["a"], CostMatrix(["x"], [[1]]), {})


def test_matrix_cannot_be_changed() -> None:
    given_matrix = np.array([[1.0, 3.0], [3.0, 1.0]])
    costs = CostMatrix(["a", "b"], given_matrix)
    given_matrix[0, 1] = 7
    assert costs.cost("a", "b") == 3
    for copy in (costs, pickle.loads(pickle.dumps(costs))):
        with pytest.raises(ValueError, match="read-only"):
            copy.matrix[0, 1] = 9
        assert copy == costs
        assert hash(copy) == hash(costs)
    with pytest.raises(InputError, match="unknown label 'c'"):
        costs.cost("a", "c")


def test_frame_has_every_pair() -> None:
    frame = load_taxonomy("mikels").cost_matrix().to_frame()
    assert frame.columns == ["label", "other", "cost"]
    row = frame.filter((frame["label"] == "awe") & (frame["other"] == "anger"))
    assert row["cost"].to_list() == [7]
