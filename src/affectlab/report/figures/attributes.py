"""What is known of raters and stimuli, and how well kinds of stimuli are covered."""

from __future__ import annotations

from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, pl
from affectlab.core.words import count, shown

_TICK_LETTERS = 34
"""Letters of the names of ticks that fit below one chart."""
_LONG = 8
"""Letters of a long number."""
_MOST_BARS = 20
"""Values of an attribute that are drawn."""


def draw_attributes(ax: Axes, table: Table, *, count_name: str, role: str = "people") -> None:
    """Draw one small chart per attribute, in two columns of about one height.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the charts stand.
    table
        Holds ``attribute``, ``value`` and ``count``, and for histograms ``low`` and ``high``: the
        ends of the bins. A column ``remark`` is written behind the name of an attribute, such as
        how many values are left out.
    count_name
        What is counted.
    role
        Colour of the theme.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"attribute": ["gender"] * 2, "value": ["male", "female"], "count": [3, 4]}
    >>> page = draw_figure("attributes", data, count_name="raters")
    >>> [float(bar.get_width()) for bar in page.axes[-1].patches]
    [3.0, 4.0]
    """
    charts = [own for _, own in table.frame.group_by("attribute", maintain_order=True)]
    stacks: list[list[pl.DataFrame]] = [[] for _ in range(min(len(charts), 2))]
    for chart in charts:
        min(stacks, key=lambda stack: sum(map(_height, stack))).append(chart)
    tallest = max(sum(map(_height, stack)) for stack in stacks)
    drawing.fit(ax, tallest)
    columns = drawing.split(ax, 1, len(stacks))[0]
    for column, stack in zip(columns, stacks, strict=True):
        rest = tallest - sum(map(_height, stack))
        ratios = [*map(_height, stack), *([rest] if rest > 0.01 else [])]
        places = [row[0] for row in drawing.split(column, len(ratios), height_ratios=ratios)]
        for empty in (column, *places[len(stack) :]):
            empty.remove()
        for axes, chart in zip(places, stack, strict=False):
            remark = chart["remark"][0] if "remark" in chart.columns else ""
            title = shown(chart["attribute"][0], 36) + (f" ({remark})" if remark else "")
            axes.set_title(title, fontweight="bold", color=colour("ink"))
            if _binned(chart):
                _histogram(axes, chart, colour(role))
                axes.set_ylabel(count_name)
            else:
                n, said = drawing.first_of(chart.height, "values", count_name, _MOST_BARS)
                _bars(axes, chart.head(n), colour(role))
                axes.set_xlabel(said)


def _binned(chart: pl.DataFrame) -> bool:
    return "low" in chart.columns and chart["low"].null_count() == 0


def _height(chart: pl.DataFrame) -> float:
    return 1.9 if _binned(chart) else 0.85 + 0.2 * min(chart.height, _MOST_BARS)


def _histogram(axes: Axes, chart: pl.DataFrame, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = chart["low"].to_numpy(), chart["high"].to_numpy()
    style: dict[str, Any] = {
        "align": "edge",
        "color": tint,
        "edgecolor": colour("paper"),
        "linewidth": 0.6,
    }
    axes.bar(low, chart["count"].to_numpy(), high - low, **style)
    drawing.grid_along(axes, "y")
    axes.set_xlim(low[0], high[-1])
    axes.set_xticks(*_ticks(float(low[0]), float(high[-1])))
    names = axes.get_xticklabels()
    long = [name for name in names if len(name.get_text()) > _LONG and len(names) > 1]
    for name in long:
        # Near the ends they would reach the numbers of the other axis, or beyond the chart.
        half = len(name.get_text()) / 2 / _TICK_LETTERS
        place = (name.get_position()[0] - low[0]) / (high[-1] - low[0])
        if place < half:
            name.set_horizontalalignment("left")
        elif 1 - place < half:
            name.set_horizontalalignment("right")
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


def _bars(axes: Axes, chart: pl.DataFrame, tint: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.barh(range(chart.height), chart["count"].to_numpy(), height=0.7, color=tint)
    drawing.names_on_y(axes, chart["value"].to_list(), limit=22)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))


_LIMIT = 26


def draw_coverage(
    ax: Axes,
    table: Table,
    *,
    counted: str = "n_accepted",
    count_name: str = "pictures",
    short: str | None = None,
    short_name: str = "under-covered",
) -> None:
    """Draw how often each label occurs with the values of some attributes, one panel for each.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``label``, ``attribute`` and ``value`` with counts, a row for each combination.
    counted
        Column of the counts.
    count_name
        What is counted.
    short
        Column that says where there are too few: these cells are framed.
    short_name
        What a frame means.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, figure 2.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"label": ["Awe"] * 2, "attribute": ["age"] * 2, "value": ["20", "30"],
    ...         "n": [3, 0], "few": [False, True]}
    >>> page = draw_figure("coverage", data, counted="n", short="few")
    >>> [text.get_text() for text in page.axes[0].texts]
    ['3', '0']
    """
    from matplotlib.colors import Normalize, to_hex
    from matplotlib.patches import Rectangle

    frame = table.frame
    labels = frame["label"].unique(maintain_order=True).to_list()
    n, said = drawing.first_of(len(labels), "labels")
    labels = labels[:n]
    frame = frame.filter(frame["label"].is_in(labels))
    names = {
        str(name): own["value"].unique(maintain_order=True).to_list()[:_MOST_BARS]
        for (name,), own in frame.group_by("attribute", maintain_order=True)
    }
    wide = sum(map(len, names.values()))
    size = 8.0 if n <= 16 else drawing.SMALLEST
    left = 0.25 + max(drawing.width_of(shown(one, _LIMIT), size) for one in labels)
    turned = max(len(shown(one, _LIMIT)) for own in names.values() for one in own)
    cell = min(0.34, (drawing.WIDTH - left - 0.15 * len(names)) / wide)
    width = max(3.2, left + wide * cell + 0.2 * len(names) + 0.2)
    high = n * max(0.17, min(0.3, cell)) + 0.35 + turned * 7 * 0.0085
    drawing.fit(ax, high + 0.75, min(width, drawing.WIDTH))
    panels = drawing.split(
        ax, 1, len(names), sharey=True, width_ratios=[*map(len, names.values())]
    )[0]
    ramp = drawing.counts_ramp()
    for axes, (name, values) in zip(panels, names.items(), strict=True):
        own = frame.filter(frame["value"].is_in(values), attribute=name)
        counts = own[counted].to_numpy().reshape(n, len(values)).astype(np.float64)
        # Each panel has its own shades: three genders share what fourteen ethnicities share.
        top = max(float(counts.max(initial=0)), 1.0)
        # A number of that many digits fits into a cell in print that can be read.
        fits = min(7.5, cell * 72 / (0.75 * len(count(counts.max(initial=0)))))
        drawing.cells(
            axes,
            counts,
            ramp,
            Normalize(0, top),
            size=fits,
            write=count,
            most=len(values) if fits >= 6 else 0,
        )
        if short is not None:
            few = own[short].to_numpy().reshape(n, len(values))
            for row, column in np.argwhere(few).tolist():
                corner = (column + 0.07, row + 0.07)
                tint = colour("negative")
                axes.add_patch(
                    Rectangle(corner, 0.86, 0.86, fill=False, edgecolor=tint, linewidth=1.1)
                )
        axes.set_title(name, pad=6)
        texts = drawing.short_names(values, _LIMIT)
        at = np.arange(len(values)) + 0.5
        axes.set_xticks(at, texts, rotation=0 if max(map(len, texts)) <= 2 else 90, fontsize=7)
    panels[0].set_yticks(np.arange(n) + 0.5, drawing.short_names(labels, _LIMIT), fontsize=size)
    key = [
        (f"no {count_name}", swatch(to_hex(ramp(0.0)), edge="line")),
        ("most of the attribute", swatch(to_hex(ramp(1.0)))),
    ]
    if short is not None:
        key.append((short_name, swatch("none", edge="negative")))
    drawn = {one for own in names.values() for one in own}
    if frame["value"].n_unique() > len(drawn):
        said = f"{said} (the first {_MOST_BARS} values of each)".strip()
    drawing.key_below(ax, key, note=said)
