"""Histograms of scores side by side, with one axis for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Figure
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._theme import colour, themed

__all__ = ["HistogramPanel", "fig_expression_histograms"]

_ACROSS = 4
_FEW = 0.05
"""Height of an axis below which its marks need a decimal."""
_ROLES = {"intra": "people", "inter": "negative", "all": "mixed"}


@dataclass(frozen=True)
class HistogramPanel:
    """Bins of one group."""

    title: str
    low: ArrayLike
    """Lower ends of the bins, shape (m,)."""
    high: ArrayLike
    """Upper ends."""
    share: ArrayLike
    """Share of the group in each bin; ``nan`` everywhere for an empty group."""
    note: str = ""
    """A few words below the title, such as the mean."""
    role: str = "all"
    """``intra``, ``inter`` or ``all``, for the colour."""


@themed
def fig_expression_histograms(
    panels: Sequence[HistogramPanel], *, value_name: str = "score", count_name: str = "pairs"
) -> Figure:
    """Draw histograms in shares of their groups, up to four side by side.

    Parameters
    ----------
    panels
        What is drawn.
    value_name
        What the horizontal axis shows.
    count_name
        What is counted.

    Raises
    ------
    InputError
        When there are no panels.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 5 and 13 to 16.

    Examples
    --------
    >>> panel = HistogramPanel("intra", [0, 50], [50, 100], [0.4, 0.6])
    >>> figure = fig_expression_histograms([panel])
    >>> figure.axes[0].get_title(loc="left")
    'intra'
    """
    if not panels:
        raise InputError("there are no panels; expected at least one")
    from matplotlib.ticker import PercentFormatter

    across = _across(len(panels))
    down = -(-len(panels) // across)
    figure = canvas(0.4 + 1.75 * down, WIDTH if across > 1 else 4.4)
    figure.get_layout_engine().set(wspace=0.04, hspace=0.03)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw(axes, panel)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, axes in enumerate(grid.ravel()[: len(panels)]):
        if place + across >= len(panels):
            axes.tick_params(labelbottom=True)
    few = grid[0, 0].get_ylim()[1] < _FEW
    grid[0, 0].yaxis.set_major_formatter(PercentFormatter(1, 1 if few else 0, "\u00a0%"))
    figure.supxlabel(value_name, fontsize=8.5, color=colour("soft"))
    figure.supylabel(f"share of {count_name}", fontsize=8.5, color=colour("soft"))
    return figure


def _across(n: int) -> int:
    """Put panels into full rows where that is possible."""
    if n <= _ACROSS:
        return n
    return next((k for k in (4, 3) if n % k == 0), _ACROSS)


def _draw(axes: Axes, panel: HistogramPanel) -> None:
    low, high, share = (
        np.asarray(part, dtype=np.float64) for part in (panel.low, panel.high, panel.share)
    )
    if np.isnan(share).all():
        axes.text(0.5, 0.5, "no pairs", transform=axes.transAxes, ha="center", color=colour("soft"))
    else:
        axes.bar(
            low,
            share,
            width=high - low,
            align="edge",
            color=colour(_ROLES[panel.role]),
            alpha=0.8,
            edgecolor=colour("paper"),
            linewidth=0.4,
        )
    axes.grid(visible=True, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=7.5)
    axes.set_title(shown(panel.title, 34), fontweight="bold", pad=14 if panel.note else 4)
    if panel.note:
        axes.annotate(
            shown(panel.note, 44),
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 4),
            textcoords="offset points",
            fontsize=7,
            color=colour("soft"),
        )
