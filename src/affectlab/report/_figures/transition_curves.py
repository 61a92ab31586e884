"""Differences from neutral along transitions, in small panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Figure, Floats, Line2D
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, key_below
from affectlab.report._theme import colour, themed

__all__ = ["CurvePanel", "fig_transition_curves"]

_Dash: TypeAlias = Literal["solid", "dashed"]
_Look: TypeAlias = tuple[str, _Dash]

_ACROSS = 4
_HUES = ("people", "model", "positive", "mixed", "ambiguous", "negative", "neutral", "ink")
"""Roles whose colours tell curves apart; more curves than these are drawn thin."""
_DASHES: tuple[_Dash, ...] = ("solid", "dashed")
_NAMED = ("model", "positive")
_LINE = 27
"""Letters that fit over a panel."""
_GRID = 101
"""Places where a median is taken, when curves have no common ones."""


@dataclass(frozen=True)
class CurvePanel:
    """One panel: curves by name."""

    title: str
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]]
    """Places along the transition, ascending, and differences there, each of shape (m,)."""
    named: Sequence[str] = field(default=())
    """Curves that are drawn in colour and named within the panel, where there are too many to tell
    them all apart."""


@themed
def fig_transition_curves(
    panels: Sequence[CurvePanel],
    *,
    x_name: str = "place in the transition",
    y_name: str = "share of the difference of the peak",
    ticks: Sequence[tuple[float, str]] = (),
    named_as: Sequence[str] = (),
) -> Figure:
    """Draw how the difference from neutral falls, four panels side by side.

    Up to sixteen names over all panels get a look each and a key; of more, curves are thin, and the
    median of each panel's curves is thick.

    Parameters
    ----------
    panels
        What is drawn; all have the same axes.
    x_name, y_name
        What the axes show.
    ticks
        Marks along the horizontal axis, and what to call them.
    named_as
        What the curves in colour are, for the key, where there are too many to tell apart.

    Raises
    ------
    InputError
        When there are no panels, or the arrays of a curve do not fit together.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 9 and 17 to 20.

    Examples
    --------
    >>> curves = {"ann": ([1, 3, 5], [1, 0.7, 0]), "bob": ([1, 3, 5], [1, 0.4, 0])}
    >>> figure = fig_transition_curves([CurvePanel("joy", curves)])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['ann', 'bob']
    """
    if not panels:
        raise InputError("there are no panels; expected at least one")
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    looks = _looks(names)
    lines = any(len(panel.title) > _LINE for panel in panels)
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    width = WIDTH if across > 2 else 2.6 * across + 0.9
    keyed = len(looks) if looks else 2 + len(named_as)
    rows = -(-keyed // _ACROSS)
    figure = canvas(
        0.55 + down * ((1.45 if lines else 1.35) if across > 2 else 2.0) + 0.2 * rows, width
    )
    figure.get_layout_engine().set(wspace=0.04, hspace=0.02)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw(axes, panel, looks)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, axes in enumerate(grid.ravel()[: len(panels)]):
        if place + across >= len(panels):
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(fill(x_name, 30), fontsize=7)
        if place % across == 0:
            axes.set_ylabel(fill(y_name, 24), fontsize=7)
    if ticks:
        grid[0, 0].set_xticks([at for at, _ in ticks], [text for _, text in ticks])
    if not looks and any(panel.named for panel in panels):
        low, high = grid[0, 0].get_ylim()
        grid[0, 0].set_ylim(low, high + 0.22 * (high - low))
    key_below(figure, _key(looks, named_as), columns=min(_ACROSS, keyed))
    return figure


def _looks(names: Sequence[str]) -> dict[str, _Look]:
    """Give each name a colour and a dash; none where there are too many to tell apart."""
    if len(names) > len(_HUES) * len(_DASHES):
        return {}
    return {
        name: (colour(_HUES[k % len(_HUES)]), _DASHES[k // len(_HUES)])
        for k, name in enumerate(names)
    }


def _draw(axes: Axes, panel: CurvePanel, looks: Mapping[str, _Look]) -> None:
    drawn = {name: _arrays(panel.title, name, *curve) for name, curve in panel.curves.items()}
    for name, (x, y) in drawn.items():
        tint, dash = looks.get(name, (colour("people"), "solid"))
        axes.plot(
            x,
            y,
            color=tint,
            linestyle=dash,
            linewidth=1.1 if looks else 0.5,
            alpha=0.9 if looks else 0.28,
            marker="x" if looks else None,
            markersize=3,
            markeredgewidth=0.8,
        )
    if not looks and drawn:
        axes.plot(*_median(list(drawn.values())), color=colour("ink"), linewidth=1.7)
        for k, name in enumerate(name for name in panel.named if name in drawn):
            tint = colour(_NAMED[k % 2])
            axes.plot(*drawn[name], color=tint, linewidth=1.3, marker="x", markersize=3)
            axes.annotate(
                shown(name, _LINE),
                (1, 1),
                xycoords="axes fraction",
                xytext=(-2, -2 - 8 * k),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=6.2,
                color=tint,
            )
    if not drawn:
        axes.text(0.5, 0.5, "no curve", transform=axes.transAxes, ha="center", fontsize=7)
    axes.grid(visible=True)
    axes.tick_params(length=0, labelsize=7)
    title = fill(shown(panel.title, 2 * _LINE), _LINE)
    axes.set_title(title, fontsize=7.2, pad=3, color=colour("ink"), linespacing=1.05)


def _arrays(title: str, name: str, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    at, value = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if at.ndim != 1 or at.shape != value.shape or (np.diff(at) <= 0).any():
        raise InputError(
            f"panel {title!r}, curve {name!r}: shapes {at.shape} and {value.shape}; expected two "
            "arrays of one length, the first ascending"
        )
    return at, value


def _median(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Take the median of curves on straight lines; a curve keeps its last value from its end on."""
    at = np.unique(np.concatenate([x for x, _ in curves]))
    if at.size > max(x.size for x, _ in curves):
        at = np.linspace(at[0], at[-1], _GRID)
    return at, np.median([np.interp(at, x, y) for x, y in curves], axis=0)


def _key(looks: Mapping[str, _Look], named_as: Sequence[str]) -> list[tuple[str, Line2D]]:
    from matplotlib.lines import Line2D as Line

    if not looks:
        return [
            ("one transition", Line([], [], color=colour("people"), linewidth=0.8, alpha=0.5)),
            ("median of the panel", Line([], [], color=colour("ink"), linewidth=1.7)),
            *(
                (text, Line([], [], color=colour(_NAMED[k % 2]), linewidth=1.3, marker="x"))
                for k, text in enumerate(named_as)
            ),
        ]
    return [
        (name, Line([], [], color=tint, linestyle=dash, linewidth=1.2, marker="x", markersize=3.5))
        for name, (tint, dash) in looks.items()
    ]
