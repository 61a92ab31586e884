"""Estimates as dots with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._figures.frequencies import group_colours
from affectlab.report._theme import colour, themed

__all__ = ["fig_alpha", "fig_intervals"]


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
    figure = canvas(0.75 + 0.2 * len(names) + (0.25 if groups else 0))
    axes = figure.add_subplot()
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
