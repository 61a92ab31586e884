"""How often each label is used, coloured by agreement or by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab._types import Axes, Figure
from affectlab.report._figures._base import canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._theme import RAMP, colour, themed

__all__ = ["fig_frequencies", "group_colours"]

_CYCLE = ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral")


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Give each group its colour: the sentiments theirs, other groups one after the other."""
    known = ("positive", "negative", "ambiguous", "neutral")
    names = list(dict.fromkeys(groups))
    if set(names) <= set(known):
        return {name: colour(name) for name in known if name in names}
    return {name: colour(_CYCLE[k % len(_CYCLE)]) for k, name in enumerate(names)}


@themed
def fig_frequencies(
    names: Sequence[str],
    counts: Sequence[float],
    *,
    shade: Sequence[float] | None = None,
    shade_name: str = "interrater correlation",
    groups: Sequence[str] | None = None,
    count_name: str = "stimuli",
) -> Figure:
    """Draw a bar per label, longest first.

    Parameters
    ----------
    names, counts
        Labels and how often each is used, shape (n,).
    shade
        Number per label that colours the bars, such as the interrater correlation; ``nan`` gives a
        grey bar. None: the colour is that of the group.
    groups
        Group of each label. With `shade`, groups are dots beside the names.
    count_name
        What is counted.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 1.

    Examples
    --------
    >>> figure = fig_frequencies(["joy", "fear"], [10, 4], shade=[0.5, 0.3])
    >>> [float(bar.get_width()) for bar in figure.axes[0].patches]
    [10.0, 4.0]
    """
    amount = np.asarray(counts, dtype=np.float64)
    order = np.argsort(-amount, kind="stable")
    figure = canvas(0.75 + 0.2 * len(names) + (0.25 if groups else 0))
    axes = figure.add_subplot()
    colours = None if groups is None else group_colours(groups)
    if shade is not None:
        value = np.asarray(shade, dtype=np.float64)
        edges, steps = _steps(value)
        fill = [_step_colour(value[k], edges, steps) for k in order]
        if np.isfinite(value).any():
            _shade_key(figure, axes, edges, steps, shade_name)
    else:
        fill = [
            colour("people") if colours is None or groups is None else colours[groups[k]]
            for k in order
        ]
    axes.barh(range(len(names)), amount[order], color=fill, height=0.72)
    names_on_y(axes, [names[k] for k in order])
    grid_along(axes, "x")
    axes.set_xlabel(count_name)
    axes.set_xlim(0, max(float(amount.max(initial=0)), 1.0) * 1.04)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if groups is not None and colours is not None:
        if shade is not None:
            _dots(axes, [colours[groups[k]] for k in order])
        key_below(figure, [(name, swatch(c, "o")) for name, c in colours.items()])
    return figure


def _dots(axes: Axes, colours: list[str]) -> None:
    axes.scatter(
        np.full(len(colours), -0.012),
        range(len(colours)),
        c=colours,
        s=14,
        clip_on=False,
        transform=axes.get_yaxis_transform(),
        linewidths=0,
    )
    axes.tick_params(axis="y", pad=9)


def _steps(value: np.ndarray[Any, Any]) -> tuple[list[float], list[str]]:
    """Ends of at most eight round steps that hold all values, and their colours."""
    known = value[np.isfinite(value)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    for step in (0.02, 0.05, 0.1, 0.2, 0.25):
        start = float(np.floor(low / step + 1e-9)) * step
        n = max(2, int(np.ceil((high - start) / step - 1e-9)))
        if n <= len(RAMP) - 1:
            break
    edges = [round(start + step * k, 4) for k in range(n + 1)]
    chosen = np.rint(np.linspace(1, len(RAMP) - 1, n)).astype(int)
    return edges, [RAMP[k] for k in chosen]


def _step_colour(value: float, edges: Sequence[float], steps: Sequence[str]) -> str:
    if not np.isfinite(value):
        return colour("line")
    return steps[int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(steps) - 1))]


def _shade_key(
    figure: Figure, axes: Axes, edges: Sequence[float], steps: Sequence[str], name: str
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    mapping: Mapping[str, Any] = {
        "cmap": ListedColormap(steps),
        "norm": BoundaryNorm(edges, len(steps)),
    }
    height = figure.get_figheight()
    bar = figure.colorbar(
        ScalarMappable(**mapping),
        ax=axes,
        location="right",
        aspect=16 * min(1.0, height / 3),
        shrink=min(1.0, 2.2 / height),
        pad=0.03,
        anchor=(0.0, 1.0),
        ticks=edges,
    )
    bar.set_label(name)
    bar.outline.set_visible(False)
    bar.ax.minorticks_off()
    bar.ax.tick_params(length=0)
    bar.ax.yaxis.set_major_formatter("{x:.2f}")
