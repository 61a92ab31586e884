"""What figures share: a page, its grid, names that fit, a key, and marks that several draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, cast

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render.theme import RAMP, ROLES, colour, ink_on
from affectlab.core.words import number, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

    from affectlab.core.types import Artist, Floats, pl

WIDTH = 7.2
"""Width of a figure in inches."""
NARROW = 4.6
"""Width of a figure that stands beside a text, and fits a phone."""
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


def names_on_y(
    axes: Axes, names: Sequence[str], value_name: str = "", *, limit: int = _NAME_LIMIT
) -> None:
    """Write one name per row, the first at the top, and what the values along the rows are."""
    axes.set_yticks(range(len(names)), [shown(name, limit) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    if value_name:
        axes.set_xlabel(value_name)


def bare(axes: Axes) -> None:
    """Take the frame of axes away, and the lines at their numbers or names."""
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def key_below(axes: Axes, entries: Sequence[tuple[str, Artist]], columns: int = 0) -> None:
    """Put a key under a figure; each entry is a text with a marker (see :func:`swatch`)."""
    if entries:
        figure_with(axes).legend(
            [mark for _, mark in entries],
            [shown(text, 40) for text, _ in entries],
            loc="outside lower left",
            ncols=columns or len(entries),
            handlelength=1.2,
            columnspacing=1.4,
            borderaxespad=0.2,
        )


def swatch(tint: str, marker: str = "s", *, size: float = 6, edge: str = "") -> Line2D:
    """Make a marker for a key, in the colour of a role or in another one."""
    from matplotlib.lines import Line2D as Line

    fill, line = (ROLES[one][0] if one in ROLES else one for one in (tint, edge or tint))
    style: dict[str, Any] = {"color": fill, "markeredgecolor": line, "markersize": size}
    return Line([], [], linestyle="none", marker=marker, **style)


def write(
    axes: Axes, text: str, at: tuple[Any, Any], shift: tuple[float, float] = (0, 0), **style: Any
) -> Annotation:
    """Write a text at a place, or some points beside it."""
    style = {"color": colour("soft"), "textcoords": "offset points", **style}
    return axes.annotate(text, at, shift, **style)


_IN_ROW = ("axes fraction", "data")


def say(axes: Axes, row: SupportsFloat, text: str = "not defined") -> None:
    """Write why a row shows no value, in its place."""
    place: dict[str, Any] = {"xycoords": _IN_ROW, "va": "center", "fontsize": 8, "style": "italic"}
    write(axes, text, (0.01, float(row)), **place)


def say_inside(axes: Axes, text: str) -> None:
    """Write in the middle of the axes why they show nothing."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=colour("soft"))


def beside(axes: Axes, row: float, text: str) -> None:
    """Write a remark on a row right of the axes."""
    write(axes, text, (1, row), (6, 0), xycoords=_IN_ROW, va="center")


# Marks: dots with intervals, boxes, bands, and cells in colours.


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
