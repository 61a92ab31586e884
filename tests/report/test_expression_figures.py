"""Figures of expression differences: what is drawn where, with few and many expressions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from affectlab.core.errors import InputError
from affectlab.core.render.drawing.svg import settled, to_png, to_svg
from affectlab.report import (
    CurvePanel,
    HistogramPanel,
    fig_expression_elbow,
    fig_expression_heatmap,
    fig_expression_histograms,
    fig_expression_priority,
    fig_transition_curves,
    fig_transition_ranges,
)

LONG = "E{:03d} Mouth Open Jaw Right Show Teeth"


def part(figure, name: str):
    return next(axes for axes in figure.axes if axes.get_label() == name)


def distances(n: int) -> np.ndarray:
    matrix = np.random.default_rng(n).uniform(10, 90, (n, n))
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 0)
    return matrix


@pytest.mark.parametrize("n", [2, 3, 12, 61])
def test_heatmaps_hold_their_names(n: int) -> None:
    """At the resolution of the file no name leaves the picture on the left."""
    matrix = distances(n)
    names = [LONG.format(k) for k in range(n)]
    tree = linkage(squareform(matrix), "average")
    figure = fig_expression_heatmap(matrix, names, tree, cluster=[k % 7 + 1 for k in range(n)])
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
    figure = fig_expression_heatmap(
        whole, list("abcdef"), tree, cluster=[1, 1, 2, 2, 2, None], value_name="apart"
    )
    heat = part(figure, "heat")
    rows = [text.get_text() for text in heat.get_yticklabels()]
    assert rows == [f"{k + 1}  {'abcde'[at]}" for k, at in enumerate(order)] + ["6  f"]
    drawn = heat.collections[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn).reshape(6, 6)[5], [True] * 6)
    crosses = heat.collections[1].get_offsets()
    assert len(crosses) == 2 * 5
    assert "not compared" in [text.get_text() for text in figure.legends[0].get_texts()]
    with pytest.raises(InputError, match=r"matrix of shape \(5, 5\); expected \(6, 6\)"):
        fig_expression_heatmap(matrix, list("abcdef"))


def test_ranges_are_sorted_and_empty_rows_say_so() -> None:
    figure = fig_transition_ranges(
        ["low", "none", "high"], [[10, 20], [np.nan], [90, 70, 80]], line=0
    )
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["high", "low", "none"]
    assert [text.get_text() for text in axes.texts] == ["no values"]
    with pytest.raises(InputError, match="2 names and 1 rows"):
        fig_transition_ranges(["a", "b"], [[1]])


@pytest.mark.parametrize(("panels", "curves"), [(1, 1), (3, 8), (5, 16), (13, 3), (4, 40)])
def test_curves_in_few_and_many_panels(panels: int, curves: int) -> None:
    x = np.arange(1, 6)
    drawn = [
        CurvePanel(
            LONG.format(p),
            {f"actor {c}": (x, np.linspace(1, 0, 5) ** (1 + c / 9)) for c in range(curves)},
            ("actor 0",),
        )
        for p in range(panels)
    ]
    figure = fig_transition_curves(drawn, ticks=[(1, "peak"), (5, "neutral")])
    assert to_png(figure).startswith(b"\x89PNG")
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == panels
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    if curves <= 16:
        assert texts == [f"actor {c}" for c in range(curves)]
        looks = {(line.get_color(), line.get_linestyle()) for line in shown[0].lines}
        assert len(looks) == curves
    else:
        assert texts == ["one transition", "median of the panel"]
        assert len(shown[0].lines) == curves + 2


def test_the_median_of_curves() -> None:
    """With more curves than colours the median is drawn, at their places or on a grid of times."""
    x = np.arange(1, 6)
    same = {f"c{k}": (x, np.linspace(1, 0, 5) * (1 + k)) for k in range(21)}
    figure = fig_transition_curves([CurvePanel("a", same)])
    np.testing.assert_allclose(figure.axes[0].lines[-1].get_ydata(), np.linspace(11, 0, 5))
    other = {f"c{k}": (x * (1.0 + k), np.linspace(1, 0, 5)) for k in range(21)}
    line = fig_transition_curves([CurvePanel("a", other)]).axes[0].lines[-1]
    assert line.get_xdata()[-1] == 5 * 21
    assert line.get_ydata()[-1] == 0


def test_curves_that_cannot_be() -> None:
    with pytest.raises(InputError, match="there are no panels"):
        fig_transition_curves([])
    with pytest.raises(InputError, match="the first ascending"):
        fig_transition_curves([CurvePanel("a", {"b": ([1, 1], [1, 0])})])


def test_priority_and_elbow() -> None:
    nothing = [np.nan, np.nan, np.nan]
    figure = fig_expression_priority(
        ["b", "c", "a"], [50, 60, np.nan], nothing, nothing, cluster=[2, None, 1]
    )
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert rows == ["b", "c", "a"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["cluster 1", "cluster 2", "in no cluster"]
    assert to_svg(figure).count("<svg") == 1
    assert not fig_expression_elbow([2, 3], [9, 8], 7).axes[0].texts


def test_histograms_share_axes_and_say_when_empty() -> None:
    panels = [HistogramPanel(f"p{k}", [0, 50], [50, 100], [0.5, 0.5], note="n") for k in range(5)]
    panels.append(HistogramPanel("none", [0, 50], [50, 100], [np.nan, np.nan], role="intra"))
    figure = fig_expression_histograms(panels)
    assert to_png(figure)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 6
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert "no pairs" in [text.get_text() for text in shown[-1].texts]
    with pytest.raises(InputError, match="there are no panels"):
        fig_expression_histograms([])


def test_names_of_others_are_no_markup() -> None:
    name = "$x^2$ \u202e evil\n<b>"
    figure = fig_transition_ranges([name], [[1, 2]])
    assert "<b>" not in to_svg(figure)
    assert to_png(fig_transition_curves([CurvePanel(name, {name: ([1, 2], [1, 0])})]))
    assert to_png(fig_expression_heatmap(distances(2), [name, "b"]))
