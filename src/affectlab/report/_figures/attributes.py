"""What is known of raters or stimuli: small bars and histograms side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._types import Axes, Figure
from affectlab._words import shown
from affectlab.report._figures._base import canvas, grid_along
from affectlab.report._theme import colour, themed

__all__ = ["Panel", "fig_attributes"]


@dataclass(frozen=True)
class Panel:
    """The distribution of one attribute."""

    name: str
    counts: tuple[int, ...]
    values: tuple[str, ...] = ()
    """Names of the values, for bars."""
    edges: tuple[float, ...] = ()
    """Ends of the bins, for a histogram: one more than there are counts."""
    remark: str = ""
    """What to say behind the name, such as how many values are left out."""


@themed
def fig_attributes(panels: Sequence[Panel], *, count_name: str, role: str = "people") -> Figure:
    """Draw one small chart per attribute, two in a row.

    Parameters
    ----------
    panels
        Attributes; those with edges become histograms, the others bars.
    count_name
        What is counted.
    role
        Colour of the theme.

    Examples
    --------
    >>> panel = Panel("gender", (3, 4), values=("male", "female"))
    >>> bars = fig_attributes([panel], count_name="raters").axes[0].patches
    >>> [float(bar.get_width()) for bar in bars]
    [3.0, 4.0]
    """
    stacks = _stacks(panels)
    tallest = max(sum(map(_height, stack)) for stack in stacks)
    figure = canvas(tallest)
    halves = figure.subfigures(1, len(stacks), squeeze=False)[0]
    for half, stack in zip(halves, stacks, strict=True):
        rest = tallest - sum(map(_height, stack))
        ratios = [_height(panel) for panel in stack] + ([rest] if rest > 0.01 else [])
        grid = half.add_gridspec(len(ratios), 1, height_ratios=ratios)
        half.patch.set_visible(False)
        for row, panel in enumerate(stack):
            axes = half.add_subplot(grid[row, 0])
            title = shown(panel.name, 36) + (f" ({panel.remark})" if panel.remark else "")
            axes.set_title(title, fontweight="bold", color=colour("ink"))
            if panel.edges:
                _histogram(axes, panel, colour(role))
                axes.set_ylabel(count_name)
            else:
                _bars(axes, panel, colour(role))
                axes.set_xlabel(count_name)
    return figure


def _stacks(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Share the panels out to two columns of about one height, keeping their order."""
    if len(panels) == 1:
        return [list(panels)]
    stacks: list[list[Panel]] = [[], []]
    for panel in panels:
        shorter = min(stacks, key=lambda stack: sum(map(_height, stack)))
        shorter.append(panel)
    return stacks


def _height(panel: Panel) -> float:
    return 1.9 if panel.edges else 0.85 + 0.2 * len(panel.counts)


def _histogram(axes: Axes, panel: Panel, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    edges = np.asarray(panel.edges)
    axes.bar(
        edges[:-1],
        panel.counts,
        np.diff(edges),
        align="edge",
        color=tint,
        edgecolor=colour("paper"),
        linewidth=0.6,
    )
    grid_along(axes, "y")
    largest = float(np.abs(edges).max())
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter("{x:.4g}" if largest >= 1e7 else "{x:.7g}")
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(axis="x", length=0)


def _bars(axes: Axes, panel: Panel, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.barh(range(len(panel.counts)), panel.counts, height=0.7, color=tint)
    axes.set_yticks(range(len(panel.values)), [shown(value, 22) for value in panel.values])
    axes.set_ylim(len(panel.counts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
