"""A map of stimuli as a still picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Figure
from affectlab._words import shown
from affectlab.report._figures._base import WIDTH, canvas
from affectlab.report._theme import colour, themed

__all__ = ["fig_label_map"]

_MANY = 3000
"""Dots above which they are drawn as pixels: as so many shapes a picture is slow to open."""
_LINE = 0.029
_LETTER = 0.0125
"""Height of a name and width of a letter, as shares of the map."""


@themed
def fig_label_map(
    places: ArrayLike,
    colours: Sequence[str],
    *,
    chosen: ArrayLike | None = None,
    labels: Sequence[str] = (),
) -> Figure:
    """Draw stimuli as dots, and the name of each label where most of its stimuli are.

    Parameters
    ----------
    places
        Shape (n, 2).
    colours
        Colour of each dot, shape (n,).
    chosen
        Which labels each stimulus has, shape (n, L). None: no names.
    labels
        Shape (L,).

    Examples
    --------
    >>> figure = fig_label_map([[0, 0], [1, 1]], ["#aa0000", "#00aa00"],
    ...                        chosen=[[True, False], [False, True]], labels=["joy", "fear"])
    >>> sorted(text.get_text() for text in figure.axes[0].texts)
    ['fear', 'joy']
    """
    at = np.asarray(places, dtype=np.float64)
    figure = canvas(WIDTH * 0.86, WIDTH)
    axes = figure.add_subplot()
    size = float(np.clip(22000 / max(len(at), 1), 1.5, 30))
    axes.scatter(
        at[:, 0],
        at[:, 1],
        c=list(colours),
        s=size,
        linewidths=0,
        alpha=0.85,
        rasterized=len(at) > _MANY,
    )
    if chosen is not None:
        _names(axes, at, np.asarray(chosen, dtype=bool), labels)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.04)
    axes.axis("off")
    return figure


def _names(
    axes: Axes, at: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any], labels: Sequence[str]
) -> None:
    """Write each name at the densest spot of its stimuli, frequent labels first."""
    from matplotlib.patheffects import withStroke

    span = max(float(np.ptp(at, axis=0).max()), 1e-9)
    used: list[tuple[float, float, int]] = []
    for k in np.argsort(-chosen.sum(axis=0), kind="stable"):
        own = at[chosen[:, k]]
        if not len(own):
            continue
        # Stimuli with only this label say best where it is.
        alone = at[chosen[:, k] & (chosen.sum(axis=1) == 1)]
        x, y = _densest(alone if len(alone) else own, span)
        name = shown(labels[k], 24)
        tried = ((x, y + _LINE * span * step, len(name)) for step in (0, -1, 1, -2, 2, -3, 3, -4))
        free = (place for place in tried if not _taken(place, used, span))
        place = next(free, (x, y, len(name)))
        used.append(place)
        axes.text(
            place[0],
            place[1],
            name,
            ha="center",
            va="center",
            fontsize=8,
            color=colour("ink"),
            path_effects=[withStroke(linewidth=2.4, foreground=colour("paper"), alpha=0.85)],
        )


def _taken(
    place: tuple[float, float, int], used: Sequence[tuple[float, float, int]], span: float
) -> bool:
    """Say whether a name here would lie on another; a place is x, y and letters."""
    return any(
        abs(x - place[0]) < _LETTER * span * (letters + place[2]) / 2
        and abs(y - place[1]) < 0.97 * _LINE * span
        for x, y, letters in used
    )


def _densest(at: np.ndarray[Any, Any], span: float) -> tuple[float, float]:
    """Middle of the fullest cell of a coarse grid."""
    cell = np.floor((at - at.min(axis=0)) / (0.12 * span)).astype(int)
    _, which, counts = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
    x, y = at[which.ravel() == counts.argmax()].mean(axis=0)
    return float(x), float(y)
