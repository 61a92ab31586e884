"""What people preferred: shares of the choices, and the votes on every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes
from affectlab.core.words import count, percent, shown

_SYSTEMS = ("people", "model")
_PEOPLE = ("human", "humans", "people", "person")
_OTHERS = ("neutral", "ambiguous", "mixed", "positive", "negative")
_CHOICES = 24
"""Choices that are drawn."""
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


def draw_shares(
    ax: Axes,
    table: Table,
    *,
    choice: str = "choice",
    rows: Mapping[str, str] = MappingProxyType({}),
    value_name: str = "share of votes",
) -> None:
    """Draw a bar for each choice, with its interval and its count.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each choice: its name, the share ``value`` in [0, 1] with ``low`` and
        ``high``, and the ``count`` of votes, or items; the two systems stand first.
    choice
        Column that names it.
    rows
        What columns hold in the rows that are drawn, such as ``{"about": "votes"}``.
    value_name
        What the axis shows.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"choice": ["human", "model"], "value": [0.7, 0.3], "low": [0.6, 0.2],
    ...         "high": [0.8, 0.4], "count": [70, 30]}
    >>> page = draw_figure("shares", data)
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['human', 'model']
    """
    frame = table.frame.filter(**rows)
    n, value_name = drawing.first_of(frame.height, "choices", value_name, _CHOICES)
    frame = frame.head(n)
    choices = frame[choice].to_list()
    share, lower, upper, votes = drawing.columns_of(frame, "value", "low", "high", "count")
    drawing.fit(ax, 0.7 + 0.34 * len(choices), 5.6)
    at, ink = np.arange(len(choices)), colour("ink")
    ax.barh(at, np.nan_to_num(share), height=0.62, color=_colours(choices), alpha=0.85)
    ax.hlines(at, lower, upper, color=ink, linewidth=1.3)
    for end in (lower, upper):
        ax.scatter(end, at, marker="|", s=36, color=ink, linewidths=1.3)
    drawing.names_on_y(ax, choices, value_name)
    ax.set_xlim(0, 1)
    drawing.percent_along(ax, "x")
    for row, (own, n_votes) in enumerate(zip(share.tolist(), votes.tolist(), strict=True)):
        said = f"{percent(own, 1)} ({count(n_votes)})" if own == own else "not defined"
        drawing.beside(ax, row, said)


def draw_item_votes(ax: Axes, table: Table, *, choices: Mapping[str, str]) -> None:
    """Draw the votes on every item, from the items most for the first system to those least.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each item: its name in the first column, drawn where items are few, and
        votes.
    choices
        Columns that hold the votes, by choice, the two systems first.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"item": ["a", "b"], "human": [3, 0], "model": [1, 4]}
    >>> page = draw_figure("item_votes", data, choices={"human": "human", "model": "model"})
    >>> [tick.get_text() for tick in page.axes[0].get_xticklabels()]
    ['a', 'b']
    """
    systems = [*choices]
    votes = np.stack(drawing.columns_of(table.frame, *choices.values()), axis=1)
    total = votes.sum(axis=1)
    voted = np.flatnonzero(total > 0)
    share = votes[voted] / total[voted, None]
    order = np.lexsort((*share.T[:0:-1], share[:, 1], share[:, 1] - share[:, 0]))
    share, n = share[order], voted.size
    items = table.frame.to_series(0)[voted[order]]
    names = drawing.short_names(items.to_list(), 16) if n <= _NAMED else []
    drawing.fit(ax, 2.7 + 0.05 * max(map(len, names), default=0))
    tints, at, floor = _colours(systems), np.arange(n), np.zeros(n)
    # The second system hangs from the top, so that both are read from an edge.
    for k in (0, *range(2, len(systems)), 1):
        own, tint = share[:, k], tints[k]
        if n <= _BARS:
            ax.bar(at, own, bottom=floor, width=0.86, color=tint, alpha=0.85)
        else:
            area = {"color": tint, "alpha": 0.85, "linewidth": 0}
            ax.fill_between(at, floor, floor + own, step="mid", **area)
        floor = floor + own
    ax.axhline(0.5, color=colour("ink"), linewidth=0.8, dashes=(4, 3))
    steep = max(map(len, names), default=0) > 3
    ax.set_xticks(at[: len(names)], names, rotation=90 if steep else 0, fontsize=7.5)
    ax.set_xlabel(f"{count(n)} items, most for {shown(systems[0], 24)} first")
    ax.set_xlim(-0.6, max(n, 1) - 0.4)
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1])
    drawing.percent_along(ax, "y")
    ax.set_ylabel("share of votes")
    ax.tick_params(axis="x", length=0)
    key = [(name, swatch(tint)) for name, tint in zip(systems, tints, strict=True)]
    drawing.key_below(ax, key)
