"""What all figures share: an empty page, its grid, and labels that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from affectlab.core.words import shown
from affectlab.report.drawing.theme import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = [
    "MOST_DOTS",
    "WIDTH",
    "canvas",
    "grid_along",
    "key_below",
    "names_on_y",
    "say",
    "swatch",
]

MOST_DOTS = 400
"""Dots drawn of a group of values; of more, evenly spaced ones in rising order."""
WIDTH = 7.2
"""Width of a figure in inches."""
_NAME_LIMIT = 30


def canvas(height: float, width: float = WIDTH) -> Figure:
    """Make an empty figure that knows nothing of pyplot."""
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.05)  # type: ignore[union-attr, call-arg]
    return figure


def figure_with(axes: Axes) -> Figure:
    """Give the figure that axes stand on."""
    return cast("Figure", axes.get_figure(root=True))


def grid_along(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Draw light lines across the values, and none across the names."""
    axes.grid(visible=True, axis=axis)
    axes.tick_params(axis=axis, length=0)
    axes.spines["bottom" if axis == "x" else "left"].set_visible(False)


def names_on_y(axes: Axes, names: Sequence[str]) -> None:
    """Write one name per row, the first at the top."""
    axes.set_yticks(range(len(names)), [shown(name, _NAME_LIMIT) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def key_below(figure: Figure, entries: Sequence[tuple[str, Line2D]], columns: int = 0) -> None:
    """Put a key under a figure; each entry is a text with a marker (see :func:`swatch`)."""
    if entries:
        figure.legend(
            [mark for _, mark in entries],
            [shown(text, 40) for text, _ in entries],
            loc="outside lower left",
            ncols=columns or len(entries),
            handlelength=1.2,
            columnspacing=1.4,
            borderaxespad=0.2,
        )


def swatch(colour: str, marker: str = "s", *, size: float = 6, edge: str | None = None) -> Line2D:
    """Make a marker for a key."""
    from matplotlib.lines import Line2D as Line

    return Line(
        [],
        [],
        linestyle="none",
        marker=marker,
        markersize=size,
        color=colour,
        markeredgecolor=edge or colour,
    )


def say(axes: Axes, row: int, text: str) -> None:
    """Write why a row shows no value, in its place."""
    axes.annotate(
        text,
        (0.01, row),
        xycoords=("axes fraction", "data"),
        va="center",
        color=colour("soft"),
        fontsize=8,
        style="italic",
    )
