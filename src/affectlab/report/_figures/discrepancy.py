"""By how much people rate higher than models, label by label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import number, shown
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, say, swatch
from affectlab.report._theme import colour, ink_on, themed

__all__ = ["fig_discrepancy"]

_SEPARATE = 3
"""Models up to which discrepancies are drawn as dots."""


@themed
def fig_discrepancy(
    labels: Sequence[str],
    models: Sequence[str],
    value: ArrayLike,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    *,
    value_name: str = "people less model",
) -> Figure:
    """Draw by how much people rate each label higher than each model.

    Up to three models are dots with intervals, more are the columns of a heatmap.

    Parameters
    ----------
    labels, models
        Names.
    value, low, high
        Shape (models, labels); ``nan`` where not defined.
    value_name
        What the axis shows.

    Examples
    --------
    >>> figure = fig_discrepancy(["joy", "awe"], ["m"], [[0.2, -0.4]])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['joy', 'awe']
    """
    table = np.asarray(value, dtype=np.float64)
    known = np.where(np.isnan(table), 0.0, table)
    order = np.argsort(-known.mean(axis=0), kind="stable")
    if len(models) > _SEPARATE:
        return _heatmap([labels[k] for k in order], models, table[:, order], value_name)
    figure = canvas(1.0 + (0.16 + 0.07 * len(models)) * len(labels))
    axes = figure.add_subplot()
    axes.axvline(0, color=colour("soft"), linewidth=0.9)
    entries = []
    for f, name in enumerate(models):
        tint = colour(("model", "mixed", "positive")[f])
        marker = ("D", "o", "s")[f]
        rows = np.arange(len(labels)) + (f - (len(models) - 1) / 2) * 0.24
        if low is not None and high is not None:
            lower, upper = (np.asarray(part, dtype=np.float64)[f, order] for part in (low, high))
            axes.hlines(rows, lower, upper, colors=tint, linewidth=1.5, alpha=0.6)
        axes.scatter(table[f, order], rows, s=20, color=tint, marker=marker, linewidths=0, zorder=3)
        entries.append((name, swatch(tint, marker, size=5)))
    names_on_y(axes, [labels[k] for k in order])
    grid_along(axes, "x")
    for row in np.flatnonzero(np.isnan(table[:, order]).all(axis=0)):
        say(axes, int(row), "not defined")
    axes.set_xlabel(value_name)
    key_below(figure, entries)
    return figure


def _heatmap(
    labels: Sequence[str], models: Sequence[str], table: np.ndarray, value_name: str
) -> Figure:
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex

    known = np.abs(table[np.isfinite(table)])
    most = float(known.max(initial=0.0)) or 1.0
    colours = LinearSegmentedColormap.from_list(
        "discrepancy", ["#7f2f04", "#d98747", "#eef1f4", "#2b6f9e", "#0b2f4f"]
    )
    norm = Normalize(-most, most)
    figure = canvas(1.9 + 0.2 * len(labels))
    axes = figure.add_subplot()
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(table.T),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8,
    )
    if len(models) <= 10:
        for column, row in np.argwhere(np.isfinite(table)):
            ground = to_hex(colours(norm(table[column, row])))
            axes.text(
                column + 0.5,
                row + 0.5,
                number(table[column, row]),
                ha="center",
                va="center",
                fontsize=7,
                color=ink_on(ground),
            )
    short = [shown(name, 22) for name in models]
    turned = max(map(len, short)) * len(short) > 70
    axes.set_xticks(
        np.arange(len(models)) + 0.5,
        short,
        rotation=60 if turned else 0,
        ha="right" if turned else "center",
        rotation_mode="anchor" if turned else "default",
        fontsize=8,
    )
    axes.set_yticks(np.arange(len(labels)) + 0.5, [shown(name, 30) for name in labels])
    axes.set_ylim(len(labels), 0)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    bar = figure.colorbar(mesh, ax=axes, aspect=30, shrink=0.6, pad=0.02, anchor=(0.0, 1.0))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure
