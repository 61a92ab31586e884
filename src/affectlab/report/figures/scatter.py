"""Scores beside what metrics predict: dots or density, with the fitted curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import RAMP, colour, group_colours
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats, pl
from affectlab.core.words import count, shown

_DOTS = 3000
"""Up to so many pairs dots are drawn, above that density."""
_ACROSS = 3
_MOST = 12
"""Panels that are drawn."""
_CELLS = 34
_MARKERS = ("o", "^", "s", "D", "v")


@dataclass(frozen=True)
class _Dots:
    """The pairs of a panel that are known, and the group of each."""

    x: Floats
    y: Floats
    groups: np.ndarray

    @classmethod
    def of(cls, frame: pl.DataFrame, x: str, y: str, groups: str | None) -> _Dots:
        at, height = drawing.columns_of(frame, x, y)
        known = np.isfinite(at) & np.isfinite(height)
        own = np.zeros(0) if groups is None else frame[groups].cast(str).to_numpy()[known]
        return cls(at[known], height[known], own if known.sum() <= _DOTS else np.zeros(0))


def draw_scatter(
    ax: Axes,
    table: Table,
    *,
    y: str,
    panels: Sequence[Mapping[str, Any]],
    x_name: str = "prediction",
    y_name: str = "score",
    share_x: bool = False,
    groups: str | None = None,
) -> None:
    """Draw columns of a table against each other, one panel for each metric or group of rows.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand, three side by side.
    table
        Holds a row for each dot; pairs without a number are not drawn.
    y
        Column of the scores.
    panels
        Of each panel the column ``x`` of the predictions and its ``title``, and perhaps ``rows``
        (what columns hold in the rows that are drawn), ``curve`` (places and heights of a fitted
        curve) and ``note`` (a few words beside the title, such as a correlation).
    x_name, y_name
        What the axes show. All panels have the same vertical axis.
    share_x
        Give all panels the same horizontal axis, as for groups of one metric.
    groups
        Column of the group of each dot, for its colour; not where density is drawn.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"L1": [0.1, 0.4, 0.9], "score": [10, 45, 80]}
    >>> panel = {"x": "L1", "title": "L1", "note": "SROCC 1.00"}
    >>> page = draw_figure("scatter", data, y="score", panels=[panel])
    >>> page.axes[0].get_title(loc="left")
    'L1'
    """
    fits, said = drawing.first_of(len(panels), "panels", most=_MOST)
    panels = panels[:fits]
    found = [
        _Dots.of(table.frame.filter(**panel.get("rows", {})), panel["x"], y, groups)
        for panel in panels
    ]
    looks = _looks({str(name) for one in found for name in one.groups})
    n, across = len(panels), min(_ACROSS, max(len(panels), 1))
    width = drawing.WIDTH if across > 1 else 4.2
    height = 0.45 + -(-n // across) * (0.9 * width / across + 0.25) + (0.2 if looks else 0)
    # Titles and notes of neighbours would else read as one.
    drawing.fit(ax, height, width, wspace=0.05 if across > 1 else 0)
    grid = drawing.panels_of(ax, n, across, sharey=True, sharex=share_x)
    for place, (axes, panel, own) in enumerate(zip(grid, panels, found, strict=True)):
        _draw(axes, panel, own, looks)
        if place % across == 0:
            axes.set_ylabel(y_name)
        if place + across >= n:
            axes.set_xlabel(x_name)
    key = [(name, swatch(tint, mark, size=5)) for name, (tint, mark) in looks.items()]
    drawing.key_below(ax, key, columns=4, note=said)


def _looks(groups: set[str]) -> dict[str, tuple[str, str]]:
    """Give each group of the dots a colour, and a marker of its own where colours run out."""
    names = sorted(
        groups, key=lambda name: (len(name), name) if name[-1:].isdecimal() else (0, name)
    )
    used: dict[str, int] = {}
    looks = {}
    for name, tint in group_colours(names).items():
        looks[name] = (tint, _MARKERS[used.get(tint, 0) % len(_MARKERS)])
        used[tint] = used.get(tint, 0) + 1
    return looks


def _draw(
    axes: Axes, panel: Mapping[str, Any], own: _Dots, looks: Mapping[str, tuple[str, str]]
) -> None:
    x, y = own.x, own.y
    axes.grid(visible=True, axis="both")
    axes.tick_params(length=0)
    if x.size == 0:
        drawing.say_inside(axes, "no pairs")
    elif x.size > _DOTS and np.ptp(x) > 0 and np.ptp(y) > 0:
        _density(axes, x, y)
    else:
        size, strength = (14, 0.6) if x.size <= 300 else (10, 0.5) if x.size <= 1000 else (7, 0.35)
        parts = [(own.groups == name, look) for name, look in looks.items() if own.groups.size]
        for rows, (tint, mark) in parts or [(slice(None), (colour("people"), "o"))]:
            style: dict[str, Any] = {"marker": mark, "alpha": strength, "linewidths": 0}
            axes.scatter(x[rows], y[rows], s=size, c=tint, **style)
    if panel.get("curve") is not None:
        for role, width in (("paper", 3.2), ("model", 1.7)):
            line: dict[str, Any] = {"color": colour(role), "linewidth": width}
            axes.plot(*panel["curve"], solid_capstyle="round", **line)
    note = panel.get("note", "")
    axes.set_title(shown(panel["title"]), loc="left", fontweight="bold")
    axes.set_title(note, loc="right", color=colour("soft"))


def _density(axes: Axes, x: Floats, y: Floats) -> None:
    """Draw how many pairs lie in each cell, each step of colour twice the one before."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    cells = axes.hexbin(x, y, gridsize=_CELLS, mincnt=1, linewidths=0.1)
    most = float(cells.get_array().max())  # type: ignore[union-attr]
    ends = np.unique(np.round(np.geomspace(1, most + 1, len(RAMP) + 1)))
    cells.set_cmap(ListedColormap(RAMP))
    cells.set_norm(BoundaryNorm(ends, len(RAMP)) if ends.size > 1 else None)
    cells.set_edgecolor("face")
    drawing.write(
        axes,
        f"{count(x.size)} pairs; darkest {count(most)}",
        (1, 0),
        (-3, 3),
        xycoords="axes fraction",
        ha="right",
        fontsize=7,
    )
