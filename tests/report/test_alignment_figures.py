"""Figures of models beside people show what was given, and are drawn alike."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.render.svg import to_png, to_svg
from affectlab.core.render.theme import colour
from affectlab.report import draw_figure

nan = float("nan")
LONG = "a model with a name that is far too long for any axis"
SPREAD = np.random.default_rng(0).normal(size=900)


def groups(values, comparisons):
    columns = {
        "group": [name for name, own in values.items() for _ in own],
        "value": np.concatenate([*values.values()]),
    }
    return draw_figure(
        "groups_compared",
        columns,
        groups=list(values),
        comparisons=comparisons,
        value_name="kappa",
    )


def discrepancies(labels, models, value):
    columns = {
        "rater": np.repeat(models, len(labels)),
        "label": np.tile(labels, len(models)),
        "value": np.ravel(value),
    }
    none = np.full(np.size(value), nan)
    return draw_figure("discrepancies", columns | {"low": none, "high": none})


EVERY = {
    "equivalence": lambda: draw_figure(
        "equivalence",
        {
            "rater": ["low", LONG, "none", "high"],
            "difference": [-0.2, 0.01, nan, 0.2],
            "low": [-0.3, -0.04, nan, 0.1],
            "high": [-0.1, 0.06, nan, 0.3],
            "verdict": ["below", "inside", "undefined", "above"],
            "test_low": [-0.28, -0.03, nan, 0.12],
            "test_high": [-0.12, 0.04, nan, 0.28],
        },
        margin=0.05,
        value_name="difference of kappa",
        inner_name="90 % interval",
    ),
    "without intervals": lambda: draw_figure(
        "equivalence",
        {
            "rater": ["m"],
            "difference": [0.1],
            "low": [nan],
            "high": [nan],
            "verdict": ["not shown"],
        },
        margin=0.05,
        value_name="x",
    ),
    "groups": lambda: groups(
        {"people": SPREAD, "insight": [0.1, 0.2], "vlm": [], LONG: [nan, 0.3]},
        [("people", "insight", "p = 0.1"), ("insight", LONG, "Δ 0.1\np < 0.001")],
    ),
    "kinds of pairs": lambda: groups(
        {"human-human": [0.4, 0.5], "human-model": [0.3, 0.2], "model-model": [0.1, 0.0]},
        [
            ("human-human", "human-model", "Δ 0.2\n[0.1, 0.3]\np < 0.001"),
            ("human-human", "model-model", "Δ 0.4\n[0.3, 0.5]\np < 0.001"),
            ("human-model", "model-model", "Δ 0.2\n[0.1, 0.3]\np < 0.001"),
        ],
    ),
    "bars": lambda: draw_figure(
        "agreement_bars",
        {
            "rater": ["a", "b", LONG],
            "value": [0.2, nan, 0.5],
            "low": [0.1, nan, 0.4],
            "high": [0.3, nan, 0.6],
        },
        value_name="Spearman",
        families=["vlm", "vlm", "insight"],
        people=[0.4, 0.5, nan],
    ),
    "kinds by label": lambda: draw_figure(
        "kinds_by_label",
        {
            "label": ["joy", "awe", "rage"] * 2,
            "pair_kind": ["human-human"] * 3 + ["human-model"] * 3,
            "mean": [0.2, 0.4, nan, 0.1, nan, nan],
        },
        value_name="kappa",
    ),
    "discrepancy": lambda: discrepancies(
        ["joy", "awe", "rage"], ["m", "n"], [[0.2, -0.4, nan], [0.1, 0.3, nan]]
    ),
    "discrepancy of many": lambda: discrepancies(
        ["joy", "awe"], [f"model {k}" for k in range(12)], SPREAD[:24]
    ),
    "discrepancy of one value": lambda: discrepancies(["joy"], list("abcd"), np.zeros(4)),
}


@pytest.mark.parametrize("name", EVERY)
def test_figures_are_drawn_alike_twice(name):
    first, second = EVERY[name](), EVERY[name]()
    assert to_svg(first) == to_svg(second)
    assert to_png(first) == to_png(second)


def names_of(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


def test_differences_are_sorted_on_the_margin():
    axes = EVERY["equivalence"]().axes[0]
    names = names_of(axes)
    assert (names[0], names[2], names[3]) == ("high", "low", "none")
    assert names[1].startswith("a model with a")
    assert "…" in names[1]
    (band,) = axes.patches
    assert band.get_extents().transformed(axes.transData.inverted()).intervalx.tolist() == (
        pytest.approx([-0.05, 0.05])
    )
    assert [text.get_text() for text in axes.texts] == ["not defined"]
    # Wide and narrow interval of each model, one on the other.
    wide, narrow = (lines.get_segments() for lines in axes.collections[:2])
    for outer, inner in zip(wide[:3], narrow[:3], strict=True):
        assert outer[0][0] < inner[0][0] < inner[1][0] < outer[1][0]
        assert outer[0][1] == inner[0][1]
    low, high = axes.get_xlim()
    assert low < -0.3
    assert high > 0.3


def test_verdicts_have_their_colours_and_the_key_names_what_is_there():
    figure = EVERY["equivalence"]()
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["above", "inside", "below", "not shown", "margin of ±0.05", "90 % interval"]
    marks = [line.get_color() for line in figure.legends[0].get_lines()]
    assert marks[:3] == [colour("people"), colour("positive"), colour("negative")]
    plain = EVERY["without intervals"]()
    assert [text.get_text() for text in plain.legends[0].get_texts()] == [
        "not shown",
        "margin of ±0.05",
    ]


def test_brackets_say_what_was_found():
    axes = EVERY["kinds of pairs"]().axes[0]
    assert len(axes.texts) == 3
    assert all("p < 0.001" in text.get_text() for text in axes.texts)
    # Two short brackets share a column; the long one stands outside.
    left = sorted({round(text.get_position()[0], 3) for text in axes.texts})
    assert len(left) == 2
    empty = EVERY["groups"]().axes[0]
    assert "no values" in [text.get_text() for text in empty.texts]


def test_bars_stand_in_order_with_their_families():
    figure = EVERY["bars"]()
    names = names_of(figure.axes[0])
    assert names[1:] == ["a", "b"]
    bars = figure.axes[0].patches
    widths = [bar.get_width() for bar in bars if bar.get_height() == pytest.approx(0.66)]
    assert widths == pytest.approx([0.5, 0.2])
    said = {text.get_text() for text in figure.legends[0].get_texts()}
    assert said == {"range and median of people", "vlm", "insight"}


def test_labels_are_sorted_and_undefined_ones_come_last():
    assert names_of(EVERY["kinds by label"]().axes[0]) == ["awe", "joy", "rage"]
    axes = EVERY["discrepancy"]().axes[0]
    assert names_of(axes) == ["joy", "rage", "awe"]
    assert [text.get_text() for text in axes.texts] == ["not defined"]


def test_many_models_make_a_heatmap():
    figure = EVERY["discrepancy of many"]()
    assert len(figure.axes) == 2
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == [f"model {k}" for k in range(12)]
    # Zero lies in the middle of the colours.
    mesh = figure.axes[0].collections[0]
    assert mesh.norm.vmin == -mesh.norm.vmax
    numbers = [text.get_text() for text in EVERY["discrepancy of one value"]().axes[0].texts]
    assert numbers == ["0.00"] * 4
