"""Measures side by side: a dot for each group, where its value is."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.report import fig_measures


def test_dots_and_intervals_stand_at_their_values() -> None:
    value = np.array([[0.6, 0.5], [0.7, np.nan]])
    figure = fig_measures(
        ["small", "large"],
        ["a", "b"],
        {"ACC": (value, value - 0.1, value + 0.1), "EMC": (value / 2, value / 2, value / 2)},
    )
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


@pytest.mark.parametrize("names", [[], ["one"]])
def test_shapes_that_do_not_fit(names: list[str]) -> None:
    values = [[0.1, 0.2], [0.3, 0.4]]
    with pytest.raises(InputError, match="expected"):
        fig_measures(names, ["a", "b"], {"ACC": (values, values, values)})
