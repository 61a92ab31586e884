"""A title on a figure that stands alone, outside of a page that would say what it shows."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from affectlab._words import shown
from affectlab.report._theme import ROLES, themed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["titled"]

_LINE = 0.19
"""Height of a line in inches."""
_ROOM = 0.13
_LETTER = 0.085
"""Width of a letter in inches, on average."""


@themed
def titled(figure: Figure, title: str) -> Figure:
    """Write a title above a figure, which becomes higher by it; one that has a title keeps it.

    Examples
    --------
    >>> from affectlab.report import fig_alpha
    >>> figure = titled(fig_alpha(["joy"], [0.7], [0.6], [0.8]), "Agreement by label")
    >>> figure.get_suptitle()
    'Agreement by label'
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if figure.get_suptitle() or not title:
        return figure
    width, height = figure.get_size_inches()
    lines = wrap(shown(title), max(20, int(width / _LETTER)))
    taller = height + _LINE * len(lines) + _ROOM
    figure.set_size_inches(width, taller)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        left, low, wide, high = engine.get()["rect"]
        engine.set(rect=(left, low * height / taller, wide, high * height / taller))
    else:
        # What was placed by hand stays as far from the bottom as it was.
        for axes in figure.axes:
            left, low, wide, high = axes.get_position(original=True).bounds
            axes.set_position((left, low * height / taller, wide, high * height / taller))
        for text in figure.texts:
            x, y = text.get_position()
            text.set_position((x, y * height / taller))
    figure.suptitle(
        "\n".join(lines),
        x=0.01,
        y=1 - 0.05 / taller,
        ha="left",
        va="top",
        fontsize=10,
        fontweight="bold",
        color=ROLES["ink"][0],
    )
    return figure
