"""Figures of fairness and calibration take plain arrays and are drawn alike twice."""

from __future__ import annotations

import pytest

from affectlab.core.render.drawing.svg import to_png, to_svg
from affectlab.report import fig_fairness, fig_reliability_diagram

nan = float("nan")
EVERY = {
    "fairness": lambda: fig_fairness(
        ["net"] * 2 + ["a model with a very long name"] * 2,
        ["man", "a group with a very long name, 30 to under 50"] * 2,
        [0.1, nan, 0.3, -0.2],
        [0.0, nan, nan, -0.3],
        [0.2, nan, nan, -0.1],
        value_name="bias",
        flagged=[False, False, True, False],
        sizes=[10, 2000, 10, 2000],
        line=0,
    ),
    "nothing defined": lambda: fig_fairness(["m"], ["a"], [nan], [nan], [nan], value_name="x"),
    "reliability": lambda: fig_reliability_diagram(
        [0, 0.5], [0.5, 1], [0, 7], [nan, 0.8], [nan, 0.9], [nan, 0.6], [nan, 1], ece=0.1, title="m"
    ),
    "empty reliability": lambda: fig_reliability_diagram([0], [1], [0], [nan], [nan], [nan], [nan]),
}


@pytest.mark.parametrize("name", EVERY)
def test_figures_are_drawn_alike_twice(name):
    first, second = EVERY[name](), EVERY[name]()
    assert to_svg(first) == to_svg(second)
    assert to_png(first) == to_png(second)


def test_rows_keep_their_order_under_their_heading():
    axes = EVERY["fairness"]().axes[0]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert [name.split("  ")[-1] for name in names] == ["(10)", "(2,000)"] * 2
    texts = [text.get_text() for text in axes.texts]
    assert texts[:2] == ["net", "a model with a very long name"]
    assert texts.count("not defined") == 1


def test_the_error_is_written_above():
    axes = EVERY["reliability"]().axes[0]
    assert axes.get_title(loc="left") == "m"
    assert axes.get_title(loc="right") == "ECE 0.100"
