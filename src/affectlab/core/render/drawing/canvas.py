"""What all figures share: a page, its grid, names that fit, and a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, cast

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render.drawing.theme import colour
from affectlab.core.words import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from affectlab.core.types import Artist, Floats, pl

__all__ = [
    "WIDTH",
    "bare",
    "beside",
    "canvas",
    "columns_of",
    "figure_with",
    "fit",
    "grid_along",
    "key_below",
    "names_on_y",
    "panels_of",
    "percent_along",
    "say",
    "split",
    "swatch",
]

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


def fit(axes: Axes, height: float, width: float = WIDTH, **spaces: Any) -> None:
    """Give a figure the size that its one drawing needs; that of a caller keeps its own.

    Parameters
    ----------
    axes
        Axes of the drawing.
    height, width
        In inches.
    spaces
        What the layout of the figure keeps free, such as ``wspace``.
    """
    figure = figure_with(axes)
    if figure.get_label() == _OURS:
        figure.set_size_inches(width, height)
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.set(**spaces)


def split(
    axes: Axes,
    down: int,
    across: int = 1,
    *,
    height_ratios: Sequence[float] | None = None,
    width_ratios: Sequence[float] | None = None,
    spaces: tuple[float | None, float | None] = (None, None),
    **settings: Any,
) -> list[list[Axes]]:
    """Put panels in the place of axes, row by row.

    Parameters
    ----------
    axes
        Axes of a grid, which are not drawn themselves.
    down, across
        Numbers of rows and columns.
    height_ratios, width_ratios
        Sizes of rows and columns relative to each other.
    spaces
        Height and width that stay free between panels.
    settings
        Those of ``subplots``, such as ``sharey``.
    """
    place = axes.get_subplotspec()
    if place is None:
        raise InputError("axes that stand free hold no panels; expected axes of a grid of subplots")
    axes.set_axis_off()
    grid = place.subgridspec(
        down,
        across,
        height_ratios=height_ratios,
        width_ratios=width_ratios,
        hspace=spaces[0],
        wspace=spaces[1],
    )
    panels = grid.subplots(squeeze=False, **settings)
    return [list(row) for row in panels]


def panels_of(axes: Axes, n: int, across: int, **settings: Any) -> list[Axes]:
    """Put `n` panels in the place of axes, `across` side by side; the last row may be shorter.

    The numbers below shared axes stand under the lowest panel of each column.
    """
    across = max(min(across, n), 1)
    grid = [one for row in split(axes, -(-n // across), across, **settings) for one in row]
    for empty in grid[n:]:
        empty.set_visible(False)
    for lowest in grid[max(n - across, 0) : n]:
        lowest.tick_params(labelbottom=True)
    return grid[:n]


def columns_of(frame: pl.DataFrame, *names: str) -> tuple[Floats, ...]:
    """Give columns of numbers as arrays, with ``nan`` where there is no number."""
    import polars as pl

    return tuple(frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in names)


def grid_along(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Draw light lines across the values, and none across the names."""
    axes.grid(visible=True, axis=axis)
    axes.tick_params(axis=axis, length=0)
    axes.spines["bottom" if axis == "x" else "left"].set_visible(False)


def percent_along(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Write the numbers of an axis of shares as percentages."""
    from matplotlib.ticker import PercentFormatter

    (axes.xaxis if axis == "x" else axes.yaxis).set_major_formatter(
        PercentFormatter(1.0, decimals=0)
    )


def names_on_y(axes: Axes, names: Sequence[str], limit: int = _NAME_LIMIT) -> None:
    """Write one name per row, the first at the top."""
    axes.set_yticks(range(len(names)), [shown(name, limit) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def bare(axes: Axes) -> None:
    """Take the frame of axes away, and the lines at their numbers or names."""
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def key_below(figure: Figure, entries: Sequence[tuple[str, Artist]], columns: int = 0) -> None:
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


def say(axes: Axes, row: SupportsFloat, text: str = "not defined") -> None:
    """Write why a row shows no value, in its place."""
    axes.annotate(
        text,
        (0.01, float(row)),
        xycoords=("axes fraction", "data"),
        va="center",
        color=colour("soft"),
        fontsize=8,
        style="italic",
    )


def beside(axes: Axes, row: float, text: str) -> None:
    """Write a remark on a row right of the axes."""
    axes.annotate(
        text,
        (1, row),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        color=colour("soft"),
    )
