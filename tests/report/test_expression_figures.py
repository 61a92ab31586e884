"""Figures of expression differences: what is drawn where, with few and many expressions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from affectlab.core.errors import InputError
from affectlab.core.render.svg import settled, to_png, to_svg
from affectlab.report import draw_figure

LONG = "E{:03d} Mouth Open Jaw Right Show Teeth"


def part(figure, name: str):
    return next(axes for axes in figure.axes if axes.get_label() == name)


def distances(n: int) -> np.ndarray:
    matrix = np.random.default_rng(n).uniform(10, 90, (n, n))
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 0)
    return matrix


def heatmap(matrix: np.ndarray, names: list[str], tree=None, **options):
    first, second = np.triu_indices(len(names), 1)
    columns = {
        "expression_a": [names[k] for k in first],
        "expression_b": [names[k] for k in second],
        "value": matrix[first, second],
    }
    return draw_figure("expression_heatmap", columns, names=names, linkage=tree, **options)


def curves_of(panels: list[str], curves: dict, **options):
    """Draw the same curves in every panel, an expression each."""
    rows = [
        {"expression": panel, "actor": actor, "x": float(x), "place": place, "half": 2.0, "y": y}
        for panel in panels
        for actor, (xs, ys) in curves.items()
        for place, (x, y) in enumerate(zip(xs, ys, strict=True), 1)
    ]
    frame = pl.DataFrame(rows).with_columns(role=pl.lit("near_peak"))
    return draw_figure("transition_curves", frame, by="expression", value="y", **options)


def ranges(values: dict, **options):
    columns = {
        "expression": [name for name, own in values.items() for _ in own],
        "value": [float(one) for own in values.values() for one in own],
    }
    return draw_figure("ranges", columns, by="expression", **options)


@pytest.mark.parametrize("n", [2, 3, 12, 61])
def test_heatmaps_hold_their_names(n: int) -> None:
    """At the resolution of the file no name leaves the picture on the left."""
    matrix = distances(n)
    names = [LONG.format(k) for k in range(n)]
    tree = linkage(squareform(matrix), "average")
    figure = heatmap(matrix, names, tree, cluster={name: k % 7 + 1 for k, name in enumerate(names)})
    with settled(figure):
        assert to_png(figure).startswith(b"\x89PNG")
        figure.set_dpi(200)
        heat = part(figure, "heat")
        boxes = [text.get_window_extent() for text in heat.get_yticklabels()]
        assert min(box.x0 for box in boxes) >= 0
    assert len(heat.get_yticklabels()) == n


def test_heatmap_follows_the_tree_and_crosses_gaps() -> None:
    matrix = distances(5)
    tree = linkage(squareform(matrix), "average")
    order = leaves_list(tree)
    whole = np.full((6, 6), np.nan)
    whole[:5, :5] = matrix
    clusters = dict(zip("abcde", [1, 1, 2, 2, 2], strict=True))
    figure = heatmap(whole, list("abcdef"), tree, cluster=clusters, value_name="apart")
    heat = part(figure, "heat")
    rows = [text.get_text() for text in heat.get_yticklabels()]
    assert rows == [f"{k + 1}  {'abcde'[at]}" for k, at in enumerate(order)] + ["6  f"]
    drawn = heat.collections[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn).reshape(6, 6)[5], [True] * 6)
    crosses = heat.collections[1].get_offsets()
    assert len(crosses) == 2 * 5
    assert "not compared" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_ranges_are_sorted_and_empty_rows_say_so() -> None:
    figure = ranges({"low": [10, 20], "none": [np.nan], "high": [90, 70, 80]}, line=0)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["high", "low", "none"]
    assert [text.get_text() for text in axes.texts] == ["no values"]


@pytest.mark.parametrize(("panels", "curves"), [(1, 1), (3, 8), (5, 16), (13, 3), (4, 40)])
def test_curves_in_few_and_many_panels(panels: int, curves: int) -> None:
    x = np.arange(1, 6)
    drawn = {f"actor {c:02}": (x, np.linspace(1, 0, 5) ** (1 + c / 9)) for c in range(curves)}
    figure = curves_of([LONG.format(p) for p in range(panels)], drawn, names_frames=True)
    assert to_png(figure).startswith(b"\x89PNG")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == panels
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    if curves <= 16:
        assert texts == [*drawn]
        looks = {(line.get_color(), line.get_linestyle()) for line in shown[0].lines}
        assert len(looks) == curves
    else:
        assert texts[:2] == ["one transition", "median of the panel"]
        assert texts[2:] == ["first to lose half", "last to lose half"]
        assert len(shown[0].lines) == curves + 3


def test_the_median_of_curves() -> None:
    """With more curves than colours the median is drawn, at their places or on a grid of times."""
    x = np.arange(1, 6)
    same = {f"c{k:02}": (x, np.linspace(1, 0, 5) * (1 + k)) for k in range(21)}
    figure = curves_of(["a"], same)
    np.testing.assert_allclose(figure.axes[0].lines[-3].get_ydata(), np.linspace(11, 0, 5))
    other = {f"c{k:02}": (x * (1.0 + k), np.linspace(1, 0, 5)) for k in range(21)}
    line = curves_of(["a"], other).axes[0].lines[-3]
    assert line.get_xdata()[-1] == 5 * 21
    assert line.get_ydata()[-1] == 0


def test_curves_that_cannot_be() -> None:
    empty = {key: [] for key in ("expression", "actor", "place", "x", "half", "y")}
    frame = pl.DataFrame(empty, schema_overrides={"half": pl.Float64})
    with pytest.raises(InputError, match="there is no transition"):
        draw_figure("transition_curves", frame, by="expression", value="y")


def test_priority_and_elbow() -> None:
    columns = {
        "expression": ["b", "c", "a"],
        "value": [50, 60, np.nan],
        "cluster": [2, None, 1],
        **dict.fromkeys(("relative", "relative_low", "relative_high"), [np.nan] * 3),
    }
    figure = draw_figure("expression_priority", columns, has_clusters=True)
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert rows == ["b", "c", "a"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["cluster 1", "cluster 2", "in no cluster"]
    assert to_svg(figure).count("<svg") == 1
    elbow = draw_figure("expression_elbow", {"n_clusters": [2, 3], "height": [9, 8]}, chosen=7)
    assert not elbow.axes[0].texts


def test_histograms_share_axes_and_say_when_empty() -> None:
    groups = [*(f"p{k}" for k in range(5)), "intra"]
    columns = {
        "histogram": ["all"] * 12,
        "group": np.repeat(groups, 2),
        "low": [0, 50] * 6,
        "high": [50, 100] * 6,
        "share": [0.5] * 10 + [np.nan] * 2,
    }
    figure = draw_figure("histograms", columns, histogram="all", notes={"p0": "n"})
    assert to_png(figure)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 6
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert "no pairs" in [text.get_text() for text in shown[-1].texts]
    with pytest.raises(InputError, match="there is no histogram 'other'"):
        draw_figure("histograms", columns, histogram="other", notes={})


def test_names_of_others_are_no_markup() -> None:
    name = "$x^2$ \u202e evil\n<b>"
    figure = ranges({name: [1, 2]})
    assert "<b>" not in to_svg(figure)
    assert to_png(curves_of([name], {name: ([1, 2], [1.0, 0.0])}))
    assert to_png(heatmap(distances(2), [name, "b"]))
