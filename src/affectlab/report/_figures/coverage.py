"""How many pictures there are of each label and kind of person: a heatmap of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Colormap, Figure
from affectlab._words import count, shown
from affectlab.report._figures._base import WIDTH, canvas, key_below, swatch
from affectlab.report._theme import RAMP, colour, ink_on, themed

__all__ = ["fig_coverage"]

_LABEL_LIMIT, _VALUE_LIMIT = 26, 26
_KEY_IN_A_ROW = 5.6
"""Width in inches from which on the key fits into one row."""


@themed
def fig_coverage(
    counts: Mapping[str, ArrayLike],
    labels: Sequence[str],
    values: Mapping[str, Sequence[str]],
    *,
    short: Mapping[str, ArrayLike] | None = None,
    counted: str = "pictures",
    short_name: str = "under-covered",
) -> Figure:
    """Draw how often each label occurs with the values of some attributes, one panel for each.

    Parameters
    ----------
    counts
        Attribute to counts of shape (labels, values), labels in rows.
    labels
        Names of the labels, which all panels share.
    values
        Attribute to the names of its values.
    short
        Attribute to a mask of shape (labels, values): cells that have too few are framed.
    counted
        What is counted.
    short_name
        What a frame means.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, figure 2.

    Examples
    --------
    >>> figure = fig_coverage({"age": [[3, 0]]}, ["Awe"], {"age": ["20", "30"]},
    ...                       short={"age": [[False, True]]})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['3', '0']
    """
    found = {name: np.asarray(given, dtype=np.int64) for name, given in counts.items()}
    n, wide = len(labels), sum(table.shape[1] for table in found.values())
    size = 8.0 if n <= 16 else 6.5
    longest = max((len(shown(one, _LABEL_LIMIT)) for one in labels), default=0)
    names = 0.25 + longest * size * 0.0078
    cell = min(0.34, (WIDTH - names - 0.15 * len(found)) / wide)
    turned = max((len(shown(one, _VALUE_LIMIT)) for one in _all(values)), default=0)
    head = 0.35 + turned * 7 * 0.0085
    row = max(0.17, min(0.3, cell))
    width = max(3.2, names + wide * cell + 0.2 * len(found) + 0.2)
    below = width < _KEY_IN_A_ROW
    figure = canvas(n * row + head + (1.05 if below else 0.75), width)
    panels = figure.subplots(
        1,
        len(found),
        sharey=True,
        squeeze=False,
        width_ratios=[table.shape[1] for table in found.values()],
    )[0]
    ramp = _ramp()
    for axes, (name, table) in zip(panels, found.items(), strict=True):
        missing = np.zeros(table.shape, dtype=bool)
        if short is not None and name in short:
            missing = np.asarray(short[name], dtype=bool)
        _panel(axes, table, missing, ramp, cell)
        axes.set_title(name, pad=6)
        at = np.arange(table.shape[1]) + 0.5
        texts = [shown(one, _VALUE_LIMIT) for one in values[name]]
        axes.set_xticks(at, texts, rotation=0 if max(map(len, texts)) <= 2 else 90, fontsize=7)
    panels[0].set_yticks(
        np.arange(n) + 0.5, [shown(one, _LABEL_LIMIT) for one in labels], fontsize=size
    )
    panels[0].set_ylim(n, 0)
    low, high = ramp(0.0), ramp(1.0)
    key = [
        (f"no {counted}", swatch(_hex(low), edge=colour("line"))),
        ("most of the attribute", swatch(_hex(high))),
    ]
    if short is not None:
        key.append((short_name, swatch("none", edge=colour("negative"))))
    key_below(figure, key, columns=1 if below else 0)
    return figure


def _panel(axes: Axes, table: np.ndarray, missing: np.ndarray, ramp: Colormap, cell: float) -> None:
    from matplotlib.patches import Rectangle

    # Each panel has its own shades: three genders share what fourteen ethnicities share.
    top = max(int(table.max(initial=0)), 1)
    axes.pcolormesh(table, cmap=ramp, vmin=0, vmax=top, edgecolors=colour("paper"), linewidth=0.6)
    digits = len(count(int(table.max(initial=0))))
    # A number of that many digits fits into a cell in print that can be read.
    fits = min(7.5, cell * 72 / (0.75 * digits))
    for place in np.ndindex(table.shape):
        at = (place[1] + 0.5, place[0] + 0.5)
        if fits >= 5:
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": fits}
            ground = _hex(ramp(table[place] / top))
            axes.text(*at, count(int(table[place])), color=ink_on(ground), **style)
        if missing[place]:
            frame = Rectangle(
                (place[1] + 0.07, place[0] + 0.07),
                0.86,
                0.86,
                fill=False,
                edgecolor=colour("negative"),
                linewidth=1.1,
            )
            axes.add_patch(frame)
    axes.set_xlim(0, max(table.shape[1], 1))
    axes.tick_params(length=0, pad=4)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _all(values: Mapping[str, Sequence[str]]) -> list[str]:
    return [one for names in values.values() for one in names]


def _ramp() -> Colormap:
    """Colours from nothing to much."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("counts", [colour("raised"), *RAMP])


def _hex(rgba: Any) -> str:
    from matplotlib.colors import to_hex

    return str(to_hex(rgba))
