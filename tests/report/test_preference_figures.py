"""Figures of preference studies and of difference metrics."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from affectlab.core.render.svg import to_png, to_svg
from affectlab.core.render.theme import colour
from affectlab.report import draw_figure

nan = float("nan")
VOTES = np.array([[3, 1, 2], [0, 5, 1], [4, 4, 0], [0, 0, 0]])


def shares(choice, value, low, high, count):
    columns = {"choice": choice, "value": value, "low": low, "high": high, "count": count}
    return draw_figure("shares", columns)


def item_votes(votes, choices, items):
    columns = dict(zip(choices, votes.T, strict=True))
    named = {name: name for name in choices}
    return draw_figure("item_votes", {"item": items, **columns}, choices=named)


EVERY = {
    "published counts": lambda: shares(
        ["human", "model"], [0.708, 0.292], [0.678, 0.264], [0.736, 0.322], [707, 292]
    ),
    "nothing decided": lambda: shares(["a", "b"], [nan, nan], [nan] * 2, [nan] * 2, [0, 0]),
    "few items": lambda: item_votes(VOTES, ["human", "model", "both"], list("abcd")),
    "many items": lambda: item_votes(
        np.tile(VOTES, (100, 1)), ["model", "human", "both"], list(map(str, range(400)))
    ),
    "dots": lambda: draw_figure(
        "scatter",
        {"x": [0.1, nan, 0.9], "y": [1, 2, 3]},
        y="y",
        panels=[{"x": "x", "title": f"metric {k}", "note": "SROCC 1.00"} for k in range(4)],
    ),
    "density": lambda: draw_figure(
        "scatter",
        {"x": np.arange(4000.0), "y": np.arange(4000.0) ** 2},
        y="y",
        panels=[{"x": "x", "title": "many", "curve": ([0, 4000], [0, 1e7])}],
    ),
    "groups": lambda: draw_figure(
        "scatter",
        {"x": [0.1, 0.5, 0.9], "y": [1, 2, 3], "who": ["a 1", "a 10", "a 2"]},
        y="y",
        panels=[{"x": "x", "title": "groups"}],
        groups="who",
    ),
    "no pairs": lambda: draw_figure(
        "scatter", {"x": [nan], "y": [1.0]}, y="y", panels=[{"x": "x", "title": "none"}]
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_figures_are_drawn_alike_twice(name):
    first, second = EVERY[name](), EVERY[name]()
    assert to_svg(first) == to_svg(second)
    assert to_png(first) == to_png(second)


def test_bars_are_as_long_as_shares_and_people_have_their_colour():
    axes = EVERY["published counts"]().axes[0]
    assert [bar.get_width() for bar in axes.patches] == [0.708, 0.292]
    assert to_hex(axes.patches[0].get_facecolor()) == colour("people")
    texts = [text.get_text().replace("\u00a0", " ") for text in axes.texts]
    assert texts == ["70.8 % (707)", "29.2 % (292)"]


def test_items_stand_from_most_to_least_and_without_votes_not_at_all():
    axes = EVERY["few items"]().axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "c", "b"]
    heights = np.array([bar.get_height() for bar in axes.patches]).reshape(3, 3)
    # Layers from below: the first system, others, the second system.
    assert heights[0].tolist() == [0.5, 0.5, 0.0]
    assert heights.sum(axis=0) == pytest.approx([1, 1, 1])


def test_people_keep_their_colour_when_they_come_second():
    axes = shares(["model", "human"], [0.3, 0.7], [0.2, 0.6], [0.4, 0.8], [3, 7]).axes[0]
    assert to_hex(axes.patches[1].get_facecolor()) == colour("people")


def test_panels_share_their_scores_and_leave_out_missing_predictions():
    figure = EVERY["dots"]()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 4
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert shown[0].collections[0].get_offsets().shape == (2, 2)
    (dense,) = EVERY["density"]().axes
    assert dense.collections[0].get_array().sum() == 4000
    assert "4,000 pairs" in dense.texts[0].get_text()
    key = EVERY["groups"]().legends[0]
    assert [text.get_text() for text in key.get_texts()] == ["a 1", "a 2", "a 10"]
