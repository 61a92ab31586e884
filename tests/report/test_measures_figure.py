"""Measures side by side: a dot for each group, where its value is."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.report import draw_figure


def test_dots_and_intervals_stand_at_their_values() -> None:
    value = np.array([0.6, 0.5, 0.7, np.nan])
    columns = {
        "measure": ["ACC"] * 4 + ["EMC"] * 4,
        "name": ["small", "small", "large", "large"] * 2,
        "group": ["a", "b"] * 4,
        "value": [*value, *value / 2],
        "low": [*value - 0.1, *value / 2],
        "high": [*value + 0.1, *value / 2],
    }
    figure = draw_figure("measures", columns)
    first, second = figure.axes
    lines, dots, *_ = first.collections
    assert dots.get_offsets()[:, 0].tolist() == pytest.approx([0.6, 0.7])
    ends = [path.vertices[:, 0].tolist() for path in lines.get_paths()]
    assert np.allclose(ends, [[0.5, 0.7], [0.6, 0.8]])
    assert second.collections[1].get_offsets()[:, 0].tolist() == pytest.approx([0.3, 0.35])
    # Groups of one line do not cover each other.
    other = first.collections[3].get_offsets()
    assert other[0, 1] > dots.get_offsets()[0, 1]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_nothing_to_draw() -> None:
    names = ("measure", "name", "group", "value", "low", "high")
    with pytest.raises(InputError, match="no measures to draw"):
        draw_figure("measures", {key: [] for key in names})
