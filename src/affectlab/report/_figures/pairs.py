"""Agreement of pairs of raters: the heatmap, and the spread by kind of pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Colormap, Figure, Normalize
from affectlab._words import number, shown
from affectlab.report._figures._base import WIDTH, canvas, grid_along
from affectlab.report._theme import colour, colour_of_kind, ink_on, themed

__all__ = ["fig_by_kind", "fig_pair_heatmap"]

_ANNOTATED = 16
_KIND_ROLE = {"human-human": "people", "human-model": "mixed", "model-model": "model"}


@themed
def fig_pair_heatmap(
    matrix: ArrayLike, names: Sequence[str], rater_kinds: Sequence[str], *, value_name: str
) -> Figure:
    """Draw the agreement of every pair of raters, people first.

    Parameters
    ----------
    matrix
        Shape (raters, raters), symmetric; ``nan`` where there is no value.
    names, rater_kinds
        Names and kinds of the raters, people before models.
    value_name
        What the colours show.

    Examples
    --------
    >>> figure = fig_pair_heatmap([[float("nan"), 0.5], [0.5, float("nan")]], ["a", "b"],
    ...                           ["human", "model"], value_name="kappa")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.50', '0.50']
    """
    from matplotlib.colors import to_hex

    value = np.asarray(matrix, dtype=np.float64)
    n = len(names)
    side = min(WIDTH - 0.4, 1.9 + 0.3 * n)
    figure = canvas(max(side * 0.93, 2.2), min(WIDTH, side + 1.3))
    axes = figure.add_subplot()
    colours, norm = _diverging(value)
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(value),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8 if n <= 40 else 0.3,
    )
    if n <= _ANNOTATED:
        for row, column in np.argwhere(np.isfinite(value)):
            ground = to_hex(colours(norm(value[row, column])))
            axes.text(
                column + 0.5,
                row + 0.5,
                number(value[row, column]),
                ha="center",
                va="center",
                fontsize=8 if n <= 12 else 6.5,
                color=ink_on(ground),
            )
    _rater_ticks(axes, names, rater_kinds)
    n_people = sum(colour_of_kind(kind) == colour("people") for kind in rater_kinds)
    if 0 < n_people < n:
        axes.axhline(n_people, color=colour("ink"), linewidth=1)
        axes.axvline(n_people, color=colour("ink"), linewidth=1)
    bar = figure.colorbar(mesh, ax=axes, aspect=24, shrink=0.7, pad=0.02, anchor=(0.0, 1.0))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure


def _diverging(value: np.ndarray) -> tuple[Colormap, Normalize]:
    """Colours from pale at 0 to deep blue upwards, and to rust downwards where that occurs."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    known = value[np.isfinite(value)]
    high = float(np.ceil(max(known.max(initial=0.0), 0.1) * 10 - 1e-9) / 10)
    low = float(np.floor(min(known.min(initial=0.0), 0.0) * 10 + 1e-9) / 10)
    rust, pale, blue = ("#7f2f04", "#d98747"), "#dde7ef", ("#7db0d3", "#2b6f9e", "#0b2f4f")
    zero = -low / (high - low)
    points: list[tuple[float, Any]] = [(zero, pale)]
    points += [
        (zero + (1 - zero) * at, tone) for at, tone in zip((1 / 3, 2 / 3, 1), blue, strict=True)
    ]
    if zero > 0:
        # Below 0 the colours deepen at the pace of those above, so equal distances look alike.
        depth = min(1.0, -low / high)
        scale = LinearSegmentedColormap.from_list("rust", [pale, rust[1], rust[0]])
        below = [(zero * k / 4, scale(depth * (1 - k / 4))) for k in range(4)]
        points = [*below, *points]
    return LinearSegmentedColormap.from_list("agreement", points), Normalize(low, high)


def _rater_ticks(axes: Axes, names: Sequence[str], rater_kinds: Sequence[str]) -> None:
    n = len(names)
    size = 8.5 if n <= 20 else 6.5
    short = [shown(name, 20) for name in names]
    at = np.arange(n) + 0.5
    axes.set_xticks(at, short, rotation=90 if max(map(len, short)) > 4 else 0, fontsize=size)
    axes.set_yticks(at, short, fontsize=size)
    axes.set_ylim(n, 0)
    axes.set_aspect("equal")
    axes.tick_params(length=0, pad=3)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for text, kind in zip(labels, rater_kinds, strict=True):
            if colour_of_kind(kind) == colour("model"):
                text.set_color(colour("model"))


@themed
def fig_by_kind(
    values: Mapping[str, ArrayLike], *, value_name: str, shown_dots: int = 400
) -> Figure:
    """Draw the spread of agreement for each kind of pair: a box, the dots behind it, the median.

    Parameters
    ----------
    values
        Kind of pair (``human-human``, ``human-model``, ``model-model``) to its values.
    value_name
        What the axis shows.
    shown_dots
        Dots drawn per kind; of more, evenly spaced ones in rising order.

    Examples
    --------
    >>> figure = fig_by_kind({"human-human": [0.4, 0.5, 0.6]}, value_name="kappa")
    >>> figure.axes[0].get_xlabel()
    'kappa'
    """
    figure = canvas(0.75 + 0.62 * len(values))
    axes = figure.add_subplot()
    for row, (kind, given) in enumerate(values.items()):
        known = np.sort(np.asarray(given, dtype=np.float64))
        tint = colour(_KIND_ROLE.get(kind, "neutral"))
        dots = known[np.unique(np.linspace(0, known.size - 1, shown_dots).astype(int))]
        # Fixed steps of the golden ratio spread the dots evenly without a random draw.
        spread = (np.arange(dots.size) * 0.618034) % 1 - 0.5
        axes.scatter(dots, row + 0.52 * spread, s=9, color=tint, alpha=0.35, linewidths=0)
        axes.boxplot(
            known,
            positions=[row],
            orientation="horizontal",
            widths=0.5,
            showfliers=False,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": "none", "edgecolor": tint, "linewidth": 1.2},
            medianprops={"color": colour("ink"), "linewidth": 1.8},
            whiskerprops={"color": tint, "linewidth": 1.2},
            capprops={"color": tint, "linewidth": 1.2},
        )
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    return figure
