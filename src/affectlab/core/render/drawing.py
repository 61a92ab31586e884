"""What figures share: a page, its grid, names that fit, a key, and marks that several draw."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
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
MOST_ROWS = 40
"""Rows that fit below each other."""
MOST_PANELS = 24
"""Panels that a figure has at most."""
SMALLEST = 7.0
"""Size in points of the smallest print, which a phone still shows legibly."""
_NAME_LIMIT = 30
_THICK = 0.75
"""Thickness of a bar, as a share of its row."""
_LETTER = 0.0086
"""Width of a letter in inches, of each point of its size."""
_OURS = "a figure of its own"


def canvas(height: float) -> Figure:
    """Make an empty figure that knows nothing of pyplot."""
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(WIDTH, height), layout="constrained")
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

    There are 24 at most; :func:`first_of` says on an axis how many are left out.

    The numbers below shared axes stand under the lowest panel of each column.
    """
    n = min(n, MOST_PANELS)
    across = max(min(across, n), 1)
    grid = [one for row in split(axes, -(-n // across), across, **settings) for one in row]
    for empty in grid[n:]:
        empty.set_visible(False)
    for lowest in grid[max(n - across, 0) : n]:
        lowest.tick_params(labelbottom=True)
    return grid[:n]


def width_of(text: str, size: float = 8.5) -> float:
    """Say about how wide a text is in inches."""
    return _LETTER * size * sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def short_names(names: Sequence[object], limit: int = _NAME_LIMIT) -> list[str]:
    """Shorten names in the middle, where that keeps them distinct, or in another place.

    Examples
    --------
    >>> short_names(["a recording, take 1.mp4", "a recording, take 2.mp4"], 14)
    ['a reco…e 1.mp4', 'a reco…e 2.mp4']
    """
    whole = [shown(name) for name in names]
    if not limit or max(map(len, whole), default=0) <= limit:
        return whole
    long = {name for name in whole if len(name) > limit}
    n = len(set(whole))
    for short in _shortenings(sorted(long), limit):
        found = [short(name) if name in long else name for name in whole]
        if len(set(found)) == n:
            return found
    # Nothing tells them apart but their place.
    place = {name: f" {k + 1}" for k, name in enumerate(dict.fromkeys(whole))}
    return [
        shown(name, limit - len(place[name])) + place[name] if name in long else name
        for name in whole
    ]


def _shortenings(names: Sequence[str], limit: int) -> Iterator[Callable[[str], str]]:
    """Give ways of shortening names, from the one that keeps both ends to what differs alone."""
    for head in ((limit - 1) // 2, 2 * limit // 3, limit - 1, limit // 3):
        yield partial(_middle_out, head=head, tail=limit - 1 - head)
    # Names that begin and end alike differ behind what they share with their neighbour.
    shared = [_alike(*pair) for pair in pairwise(names)]
    differ = {name: max(shared[max(k - 1, 0) : k + 1], default=0) for k, name in enumerate(names)}
    for head in (limit // 3, 0):
        yield partial(_window, differ=differ, head=head, wide=max(limit - head - 2, 1))


def _alike(first: str, second: str) -> int:
    """Count the letters in which two names begin alike."""
    return next(
        (k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def _middle_out(name: str, *, head: int, tail: int) -> str:
    return f"{name[:head]}…{name[len(name) - tail :]}"


def _window(name: str, *, differ: Mapping[str, int], head: int, wide: int) -> str:
    """Keep the beginning of a name, and the surroundings of the place where it differs."""
    start = min(max(differ[name] - wide // 2, head), len(name) - wide)
    more = "…" if start + wide < len(name) else ""
    return f"{name[:head]}…{name[start : start + wide]}{more}"


def ends_of(
    value: Floats, name: str = "", *, rising: bool = False, most: int = MOST_ROWS
) -> tuple[np.ndarray, str]:
    """Order rows by their values, as many as fit below each other, and say what is left out.

    Of more rows the highest and the lowest are drawn, as many of each.

    Parameters
    ----------
    value
        Value of each row; what is not defined stands last, or is left out first.
    name
        What the axis shows.
    rising
        Whether the smallest stands at the top.
    most
        Rows that fit.

    Returns
    -------
    The rows in their order, and the name of the axis, which says what is left out.

    Examples
    --------
    >>> rows, name = ends_of(np.array([3.0, 1.0, 2.0]), "alpha", most=2)
    >>> rows.tolist(), name
    ([0, 1], 'alpha (1 lowest and 1 highest of 3)')
    """
    order = falling(-value if rising else value)
    if order.size <= most:
        return order, name
    known, half = order[np.isfinite(value[order])], most // 2
    if known.size > most:
        said = f"{half} lowest and {half} highest of {order.size:,}"
        return np.concatenate([known[:half], known[-half:]]), f"{name} ({said})".strip()
    return order[:most], f"{name} ({most} of {order.size:,})".strip()


def first_of(n: int, things: str, name: str = "", most: int = MOST_ROWS) -> tuple[int, str]:
    """Say how many of `n` things are drawn, and so on the axis where they are not all.

    Examples
    --------
    >>> first_of(300, "batches", "items")
    (40, 'items (the first 40 of 300 batches)')
    """
    if n <= most:
        return n, name
    return most, f"{name} (the first {most} of {n:,} {things})".strip()


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
    (axes.xaxis if axis == "x" else axes.yaxis).set_major_formatter(
        lambda share, _: f"{round(100 * share, 6):g}%"
    )


def names_on_y(
    axes: Axes, names: Sequence[str], value_name: str = "", *, limit: int = _NAME_LIMIT
) -> None:
    """Write one name per row, the first at the top, and what the values along the rows are."""
    axes.set_yticks(range(len(names)), short_names(names, limit))
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


def key_below(
    axes: Axes, entries: Sequence[tuple[str, Artist]], columns: int = 0, note: str = ""
) -> None:
    """Put a key under a figure, in as many lines as its width asks for.

    Parameters
    ----------
    axes
        Axes of the figure, of which a page of its own grows by what is more than one line.
    entries
        A text each with a marker (see :func:`swatch`); of very many the first stand there.
    columns
        Columns at most; 0: as many as fit.
    note
        What is written behind the entries, such as what is left out of the figure.
    """
    left_out = len(entries) - _MOST_ENTRIES + 1
    if left_out > 1:
        entries = [*entries[:-left_out], (f"and {left_out} more", swatch("none"))]
    if not entries and not note:
        return
    figure = figure_with(axes)
    room = figure.get_figwidth() - 0.15
    names = short_names([text for text, _ in entries], min(40, int((room - 0.4) / width_of("n"))))
    marks = [mark for _, mark in entries]
    if note:
        names, marks = [*names, note], [*marks, swatch("none")]
    n = len(names)
    widths = np.array([0.42 + width_of(name) for name in names])
    columns = next(
        k
        for k in range(min(columns or n, n), 0, -1)
        if k == 1 or sum(max(part) for part in np.array_split(widths, k)) <= room
    )
    if figure.get_label() == _OURS:
        figure.set_figheight(figure.get_figheight() + _KEY_LINE * (-(-n // columns) - 1))
    style: dict[str, Any] = {"ncols": columns, "handlelength": 1.2, "columnspacing": 1.4}
    figure.legend(marks, names, loc="outside lower left", borderaxespad=0.2, **style)


_MOST_ENTRIES = 24
"""Entries of a key."""
_KEY_LINE = 0.2
"""Height of a line of a key in inches."""


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


def stacked(axes: Axes, shares: Floats, tints: Sequence[str]) -> None:
    """Draw a bar per row of shares, shape (rows, parts), divided into its parts."""
    from matplotlib.collections import PolyCollection

    ends = np.cumsum(np.column_stack([np.zeros(len(shares)), shares]), axis=1)
    low, high = (np.arange(len(shares)) + side for side in (-_THICK / 2, _THICK / 2))
    # One artist for each part, since one for each bar is slow to draw where there are many rows.
    for left, right, tint in zip(ends.T[:-1], ends.T[1:], tints, strict=True):
        corners = ((left, low), (left, high), (right, high), (right, low))
        axes.add_collection(
            PolyCollection(
                list(np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)),
                facecolors=tint,
                edgecolors=colour("paper"),
                linewidths=0.5,
            )
        )
    axes.autoscale_view()


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
                in_layout=False,
            )
    axes.set_xlim(0, max(columns, 1))
    axes.set_ylim(max(rows, 1), 0)
    bare(axes)
    return mesh


def name_cells(
    axes: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    size: float,
    limit: int = 26,
    room: tuple[float, float] | None = None,
) -> None:
    """Write the names of rows and columns of cells; long names of columns are turned.

    Parameters
    ----------
    axes
        Axes of the cells.
    rows, columns
        Their names.
    size
        Size of the names in points.
    limit
        Letters of a name.
    room
        Height and width of all cells in inches: of names that do not fit side by side only every
        second, or third, … is written.
    """
    below = short_names(columns, limit)
    turned = 90 if max(map(len, below), default=0) > 4 else 0
    left = short_names(rows, limit)
    high, wide = room or (np.inf, np.inf)
    line = 1.15 * size / 72
    every_row = max(1, int(np.ceil(len(left) * line / high)))
    letters = line if turned else max(map(width_of, below), default=0) * size / 8.5
    every_column = max(1, int(np.ceil(len(below) * letters / wide)))
    at, names = np.arange(len(below)) + 0.5, below[::every_column]
    axes.set_xticks(at[::every_column], names, rotation=turned, fontsize=size)
    at, names = np.arange(len(left)) + 0.5, left[::every_row]
    axes.set_yticks(at[::every_row], names, fontsize=size)


def tint_names(axes: Axes, tints: Sequence[str]) -> None:
    """Give the names of the rows and columns of cells, as many as are written, their colours."""
    for axis in (axes.xaxis, axes.yaxis):
        for at, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True):
            text.set_color(tints[int(at)])


def say_below(axes: Axes, text: str) -> None:
    """Write below all panels of a figure what holds for each, or what is left out."""
    figure_with(axes).supxlabel(text, fontsize=8.5, color=colour("soft"))


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
