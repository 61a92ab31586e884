"""A strip of frames at the rate of a display, with the first that is just noticeably different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure, Image
from affectlab._words import number, shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._theme import colour, themed

__all__ = ["JndStrip", "fig_jnd_strip"]

_MOST = 10
"""Frames of a strip."""
_FEWEST = 6
"""Columns that a strip has room for at least, so that few frames do not become large."""
_TITLE, _TEXT, _GAP = 0.3, 0.42, 0.06
"""Room above a strip, below it, and between frames, in inches."""


@dataclass(frozen=True)
class JndStrip:
    """Frames of one expression, n of them, from a first one on."""

    title: str
    images: Sequence[Image.Image]
    """All of one size."""
    times_ms: ArrayLike
    """Time of each after the first, shape (n,), rising from 0."""
    jnds: ArrayLike
    """Predicted change since the first in JNDs, shape (n,)."""
    note: str = ""
    """A few words beside the title."""


@themed
def fig_jnd_strip(strips: Sequence[JndStrip]) -> Figure:
    """Draw strips of frames; the first at or after 1 JND has a frame around it.

    Look at the first picture and at the marked one side by side: a change should be seen there,
    and none before.

    Parameters
    ----------
    strips
        One row each.

    Raises
    ------
    InputError
        When there is none, or one has no frames or as many times as frames.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> faces = [draw_face("joy", 1 - k / 10, size=48) for k in range(4)]
    >>> strip = JndStrip("ann, joy", faces, [0, 33, 67, 100], [0, 0.6, 1.2, 1.8])
    >>> figure = fig_jnd_strip([strip])
    >>> [text.get_text() for axes in figure.axes for text in axes.texts][:3]
    ['0 ms', '', '33 ms']
    """
    if not strips:
        raise InputError("there is no strip; expected at least one")
    for strip in strips:
        shape = np.shape(strip.times_ms)
        if not strip.images or shape != (len(strip.images),) or np.shape(strip.jnds) != shape:
            raise InputError(
                f"{strip.title}: {len(strip.images)} frames with {np.size(strip.times_ms)} times "
                f"and {np.size(strip.jnds)} changes; expected as many of each"
            )
    columns = min(_MOST, max(len(strip.images) for strip in strips))
    side = (WIDTH - _GAP) / max(columns, _FEWEST) - _GAP
    heights = [side * max(image.height / image.width for image in strip.images) for strip in strips]
    tall = sum(heights) + len(strips) * (_TITLE + _TEXT)
    figure = canvas(tall)
    figure.set_layout_engine("none")
    top = tall
    for strip, height in zip(strips, heights, strict=True):
        top -= _TITLE
        _draw(figure, strip, columns, (side / WIDTH, height / tall), top / tall)
        top -= height + _TEXT
    return figure


def _draw(
    figure: Figure, strip: JndStrip, columns: int, size: tuple[float, float], top: float
) -> None:
    """Draw the frames of a strip side by side; size and top are shares of the figure."""
    times = np.asarray(strip.times_ms, dtype=np.float64)
    jnds = np.asarray(strip.jnds, dtype=np.float64)
    reached = np.flatnonzero(jnds >= 1)
    marked = int(reached[0]) if reached.size else -1
    step = size[0] + _GAP / WIDTH
    for column, place in enumerate(_kept(len(strip.images), marked, columns)):
        # Axes of a given place stay there, whatever is written beside them.
        axes = figure.add_axes((_GAP / WIDTH + column * step, top - size[1], *size))
        axes.imshow(np.asarray(strip.images[place].convert("RGB")))
        axes.set_xticks([])
        axes.set_yticks([])
        tint = colour("model") if place == marked else colour("ink")
        for spine in axes.spines.values():
            spine.set(visible=place == marked, color=tint, linewidth=2.6)
        said = "" if place == 0 else f"{number(jnds[place], 2)} JND"
        for line, text in enumerate((f"{number(times[place], 0)} ms", said)):
            axes.annotate(
                text,
                (0.5, 0),
                xytext=(0, -4 - 10 * line),
                xycoords="axes fraction",
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=7.5,
                fontweight="bold" if place == marked else "normal",
                color=tint,
            )
        if not column:
            title = shown(strip.title, 40) + (f": {shown(strip.note, 60)}" if strip.note else "")
            axes.set_title(title, color=colour("ink"), fontweight="bold")


def _kept(n: int, marked: int, columns: int) -> list[int]:
    """Choose which frames are shown: the first, and those around the marked one."""
    if n <= columns:
        return list(range(n))
    last = min(n - 1, marked + 1 if marked >= 0 else n - 1)
    first = max(1, last - columns + 2)
    return [0, *range(first, first + columns - 1)]
