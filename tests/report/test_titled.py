"""Titles on figures that stand alone."""

from __future__ import annotations

import numpy as np
import pytest
from affectlab.core.render.drawing.standalone import titled
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from affectlab.report import JndStrip, fig_alpha, fig_intervals, fig_jnd_strip
from affectlab.simulate import draw_face


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
    figure = fig_intervals(
        ["a", "b"], [0.2, 0.6], [0.1, 0.5], [0.3, 0.7], value_name="x", lines=[(0.5, "half")]
    )
    before = figure.get_size_inches()
    low, tops = _drawn(titled(figure, title))
    assert max(tops) <= low
    width, height = figure.get_size_inches()
    assert width == before[0]
    assert height > before[1]
    assert " ".join(figure.get_suptitle().split()) == " ".join(title.split())


def test_a_title_covers_nothing_that_was_placed_by_hand() -> None:
    faces = [draw_face("joy", 1 - k / 10, size=48) for k in range(4)]
    figure = fig_jnd_strip([JndStrip("ann, joy", faces, [0, 33, 67, 100], [0, 0.6, 1.2, 1.8])])
    height = figure.get_size_inches()[1]
    places = [axes.get_position(original=True).y0 * height for axes in figure.axes]
    low, tops = _drawn(titled(figure, "Frames"))
    assert max(tops) <= low
    taller = figure.get_size_inches()[1]
    assert [axes.get_position(original=True).y0 * taller for axes in figure.axes] == pytest.approx(
        places
    )


def test_a_figure_keeps_its_own_title() -> None:
    figure = fig_alpha(["joy"], [0.7], [0.6], [0.8])
    size = np.array(figure.get_size_inches())
    assert titled(figure, "").get_suptitle() == ""
    assert (figure.get_size_inches() == size).all()
    titled(titled(figure, "First"), "Second")
    assert figure.get_suptitle() == "First"
