"""How answers spread over the scale, and what became of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Figure, Floats
from affectlab.core.words import count, percent, shown
from affectlab.report.drawing import (
    RAMP,
    canvas,
    colour,
    grid_along,
    key_below,
    names_on_y,
    swatch,
    themed,
)
from affectlab.report.figures.labels import group_colours

__all__ = [
    "draw_outcomes",
    "fig_answers",
    "fig_answers_by_label",
    "fig_outcomes",
]

_ROLE = {"people": "people", "models": "model"}


@themed
def fig_answers(
    bins: Sequence[str],
    shares: Mapping[str, ArrayLike],
    *,
    value_name: str = "answer",
    share_name: str = "share of answers",
) -> Figure:
    """Draw the share of answers on each point of the scale, people beside models.

    Parameters
    ----------
    bins
        Names of the points of the scale, or of the bins, shape (n,).
    shares
        Group (``people``, ``models``, or others) to its shares in [0, 1], shape (n,).
    value_name, share_name
        What the axes show.

    Examples
    --------
    >>> figure = fig_answers(["no", "yes"], {"people": [0.25, 0.75]})
    >>> [float(bar.get_height()) for bar in figure.axes[0].patches]
    [0.25, 0.75]
    """
    from matplotlib.ticker import PercentFormatter

    figure = canvas(2.5)
    axes = figure.add_subplot()
    at = np.arange(len(bins))
    width = 0.78 / max(len(shares), 1)
    others = set(shares) - set(_ROLE)
    tints = group_colours(list(shares)) if others else {g: colour(_ROLE[g]) for g in shares}
    for k, (group, share) in enumerate(shares.items()):
        place = at + (k - (len(shares) - 1) / 2) * width
        axes.bar(place, np.asarray(share), width * 0.94, color=tints[group])
    turned = max(len(name) for name in bins) > 90 / max(len(bins), 1)
    axes.set_xticks(
        at,
        [shown(name, 24) for name in bins],
        rotation=45 if turned else 0,
        ha="right" if turned else "center",
    )
    axes.set_xlim(-0.6, len(bins) - 0.4)
    grid_along(axes, "y")
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel(value_name)
    axes.set_ylabel(share_name)
    if len(shares) > 1:
        key_below(figure, [(name, swatch(tints[name])) for name in shares])
    return figure


@themed
def fig_answers_by_label(names: Sequence[str], levels: Sequence[str], shares: ArrayLike) -> Figure:
    """Draw a bar per label, divided into the shares of the levels of the scale.

    Parameters
    ----------
    names
        Labels, shape (n,).
    levels
        Names of the levels from low to high, shape (m,).
    shares
        Shape (n, m), rows that sum to 1.

    Examples
    --------
    >>> figure = fig_answers_by_label(["joy"], ["0", "1"], [[0.25, 0.75]])
    >>> len(figure.axes[0].patches)
    2
    """
    from matplotlib.ticker import PercentFormatter

    share = np.asarray(shares, dtype=np.float64)
    order = np.argsort(-(share @ np.arange(share.shape[1])), kind="stable")
    figure = canvas(1.05 + 0.2 * len(names))
    axes = figure.add_subplot()
    left = np.zeros(len(names))
    steps = np.rint(np.linspace(0, len(RAMP) - 1, len(levels))).astype(int)
    for k, step in enumerate(steps):
        axes.barh(
            range(len(names)),
            share[order, k],
            left=left,
            height=0.76,
            color=RAMP[step],
            edgecolor=colour("paper"),
            linewidth=0.4,
        )
        left += share[order, k]
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("share of answers")
    key_below(
        figure,
        [(name, swatch(RAMP[step])) for name, step in zip(levels, steps, strict=True)],
        columns=min(len(levels), 11),
    )
    return figure


# What became of the questions to each model.


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
    ax: Axes | None = None,
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
    ax
        Axes to draw on; those of a new figure where not given.

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
    if ax is None:
        ax = canvas(0.95 + 0.25 * len(names) + 0.2 * (len(drawn) > 5)).add_subplot()
    axes, figure = ax, cast("Figure", ax.get_figure(root=True))
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


_MOST = 40
"""Bars that fit below each other."""


def draw_outcomes(ax: Axes, table: Table) -> None:
    """Draw a bar for each row of a table that counts outcomes, the 40 with most usable answers.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a column of counts for each outcome, and ``value``, ``low`` and ``high`` of the share
        that can be used.
    """
    frame = table.frame
    if frame.height > _MOST:
        frame = frame.sort("value", descending=True, maintain_order=True).head(_MOST)
    names = [" · ".join(shown(part, 40) for part in row) for row in frame.select(table.keys).rows()]
    counts = {name: frame[name].to_numpy() for name in _ROLES}
    fig_outcomes(names, counts, low=frame["low"], high=frame["high"], ax=ax)


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
