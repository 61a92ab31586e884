"""How answers spread over the scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._figures.frequencies import group_colours
from affectlab.report._theme import RAMP, colour, themed

__all__ = ["fig_answers", "fig_answers_by_label"]

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
