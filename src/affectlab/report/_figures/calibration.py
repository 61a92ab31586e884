"""Reliability diagrams: does a confidence mean what it says."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.report._figures._base import canvas, grid_along, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_reliability_diagram"]


@themed
def fig_reliability_diagram(
    low: ArrayLike,
    high: ArrayLike,
    n: ArrayLike,
    confidence: ArrayLike,
    share: ArrayLike,
    share_low: ArrayLike,
    share_high: ArrayLike,
    *,
    ece: float = float("nan"),
    outcome_name: str = "share that came true",
    title: str = "",
) -> Figure:
    """Draw the outcome of each bin over its mean confidence, with a histogram of counts below.

    Bars in between show how far the two are apart; a model that knows what it knows stands on the
    diagonal.

    Parameters
    ----------
    low, high
        Ends of the bins, shape (b,).
    n
        Items of each bin.
    confidence, share
        Mean confidence and mean outcome of each bin, ``nan`` where it is empty.
    share_low, share_high
        Interval of the outcome.
    ece
        Expected calibration error, written above where it is known.
    outcome_name
        What the outcome is, such as the share of people who gave the same answer.
    title
        Whose confidence it is.

    Examples
    --------
    >>> figure = fig_reliability_diagram([0, 0.5], [0.5, 1], [3, 7], [0.4, 0.8], [0.3, 0.9],
    ...                                  [0.1, 0.6], [0.6, 0.98], ece=0.1)
    >>> len(figure.axes)
    2
    """
    start, end, count, sure, true, least, most = (
        np.asarray(part, dtype=np.float64)
        for part in (low, high, n, confidence, share, share_low, share_high)
    )
    figure = canvas(4.7, width=4.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    above.plot([0, 1], [0, 1], color=colour("soft"), linewidth=0.9, dashes=(4, 3))
    known = ~np.isnan(sure) & ~np.isnan(true)
    above.vlines(
        sure[known], sure[known], true[known], color=colour("model"), linewidth=5, alpha=0.4
    )
    above.vlines(sure[known], least[known], most[known], color=colour("people"), linewidth=1.3)
    above.plot(sure[known], true[known], color=colour("people"), linewidth=1.1, alpha=0.6)
    above.scatter(
        sure[known],
        true[known],
        s=26,
        color=colour("people"),
        edgecolors=colour("paper"),
        linewidths=0.6,
        zorder=3,
    )
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel(outcome_name)
    above.grid(visible=True)
    above.tick_params(length=0)
    for side in ("left", "bottom"):
        above.spines[side].set_visible(False)
    error = "" if np.isnan(ece) else f"ECE {ece:.3f}"
    above.set_title(shown(title, 40), fontweight="bold", color=colour("ink"))
    above.set_title(error, loc="right", color=colour("ink"))
    soft = colour("soft")
    where = above.transAxes
    above.text(0.03, 0.97, "not sure enough", va="top", transform=where, color=soft, fontsize=8)
    above.text(0.97, 0.03, "too sure", ha="right", transform=where, color=soft, fontsize=8)
    below.bar(start, count, width=end - start, align="edge", color=colour("people"), linewidth=0)
    below.set_xlim(-0.02, 1.02)
    below.set_xlabel("confidence")
    below.set_ylabel("items")
    grid_along(below, "y")
    if known.any():
        key_below(
            figure,
            [
                (outcome_name, swatch(colour("people"), "o", size=5)),
                ("gap to the confidence", swatch(colour("model"), "s")),
            ],
        )
    return figure
