"""Marks that several figures draw: dots with intervals, boxes, bands, and cells in colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.render.drawing.canvas import bare
from affectlab.core.render.drawing.theme import RAMP, colour, ink_on
from affectlab.core.words import number, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Colormap, Normalize

    from affectlab.core.types import Floats

__all__ = [
    "MOST_DOTS",
    "box",
    "cells",
    "colour_bar",
    "counts_ramp",
    "diverging",
    "dots",
    "falling",
    "name_cells",
    "range_of_people",
    "runs",
    "spread",
    "stacked",
]

MOST_DOTS = 400
"""Dots drawn of a group of values; of more, evenly spaced ones in rising order."""
_AROUND = ("#7f2f04", "#b25b25", "#d98747", "#e7ecf0", "#7db0d3", "#2b6f9e", "#0b2f4f")
"""Colours of equal distances, with 0 in the middle."""


def falling(values: Floats) -> np.ndarray:
    """Give the order from the largest value down; what is not defined stands last."""
    return np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")


def dots(
    axes: Axes,
    rows: np.ndarray,
    value: Floats,
    low: Floats,
    high: Floats,
    tint: str | Sequence[str],
    *,
    upright: bool = False,
    marker: str = "o",
    size: float = 24,
    width: float = 1.6,
) -> None:
    """Draw a dot with its interval on every row, or in every column where `upright`."""
    lines = axes.vlines if upright else axes.hlines
    lines(rows, low, high, colors=tint, linewidth=width, alpha=0.55)
    x, y = (rows, value) if upright else (value, rows)
    axes.scatter(
        x, y, c=tint, s=size, marker=marker, zorder=3, edgecolors=colour("paper"), linewidths=0.6
    )


def spread(n: int) -> Floats:
    """Spread dots evenly over [-0.5, 0.5) without a random draw: by steps of the golden ratio."""
    found: Floats = (np.arange(n, dtype=np.float64) * 0.618034) % 1 - 0.5
    return found


def box(axes: Axes, row: float, values: Floats, tint: str) -> None:
    """Draw the box of some values, and dots behind it: all of them, or 400 evenly spaced ones."""
    known = np.sort(values)
    some = known[np.unique(np.linspace(0, known.size - 1, MOST_DOTS).astype(int))]
    axes.scatter(some, row + 0.52 * spread(some.size), s=8, color=tint, alpha=0.35, linewidths=0)
    line = {"color": tint, "linewidth": 1.2}
    axes.boxplot(
        known,
        positions=[row],
        orientation="horizontal",
        widths=0.52,
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": "none", "edgecolor": tint, "linewidth": 1.2},
        medianprops={"color": colour("ink"), "linewidth": 1.8},
        whiskerprops=line,
        capprops=line,
        zorder=3,
    )


def range_of_people(axes: Axes, values: Floats) -> None:
    """Draw the range of people as a band, and their median as a line."""
    axes.axvspan(values.min(), values.max(), color=colour("people"), alpha=0.13, linewidth=0)
    axes.axvline(float(np.median(values)), color=colour("people"), linewidth=1.2)


def stacked(axes: Axes, shares: Floats, tints: Sequence[str], *, height: float = 0.75) -> None:
    """Draw a bar per row of shares, shape (rows, parts), divided into its parts."""
    left = np.zeros(len(shares))
    for share, tint in zip(shares.T, tints, strict=True):
        axes.barh(
            range(len(shares)),
            share,
            left=left,
            height=height,
            color=tint,
            edgecolor=colour("paper"),
            linewidth=0.5,
        )
        left += share


# Tables of numbers as cells in colours.


def counts_ramp(bad: str = "paper") -> Colormap:
    """Give colours from almost nothing to much; what is not defined has that of the role `bad`."""
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("counts", [colour("raised"), *RAMP])
    return ramp.with_extremes(bad=colour(bad))


def diverging(low: float, high: float) -> tuple[Colormap, Normalize]:
    """Give colours that are pale at 0, rust below it and blue above.

    Colours deepen at one pace to both sides, so that equal distances from 0 look alike.
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    tones = LinearSegmentedColormap.from_list("around 0", _AROUND)
    most = max(-low, high)
    part = tones(0.5 + 0.5 * np.linspace(low, high, 65) / most)
    return LinearSegmentedColormap.from_list("part", part), Normalize(low, high)


def cells(
    axes: Axes,
    values: Floats,
    colours: Colormap,
    norm: Normalize,
    *,
    size: float = 7.5,
    written: Floats | None = None,
    write: Callable[[float], str] = number,
    most: int = 12,
) -> QuadMesh:
    """Draw a table of numbers in colours, the first row at the top; few are written, too.

    Parameters
    ----------
    axes
        Axes to draw on.
    values
        Shape (rows, columns); ``nan`` has the colour for what is not defined.
    colours, norm
        Colours, and the values of their ends.
    size
        Size of the numbers in points.
    written, write
        What is written in the cells, by default the values, and as what.
    most
        Columns up to which numbers are written.
    """
    from matplotlib.colors import to_hex

    rows, columns = values.shape
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(values),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8 if max(rows, columns) <= 20 else 0.3,
    )
    if columns <= most:
        for row, column in np.argwhere(np.isfinite(values)).tolist():
            value = values[row, column]
            said = value if written is None else written[row, column]
            axes.text(
                column + 0.5,
                row + 0.5,
                write(said),
                ha="center",
                va="center",
                fontsize=size,
                color=ink_on(to_hex(colours(norm(value)))),
            )
    axes.set_xlim(0, max(columns, 1))
    axes.set_ylim(max(rows, 1), 0)
    bare(axes)
    return mesh


def name_cells(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], *, size: float, limit: int = 26
) -> None:
    """Write the names of rows and columns of cells; long names of columns are turned."""
    below = [shown(name, limit) for name in columns]
    turned = 90 if max(map(len, below), default=0) > 4 else 0
    axes.set_xticks(np.arange(len(below)) + 0.5, below, rotation=turned, fontsize=size)
    left = [shown(name, limit) for name in rows]
    axes.set_yticks(np.arange(len(left)) + 0.5, left, fontsize=size)


def colour_bar(mesh: ScalarMappable, name: str, **place: Any) -> None:
    """Draw what the colours mean beside axes (``ax``), or in axes of its own (``cax``)."""
    given: Axes = place.get("cax") or place["ax"]
    if "cax" not in place:
        place |= {"aspect": 24, "shrink": 0.65, "pad": 0.02, "anchor": (0.0, 1.0)}
    bar = given.get_figure(root=True).colorbar(mesh, **place)  # type: ignore[union-attr]
    bar.set_label(name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)


def runs(names: Sequence[Any]) -> list[tuple[int, int]]:
    """Give start and end of every run of equal neighbours."""
    starts = [k for k in range(len(names)) if not k or names[k] != names[k - 1]]
    return list(zip(starts, [*starts[1:], len(names)], strict=True))
