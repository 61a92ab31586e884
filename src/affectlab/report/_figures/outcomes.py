"""What became of the questions to each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Figure, Floats
from affectlab._words import count, percent, shown
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_outcomes"]

_ROLES = {
    "ok": "ramp-1",
    "rule_violation": "positive",
    "schema_invalid": "ramp-5",
    "unparseable": "model",
    "truncated": "ambiguous",
    "empty": "ramp-8",
    "refused": "negative",
    "rejected": "mixed",
    "transport": "neutral",
}
"""From what can be used to what never arrived: the order of the parts of a bar."""


@themed
def fig_outcomes(
    names: Sequence[str],
    counts: Mapping[str, ArrayLike],
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> Figure:
    """Draw a bar per model and prompt, divided into the shares of the outcomes.

    Parameters
    ----------
    names
        Models, or models and prompts, shape (n,).
    counts
        Outcome to its number of answers, shape (n,); outcomes are those of a table of ratings.
    low, high
        Interval of the share that can be used, shape (n,); drawn as a bracket where given.

    Examples
    --------
    >>> figure = fig_outcomes(["gazer"], {"ok": [90], "refused": [10]})
    >>> [round(float(bar.get_width()), 2) for bar in figure.axes[0].patches]
    [0.9, 0.1]
    """
    from matplotlib.ticker import PercentFormatter

    drawn = [name for name in _ROLES if name in counts and np.any(np.asarray(counts[name]) > 0)]
    table = np.array([np.asarray(counts[name], dtype=np.float64) for name in drawn])
    table = table.reshape(len(drawn), len(names))
    total = table.sum(axis=0)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    figure = canvas(0.95 + 0.25 * len(names) + 0.2 * (len(drawn) > 5))
    axes = figure.add_subplot()
    left = np.zeros(len(names))
    for k, name in enumerate(drawn):
        axes.barh(
            range(len(names)),
            share[k],
            left=left,
            height=0.74,
            color=colour(_ROLES[name]),
            edgecolor=colour("paper"),
            linewidth=0.5,
        )
        left += share[k]
    if low is not None and high is not None:
        ends = np.array([low, high], dtype=np.float64)
        for row in np.flatnonzero(~np.isnan(ends).any(axis=0)):
            axes.plot(ends[:, row], [row, row], color=colour("ink"), linewidth=1.1, marker="|")
    names_on_y(axes, names)
    grid_along(axes, "x")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("share of answers")
    _write_totals(axes, names, share[drawn.index("ok")] if "ok" in drawn else 0 * total, total)
    key_below(
        figure,
        [(shown(name.replace("_", " ")), swatch(colour(_ROLES[name]))) for name in drawn],
        columns=min(len(drawn), 5),
    )
    return figure


def _write_totals(axes: Axes, names: Sequence[str], usable: Floats, total: Floats) -> None:
    """Write, right of each bar, the usable share and the number of answers."""
    for row in range(len(names)):
        text = f"{percent(float(usable[row]), 1)} of {count(total[row])}" if total[row] else "none"
        axes.annotate(
            text,
            (1, row),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour("soft"),
        )
