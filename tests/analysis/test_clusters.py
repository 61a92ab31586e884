"""Clusters of labels: the tree SciPy gives, planted groups found, what cannot be clustered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.analysis import cluster_confusion, cluster_labels, label_correlations
from affectlab.analysis.labels import wording
from affectlab.analysis.labels.trees import label_tree, silhouette
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason


def planted(n: int = 400, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Stimuli with three hidden causes, and three labels that follow each."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 3))
    values = np.repeat(causes, 3, axis=1) + 0.8 * rng.normal(size=(n, 9))
    return values, [f"{group}{k}" for group in "abc" for k in range(3)]


def test_tree_is_that_of_scipy() -> None:
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    values, names = planted()
    found = cluster_labels(label_correlations(values, labels=names))
    expected = linkage(pdist(values.T, metric="correlation"), "ward", optimal_ordering=True)
    np.testing.assert_allclose(found.linkage[:, 2:], expected[:, 2:], atol=1e-9)
    order = leaves_list(expected).tolist()
    assert found.order.tolist() in (order, order[::-1])


def test_planted_groups_are_found_and_stable() -> None:
    values, names = planted()
    found = cluster_labels(label_correlations(values, labels=names, n_boot=100, seed=1))
    assert found.k == 3
    assert found.chosen == "silhouette"
    assert {frozenset(group) for group in found.members().values()} == {
        frozenset(f"{letter}{k}" for k in range(3)) for letter in "abc"
    }
    assert all(share > 0.95 for share in found.stability().values())
    assert found.n_boot == 100
    np.testing.assert_allclose(np.diag(found.together), 1)
    assert cluster_labels(label_correlations(values, labels=names), k="elbow").k == 3


def test_noise_is_less_stable() -> None:
    shares = []
    for seed in range(5):
        values = np.random.default_rng(seed).normal(size=(200, 12))
        found = cluster_labels(label_correlations(values, n_boot=50, seed=1), k=4)
        shares += [share for share in found.stability().values() if share == share]
    # A pair of noise can be close by chance in a sample, and stays so when it is resampled.
    assert np.mean(shares) < 0.7


def test_silhouettes_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import silhouette_score

    values, names = planted(60)
    found = cluster_labels(label_correlations(values, labels=names))
    distance = 1 - np.corrcoef(values.T)
    np.fill_diagonal(distance, 0)
    for k, score in found.scores.items():
        cut = cluster_labels(label_correlations(values, labels=names), k=k).cluster
        assert score == pytest.approx(silhouette_score(distance, cut, metric="precomputed"))
        assert score == pytest.approx(silhouette(distance, cut))


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_number_of_clusters_is_kept(k: int) -> None:
    values, names = planted(50)
    found = cluster_labels(label_correlations(values, labels=names), k=k)
    assert found.k == k
    assert found.chosen == "given"
    # Clusters are numbered from left to right, so their numbers only rise.
    assert (np.diff(found.cluster[found.order]) >= 0).all()
    assert found.to_frame()["cluster"].is_sorted()


def test_ties_of_height_are_cut_into_the_number_asked_for() -> None:
    found = cluster_labels(np.eye(6), k=4)
    assert found.k == 4


@given(st.integers(3, 15), st.data())
@settings(max_examples=40, deadline=None)
def test_clusters_are_those_of_a_cut_of_scipy(n: int, data: st.DataObject) -> None:
    from scipy.cluster.hierarchy import cut_tree
    from scipy.spatial.distance import squareform

    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    distance = squareform(rng.uniform(0, 100, n * (n - 1) // 2))
    k = data.draw(st.integers(1, n))
    found = label_tree(
        tuple(map(str, range(n))), distance, (), linkage="average", k=k, method="", undefined=""
    )
    expected = cut_tree(found.linkage, k)[:, 0]
    np.testing.assert_array_equal(
        found.cluster[:, None] == found.cluster, expected[:, None] == expected
    )


@pytest.mark.parametrize("metric", ["correlation", "euclidean", "absolute"])
@pytest.mark.parametrize("method", ["ward", "average", "complete", "single"])
def test_distances_and_linkages(metric: str, method: str) -> None:
    r = np.array([[1, 0.9, -0.9], [0.9, 1, -0.8], [-0.9, -0.8, 1]])
    found = cluster_labels(r, labels=["a", "b", "c"], metric=metric, linkage=method, k=2)
    lowest = {"correlation": 0.1, "euclidean": np.sqrt(0.2), "absolute": 0.1}[metric]
    assert found.linkage[0, 2] == pytest.approx(lowest)
    assert found.method == wording.tree_method(method, metric)


def test_euclidean_is_the_distance_of_standardised_columns() -> None:
    from scipy.cluster.hierarchy import linkage

    values, names = planted(40)
    standard = (values - values.mean(axis=0)) / np.sqrt(
        ((values - values.mean(axis=0)) ** 2).sum(0)
    )
    found = cluster_labels(label_correlations(values, labels=names), metric="euclidean")
    np.testing.assert_allclose(found.linkage[:, 2], linkage(standard.T, "ward")[:, 2], atol=1e-9)


def test_labels_without_correlations_are_left_out() -> None:
    values, names = planted(30)
    values[:, 4] = 1.0
    found = cluster_labels(label_correlations(values, labels=names, n_boot=20, seed=1))
    assert found.left_out == ("b1",)
    assert len(found.labels) == 8
    assert found.ok


def test_without_correlations_there_is_no_tree() -> None:
    found = cluster_labels(np.full((4, 4), np.nan))
    assert not found.ok
    assert found.members() == {}
    assert found.to_frame().height == 0
    of = "labels with all correlations defined"
    two = cluster_labels([[1, 0.5], [0.5, 1]])
    assert two.reason == found.reason == Reason(Cause.FEWER, least=3, of=of)


@pytest.mark.parametrize(
    ("matrix", "options", "words"),
    [
        ([[1, 2], [2, 1]], {}, "outside"),
        ([[1, 0.2], [0.3, 1]], {}, "symmetric"),
        ([[1, 0.2, 0.1]], {}, "square"),
        (np.eye(3), {"k": 4}, "1 to 3"),
        (np.eye(3), {"k": True}, "expected a number"),
        (np.eye(3), {"k": "gap"}, "silhouette"),
        (np.eye(3), {"linkage": "word"}, "'ward'"),
        (np.eye(3), {"metric": "cosine"}, "metric"),
        (np.eye(3), {"labels": ["a"]}, "3 names"),
    ],
)
def test_bad_input(matrix, options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cluster_labels(matrix, **options)


def test_rows_of_a_confusion_are_normalised_and_clustered() -> None:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    rng = np.random.default_rng(1)
    counts = rng.integers(0, 30, (6, 6)) + 40 * np.kron(np.eye(3, dtype=int), np.ones((2, 2), int))
    found = cluster_confusion(counts, list("abcdef"))
    np.testing.assert_allclose(found.rows.sum(axis=1), 1)
    expected = linkage(pdist(found.rows, metric="correlation"), "ward")
    np.testing.assert_allclose(found.clusters.linkage[:, 2], expected[:, 2], atol=1e-9)
    groups = {
        frozenset(group)
        for group in cluster_confusion(counts, list("abcdef"), k=3).clusters.members().values()
    }
    assert groups == {frozenset("ab"), frozenset("cd"), frozenset("ef")}


def test_a_label_that_does_not_occur_is_left_out_of_the_tree() -> None:
    found = cluster_confusion(
        [[8, 2, 0, 1], [3, 7, 0, 0], [0, 0, 0, 0], [1, 0, 2, 9]], ["a", "b", "never", "d"]
    )
    assert found.clusters.left_out == ("never",)
    assert np.isnan(found.rows[2]).all()
    with pytest.raises(InputError, match="is no count"):
        cluster_confusion([[1, -1], [0, 1]], ["a", "b"])
    with pytest.raises(InputError, match="shape"):
        cluster_confusion([[1, 1]], ["a", "b"])
