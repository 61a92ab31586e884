"""Every kind of figure can be read, whether it shows three names or three hundred long ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.report.figure_samples import SAMPLES, SIZES

from affectlab.core.render.drawing import SMALLEST, short_names
from affectlab.core.render.figure import FIGURES, draw_figure, titled
from affectlab.core.render.svg import arrange
from affectlab.core.render.theme import themed

TALLEST = 24.0
"""Inches: what is higher leaves rows out, and says so."""
TITLE = "What people see in the pictures, and in which of them they see the same as models do"


def drawn(kind: str, size: str) -> Figure:
    """Draw a sample as a page with its title, arranged as it is written to a file."""
    data, settings = SAMPLES[kind](SIZES[size])
    page = titled(draw_figure(kind, data, **settings), TITLE)
    arrange(page)
    return page


@themed
def faults(page: Figure) -> list[str]:
    """Say what cannot be read on a page that is arranged."""
    found = [] if any(axes.has_data() for axes in page.axes) else ["nothing is drawn"]
    width, height = page.get_size_inches()
    if height > TALLEST or width > 8:
        found.append(f"{width:.1f} x {height:.1f} inches")
    page.set_layout_engine("none")
    page.draw_without_rendering()
    texts = [one for one in _texts(page) if one.get_text().strip() and one.get_visible()]
    boxes = {one: one.get_window_extent() for one in texts}
    room = page.bbox.padded(2.0)
    for one, box in boxes.items():
        if not (room.contains(*box.min) and room.contains(*box.max)):
            found.append(f"outside the page: {one.get_text()!r}")
        if one.get_fontsize() < SMALLEST - 1.0:
            found.append(f"{one.get_fontsize()} points: {one.get_text()!r}")
    for one, other in combinations(texts, 2):
        if _overlap(boxes[one], boxes[other]):
            found.append(f"{one.get_text()!r} lies on {other.get_text()!r}")
    return found


def _texts(page: Figure) -> Iterator[Text]:
    """Give the texts that are drawn: marks of an axis only between its ends."""
    yield from page.texts
    for legend in page.legends:
        yield from legend.get_texts()
    for axes in page.axes:
        if not axes.get_visible():
            continue
        yield from axes.texts
        yield from (axes.title, axes._left_title, axes._right_title)  # type: ignore[attr-defined]
        for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
            yield from (axis.label, axis.offsetText)
            for tick in axis._update_ticks():  # type: ignore[attr-defined]
                yield tick.label1


def _overlap(first: Any, second: Any) -> bool:
    """Whether two boxes share more than the room above and below letters."""
    wide = min(first.x1, second.x1) - max(first.x0, second.x0)
    high = min(first.y1, second.y1) - max(first.y0, second.y0)
    return bool(wide > 1.5 and high > 1.5 and wide * high > 12)


def test_every_kind_has_a_sample() -> None:
    """A new kind of figure is tried as soon as its columns stand among the samples."""
    assert set(FIGURES.own_names()) == set(SAMPLES)


@pytest.mark.parametrize("size", ["tiny", pytest.param("large", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", SAMPLES)
def test_a_figure_can_be_read(kind: str, size: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = drawn(kind, size)
        assert faults(page) == []
    assert " ".join(page.get_suptitle().split()) == TITLE


def test_names_stay_distinct() -> None:
    """Names that are alike at both ends are cut where they differ."""
    for length, limit in ((80, 30), (80, 16), (40, 12)):
        middle = length // 2 - 3
        names = [f"{'a' * middle}{k:03d}{'z' * middle}" for k in range(300)]
        short = short_names(names, limit)
        assert len(set(short)) == 300
        assert max(map(len, short)) <= limit
    assert short_names(["one", "two"], 2) != ["one", "two"]
    assert short_names(["a long name", "a long name"], 6)[0].count("…") == 1


def test_texts_that_lie_on_each_other_are_seen() -> None:
    """What this file asserts can fail."""
    page = Figure()
    axes = page.add_subplot()
    axes.plot([0, 1])
    axes.set_xticks([0.5, 0.51], ["first", "second"])
    axes.text(2.0, 0.5, "beyond the page")
    found = faults(page)
    assert "outside the page: 'beyond the page'" in found
    assert any("lies on" in one for one in found)
    assert faults(Figure()) == ["nothing is drawn"]
