"""What a report shows first: how many raters are enough, and where scores of stimuli lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import RAMP, colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats
from affectlab.core.words import number

NARROW = 4.6
"""Width of a figure that stands beside a text, and fits a phone, in inches."""
_FEWEST = 20
"""Raters to which the axis goes at least."""
MOST_DOTS = 1200
"""Stimuli that are drawn; of more, evenly spaced ones in rising order."""
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw_raters_needed(
    ax: Axes, table: Table, *, steps: Sequence[float] = (0.7, 0.8, 0.9), names: str = "label"
) -> None:
    """Draw on a line for each label how reliable the mean of how many raters is.

    Colours give the steps that the mean of so many raters reaches; a dot says how many there are,
    and numbers beside the line what their mean reaches.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``single`` (the reliability of one rater), ``k`` (raters there are), ``value``,
        ``low`` and ``high`` (of their mean), a row per label.
    steps
        Reliabilities at which colours change, in rising order.
    names
        Column that names the lines.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["awe"], "single": [0.5], "k": [4], "value": [0.8], "low": [0.7],
    ...         "high": [0.9]}
    >>> page = draw_figure("raters_needed", data)
    >>> [text.get_text() for text in page.axes[0].texts]
    ['0.80 (0.70 to 0.90)']
    """
    single, k, value, low, high = drawing.columns_of(
        table.frame, "single", "k", "value", "low", "high"
    )
    one = np.clip(np.nan_to_num(single), 1e-9, 1 - 1e-9)
    most = max(_FEWEST, 2.5 * float(np.nanmax(k, initial=1.0)))
    tints = (RAMP[0], *(RAMP[2 + 2 * step] for step in range(len(steps))))
    rows = np.arange(table.frame.height)
    drawing.fit(ax, 1.0 + 0.27 * table.frame.height, NARROW)
    # Raters from which on each step is reached: the odds of a mean are k times those of one.
    bounds = [np.ones_like(one)]
    bounds += [np.clip(at / (1 - at) * (1 - one) / one, 1, most) for at in steps]
    bounds.append(np.full_like(one, most))
    for (left, right), tint in zip(pairwise(bounds), tints, strict=True):
        ax.barh(rows, right - left, left=left, height=0.6, color=tint)
    ax.scatter(
        k, rows, s=44, color=colour("paper"), edgecolors=colour("ink"), linewidths=1.6, zorder=3
    )
    for row in rows:
        ends = f" ({number(low[row])} to {number(high[row])})" if low[row] == low[row] else ""
        said = f"{number(value[row])}{ends}" if value[row] == value[row] else "not defined"
        drawing.beside(ax, row, said)
    ax.set_xscale("log")
    ax.set_xlim(1, most)
    ticks = [tick for tick in _TICKS if tick <= most]
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.minorticks_off()
    drawing.names_on_y(ax, table.frame[names].to_list(), "raters per stimulus", limit=18)
    ax.grid(visible=False)
    ends_of = [f"{number(a)} to {number(b)}" for a, b in pairwise(steps)]
    said_of = (f"below {number(steps[0])}", *ends_of, f"{number(steps[-1])} or more")
    key = [(name, swatch(tint)) for name, tint in zip(said_of, tints, strict=True)]
    there = ("raters there are", swatch("paper", "o", edge="ink"))
    drawing.key_below(ax, [*key, there], columns=3)


def draw_score_strips(ax: Axes, table: Table, *, panels: Sequence[Mapping[str, Any]]) -> None:
    """Draw the scores of all stimuli on a line for each label, a panel for each scale.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``label``, ``value``, ``low``, ``high`` and ``middle``, a row per stimulus and label.
        Stimuli whose interval does not hold the middle have a colour. Of more than 1,200 rows
        evenly spaced ones of each label are drawn, in rising order.
    panels
        Of each scale its ``labels``, the ``value_name`` of its axis, and its ``limits`` or None.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["awe", "awe"], "value": [0.5, 6.5], "low": [0.1, 6.0],
    ...         "high": [0.9, 7.0], "middle": [3.5, 3.5]}
    >>> of_awe = {"labels": ["awe"], "value_name": "mean answer", "limits": (0, 7)}
    >>> page = draw_figure("score_strips", data, panels=[of_awe])
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['awe']
    """
    n_labels = sum(len(panel["labels"]) for panel in panels)
    heights = [len(panel["labels"]) + 0.9 for panel in panels]
    drawing.fit(ax, 0.7 + 0.36 * sum(heights), NARROW)
    every = drawing.split(ax, len(panels), height_ratios=heights)
    for (axes,), panel in zip(every, panels, strict=True):
        for row, label in enumerate(panel["labels"]):
            own = table.frame.filter(label=label).sort("value", maintain_order=True)
            most = max(MOST_DOTS // n_labels, 2)
            places = np.linspace(0, own.height - 1, min(most, own.height)).round().astype(int)
            own = own[np.unique(places)]
            _strip(axes, row, *drawing.columns_of(own, "value", "low", "high", "middle"))
        drawing.names_on_y(axes, panel["labels"], panel["value_name"], limit=18)
        if panel["limits"] is not None:
            low, high = panel["limits"]
            room = 0.02 * (high - low)
            axes.set_xlim(low - room, high + room)
            if (low, high) == (0.0, 1.0):
                drawing.percent_along(axes, "x")
    entries = [
        ("apart from the middle", swatch("people", "o", size=4)),
        ("not shown to be", swatch("neutral", "o", size=4)),
        ("highest and lowest", swatch("ink", "o", size=5)),
        ("middle", swatch("ink", "|", size=9)),
    ]
    drawing.key_below(ax, entries, columns=2)


def _strip(axes: Axes, row: int, value: Floats, low: Floats, high: Floats, middle: Floats) -> None:
    """Draw the scores of one label in rising order."""
    apart = (low > middle) | (high < middle)
    places = row + 0.5 * drawing.spread(value.size)
    for chosen, tint in ((~apart, "neutral"), (apart, "people")):
        axes.scatter(
            value[chosen], places[chosen], s=9, color=colour(tint), alpha=0.45, linewidths=0
        )
    axes.vlines(middle[:1], row - 0.36, row + 0.36, color=colour("ink"), linewidth=1.4)
    ends = np.array([0, value.size - 1])
    drawing.dots(axes, np.full(2, row), value[ends], low[ends], high[ends], colour("ink"))
