"""Figures of fairness and calibration are drawn alike twice."""

from __future__ import annotations

import pytest

from affectlab.core.render.svg import to_png, to_svg
from affectlab.report import draw_figure

nan = float("nan")


def fairness(rater, group, value, low, high, flagged, **options):
    columns = {"rater": rater, "group": group, "value": value, "low": low, "high": high}
    options = {"row": ["group"], "section": ["rater"], "value_name": "bias"} | options
    return draw_figure("fairness", columns | {"flagged": flagged, "n": [10, 2000] * 2}, **options)


EVERY = {
    "fairness": lambda: fairness(
        ["net"] * 2 + ["a model with a very long name"] * 2,
        ["man", "a group with a very long name, 30 to under 50"] * 2,
        [0.1, nan, 0.3, -0.2],
        [0.0, nan, nan, -0.3],
        [0.2, nan, nan, -0.1],
        [False, False, False, False],
        size="n",
        line=0,
    ),
    "nothing defined": lambda: fairness(
        ["m"] * 4, list("abcd"), [nan] * 4, [nan] * 4, [nan] * 4, [False] * 4
    ),
    "reliability": lambda: draw_figure(
        "reliability",
        {
            "low": [0, 0.5],
            "high": [0.5, 1],
            "n": [0, 7],
            "confidence": [nan, 0.8],
            "share": [nan, 0.9],
            "share_low": [nan, 0.6],
            "share_high": [nan, 1],
        },
        ece=0.1,
        title="m",
    ),
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


def test_gaps_come_first_and_stand_out():
    values = [0.1, 0.2, 0.3, 0.4]
    figure = fairness(
        list("aabb"), list("mwmw"), values, values, values, [False, False, True, False]
    )
    assert [text.get_text() for text in figure.axes[0].texts[:2]] == ["b", "a"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "a gap is shown",
        "no gap is shown",
    ]


def test_the_error_is_written_above():
    axes = EVERY["reliability"]().axes[0]
    assert axes.get_title(loc="left") == "m"
    assert axes.get_title(loc="right") == "ECE 0.100"
