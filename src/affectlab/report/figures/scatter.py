"""Scores beside what metrics predict: dots or density, with the fitted curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.tables import Table
from affectlab.core.types import Axes, Bools, Figure, Floats
from affectlab.core.words import count, shown
from affectlab.report.drawing import (
    RAMP,
    WIDTH,
    canvas,
    colour,
    fit,
    key_below,
    split,
    swatch,
    themed,
)
from affectlab.report.figures.labels import group_colours

__all__ = ["Scatter", "draw_scatter", "fig_scatter_fit"]

_DOTS = 3000
"""Up to so many pairs dots are drawn, above that density."""
_ACROSS = 3
_CELLS = 34
_MARKERS = ("o", "^", "s", "D", "v")


@dataclass(frozen=True)
class Scatter:
    """One panel: predictions and scores of the same stimuli, shape (n,)."""

    title: str
    x: ArrayLike
    """Predictions; pairs with a ``nan`` are not drawn."""
    y: ArrayLike
    """Scores."""
    curve: tuple[ArrayLike, ArrayLike] | None = None
    """Places and heights of a fitted curve."""
    groups: Sequence[str] | None = None
    """Group of each stimulus, for its colour; not where density is drawn."""
    note: str = ""
    """A few words beside the title, such as a correlation."""


@themed
def fig_scatter_fit(
    panels: Sequence[Scatter],
    *,
    x_name: str = "prediction",
    y_name: str = "score",
    share_x: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Draw scores against predictions, one panel for each metric or group of stimuli.

    Parameters
    ----------
    panels
        What is drawn; three stand side by side.
    x_name, y_name
        What the axes show. All panels have the same vertical axis.
    share_x
        Give all panels the same horizontal axis, as for groups of one metric.
    ax
        Axes of a grid, in whose place the panels stand; a new figure where not given.

    Examples
    --------
    >>> figure = fig_scatter_fit([Scatter("L1", [0.1, 0.4, 0.9], [10, 45, 80], note="SROCC 1.00")])
    >>> figure.axes[0].get_title(loc="left")
    'L1'
    """
    across = min(_ACROSS, max(len(panels), 1))
    down = -(-len(panels) // across)
    width = WIDTH if across > 1 else 4.2
    side = width / across
    looks = _looks(panels)
    rows = -(-len(looks) // 4)
    size = 0.45 + down * (0.9 * side + 0.25) + 0.2 * rows, width
    if ax is None:
        figure = canvas(*size)
        # Titles and notes of neighbours would else read as one.
        figure.get_layout_engine().set(wspace=0.05 if across > 1 else 0)  # type: ignore[union-attr, call-arg]
        grid = figure.subplots(down, across, sharey=True, sharex=share_x, squeeze=False)
    else:
        fit(ax, *size)
        figure = cast("Figure", ax.get_figure(root=True))
        grid = np.array(split(ax, down, across, sharey=True, sharex=share_x))
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw(axes, panel, looks)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_name)
    for place, axes in enumerate(grid.ravel()[: len(panels)]):
        if place + across >= len(panels):
            axes.set_xlabel(x_name)
            axes.tick_params(labelbottom=True)
    key_below(
        figure, [(name, swatch(c, mark, size=5)) for name, (c, mark) in looks.items()], columns=4
    )
    return figure


def draw_scatter(
    ax: Axes, table: Table, *, y: str, panels: Sequence[Mapping[str, Any]], **settings: Any
) -> None:
    """Draw columns of a table against each other, one panel for each metric or group of rows.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds a row for each dot.
    y
        Column of the scores.
    panels
        Of each panel the column ``x`` of the predictions and its ``title``, and perhaps ``rows``
        (what columns hold in the rows that are drawn), ``curve`` and ``note`` (see
        :class:`Scatter`).
    settings
        As for :func:`fig_scatter_fit`.
    """
    drawn = []
    for panel in panels:
        frame = table.frame.filter(**panel.get("rows", {}))
        known = {key: panel[key] for key in ("title", "curve", "note") if key in panel}
        drawn.append(Scatter(x=frame[panel["x"]], y=frame[y], **known))
    fig_scatter_fit(drawn, ax=ax, **settings)


def _looks(panels: Sequence[Scatter]) -> dict[str, tuple[str, str]]:
    """Give each group of the dots a colour, and a marker of its own where colours run out."""
    names = sorted(
        {
            str(group)
            for panel in panels
            if panel.groups is not None and _known(panel)[0].size <= _DOTS
            for group in panel.groups
        },
        key=lambda name: (len(name), name) if name[-1:].isdecimal() else (0, name),
    )
    used: dict[str, int] = {}
    looks = {}
    for name, tint in group_colours(names).items():
        looks[name] = (tint, _MARKERS[used.get(tint, 0) % len(_MARKERS)])
        used[tint] = used.get(tint, 0) + 1
    return looks


def _known(panel: Scatter) -> tuple[Floats, Floats, Bools]:
    x, y = (np.asarray(side, dtype=np.float64) for side in (panel.x, panel.y))
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known], known


def _draw(axes: Axes, panel: Scatter, looks: dict[str, tuple[str, str]]) -> None:
    x, y, known = _known(panel)
    axes.grid(visible=True, axis="both")
    axes.tick_params(length=0)
    if x.size == 0:
        axes.text(0.5, 0.5, "no pairs", transform=axes.transAxes, ha="center", color=colour("soft"))
    elif x.size > _DOTS and np.ptp(x) > 0 and np.ptp(y) > 0:
        _density(axes, x, y)
    else:
        size, strength = (14, 0.6) if x.size <= 300 else (10, 0.5) if x.size <= 1000 else (7, 0.35)
        groups = np.zeros(0) if panel.groups is None else np.asarray(panel.groups, dtype=str)[known]
        parts = [(groups == name, look) for name, look in looks.items() if groups.size]
        for rows, (tint, mark) in parts or [(slice(None), (colour("people"), "o"))]:
            axes.scatter(
                x[rows], y[rows], s=size, c=tint, marker=mark, alpha=strength, linewidths=0
            )
    if panel.curve is not None:
        at, height = (np.asarray(side, dtype=np.float64) for side in panel.curve)
        axes.plot(at, height, color=colour("paper"), linewidth=3.2, solid_capstyle="round")
        axes.plot(at, height, color=colour("model"), linewidth=1.7, solid_capstyle="round")
    axes.set_title(shown(panel.title, 26 if panel.note else 40), loc="left", fontweight="bold")
    if panel.note:
        axes.set_title(panel.note, loc="right", color=colour("soft"))


def _density(axes: Axes, x: Floats, y: Floats) -> None:
    """Draw how many pairs lie in each cell, each step of colour twice the one before."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    cells = axes.hexbin(x, y, gridsize=_CELLS, mincnt=1, linewidths=0.1)
    most = float(cells.get_array().max())  # type: ignore[union-attr]
    ends = np.unique(np.round(np.geomspace(1, most + 1, len(RAMP) + 1)))
    cells.set_cmap(ListedColormap(RAMP))
    cells.set_norm(BoundaryNorm(ends, len(RAMP)) if ends.size > 1 else None)
    cells.set_edgecolor("face")
    axes.annotate(
        f"{count(x.size)} pairs; darkest {count(most)}",
        (1, 0),
        xycoords="axes fraction",
        xytext=(-3, 3),
        textcoords="offset points",
        ha="right",
        fontsize=7,
        color=colour("soft"),
    )
