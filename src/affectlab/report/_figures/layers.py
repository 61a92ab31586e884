"""How much each layer of an encoder counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import number
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, grid_along, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_layers"]

_LINE = (0, (4, 3))


@themed
def fig_layers(weights: ArrayLike) -> Figure:
    """Draw the weight of each layer in a scalar mix, and the centre of gravity.

    Parameters
    ----------
    weights
        Shape (runs, layers) or (layers,), the weights of a run summing to 1; layer 0 is that of
        word vectors. Bars are means over runs, whiskers their range.

    Raises
    ------
    InputError
        When the weights of a run are not shares.

    Examples
    --------
    >>> figure = fig_layers([[0.2, 0.3, 0.5]])
    >>> figure.axes[0].get_title(loc="left")
    'centre of gravity 1.30'
    """
    given = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    if given.ndim != 2 or not given.size or (given < 0).any():
        raise InputError(f"weights: shape {given.shape}; expected shares, one row for each run")
    if not np.allclose(given.sum(axis=1), 1.0, atol=1e-4):
        raise InputError("weights: those of a run do not sum to 1; expected shares")
    runs, layers = given.shape
    mean, places = given.mean(axis=0), np.arange(layers)
    centre = float(given.mean(axis=0) @ places)
    figure = canvas(2.7, min(WIDTH, 1.6 + 0.42 * layers))
    axes = figure.add_subplot()
    axes.bar(places, mean, width=0.72, color=colour("people"), alpha=0.85)
    if runs > 1:
        axes.vlines(
            places, given.min(axis=0), given.max(axis=0), colors=colour("ink"), linewidth=1.1
        )
    axes.axhline(1 / layers, color=colour("soft"), linewidth=0.9, linestyle=_LINE)
    axes.axvline(centre, color=colour("model"), linewidth=1.4)
    axes.set_xticks(places)
    axes.set_xlim(-0.6, layers - 0.4)
    axes.set_ylim(0, 1.1 * max(float(given.max()), 1 / layers))
    axes.tick_params(axis="x", length=0)
    grid_along(axes, "y")
    axes.set_xlabel("layer (0: word vectors)")
    axes.set_ylabel("weight")
    axes.set_title(f"centre of gravity {number(centre)}", color=colour("ink"))
    key_below(
        figure,
        [
            ("centre of gravity", swatch(colour("model"), "|", size=9)),
            ("all layers the same", swatch(colour("soft"), "_", size=9)),
        ],
    )
    return figure
