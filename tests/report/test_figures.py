"""Figures take columns and say what they are given."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from affectlab.core.render.svg import inline_svg, standalone_svg, to_png, to_svg
from affectlab.core.render.theme import contrast, ink_on
from affectlab.report import draw_figure

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


def _heatmap(matrix, names, kinds, **options):
    """Draw the pairs of a matrix of raters."""
    value = np.asarray(matrix, dtype=np.float64)
    first, second = np.triu_indices(len(names), 1)
    columns = {
        "label": ["joy"] * first.size,
        "rater_a": [names[k] for k in first],
        "rater_b": [names[k] for k in second],
        "value": value[first, second],
        "status": ["ok" if known else "undefined" for known in np.isfinite(value[first, second])],
    }
    schema = {"label": pl.String, "rater_a": pl.String, "rater_b": pl.String}
    frame = pl.DataFrame(columns, schema_overrides=schema)
    options = {"raters": list(names), "rater_kinds": kinds, "value_name": "kappa"} | options
    return draw_figure("pair_heatmap", frame, keys=["label", "rater_a", "rater_b"], **options)


EVERY = {
    "alpha": lambda: draw_figure(
        "intervals",
        {
            "label": list("abc"),
            "value": [0.5, nan, -0.2],
            "low": [0.4, nan, -0.3],
            "high": [0.6, nan, 0],
        },
        keys=["label"],
        lines=((0.67, "0.67"), (0.8, "0.80")),
        limits=(None, 1.0),
    ),
    "plan": lambda: draw_figure("plan", PLANNED, goal=1.5, recommended=8, value_name="width"),
    "no plan": lambda: draw_figure("plan", PLANNED, goal=1, recommended=None, value_name="width"),
    "intervals": lambda: draw_figure(
        "intervals", {"a": ["a"], "value": [nan], "low": [nan], "high": [nan]}, value_name="x"
    ),
    "frequencies": lambda: draw_figure(
        "frequencies",
        {"label": ["a", "b"], "count": [3, 9], "r": [0.2, nan], "of": ["positive", "negative"]},
        shade="r",
        groups="of",
    ),
    "no shade": lambda: draw_figure(
        "frequencies", {"label": ["a"], "count": [0], "r": [nan]}, shade="r"
    ),
    "heatmap": lambda: _heatmap(
        [[nan, 0.5, -0.4], [0.5, nan, nan], [-0.4, nan, nan]],
        "abc",
        ["human", "simulated", "model"],
    ),
    "empty heatmap": lambda: _heatmap([[nan]], "a", ["human"]),
    "kinds": lambda: draw_figure(
        "groups_compared",
        {"group": ["human-human"] * 2 + ["other"], "value": [0.1, 0.2, 1.0]},
        value_name="kappa",
    ),
    "range": lambda: draw_figure(
        "people_range",
        {
            "rater": ["m", "p", "q"],
            "rater_kind": ["model", "person", "person"],
            "x": [nan, 0.1, nan],
            "y": [1, nan, nan],
        },
        value={"x": "kappa", "y": "correlation"},
    ),
    "answers": lambda: draw_figure(
        "answers",
        {
            "group": ["people"] * 8,
            "answer": [f"a very long name {k}" for k in range(8)],
            "share": np.full(8, 0.125),
        },
    ),
    "by label": lambda: draw_figure(
        "levels_by_label",
        {"label": ["a"] * 3, "answer": ["0", "1", "2"], "share": [0.5, 0.5, 0]},
    ),
    "flow": lambda: draw_figure("consensus_flow", BATCHES),
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
    columns = {"label": list("abc"), "count": [1, 5, 3], "r": [0.1, 0.5, 0.9]}
    bars = draw_figure("frequencies", columns, shade="r").axes[0].patches
    assert [bar.get_width() for bar in bars] == [5, 3, 1]
    assert len({bar.get_facecolor() for bar in bars}) == 3


def test_heatmap_cells_can_be_read():
    from matplotlib.colors import to_hex

    value = np.linspace(-0.9, 1, 100).reshape(10, 10)
    axes = _heatmap(value, "abcdefghij", ["human"] * 10).axes[0]
    drawn = axes.collections[0].get_array()
    grounds = axes.collections[0].to_rgba(drawn[~drawn.mask])
    assert len(axes.texts) == 90
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
