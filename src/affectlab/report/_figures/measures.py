"""Several measures of the same rows, side by side, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab.errors import InputError
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._figures.frequencies import group_colours
from affectlab.report._theme import colour, themed

__all__ = ["fig_measures"]


@themed
def fig_measures(
    names: Sequence[str],
    groups: Sequence[str],
    measures: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
) -> Figure:
    """Draw a panel for each measure, a line for each name, and on it a dot for each group.

    Parameters
    ----------
    names
        What stands on the lines, such as networks.
    groups
        What is compared on each line, such as losses; each has a colour.
    measures
        Values and the ends of their intervals by name of measure, each of shape
        (names, groups); ``nan`` where there is none.

    Raises
    ------
    InputError
        When nothing is to be drawn, or a shape is another.

    Examples
    --------
    >>> values = [[0.6, 0.5], [0.7, 0.6]]
    >>> figure = fig_measures(["small", "large"], ["a", "b"], {"ACC": (values, values, values)})
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['ACC']
    """
    shape = (len(names), len(groups))
    if not measures or 0 in shape:
        raise InputError("no measures to draw; expected one measure, name and group at least")
    figure = canvas(0.95 + 0.22 * len(names) * (0.6 + 0.55 * len(groups)))
    figure.get_layout_engine().set(wspace=0.1)  # type: ignore[union-attr, call-arg]
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    colours = group_colours(groups)
    # Dots of one line stand below each other, so that intervals do not cover each other.
    places = (np.arange(len(groups)) - (len(groups) - 1) / 2) * 0.7 / max(len(groups), 1)
    rows = np.arange(len(names))
    for axes, (title, given) in zip(panels, measures.items(), strict=True):
        value, low, high = (np.asarray(part, dtype=np.float64) for part in given)
        if not value.shape == low.shape == high.shape == shape:
            raise InputError(f"{title}: values have shape {value.shape}; expected {shape}")
        names_on_y(axes, names)
        for at, (group, place) in enumerate(zip(groups, places.tolist(), strict=True)):
            tint = colours[group]
            ends = low[:, at], high[:, at]
            axes.hlines(rows + place, *ends, colors=tint, linewidth=1.6, alpha=0.55)
            axes.scatter(
                value[:, at],
                rows + place,
                color=tint,
                s=20,
                zorder=3,
                edgecolors=colour("paper"),
                linewidths=0.6,
            )
        axes.margins(x=0.09)
        grid_along(axes, "x")
        # Its line says where a panel ends.
        axes.spines["bottom"].set_visible(True)
        axes.set_title(title, fontweight="bold", color=colour("ink"))
    key_below(figure, [(group, swatch(colours[group], "o")) for group in groups])
    return figure
