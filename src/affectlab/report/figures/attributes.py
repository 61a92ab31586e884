"""What is known of raters and stimuli, and how well kinds of stimuli are covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.types import Axes, Colormap, Figure
from affectlab.core.words import count, shown
from affectlab.report.drawing import (
    RAMP,
    WIDTH,
    canvas,
    colour,
    grid_along,
    ink_on,
    key_below,
    swatch,
    themed,
)

__all__ = [
    "Panel",
    "fig_attributes",
    "fig_coverage",
]


_TICK_LETTERS = 34
"""Letters of the names of ticks that fit below one chart."""


@dataclass(frozen=True)
class Panel:
    """The distribution of one attribute."""

    name: str
    counts: tuple[int, ...]
    values: tuple[str, ...] = ()
    """Names of the values, for bars."""
    edges: tuple[float, ...] = ()
    """Ends of the bins, for a histogram: one more than there are counts."""
    remark: str = ""
    """What to say behind the name, such as how many values are left out."""


@themed
def fig_attributes(panels: Sequence[Panel], *, count_name: str, role: str = "people") -> Figure:
    """Draw one small chart per attribute, two in a row.

    Parameters
    ----------
    panels
        Attributes; those with edges become histograms, the others bars.
    count_name
        What is counted.
    role
        Colour of the theme.

    Examples
    --------
    >>> panel = Panel("gender", (3, 4), values=("male", "female"))
    >>> bars = fig_attributes([panel], count_name="raters").axes[0].patches
    >>> [float(bar.get_width()) for bar in bars]
    [3.0, 4.0]
    """
    stacks = _stacks(panels)
    tallest = max(sum(map(_height, stack)) for stack in stacks)
    figure = canvas(tallest)
    halves = figure.subfigures(1, len(stacks), squeeze=False)[0]
    for half, stack in zip(halves, stacks, strict=True):
        rest = tallest - sum(map(_height, stack))
        ratios = [_height(panel) for panel in stack] + ([rest] if rest > 0.01 else [])
        grid = half.add_gridspec(len(ratios), 1, height_ratios=ratios)
        half.patch.set_visible(False)
        for row, panel in enumerate(stack):
            axes = half.add_subplot(grid[row, 0])
            title = shown(panel.name, 36) + (f" ({panel.remark})" if panel.remark else "")
            axes.set_title(title, fontweight="bold", color=colour("ink"))
            if panel.edges:
                _histogram(axes, panel, colour(role))
                axes.set_ylabel(count_name)
            else:
                _bars(axes, panel, colour(role))
                axes.set_xlabel(count_name)
    return figure


def _stacks(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Share the panels out to two columns of about one height, keeping their order."""
    if len(panels) == 1:
        return [list(panels)]
    stacks: list[list[Panel]] = [[], []]
    for panel in panels:
        shorter = min(stacks, key=lambda stack: sum(map(_height, stack)))
        shorter.append(panel)
    return stacks


def _height(panel: Panel) -> float:
    return 1.9 if panel.edges else 0.85 + 0.2 * len(panel.counts)


def _histogram(axes: Axes, panel: Panel, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    edges = np.asarray(panel.edges)
    axes.bar(
        edges[:-1],
        panel.counts,
        np.diff(edges),
        align="edge",
        color=tint,
        edgecolor=colour("paper"),
        linewidth=0.6,
    )
    grid_along(axes, "y")
    axes.set_xlim(edges[0], edges[-1])
    ticks, names = _ticks(float(edges[0]), float(edges[-1]))
    axes.set_xticks(ticks, names)
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.tick_params(axis="x", length=0)


def _ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Give round ticks whose names differ and fit beside each other, fewer of long names."""
    from matplotlib.ticker import MaxNLocator

    # Years are not read as counts: only long numbers are divided.
    divide = "," if max(abs(low), abs(high)) >= 1e4 else ""
    for most in (5, 4, 3, 2, 1):
        inside = [float(t) for t in MaxNLocator(most).tick_values(low, high) if low <= t <= high]
        for digits in range(4, 16):
            names = [f"{tick:{divide}.{digits}g}" for tick in inside]
            # A name with an exponent is not read as a number among others.
            if len(set(names)) == len(names) and not any("e+" in name for name in names):
                break
        if sum(map(len, names)) <= _TICK_LETTERS:
            break
    return inside, [name.replace("-", "\u2212") for name in names]


def _bars(axes: Axes, panel: Panel, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.barh(range(len(panel.counts)), panel.counts, height=0.7, color=tint)
    axes.set_yticks(range(len(panel.values)), [shown(value, 22) for value in panel.values])
    axes.set_ylim(len(panel.counts) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    grid_along(axes, "x")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))


# How many pictures there are of each label and kind of person: a heatmap of counts.


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
