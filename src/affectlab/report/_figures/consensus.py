"""How many items are left, and confirmed, in each round of a sequential protocol."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import count, percent
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._theme import RAMP, colour, themed

__all__ = ["fig_consensus_flow"]


@themed
def fig_consensus_flow(
    names: Sequence[str], items: ArrayLike, low: ArrayLike, high: ArrayLike
) -> Figure:
    r"""Draw a bar per round, with the part that was confirmed.

    Parameters
    ----------
    names
        Names of the rounds, shape (n,).
    items
        Items asked about, shape (n,).
    low, high
        Lowest and highest agreement that fit the votes, fractions; equal where it is known.

    Examples
    --------
    >>> figure = fig_consensus_flow(["round 1", "round 2"], [100, 80], [0.8, 0.5], [0.8, 0.5])
    >>> figure.axes[0].texts[0].get_text()
    '80\xa0% of 100'
    """
    asked, least, most = (np.asarray(part, dtype=np.float64) for part in (items, low, high))
    figure = canvas(1.05 + 0.34 * len(names))
    axes = figure.add_subplot()
    rows = np.arange(len(names))
    axes.barh(rows, asked, height=0.62, color=colour("line"))
    axes.barh(rows, asked * np.nan_to_num(least), height=0.62, color=colour("people"))
    axes.barh(
        rows,
        asked * np.nan_to_num(most - least),
        left=asked * np.nan_to_num(least),
        height=0.62,
        color=RAMP[2],
    )
    for row in rows:
        share = percent(least[row], 0 if least[row] * 100 % 1 == 0 else 1)
        if most[row] > least[row]:
            share = f"{100 * least[row]:.1f} to {percent(most[row], 1)}"
        axes.annotate(
            f"{share} of {count(asked[row])}",
            (asked[row], row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=colour("ink"),
        )
    names_on_y(axes, names)
    grid_along(axes, "x")
    axes.set_xlim(0, float(asked.max(initial=1)) * 1.3)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("items (a stimulus with a label)")
    entries = [("confirmed", swatch(colour("people"))), ("not confirmed", swatch(colour("line")))]
    if (most > least).any():
        entries.insert(1, ("the votes cannot tell", swatch(RAMP[2])))
    key_below(figure, entries)
    return figure
