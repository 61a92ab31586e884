"""Gold standards of continuous traces over time."""

from __future__ import annotations

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes

_MOST = 8
"""Stimuli that are drawn."""
_POINTS = 1500
"""Points of a line; of more, evenly spaced ones are drawn."""


def draw_traces(ax: Axes, table: Table, *, label: str | None = None, most: int = _MOST) -> None:
    """Draw a panel for each stimulus: the mean over time, a band of one SD, and the weighted mean.

    Of many stimuli the first are drawn, and the axis says so.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``label``, ``stimulus``, ``at``, ``mean``, ``ewe`` and ``sd``.
    label
        Which label; by default that of the first row.
    most
        Stimuli that are drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["valence"] * 3, "stimulus": ["film"] * 3, "at": [0.0, 1.0, 2.0],
    ...         "mean": [0.1, 0.3, 0.2], "ewe": [0.1, 0.35, 0.2], "sd": [0.1, 0.1, 0.2]}
    >>> page = draw_figure("traces", data)
    >>> page.axes[0].get_title(loc="left")
    'film'
    """
    frame = table.frame
    own = frame.filter(label=frame["label"][0] if label is None else label)
    stimuli = own["stimulus"].unique(maintain_order=True).to_list()
    n, said = drawing.first_of(len(stimuli), "stimuli", "seconds", most)
    names = stimuli[:n]
    titles = drawing.short_names(names, 60)
    drawing.fit(ax, 0.75 + 1.25 * len(names))
    panels = drawing.split(ax, max(len(names), 1), 1, sharey=True)
    for (axes,), name, title in zip(panels, names, titles, strict=True):
        part = own.filter(stimulus=name).sort("at")
        rows = np.unique(np.linspace(0, part.height - 1, min(part.height, _POINTS)).astype(int))
        part = part[rows]
        at, mean, ewe, sd = drawing.columns_of(part, "at", "mean", "ewe", "sd")
        band = np.nan_to_num(sd)
        axes.fill_between(at, mean - band, mean + band, color=colour("people"), alpha=0.15, lw=0)
        axes.plot(at, mean, color=colour("people"), linewidth=1.4)
        axes.plot(at, ewe, color=colour("model"), linewidth=1.0, dashes=(4, 2))
        axes.grid(visible=True, axis="y")
        axes.tick_params(length=0)
        axes.margins(x=0.01)
        axes.set_title(title, loc="left", fontweight="bold", color=colour("ink"))
    panels[-1][0].set_xlabel(said)
    key = [
        ("mean, and one SD of raters", drawing.swatch("people")),
        ("evaluator-weighted", drawing.swatch("model")),
    ]
    drawing.key_below(ax, key)
