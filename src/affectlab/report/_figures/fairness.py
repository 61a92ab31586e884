"""A measure by group, with intervals: is a model as good for one group as for another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.report._figures._base import canvas, grid_along, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_fairness"]

_HEADING = 1.15
"""Rows that a heading takes, with the space above it."""


@themed
def fig_fairness(
    sections: Sequence[str],
    groups: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    value_name: str,
    flagged: Sequence[bool] | None = None,
    sizes: Sequence[int] | None = None,
    line: float | None = None,
    band: float = 0.0,
) -> Figure:
    """Draw a dot with its interval per group, one block per model or label.

    Parameters
    ----------
    sections
        Heading that each row stands under, shape (n,); rows of one heading stand together.
    groups
        Group of each row.
    value, low, high
        Shape (n,); ``nan`` where not defined.
    value_name
        What the axis shows.
    flagged
        Rows to stress: groups with a gap that is shown.
    sizes
        Number of stimuli, or people, in each group, written beside its name.
    line
        A value to mark, such as 0 for a signed difference or for gaps.
    band
        What counts as small: values that lie no further than this from the line stand on grey.

    Examples
    --------
    >>> figure = fig_fairness(["net", "net"], ["man", "woman"], [0.4, 0.7], [0.3, 0.6], [0.5, 0.8],
    ...                       value_name="mean absolute error", flagged=[False, True])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['man', 'woman']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    stressed = np.zeros(point.size, dtype=bool) if flagged is None else np.asarray(flagged, bool)
    headings = list(dict.fromkeys(sections))
    several = len(headings) > 1
    order = [row for name in headings for row, own in enumerate(sections) if own == name]
    place = np.zeros(point.size)
    title_at = {}
    at = -0.4
    for name in headings:
        if several:
            title_at[name] = at + 0.55
            at += _HEADING
        for row in (row for row in order if sections[row] == name):
            place[row] = at + 0.4
            at += 1
    figure = canvas(0.8 + 0.2 * (at + 0.4) + (0.2 if stressed.any() else 0))
    axes = figure.add_subplot()
    if line is not None and band > 0:
        axes.axvspan(line - band, line + band, color=colour("faint"), linewidth=0, zorder=0)
    if line is not None:
        axes.axvline(line, color=colour("soft"), linewidth=0.8, dashes=(4, 3))
    tint = [colour("model" if stress else "people") for stress in stressed]
    axes.hlines(place, lower, upper, colors=tint, linewidth=1.6, alpha=0.55)
    marks = (("o", ~stressed), ("D", stressed))
    for marker, rows in marks:
        axes.scatter(
            point[rows],
            place[rows],
            c=[tint[row] for row in np.flatnonzero(rows)],
            marker=marker,
            s=24,
            zorder=3,
            edgecolors=colour("paper"),
            linewidths=0.6,
        )
    names = [
        shown(group, 34) + ("" if sizes is None else f"  ({sizes[row]:,})")
        for row, group in enumerate(groups)
    ]
    axes.set_yticks([place[row] for row in order], [names[row] for row in order])
    axes.set_ylim(at + 0.1, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.margins(x=0.04)
    for name, height in title_at.items():
        axes.annotate(
            shown(name, 60),
            (0, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontweight="bold",
            color=colour("ink"),
        )
    axes.set_xlabel(value_name)
    for row in np.flatnonzero(np.isnan(point)).tolist():
        axes.annotate(
            "not defined",
            (0.01, place[row]),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour("soft"),
            fontsize=8,
            style="italic",
        )
    if np.isnan(point).all():
        axes.set_xlim(0, 1)
    if stressed.any():
        key_below(
            figure,
            [
                ("a gap is shown", swatch(colour("model"), "D", size=5)),
                ("no gap is shown", swatch(colour("people"), "o", size=5)),
            ],
        )
    return figure
