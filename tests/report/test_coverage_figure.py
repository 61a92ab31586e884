"""The map of how many pictures there are of whom."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from affectlab.report import fig_coverage, save_figure
from affectlab.taxonomy import load_taxonomy


def test_counts_and_frames() -> None:
    counts = {"age": [[3, 0], [1, 12]], "gender": [[1], [2]]}
    short = {"age": [[False, True], [True, False]], "gender": [[False], [False]]}
    values = {"age": ["20", "30"], "gender": ["woman"]}
    figure = fig_coverage(counts, ["Awe", "Fear"], values, short=short, counted="faces")
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["3", "0", "1", "12"]
    framed = [one.get_xy() for one in first.patches if isinstance(one, Rectangle)]
    assert [(int(x), int(y)) for x, y in framed] == [(1, 0), (0, 1)]
    assert not second.patches
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["Awe", "Fear"]
    assert [tick.get_text() for tick in second.get_xticklabels()] == ["woman"]
    (key,) = figure.legends
    figure.draw_without_rendering()
    assert key.get_window_extent().x1 <= figure.bbox.x1
    assert [text.get_text() for text in key.get_texts()] == [
        "no faces",
        "most of the attribute",
        "under-covered",
    ]


@pytest.mark.parametrize("top", [250, 12_345])
def test_all_labels_fit_on_the_page(tmp_path: object, top: int) -> None:
    """Forty labels against 24 values: nothing is cut, and numbers that cannot be read are left."""
    labels = load_taxonomy("emonet_face").labels
    widths = {"ethnicity": 14, "age": 7, "gender": 3}
    rng = np.random.default_rng(0)
    figure = fig_coverage(
        {name: rng.integers(0, top + 1, (40, k)) for name, k in widths.items()},
        labels,
        {name: [f"{name} {k}" for k in range(n)] for name, n in widths.items()},
    )
    png, _ = save_figure(figure, tmp_path, "map", title="Map", description="Counts.")  # type: ignore[arg-type]
    assert png.stat().st_size > 10_000
    shown = figure.axes[0].texts
    assert all(text.get_fontsize() >= 5 for text in shown)
    assert bool(shown) == (top < 12_345)
    figure.draw_without_rendering()
    edge = figure.bbox
    for axes in figure.axes:
        for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            box = tick.get_window_extent()
            assert box.x0 >= edge.x0 - 1
            assert box.y0 >= edge.y0 - 1
