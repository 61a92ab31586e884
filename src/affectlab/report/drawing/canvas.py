"""What all figures share: an empty page, its grid, and labels that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from affectlab.core.errors import InputError
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
    "figure_with",
    "fit",
    "grid_along",
    "key_below",
    "names_on_y",
    "say",
    "split",
    "swatch",
]

MOST_DOTS = 400
"""Dots drawn of a group of values; of more, evenly spaced ones in rising order."""
WIDTH = 7.2
"""Width of a figure in inches."""
_NAME_LIMIT = 30
_OURS = "a figure of its own"


def canvas(height: float, width: float = WIDTH) -> Figure:
    """Make an empty figure that knows nothing of pyplot."""
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width, height), layout="constrained")
    figure.set_label(_OURS)
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.05)  # type: ignore[union-attr, call-arg]
    return figure


def figure_with(axes: Axes) -> Figure:
    """Give the figure that axes stand on."""
    return cast("Figure", axes.get_figure(root=True))


def fit(axes: Axes, height: float, width: float = WIDTH) -> None:
    """Give a figure the size that its one drawing needs; that of a caller keeps its own."""
    figure = axes.get_figure(root=True)
    if figure is not None and figure.get_label() == _OURS:
        figure.set_size_inches(width, height)


def split(
    axes: Axes,
    down: int,
    across: int = 1,
    *,
    height_ratios: Sequence[float] | None = None,
    **settings: Any,
) -> list[list[Axes]]:
    """Put panels in the place of axes, row by row; `settings` are those of ``subplots``."""
    place = axes.get_subplotspec()
    if place is None:
        raise InputError("axes that stand free hold no panels; expected axes of a grid of subplots")
    axes.set_axis_off()
    grid = place.subgridspec(down, across, height_ratios=height_ratios)
    panels = grid.subplots(squeeze=False, **settings)
    return [list(row) for row in panels]


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
