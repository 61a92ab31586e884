"""What starting from another model gains, by the number of texts that were trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, grid_along, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_transfer"]

_ROLES = {"baseline": "neutral", "freeze": "model", "nofreeze": "people"}
_OTHERS = ("mixed", "positive", "negative")
_MARKS = ("o", "s", "D", "^", "v")
_APART = 0.09


@themed
def fig_transfer(
    sizes: Sequence[str],
    setups: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    value_name: str = "macro F1",
    size_name: str = "training texts",
) -> Figure:
    """Draw a line for each setup over the sizes of the training part, with intervals.

    Parameters
    ----------
    sizes
        Names of the sizes, in order.
    setups
        For each setup its values and the ends of their intervals, each of shape (sizes,), as
        :meth:`affectlab.models.text.Transfer.estimates` gives them; ``nan`` where not defined.
    value_name, size_name
        What the axes show.

    Raises
    ------
    InputError
        When there is no setup, or one has not one value for each size.

    Examples
    --------
    >>> figure = fig_transfer(["100", "80 %"], {"baseline": ([0.2, 0.6], [0.1, 0.5], [0.3, 0.7])})
    >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    ['100', '80 %']
    """
    if not setups or not sizes:
        raise InputError("there is no setup or no size to draw; expected at least one of each")
    figure = canvas(3.2, min(WIDTH, 2.2 + 1.0 * len(sizes)))
    axes = figure.add_subplot()
    entries = []
    for place, (name, given) in enumerate(setups.items()):
        value, low, high = (np.asarray(part, dtype=np.float64) for part in given)
        if not value.shape == low.shape == high.shape == (len(sizes),):
            raise InputError(
                f"{name}: shapes {value.shape}, {low.shape} and {high.shape}; expected one value "
                f"for each of {len(sizes)} sizes"
            )
        tint = colour(_ROLES.get(name, _OTHERS[place % len(_OTHERS)]))
        mark = _MARKS[place % len(_MARKS)]
        # Beside each other, so that intervals of the same size can be told apart.
        at = np.arange(len(sizes)) + _APART * (place - (len(setups) - 1) / 2)
        axes.plot(at, value, color=tint, linewidth=1.2, alpha=0.7)
        axes.vlines(at, low, high, colors=tint, linewidth=1.6, alpha=0.55)
        axes.scatter(
            at, value, s=26, color=tint, marker=mark, zorder=3, edgecolors=colour("paper"),
            linewidths=0.6,
        )  # fmt: skip
        entries.append((name, swatch(tint, mark)))
    axes.set_xticks(range(len(sizes)), [shown(size, 12) for size in sizes])
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(0.0, bottom), min(1.0, top) if top > 1 else top)
    grid_along(axes, "y")
    axes.set_xlabel(size_name)
    axes.set_ylabel(value_name)
    key_below(figure, entries)
    return figure
