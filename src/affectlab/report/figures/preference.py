"""What people preferred: shares of the choices, and the votes on every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Figure, Floats
from affectlab.core.words import count, percent, shown
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

__all__ = ["draw_item_votes", "draw_shares", "fig_item_votes", "fig_preferences"]

_SYSTEMS = ("people", "model")
_PEOPLE = ("human", "humans", "people", "person")
_OTHERS = ("neutral", "ambiguous", "mixed", "positive", "negative")
_NAMED = 40
"""Up to so many items are named on the axis."""
_BARS = 200
"""Up to so many items have a bar each."""


def _colours(choices: Sequence[str]) -> list[str]:
    """Colours of the two systems, people's theirs, then of the other choices."""
    swapped = len(choices) > 1 and choices[1].casefold() in _PEOPLE
    systems = _SYSTEMS[::-1] if swapped else _SYSTEMS
    others = [_OTHERS[k % len(_OTHERS)] for k in range(max(len(choices) - 2, 0))]
    return [colour(role) for role in (*systems, *others)][: len(choices)]


@themed
def fig_preferences(
    choices: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    counts: ArrayLike,
    *,
    value_name: str = "share of votes",
    ax: Axes | None = None,
) -> Figure:
    """Draw a bar for each choice, with its interval and its count.

    Parameters
    ----------
    choices
        Names, the two systems first.
    value, low, high
        Shares in [0, 1] and their intervals, shape (n,); ``nan`` where there is none.
    counts
        Votes, or items, for each choice, shape (n,).
    value_name
        What the axis shows.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_preferences(["human", "model"], [0.7, 0.3], [0.6, 0.2], [0.8, 0.4], [70, 30])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['human', 'model']
    """
    from matplotlib.ticker import PercentFormatter

    share, lower, upper, votes = (
        np.asarray(part, dtype=np.float64) for part in (value, low, high, counts)
    )
    axes = canvas(2).add_subplot() if ax is None else ax
    fit(axes, 0.7 + 0.34 * len(choices), 5.6)
    rows = np.arange(len(choices))
    axes.barh(rows, np.nan_to_num(share), height=0.62, color=_colours(choices), alpha=0.85)
    axes.hlines(rows, lower, upper, color=colour("ink"), linewidth=1.3)
    for end in (lower, upper):
        axes.scatter(end, rows, marker="|", s=36, color=colour("ink"), linewidths=1.3)
    names_on_y(axes, choices)
    grid_along(axes, "x")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel(value_name)
    for row in rows.tolist():
        known = share[row] == share[row]
        axes.annotate(
            f"{percent(float(share[row]), 1)} ({count(votes[row])})" if known else "not defined",
            (1, row),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour("soft"),
        )
    return cast("Figure", axes.get_figure(root=True))


def draw_shares(
    ax: Axes,
    table: Table,
    *,
    choice: str = "choice",
    rows: Mapping[str, str] = MappingProxyType({}),
    **settings: Any,
) -> None:
    """Draw a bar for each choice of a table of shares.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each choice: its name, ``value``, ``low``, ``high`` and ``count``.
    choice
        Column that names it.
    rows
        What columns hold in the rows that are drawn, such as ``{"about": "votes"}``.
    settings
        As for :func:`fig_preferences`.
    """
    frame = table.frame.filter(**rows)
    columns = (frame[name] for name in ("value", "low", "high", "count"))
    fig_preferences(frame[choice].to_list(), *columns, ax=ax, **settings)


@themed
def fig_item_votes(
    votes: ArrayLike,
    choices: Sequence[str],
    *,
    items: Sequence[str] = (),
    ax: Axes | None = None,
) -> Figure:
    """Draw the votes on every item, from the items most for the first system to those least.

    Parameters
    ----------
    votes
        Shape (items, choices), the two systems first.
    choices
        Names of the choices.
    items
        Names of the items, drawn where they are few.
    ax
        Axes to draw on; those of a new figure where not given.

    Examples
    --------
    >>> figure = fig_item_votes([[3, 1], [0, 4]], ["human", "model"], items=["a", "b"])
    >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    ['a', 'b']
    """
    from matplotlib.ticker import PercentFormatter

    table = np.asarray(votes, dtype=np.float64).reshape(-1, len(choices))
    total = table.sum(axis=1)
    kept = np.flatnonzero(total > 0)
    share = table[kept] / total[kept, None]
    order = np.lexsort((*share.T[:0:-1], share[:, 1], share[:, 1] - share[:, 0]))
    share, kept = share[order], kept[order]
    named = len(items) > 0 and kept.size <= _NAMED
    names = [shown(items[k], 16) for k in kept.tolist()] if named else []
    # The second system hangs from the top, so that both are read from an edge.
    stack = [0, *range(2, len(choices)), 1]
    axes = canvas(2).add_subplot() if ax is None else ax
    fit(axes, 2.7 + (0.05 * max(map(len, names), default=0) if named else 0))
    figure = cast("Figure", axes.get_figure(root=True))
    _stack(axes, share[:, stack], [_colours(choices)[k] for k in stack])
    axes.axhline(0.5, color=colour("ink"), linewidth=0.8, dashes=(4, 3))
    if named:
        steep = max(map(len, names)) > 3
        axes.set_xticks(range(kept.size), names, rotation=90 if steep else 0, fontsize=7.5)
    else:
        axes.set_xticks([])
    axes.set_xlabel(f"{count(kept.size)} items, most for {shown(choices[0], 24)} first")
    axes.set_xlim(-0.6, max(kept.size, 1) - 0.4)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("share of votes")
    axes.tick_params(axis="x", length=0)
    key_below(
        figure, [(name, swatch(c)) for name, c in zip(choices, _colours(choices), strict=True)]
    )
    return figure


def draw_item_votes(ax: Axes, table: Table, *, choices: Mapping[str, str]) -> None:
    """Draw the votes on every item of a table.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each item: its name in the first column, and votes.
    choices
        Columns that hold the votes, by choice, the two systems first.
    """
    frame = table.frame
    votes = frame.select(choices.values()).to_numpy()
    fig_item_votes(votes, [*choices], items=frame.to_series(0).to_list(), ax=ax)


def _stack(axes: Axes, share: Floats, colours: Sequence[str]) -> None:
    at = np.arange(share.shape[0])
    bars = share.shape[0] <= _BARS
    floor = np.zeros(share.shape[0])
    for k, tint in enumerate(colours):
        if bars:
            axes.bar(at, share[:, k], bottom=floor, width=0.86, color=tint, alpha=0.85)
        else:
            axes.fill_between(
                at, floor, floor + share[:, k], step="mid", color=tint, alpha=0.85, linewidth=0
            )
        floor = floor + share[:, k]
