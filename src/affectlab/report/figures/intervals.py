"""Estimates as dots with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Figure, pl
from affectlab.report.drawing import (
    canvas,
    colour,
    fit,
    grid_along,
    key_below,
    names_on_y,
    swatch,
    themed,
)
from affectlab.report.figures.labels import group_colours

__all__ = [
    "draw_intervals",
    "fig_alpha",
    "fig_intervals",
    "fig_measures",
    "rows_where",
]


@themed
def fig_intervals(
    names: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    value_name: str,
    lines: Sequence[tuple[float, str]] = (),
    groups: Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    limits: tuple[float, float] | None = None,
    largest_first: bool = True,
    ax: Axes | None = None,
) -> Figure:
    """Draw a dot and an interval per row, sorted; rows without a value stand last, and say so.

    Parameters
    ----------
    names, value, low, high
        Shape (n,); ``nan`` where not defined.
    value_name
        What the axis shows.
    lines
        Values to mark with a line, and what to call them.
    groups
        Group of each row, for the colour.
    roles
        Role of each group, such as ``people`` or ``model``, whose colour it takes; by default
        every group has a colour of its own.
    limits
        Ends of the axis; by default from the values.
    largest_first
        Sort from the largest value down, otherwise up.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_intervals(["a", "b"], [0.2, 0.6], [0.1, 0.5], [0.3, 0.7], value_name="alpha")
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    sort_by = np.where(np.isnan(point), np.inf, -point if largest_first else point)
    order = np.argsort(sort_by, kind="stable")
    point, lower, upper = point[order], lower[order], upper[order]
    if ax is None:
        ax = canvas(0.75 + 0.2 * len(names) + (0.25 if groups else 0)).add_subplot()
    axes, figure = ax, cast("Figure", ax.get_figure(root=True))
    colours = {} if groups is None else group_colours(groups)
    if groups is not None and roles is not None:
        colours = {name: colour(roles[name]) for name in dict.fromkeys(groups)}
    tint = [colour("people") if groups is None else colours[groups[k]] for k in order]
    rows = np.arange(len(names))
    for at, text in lines:
        axes.axvline(at, color=colour("soft"), linewidth=0.8, dashes=(4, 3))
        axes.annotate(
            text,
            (at, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            ha="center",
            textcoords="offset points",
            fontsize=8,
            color=colour("soft"),
            annotation_clip=False,
        )
    axes.hlines(rows, lower, upper, colors=tint, linewidth=1.6, alpha=0.55)
    axes.scatter(point, rows, c=tint, s=24, zorder=3, edgecolors=colour("paper"), linewidths=0.6)
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    start, end = limits or _limits(np.concatenate([point, lower, upper, [at for at, _ in lines]]))
    axes.set_xlim(start, end)
    for row in np.flatnonzero(np.isnan(point)):
        axes.annotate(
            "not defined",
            (start, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour("soft"),
            fontsize=8,
            style="italic",
        )
    key_below(figure, [(name, swatch(c, "o")) for name, c in colours.items()])
    return figure


_MOST = 40
"""Rows that fit below each other."""


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
    **settings: Any,
) -> None:
    """Draw the values of a table with their intervals, rows named by its keys.

    Of more than 40 rows with a value, the 20 lowest and the 20 highest are drawn, and the axis says
    so.

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
    settings
        As for :func:`fig_intervals`.
    """
    import polars as pl

    frame = rows_where(table.frame, rows).with_columns(
        pl.col(name).cast(pl.Float64) for name in (value, low, high) if name is not None
    )
    said = settings.pop("value_name", table.caption or "value")
    known = frame.filter(pl.col(value).is_finite())
    if frame.height > _MOST and known.height:
        n_rows, frame = frame.height, known.sort(value, maintain_order=True)
        if frame.height > _MOST:
            half = _MOST // 2
            frame = pl.concat([frame.head(half), frame.tail(half)])
            said += f" ({half} lowest and {half} highest of {n_rows:,})"
    # A key that is the same in all rows names none of them.
    named = [key for key in table.keys if len(rows.get(key, ())) != 1]
    keys = [frame[key].cast(pl.String).fill_null("–").to_list() for key in named]
    rows_of = [", ".join(names.get(key, key) for key in row) for row in zip(*keys, strict=True)]
    rows_of = rows_of or list(map(str, range(1, frame.height + 1)))
    none = np.full(frame.height, np.nan)
    ends = (
        none if name is None else frame[name].fill_null(np.nan).to_numpy()
        for name in (value, low, high)
    )
    coloured = None if groups is None else frame[groups].cast(pl.String).to_list()
    fig_intervals(rows_of, *ends, ax=ax, value_name=said, groups=coloured, **settings)
    fit(ax, 0.75 + 0.2 * len(rows_of) + (0.25 if groups else 0))


def rows_where(frame: pl.DataFrame, rows: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Give the rows that have one of the values in each of the columns."""
    import polars as pl

    return frame.filter(*(pl.col(name).is_in(list(values)) for name, values in rows.items()))


def fig_alpha(
    names: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    groups: Sequence[str] | None = None,
) -> Figure:
    """Draw Krippendorff's alpha per label with lines at 0.67 and 0.80.

    Parameters are those of :func:`fig_intervals`. The axis ends at 1 and starts at 0, or lower
    where a value does.
    """
    known = np.concatenate([np.asarray(value, dtype=np.float64), np.asarray(low, dtype=np.float64)])
    lowest = float(np.min(known[np.isfinite(known)], initial=0.0))
    start = max(-1.0, np.floor(lowest * 10) / 10) if lowest < 0 else 0.0
    return fig_intervals(
        names,
        value,
        low,
        high,
        value_name="Krippendorff's alpha",
        groups=groups,
        lines=((0.67, "0.67"), (0.80, "0.80")),
        limits=(float(start) - 0.01, 1.0),
    )


def _limits(values: np.ndarray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if known.size == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = 0.05 * ((high - low) or 1.0)
    return min(low - room, 0.0) if low >= 0 else low - room, high + room


# Several measures of the same rows, side by side, with intervals.


@themed
def fig_measures(
    names: Sequence[str],
    groups: Sequence[str],
    measures: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
) -> Figure:
    """Draw a panel for each measure, a line for each name, and on it a dot for each group.

    Parameters
    ----------
    names
        What stands on the lines, such as networks.
    groups
        What is compared on each line, such as losses; each has a colour.
    measures
        Values and the ends of their intervals by name of measure, each of shape
        (names, groups); ``nan`` where there is none.

    Raises
    ------
    InputError
        When nothing is to be drawn, or a shape is another.

    Examples
    --------
    >>> values = [[0.6, 0.5], [0.7, 0.6]]
    >>> figure = fig_measures(["small", "large"], ["a", "b"], {"ACC": (values, values, values)})
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['ACC']
    """
    shape = (len(names), len(groups))
    if not measures or 0 in shape:
        raise InputError("no measures to draw; expected one measure, name and group at least")
    figure = canvas(0.95 + 0.22 * len(names) * (0.6 + 0.55 * len(groups)))
    figure.get_layout_engine().set(wspace=0.1)  # type: ignore[union-attr, call-arg]
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    colours = group_colours(groups)
    # Dots of one line stand below each other, so that intervals do not cover each other.
    places = (np.arange(len(groups)) - (len(groups) - 1) / 2) * 0.7 / max(len(groups), 1)
    rows = np.arange(len(names))
    for axes, (title, given) in zip(panels, measures.items(), strict=True):
        value, low, high = (np.asarray(part, dtype=np.float64) for part in given)
        if not value.shape == low.shape == high.shape == shape:
            raise InputError(f"{title}: values have shape {value.shape}; expected {shape}")
        names_on_y(axes, names)
        for at, (group, place) in enumerate(zip(groups, places.tolist(), strict=True)):
            tint = colours[group]
            ends = low[:, at], high[:, at]
            axes.hlines(rows + place, *ends, colors=tint, linewidth=1.6, alpha=0.55)
            axes.scatter(
                value[:, at],
                rows + place,
                color=tint,
                s=20,
                zorder=3,
                edgecolors=colour("paper"),
                linewidths=0.6,
            )
        axes.margins(x=0.09)
        grid_along(axes, "x")
        # Its line says where a panel ends.
        axes.spines["bottom"].set_visible(True)
        axes.set_title(title, fontweight="bold", color=colour("ink"))
    key_below(figure, [(group, swatch(colours[group], "o")) for group in groups])
    return figure
