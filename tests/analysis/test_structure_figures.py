"""Figures of structure: what is drawn where, in few and many labels."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.analysis import cluster_labels, label_correlations
from affectlab.core.render.drawing.svg import to_png
from affectlab.report import fig_confusion_clusters, fig_label_clusters, fig_label_map, fig_words


def part(figure, name: str):
    return next(axes for axes in figure.axes if axes.get_label() == name)


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_heatmaps_of_few_and_many_labels(n: int) -> None:
    values = np.random.default_rng(n).normal(size=(60, n))
    found = label_correlations(
        values, labels=[f"a rather long name {k} of a label" for k in range(n)]
    )
    tree = cluster_labels(found)
    figure = fig_label_clusters(
        found.matrix,
        found.labels,
        tree.linkage if tree.status == "ok" else None,
        cluster=tree.cluster.tolist() if tree.status == "ok" else None,
        groups=["positive", "negative"] * (n // 2) + ["neutral"] * (n % 2),
    )
    assert to_png(figure).startswith(b"\x89PNG")
    assert len(part(figure, "heat").get_yticklabels()) == n


def test_rows_follow_the_tree() -> None:
    r = np.array(
        [[1, -0.5, 0.8, -0.4], [-0.5, 1, -0.4, 0.7], [0.8, -0.4, 1, -0.5], [-0.4, 0.7, -0.5, 1]]
    )
    tree = cluster_labels(r, labels=list("abcd"))
    figure = fig_label_clusters(r, list("abcd"), tree.linkage, cluster=tree.cluster.tolist())
    heat = part(figure, "heat")
    names = [text.get_text() for text in heat.get_yticklabels()]
    assert names in (["a", "c", "b", "d"], ["a", "c", "d", "b"], ["c", "a", "b", "d"])
    drawn = heat.collections[0].get_array()
    order = ["abcd".index(name) for name in names]
    expected = r[np.ix_(order, order)]
    np.testing.assert_allclose(drawn.data[~drawn.mask], expected[~np.eye(4, dtype=bool)])
    assert len(part(figure, "tree").lines) == 3


def test_what_is_not_defined_is_grey_and_named() -> None:
    r = np.array([[1, np.nan], [np.nan, 1]])
    figure = fig_label_clusters(r, ["a", "b"])
    assert "not defined" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert not fig_label_clusters(np.eye(2), ["a", "b"]).legends


def test_confusion_puts_labels_outside_the_tree_last() -> None:
    rows = np.array([[0.8, 0.1, 0.1], [np.nan] * 3, [0.3, 0.0, 0.7]])
    figure = fig_confusion_clusters(rows, list("abc"), [[0, 1, 1, 2]], tree_labels=["a", "c"])
    names = [text.get_text() for text in part(figure, "heat").get_yticklabels()]
    assert names[-1] == "b"


def test_words_without_any() -> None:
    figure = fig_words(
        {"joy": [], "fear": [("$x^2$", 3.5)]}, groups={"joy": "positive", "fear": "negative"}
    )
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["no word", "$x^2$", "3.5"]
    assert to_png(figure)
    assert to_png(fig_words({"joy": []}))


@pytest.mark.parametrize("n", [1, 2, 4000])
def test_maps(n: int) -> None:
    rng = np.random.default_rng(0)
    chosen = rng.random((n, 3)) < 0.4
    figure = fig_label_map(rng.random((n, 2)), ["#336699"] * n, chosen=chosen, labels=list("abc"))
    assert to_png(figure)
    assert len(figure.axes[0].texts) == chosen.any(axis=0).sum()
