"""Figures of structure: what is drawn where, in few and many labels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.analysis import cluster_labels, label_correlations
from affectlab.core.render.svg import to_png
from affectlab.report import draw_figure


def part(figure, name: str):
    return next(axes for axes in figure.axes if axes.get_label() == name)


def heatmap(matrix: np.ndarray, names: list[str], tree=None, **options):
    first, second = np.triu_indices(len(names), 1)
    columns = {
        "label_a": [names[k] for k in first],
        "label_b": [names[k] for k in second],
        "value": matrix[first, second],
    }
    return draw_figure("label_heatmap", columns, names=names, linkage=tree, **options)


def words(found: dict, **options):
    rows = [(label, word, z) for label, own in found.items() for word, z in own]
    schema = {"label": pl.String, "word": pl.String, "z": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return draw_figure("first_words", frame, labels=list(found), n=5, **options)


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_heatmaps_of_few_and_many_labels(n: int) -> None:
    values = np.random.default_rng(n).normal(size=(60, n))
    found = label_correlations(
        values, labels=[f"a rather long name {k} of a label" for k in range(n)]
    )
    tree = cluster_labels(found)
    figure = heatmap(
        found.matrix,
        list(found.labels),
        tree.linkage if tree.ok else None,
        cluster=tree.cluster.tolist() if tree.ok else None,
        groups=["positive", "negative"] * (n // 2) + ["neutral"] * (n % 2),
    )
    assert to_png(figure).startswith(b"\x89PNG")
    assert len(part(figure, "heat").get_yticklabels()) == n


def test_rows_follow_the_tree() -> None:
    r = np.array(
        [[1, -0.5, 0.8, -0.4], [-0.5, 1, -0.4, 0.7], [0.8, -0.4, 1, -0.5], [-0.4, 0.7, -0.5, 1]]
    )
    tree = cluster_labels(r, labels=list("abcd"))
    figure = heatmap(r, list("abcd"), tree.linkage, cluster=tree.cluster.tolist())
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
    figure = heatmap(r, ["a", "b"])
    assert "not defined" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert not heatmap(np.eye(2), ["a", "b"]).legends


def test_confusion_puts_labels_outside_the_tree_last() -> None:
    rows = np.array([[0.8, 0.1, 0.1], [np.nan] * 3, [0.3, 0.0, 0.7]])
    columns = {"true": list("aaabbbccc"), "predicted": list("abc") * 3, "share": rows.ravel()}
    options = {"labels": list("abc"), "linkage": [[0, 1, 1, 2]], "tree_labels": ["a", "c"]}
    figure = draw_figure("confusion_clusters", columns, **options)
    names = [text.get_text() for text in part(figure, "heat").get_yticklabels()]
    assert names[-1] == "b"


def test_words_without_any() -> None:
    figure = words(
        {"joy": [], "fear": [("$x^2$", 3.5)]}, groups={"joy": "positive", "fear": "negative"}
    )
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == ["no word", "$x^2$", "3.5"]
    assert to_png(figure)
    assert to_png(words({"joy": []}))


@pytest.mark.parametrize("n", [1, 2, 4000])
def test_maps(n: int) -> None:
    rng = np.random.default_rng(0)
    chosen = rng.random((n, 3)) < 0.4
    columns = {
        "x": rng.random(n),
        "y": rng.random(n),
        "colour": ["#336699"] * n,
        "labels": [", ".join(np.array(list("abc"))[row]) for row in chosen],
    }
    figure = draw_figure("label_map", columns, labels=list("abc"))
    assert to_png(figure)
    assert len(figure.axes[0].texts) == chosen.any(axis=0).sum()
