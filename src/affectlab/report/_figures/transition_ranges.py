"""How far peaks are from neutral: the range over actors for each expression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, say, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_transition_ranges"]

_NAME = 40


@themed
def fig_transition_ranges(
    names: Sequence[str],
    values: Sequence[ArrayLike],
    *,
    value_name: str = "difference between peak and neutral",
    of: str = "an actor",
    line: float | None = None,
) -> Figure:
    """Draw the values of each row, their range and their median, the largest median at the top.

    Parameters
    ----------
    names
        Name of each row, such as an expression.
    values
        Values of each row, such as one per actor, each of shape (m,); ``nan`` is not drawn.
    value_name
        What the axis shows.
    of
        What one value is of, for the key.
    line
        Value to mark with a line, such as 0 for differences.

    Raises
    ------
    InputError
        When names and values differ in number.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 6.

    Examples
    --------
    >>> figure = fig_transition_ranges(["joy", "fear"], [[40, 50], [60, 80, 70]])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['fear', 'joy']
    """
    if len(names) != len(values):
        raise InputError(f"{len(names)} names and {len(values)} rows; expected as many of each")
    rows = [np.asarray(row, dtype=np.float64) for row in values]
    rows = [row[np.isfinite(row)] for row in rows]
    median = np.array([np.median(row) if row.size else np.nan for row in rows])
    order = np.argsort(np.where(np.isnan(median), np.inf, -median), kind="stable")
    figure = canvas(0.95 + 0.19 * max(len(names), 3))
    axes = figure.add_subplot()
    for place, k in enumerate(order.tolist()):
        if not rows[k].size:
            say(axes, place, "no values")
            continue
        axes.hlines(
            place, rows[k].min(), rows[k].max(), colors=colour("people"), linewidth=3, alpha=0.45
        )
        axes.scatter(
            rows[k],
            np.full(rows[k].size, place),
            marker="x",
            s=17,
            color=colour("ink"),
            linewidths=0.9,
            zorder=3,
        )
        axes.scatter(
            median[k],
            place,
            s=30,
            color=colour("model"),
            edgecolors=colour("paper"),
            linewidths=0.7,
            zorder=4,
        )
    if line is not None:
        axes.axvline(line, color=colour("soft"), linewidth=0.9)
    names_on_y(axes, [names[k] for k in order])
    axes.set_yticks(range(len(names)), [shown(names[k], _NAME) for k in order])
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    key_below(
        figure,
        [
            (of, swatch(colour("ink"), "x", size=5)),
            ("median", swatch(colour("model"), "o", size=5.5)),
            ("range", swatch(colour("people"), "_", size=12)),
        ],
    )
    return figure
