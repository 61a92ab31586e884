"""Titles on figures that stand alone."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from affectlab.core.render.figure import titled
from affectlab.report import draw_figure


def _drawn(figure: Figure) -> tuple[float, list[float]]:
    """Lower end of the title, and upper ends of all axes with their titles, in pixels."""
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    title = next(text for text in figure.texts if text.get_text() == figure.get_suptitle())
    low = title.get_window_extent(renderer).y0
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    return low, [box.y1 for box in boxes if box is not None]


@pytest.mark.parametrize("title", ["Agreement", "A title of many words, " * 12])
def test_a_title_covers_nothing(title: str) -> None:
    columns = {"name": ["a", "b"], "value": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.3, 0.7]}
    figure = draw_figure("intervals", columns, value_name="x", lines=[(0.5, "half")])
    before = figure.get_size_inches()
    low, tops = _drawn(titled(figure, title))
    assert max(tops) <= low
    width, height = figure.get_size_inches()
    assert width == before[0]
    assert height > before[1]
    assert " ".join(figure.get_suptitle().split()) == " ".join(title.split())


def test_a_figure_keeps_its_own_title() -> None:
    columns = {"name": ["joy"], "value": [0.7], "low": [0.6], "high": [0.8]}
    figure = draw_figure("intervals", columns)
    size = np.array(figure.get_size_inches())
    assert titled(figure, "").get_suptitle() == ""
    assert (figure.get_size_inches() == size).all()
    titled(titled(figure, "First"), "Second")
    assert figure.get_suptitle() == "First"
