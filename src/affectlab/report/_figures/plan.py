"""How a quantity grows with the number of raters, and where it reaches the goal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab.report._figures._base import canvas, grid_along
from affectlab.report._theme import colour, themed

__all__ = ["fig_plan"]


@themed
def fig_plan(
    raters: ArrayLike,
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    goal: float,
    recommended: int | None,
    value_name: str,
) -> Figure:
    """Draw a planned quantity over the number of raters per stimulus, up to three times the goal.

    Parameters
    ----------
    raters
        Raters per stimulus, rising, shape (n,).
    value, low, high
        The quantity with its Monte Carlo interval, shape (n,).
    goal
        What is wanted, drawn as a dashed line.
    recommended
        Smallest number of raters that reaches it, or None.
    value_name
        What the quantity is, for the axis.

    Examples
    --------
    >>> figure = fig_plan([4, 8, 16], [3.0, 2.1, 1.5], [2.9, 2.0, 1.4], [3.1, 2.2, 1.6], goal=2,
    ...                   recommended=16, value_name="width")
    >>> figure.axes[0].get_xlabel()
    'raters per stimulus'
    """
    count, middle, least, most = (
        np.asarray(part, dtype=np.float64) for part in (raters, value, low, high)
    )
    figure = canvas(3.4)
    axes = figure.add_subplot()
    axes.fill_between(count, least, most, color=colour("people"), alpha=0.25, linewidth=0)
    axes.plot(count, middle, color=colour("people"), linewidth=1.8)
    axes.axhline(goal, color=colour("ink"), linewidth=1, linestyle=(0, (4, 3)))
    if recommended is not None:
        at = int(np.flatnonzero(count == recommended)[0])
        axes.plot(recommended, middle[at], "o", color=colour("model"), markersize=7)
        axes.annotate(
            f"{recommended} raters",
            (recommended, middle[at]),
            xytext=(8, 8),
            textcoords="offset points",
            color=colour("ink"),
        )
    # Two raters leave intervals so wide that the part that matters would be a flat line.
    top = min(float(most.max()), 3 * max(goal, float(middle[-1])))
    axes.set_ylim(min(0.0, float(least.min())), 1.05 * top)
    grid_along(axes, "y")
    axes.set_xlabel("raters per stimulus")
    axes.set_ylabel(value_name)
    return figure
