"""The map of how many pictures there are of whom."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.patches import Rectangle

from affectlab.report import draw_figure, save_figure
from affectlab.taxonomy import load_taxonomy


def test_counts_and_frames() -> None:
    cells = {
        "label": ["Awe", "Awe", "Fear", "Fear", "Awe", "Fear"],
        "attribute": ["age"] * 4 + ["gender"] * 2,
        "value": ["20", "30"] * 2 + ["woman"] * 2,
        "n": [3, 0, 1, 12, 1, 2],
        "few": [False, True, True, False, False, False],
    }
    figure = draw_figure("coverage", cells, counted="n", count_name="faces", short="few")
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


@pytest.mark.long
@pytest.mark.parametrize("top", [250, 12_345])
def test_all_labels_fit_on_the_page(tmp_path: object, top: int) -> None:
    """Forty labels against 24 values: nothing is cut, and numbers that cannot be read are left."""
    labels = load_taxonomy("emonet_face").labels
    widths = {"ethnicity": 14, "age": 7, "gender": 3}
    rng = np.random.default_rng(0)
    rows = [
        (label, name, f"{name} {k}", int(rng.integers(0, top + 1)))
        for name, n in widths.items()
        for label in labels
        for k in range(n)
    ]
    columns = ["label", "attribute", "value", "n"]
    cells = pl.DataFrame(rows, schema=columns, orient="row")
    figure = draw_figure("coverage", cells, counted="n")
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
