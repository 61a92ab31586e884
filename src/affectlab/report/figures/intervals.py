"""Estimates as dots with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour, group_colours
from affectlab.core.tables import Table
from affectlab.core.types import Axes, pl


def draw_intervals(
    ax: Axes,
    table: Table,
    *,
    value: str = "value",
    low: str | None = "low",
    high: str | None = "high",
    rows: Mapping[str, Sequence[str]] = MappingProxyType({}),
    groups: str | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    value_name: str = "",
    lines: Sequence[tuple[float, str]] = (),
    roles: Mapping[str, str] | None = None,
    limits: tuple[float | None, float | None] = (None, None),
    largest_first: bool = True,
    most: int = drawing.MOST_ROWS,
) -> None:
    """Draw the values of a table with their intervals, sorted, rows named by its keys.

    Rows without a value stand last, and say so. Of more rows than fit below each other, the lowest
    and the highest are drawn, as many of each, and the axis says so.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each dot.
    value, low, high
        Names of its columns; values without intervals have no `low` and `high`.
    rows
        What columns hold in the rows that are drawn; all rows by default.
    groups
        Column whose values give dots their colours.
    names
        Other names for what keys hold, where their own are long.
    value_name
        What the axis shows; by default what the table says of itself.
    lines
        Values to mark with a line, and what to call them.
    roles
        Role of each group, such as ``people`` or ``model``, whose colour it takes; by default
        every group has a colour of its own.
    limits
        Ends of the axis; None: from the values.
    largest_first
        Whether the largest value stands at the top.
    most
        Rows that are drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["a", "b"], "value": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.3, 0.7]}
    >>> page = draw_figure("intervals", data, keys=["label"], value_name="alpha")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    import polars as pl

    frame, said = rows_where(table.frame, rows), value_name or table.caption or "value"
    (point,) = drawing.columns_of(frame, value)
    order, said = drawing.ends_of(point, said, rising=not largest_first, most=most)
    frame, point = frame[order], point[order]
    colours = {} if groups is None else group_colours(frame[groups].cast(pl.String))
    if roles is not None:
        colours = {name: colour(roles[name]) for name in colours}
    none = np.full(frame.height, np.nan)
    lower, upper = (
        none if end is None else drawing.columns_of(frame, end)[0] for end in (low, high)
    )
    # A key that is the same in all rows names none of them.
    named = [key for key in table.keys if len(rows.get(key, ())) != 1]
    keys = [frame[key].cast(pl.String).fill_null("–") for key in named]
    rows_of = [", ".join(names.get(key, key) for key in row) for row in zip(*keys, strict=True)]
    tint: str | list[str] = colour("people")
    if groups is not None:
        tint = [colours[name] for name in frame[groups].cast(pl.String)]
    drawing.fit(ax, 0.75 + 0.2 * frame.height + (0.25 if groups else 0))
    drawing.dots(ax, np.arange(frame.height), point, lower, upper, tint)
    drawing.names_on_y(ax, rows_of or list(map(str, range(1, frame.height + 1))), said)
    found = _limits(np.concatenate([point, lower, upper, [at for at, _ in lines]]))
    ax.set_xlim(*(own if end is None else end for end, own in zip(limits, found, strict=True)))
    _mark(ax, lines)
    for row in np.flatnonzero(np.isnan(point)):
        drawing.say(ax, row)
    drawing.key_below(
        ax,
        [(name, swatch(tone, "o")) for name, tone in colours.items()],
    )


def _mark(axes: Axes, lines: Sequence[tuple[float, str]]) -> None:
    """Draw lines at values with their names above, where they are near in a line of their own."""
    low, high = axes.get_xlim()
    scale = _ROOM / ((high - low) or 1.0)
    ends = list[float]()
    for at, text in sorted(lines):
        axes.axvline(at, color=colour("soft"), linewidth=0.8, dashes=(4, 3))
        half = drawing.width_of(text, 8) / 2
        level = next((k for k, end in enumerate(ends) if at * scale - half > end), len(ends))
        ends[level : level + 1] = [at * scale + half]
        drawing.write(
            axes,
            text,
            (at, 1),
            (0, 2 + 10 * level),
            xycoords=("data", "axes fraction"),
            ha="center",
            fontsize=8,
            annotation_clip=False,
        )


_ROOM = 5.0
"""Width of the axes beside names of the usual length, in inches."""


def rows_where(frame: pl.DataFrame, rows: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Give the rows that have one of the values in each of the columns."""
    import polars as pl

    return frame.filter(*(pl.col(name).is_in(list(values)) for name, values in rows.items()))


def _limits(values: np.ndarray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if known.size == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = 0.05 * ((high - low) or 1.0)
    return min(low - room, 0.0) if low >= 0 else low - room, high + room


def draw_measures(
    ax: Axes, table: Table, *, name: str = "name", group: str = "group", measure: str = "measure"
) -> None:
    """Draw a panel for each measure, a line for each name, and on it a dot for each group.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``value``, ``low`` and ``high`` of every measure, name and group; ``nan`` where there
        is none.
    name, group, measure
        Columns that say what stands on the lines, such as networks; what is compared on each line,
        such as losses; and what is measured.

    Raises
    ------
    InputError
        When nothing is to be drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"name": ["small", "large"], "group": ["a"] * 2, "measure": ["ACC"] * 2,
    ...         "value": [0.6, 0.7], "low": [0.5, 0.6], "high": [0.7, 0.8]}
    >>> draw_figure("measures", data).axes[0].get_title(loc="left")
    'ACC'
    """
    names, groups, measures = (
        table.frame[column].unique(maintain_order=True).to_list()
        for column in (name, group, measure)
    )
    if not measures:
        raise InputError("no measures to draw; expected one measure, name and group at least")
    lines = 0.6 + 0.55 * len(groups)
    n, said = drawing.first_of(len(names), "names", most=max(int(drawing.MOST_ROWS / lines), 3))
    names = names[:n]
    shown_only = table.frame.filter(table.frame[name].is_in(names))
    drawing.fit(ax, 0.95 + 0.22 * len(names) * lines, wspace=0.1)
    panels = drawing.split(ax, 1, len(measures), sharey=True)[0]
    colours = group_colours(groups)
    # Dots of one line stand below each other, so that intervals do not cover each other.
    places = (np.arange(len(groups)) - (len(groups) - 1) / 2) * 0.7 / len(groups)
    for axes, title in zip(panels, measures, strict=True):
        drawing.names_on_y(axes, names)
        for one, place in zip(groups, places.tolist(), strict=True):
            own = shown_only.filter(**{measure: title, group: one})
            rows = np.array([names.index(each) for each in own[name]]) + place
            value, low, high = drawing.columns_of(own, "value", "low", "high")
            drawing.dots(axes, rows, value, low, high, colours[one], size=20)
        axes.margins(x=0.09)
        drawing.grid_along(axes, "x")
        # Its line says where a panel ends.
        axes.spines["bottom"].set_visible(True)
        axes.set_title(title, fontweight="bold", color=colour("ink"))
    key = [(one, swatch(tone, "o")) for one, tone in colours.items()]
    drawing.key_below(ax, key, note=said)
