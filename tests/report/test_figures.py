"""Figures take plain arrays and say what they are given."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from affectlab.core.render.drawing import figure_of
from affectlab.core.render.drawing.svg import inline_svg, standalone_svg, to_png, to_svg
from affectlab.core.render.drawing.theme import contrast, ink_on
from affectlab.core.tables import Figure, Table
from affectlab.report import (
    Panel,
    fig_alpha,
    fig_answers,
    fig_answers_by_label,
    fig_attributes,
    fig_by_kind,
    fig_frequencies,
    fig_intervals,
    fig_pair_heatmap,
    fig_people_range,
)

nan = float("nan")
PLANNED = {
    "raters": [2, 4, 8],
    "value": [3.0, 2.0, 1.2],
    "low": [2.9, 1.9, 1.1],
    "high": [3.1, 2.1, 1.3],
}
BATCHES = {
    "batch": [1, 2],
    "kind": ["affirmative", "contrastive"],
    "items": [10, 8],
    "agreement_low": [0.8, nan],
    "agreement_high": [0.9, nan],
}


def _drawn(kind, columns, **options):
    table = Table("shown", "", pl.DataFrame(columns), ())
    return figure_of(Figure("shown", kind, "shown", "", options=options), table)


EVERY = {
    "alpha": lambda: fig_alpha(["a", "b", "c"], [0.5, nan, -0.2], [0.4, nan, -0.3], [0.6, nan, 0]),
    "plan": lambda: _drawn("plan", PLANNED, goal=1.5, recommended=8, value_name="width"),
    "no plan": lambda: _drawn("plan", PLANNED, goal=1, recommended=None, value_name="width"),
    "intervals": lambda: fig_intervals(["a"], [nan], [nan], [nan], value_name="x"),
    "frequencies": lambda: fig_frequencies(
        ["a", "b"], [3, 9], shade=[0.2, nan], groups=["positive", "negative"]
    ),
    "no shade": lambda: fig_frequencies(["a"], [0], shade=[nan]),
    "heatmap": lambda: fig_pair_heatmap(
        [[nan, 0.5, -0.4], [0.5, nan, nan], [-0.4, nan, nan]],
        "abc",
        ["human", "simulated", "model"],
        value_name="kappa",
    ),
    "empty heatmap": lambda: fig_pair_heatmap([[nan]], ["a"], ["human"], value_name="kappa"),
    "kinds": lambda: fig_by_kind({"human-human": [0.1, 0.2], "other": [1.0]}, value_name="kappa"),
    "range": lambda: fig_people_range({"x": [0.1, nan], "y": [nan]}, {"x": [nan], "y": [1]}, ["m"]),
    "answers": lambda: fig_answers(["a very long name"] * 8, {"people": np.full(8, 0.125)}),
    "by label": lambda: fig_answers_by_label(["a"], ["0", "1", "2"], [[0.5, 0.5, 0]]),
    "flow": lambda: _drawn("consensus_flow", BATCHES),
    "attributes": lambda: fig_attributes(
        [
            Panel("age", (1, 2), edges=(0, 10, 20)),
            Panel("sex", (1, 2), ("f", "m")),
            Panel("when", (3,), edges=(1.5e9, 1.6e9)),
        ],
        count_name="raters",
    ),
}


@pytest.mark.parametrize("name", EVERY)
def test_figures_are_drawn_alike_twice(name):
    first, second = EVERY[name](), EVERY[name]()
    assert to_svg(first) == to_svg(second)
    assert to_png(first) == to_png(second)
    assert "<dc:date>" not in to_svg(first)


def test_alpha_is_sorted_with_undefined_last():
    axes = EVERY["alpha"]().axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "c", "b"]
    assert "not defined" in {text.get_text() for text in axes.texts}
    assert axes.get_xlim()[0] <= -0.3


def test_frequencies_are_sorted_and_shaded():
    bars = fig_frequencies(["a", "b", "c"], [1, 5, 3], shade=[0.1, 0.5, 0.9]).axes[0].patches
    assert [bar.get_width() for bar in bars] == [5, 3, 1]
    assert len({bar.get_facecolor() for bar in bars}) == 3


def test_heatmap_cells_can_be_read():
    from matplotlib.colors import to_hex

    value = np.linspace(-0.9, 1, 100).reshape(10, 10)
    axes = fig_pair_heatmap(value, "abcdefghij", ["human"] * 10, value_name="k").axes[0]
    grounds = axes.collections[0].to_rgba(value.ravel())
    assert len(axes.texts) == 100
    for text, ground in zip(axes.texts, grounds, strict=True):
        assert contrast(to_hex(text.get_color()), to_hex(ground)) >= 4.5


@pytest.mark.parametrize("ground", ["#ffffff", "#000000", "#777777", "#2b6f9e"])
def test_ink_stands_out(ground):
    assert contrast(ink_on(ground), ground) >= 4.4


def test_inline_svg_has_ids_of_its_own():
    svg = to_svg(EVERY["kinds"]())
    parts = [inline_svg(svg, name=f"fig-{k}", title="T", description="D") for k in "ab"]
    ids = [re.findall(r'\bid="([^"]+)"', part) for part in parts]
    assert not set(ids[0]) & set(ids[1])
    assert all(len(found) == len(set(found)) for found in ids)
    for part, found in zip(parts, ids, strict=True):
        used = set(re.findall(r'(?:href="|url\()#([^")]+)', part))
        assert used
        assert used <= set(found)


def test_descriptions_are_escaped():
    svg = to_svg(EVERY["kinds"]())
    for text in (
        inline_svg(svg, name="f", title="<b>", description="a & b </desc>"),
        standalone_svg(svg, title="<b>", description="a & b </desc>"),
    ):
        assert "&lt;b&gt;" in text
        assert "a &amp; b &lt;/desc&gt;" in text
