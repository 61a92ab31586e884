"""Names of axes, titles of panels and marks along axes that fit the page they stand on."""

from __future__ import annotations

import itertools
from textwrap import fill
from typing import TYPE_CHECKING

from affectlab.core.render.drawing import short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from affectlab.core.types import Artist

_APART = 6.0
"""Points that stay free between texts."""


def make_legible(figure: Figure) -> bool:
    """Wrap, shorten and thin texts that do not fit the page as it is arranged now.

    Names of axes are wrapped, titles of panels shortened (:func:`fit_titles`), and of marks along
    an axis that lie on each other only some stay.

    Returns
    -------
    Whether anything changed, so that the page has to be arranged anew.
    """
    panels = [axes for axes in figure.axes if axes.get_visible()]
    changed = [fit_titles(figure)]
    for axes in panels:
        changed.append(_fit_label(axes.yaxis.label, 1.05 * axes.bbox.height, upright=True))
        changed.append(_fit_label(axes.xaxis.label, _room_below(axes, panels), upright=False))
        if axes.axison:
            changed += [_thin(axes.xaxis, along=0), _thin(axes.yaxis, along=1)]
    return any(changed)


def _free(artist: Artist) -> float:
    """Give the pixels between two texts."""
    figure = artist.get_figure(root=True)
    return _APART * (figure.dpi if figure else 72) / 72


def _room_below(axes: Axes, panels: list[Axes]) -> float:
    """Pixels for the name of a horizontal axis: of a single panel those of the page."""
    beside = [
        other
        for other in panels
        if other is not axes
        and other.bbox.y0 < axes.bbox.y1
        and axes.bbox.y0 < other.bbox.y1
        # What the colours mean has no name below it.
        and other.get_xlabel()
    ]
    if beside:
        return axes.bbox.width + _free(axes)
    page, middle = axes.get_figure(root=True), (axes.bbox.x0 + axes.bbox.x1) / 2
    return 2 * min(middle, page.bbox.width - middle) if page else axes.bbox.width


def _fit_label(label: Text, room: float, *, upright: bool) -> bool:
    text = label.get_text()
    if not text or "\n" in text:
        return False
    box = label.get_window_extent()
    long = box.height if upright else box.width
    if long <= room:
        return False
    label.set_text(fill(text, max(int(len(text) * room / long), 8)))
    return label.get_text() != text


def fit_titles(figure: Figure) -> bool:
    """Shorten the titles of panels in the middle, all to the length that fits over each.

    It is done before a page is arranged, too: a long title at the left would leave its panel no
    width.
    """
    panels = [axes for axes in figure.axes if axes.get_visible()]
    titles = [axes._left_title for axes in panels]  # type: ignore[attr-defined]
    fits = [
        int(0.9 * len(title.get_text()) * room / title.get_window_extent().width)
        for axes, title in zip(panels, titles, strict=True)
        if title.get_text() and "\n" not in title.get_text()
        for room in [_room_above(axes, panels)]
        if title.get_window_extent().width > room
    ]
    if not fits:
        return False
    for title, text in zip(
        titles,
        short_names([title.get_text() for title in titles], max(min(fits), 6)),
        strict=True,
    ):
        title.set_text(text)
    return True


def _room_above(axes: Axes, panels: list[Axes]) -> float:
    """Pixels for a title: to the note at its right, the next panel or the edge of the page."""
    start, page = float(axes.bbox.x0), axes.get_figure(root=True)
    note = axes._right_title  # type: ignore[attr-defined]
    if note.get_text():
        return float(note.get_window_extent().x0 - start - _free(axes))
    ends = [
        other.bbox.x0
        for other in panels
        if other.bbox.x0 > axes.bbox.x1 - 1 and other.get_title(loc="left")
    ]
    end = min(ends, default=(page.bbox.width if page else axes.bbox.x1))
    return float(end - start - _free(axes))


def _thin(axis: Axis, along: int) -> bool:
    """Leave out marks whose names lie on each other."""
    from matplotlib.ticker import MaxNLocator

    # Those between the ends of the axis.
    ticks = axis._update_ticks()  # type: ignore[attr-defined]
    labels = [tick.label1 for tick in ticks if tick.label1.get_text() and tick.label1.get_visible()]
    spans = sorted(
        (box.min[along], box.max[along]) for box in (one.get_window_extent() for one in labels)
    )
    # Upright names, and those below each other, may stand close.
    space = _free(labels[0]) / 2 if labels and not along and not labels[0].get_rotation() else -1.0
    if all(low - high >= space for (_, high), (low, _) in itertools.pairwise(spans)):
        return False
    longest = max(high - low for low, high in spans) + space
    length = spans[-1][1] - spans[0][0]
    locator = axis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        locator.set_params(nbins=max(min(int(length / longest), len(spans) - 2), 1))
        return True
    every = max(2, -(-len(spans) * longest // max(length, 1.0)))
    texts = [label.get_text() for label in axis.get_ticklabels()]
    axis.set_ticks(axis.get_ticklocs()[:: int(every)], texts[:: int(every)])
    return True
