"""Expressions: differences, histograms, priorities, and transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import CYCLE, RAMP, colour
from affectlab.core.tables import Table
from affectlab.core.types import Axes, Floats, Line2D, pl
from affectlab.core.words import number, shown
from affectlab.report.figures.analysis.labels import frame_runs, leaves, square, tree_and_cells

_NAME_LIMIT = 40


def _cluster_colours(clusters: Sequence[int | None]) -> dict[int | None, str]:
    """Give each cluster a colour, in turn; grey for expressions of no cluster."""
    hues = [*(role for role in CYCLE if role != "neutral"), "ink"]
    known = sorted({one for one in clusters if one is not None})
    tints: dict[int | None, str] = {one: colour(hues[k % len(hues)]) for k, one in enumerate(known)}
    return tints | {None: colour("neutral")}


def draw_expression_heatmap(
    ax: Axes,
    table: Table,
    *,
    names: Sequence[str],
    linkage: Sequence[Sequence[float]] | None = None,
    cluster: Mapping[str, int] | None = None,
    value_name: str = "mean difference",
) -> None:
    """Draw differences of expressions, ordered by their tree, clusters framed and in colour.

    Rows carry a number and the name, columns the number alone. Cells that were not compared are
    crossed out, and the diagonal is blank.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the parts stand.
    table
        Holds ``expression_a``, ``expression_b`` and ``value``, the mean difference of each pair.
    names
        The expressions.
    linkage
        The tree of the first m expressions as SciPy writes it, shape (m - 1, 4); the others stand
        last. None: no tree, expressions as they are given.
    cluster
        Cluster of expressions; those in none are left out.
    value_name
        What the colours show.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 10.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"expression_a": ["joy"] * 2, "expression_b": ["awe", "fear"], "value": [20, 70]}
    >>> page = draw_figure("expression_heatmap", data, names=["joy", "awe", "fear"])
    >>> [text.get_text() for text in page.axes[0].get_yticklabels()]
    ['1  joy', '2  awe', '3  fear']
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    n, order = len(names), leaves(linkage, len(names))
    value = square(table, "expression_a", "expression_b", names)[np.ix_(order, order)]
    np.fill_diagonal(value, np.nan)
    clusters = [(cluster or {}).get(names[k]) for k in order]
    known = value[np.isfinite(value)]
    low = float(np.floor(known.min() / 10) * 10) if known.size else 0.0
    high = float(np.ceil(known.max() / 10) * 10) if known.size else 1.0
    # Pale for alike, dark for different.
    tones = LinearSegmentedColormap.from_list("difference", ["#fbf6e6", *RAMP])
    every = -(-n // drawing.MOST_ROWS)
    short = drawing.short_names(names, 44 if n <= 20 else 28)
    heat = tree_and_cells(
        ax,
        value,
        [f"{row + 1}  {short[k]}" for row, k in enumerate(order)],
        (tones, Normalize(low, high if high > low else low + 1)),
        value_name,
        linkage=linkage,
        columns=[str(k + 1) if k % every == 0 else "" for k in range(n)],
        write=partial(number, digits=0),
    )
    lacking = np.isnan(value) & ~np.eye(n, dtype=bool)
    rows, columns = np.nonzero(lacking)
    size = 18.0 if n <= 12 else 8.0 if n <= 30 else 3.0
    cross: dict[str, Any] = {"marker": "x", "color": colour("soft"), "linewidths": 0.6}
    heat.scatter(columns + 0.5, rows + 0.5, s=size, **cross)
    tints = _cluster_colours(clusters)
    if cluster:
        drawing.tint_names(heat, [tints[one] for one in clusters])
    frame_runs(heat, clusters, tints, least=1, width=1.6)
    key = [(f"cluster {one}", swatch(tint)) for one, tint in tints.items() if one is not None]
    if lacking.any():
        key.append(("not compared", swatch("soft", "x", size=5)))
    drawing.key_below(ax, key, columns=min(len(key), 8))


_HISTOGRAMS_ACROSS = 4
_FEW = 0.05
"""Height of an axis below which its marks need a decimal."""
_ROLES = {"intra": "people", "inter": "negative"}


def draw_histograms(
    ax: Axes,
    table: Table,
    *,
    histogram: str,
    notes: Mapping[str, str],
    value_name: str = "score",
    count_name: str = "pairs",
) -> None:
    """Draw histograms in shares of their groups, up to four side by side.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``histogram``, ``group``, and ``low``, ``high`` and ``share`` of each bin; the share
        is ``nan`` everywhere for an empty group. The groups ``intra`` and ``inter`` have colours
        of their own.
    histogram
        The one that is drawn.
    notes
        A few words below the title of each group, such as the mean.
    value_name
        What the horizontal axis shows.
    count_name
        What is counted.

    Raises
    ------
    InputError
        When there is no such histogram.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 5 and 13 to 16.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"histogram": ["all"] * 2, "group": ["intra"] * 2, "low": [0, 50],
    ...         "high": [50, 100], "share": [0.4, 0.6]}
    >>> page = draw_figure("histograms", data, histogram="all", notes={"intra": "mean 55"})
    >>> page.axes[0].get_title(loc="left")
    'intra'
    """
    from matplotlib.ticker import PercentFormatter

    groups = table.frame.filter(histogram=histogram).partition_by(
        "group", as_dict=True, maintain_order=True
    )
    if not groups:
        raise InputError(f"there is no histogram {histogram!r} to draw; expected one at least")
    n, value_name = drawing.first_of(len(groups), "groups", value_name, drawing.MOST_PANELS)
    # Panels fill rows where that is possible.
    full = (k for k in (4, 3) if n % k == 0)
    across = n if n <= _HISTOGRAMS_ACROSS else next(full, _HISTOGRAMS_ACROSS)
    height = 0.4 + 1.75 * -(-n // across)
    width = drawing.WIDTH if across > 1 else 4.4
    letters = int((width - 0.9) / across / drawing.width_of("n", drawing.SMALLEST))
    noted = {name: fill(shown(note), letters) for name, note in notes.items()}
    lines = max((note.count("\n") for note in noted.values()), default=0)
    height += 0.12 * lines * -(-n // across)
    drawing.fit(ax, height, width, wspace=0.04, hspace=0.03)
    panels = drawing.panels_of(ax, n, across, sharex=True, sharey=True)
    for axes, ((name,), bins) in zip(panels, groups.items(), strict=False):
        _draw_histogram(axes, str(name), bins, noted.get(str(name), ""))
    few = panels[0].get_ylim()[1] < _FEW
    panels[0].yaxis.set_major_formatter(PercentFormatter(1, 1 if few else 0, "\u00a0%"))
    drawing.say_below(ax, value_name)
    drawing.figure_with(ax).supylabel(f"share of {count_name}", fontsize=8.5, color=colour("soft"))


def _draw_histogram(axes: Axes, name: str, bins: pl.DataFrame, note: str) -> None:
    low, high, share = drawing.columns_of(bins, "low", "high", "share")
    if np.isnan(share).all():
        drawing.say_inside(axes, "no pairs")
    else:
        style: dict[str, Any] = {
            "edgecolor": colour("paper"),
            "linewidth": 0.4,
            "alpha": 0.8,
        }
        tint = colour(_ROLES.get(name, "mixed"))
        axes.bar(low, share, width=high - low, align="edge", color=tint, **style)
    drawing.grid_along(axes, "y")
    axes.tick_params(labelsize=7.5)
    pad = 14 + 8.5 * note.count("\n") if note else 4
    axes.set_title(shown(name), fontweight="bold", pad=pad)
    drawing.write(axes, note, (0, 1), (0, 4), xycoords="axes fraction", fontsize=drawing.SMALLEST)


def draw_expression_priority(
    ax: Axes,
    table: Table,
    *,
    has_clusters: bool = False,
    value_name: str = "mean difference from the other expressions",
    interval_name: str = "95 % interval",
) -> None:
    """Draw mean differences from all other expressions, the smallest at the top.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``expression``, ``value``, and ``relative`` (to the mean of all) with
        ``relative_low`` and ``relative_high``, which are ``nan`` where there is no interval.
    has_clusters
        Whether a column ``cluster`` gives the colours.
    value_name
        What the axis shows.
    interval_name
        What the lines are, for the key.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, appendix A.5, figure 21.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"expression": ["joy", "clench"], "value": [70, 40], "relative": [15, -15],
    ...         "relative_low": [10, -19], "relative_high": [20, -11]}
    >>> page = draw_figure("expression_priority", data)
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['clench', 'joy']
    """
    names = ("value", "relative", "relative_low", "relative_high")
    columns = drawing.columns_of(table.frame, *names)
    order, value_name = drawing.ends_of(columns[0], value_name, rising=True)
    frame, (value, relative, low, high) = table.frame[order], (part[order] for part in columns)
    clusters = frame["cluster"].to_list() if has_clusters else [None] * frame.height
    tints = _cluster_colours(clusters) if has_clusters else {None: colour("people")}
    centre = value - relative
    drawing.fit(ax, 1.2 + 0.19 * max(frame.height, 3))
    ends = centre + low, centre + high
    drawing.dots(ax, np.arange(frame.height), value, *ends, [tints[one] for one in clusters])
    drawing.names_on_y(ax, frame["expression"].to_list(), value_name, limit=_NAME_LIMIT)
    for row in np.flatnonzero(np.isnan(value)):
        drawing.say(ax, row)
    ax.set_title("needs most care: easily taken for others", color=colour("soft"), pad=4)
    key = [
        (f"cluster {one}", swatch(tint, "o", size=5))
        for one, tint in tints.items()
        if one is not None
    ]
    if has_clusters and None in clusters:
        key.append(("in no cluster", swatch(tints[None], "o", size=5)))
    if np.isfinite(low).any():
        key.append((interval_name, swatch("soft", "_", size=12)))
    drawing.key_below(ax, key, columns=min(len(key), 5))


def draw_expression_elbow(
    ax: Axes, table: Table, *, chosen: int, value_name: str = "mean difference"
) -> None:
    """Draw the heights of a tree by number of clusters, and the number that was chosen.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``n_clusters`` and ``height``: the mean difference at which so many clusters become
        one fewer.
    chosen
        Number of clusters that is marked.
    value_name
        What the heights are.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"n_clusters": [2, 3, 4], "height": [70, 65, 20]}
    >>> draw_figure("expression_elbow", data, chosen=3).axes[0].texts[0].get_text()
    '3 clusters'
    """
    from matplotlib.ticker import MaxNLocator

    count, at = drawing.columns_of(table.frame, "n_clusters", "height")
    drawing.fit(ax, 2.6, 0.75 * drawing.WIDTH)
    ax.plot(count, at, color=colour("people"), linewidth=1.3, marker="o", markersize=3.2)
    for height in at[count == chosen]:
        ax.scatter([chosen], [height], s=60, color=colour("model"), zorder=3)
        drawing.write(
            ax,
            f"{chosen} clusters",
            (chosen, height),
            (8, 6),
            color=colour("model"),
            fontweight="bold",
        )
    drawing.grid_along(ax, "y")
    # Room for the mark of the highest point, and for what is written beside it.
    ax.set_ylim(0, 1.15 * float(np.nanmax(at, initial=0.0)) or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of clusters, of which the nearest two are joined there")
    ax.set_ylabel(value_name)


# Differences from neutral along transitions, in small panels.


_Dash: TypeAlias = Literal["solid", "dashed"]
_Look: TypeAlias = tuple[str, _Dash]
_Curve: TypeAlias = tuple[Floats, Floats]

_CURVES_ACROSS = 4
_HUES = (*CYCLE, "ink")
"""Roles whose colours tell curves apart; more curves than these are drawn thin."""
_DASHES: tuple[_Dash, ...] = ("solid", "dashed")
_NAMED = {"model": "first to lose half", "positive": "last to lose half"}
"""Roles of the curves that are named where there are too many to tell them all apart."""
_PANEL_LETTERS = 27
"""Letters that fit over a panel."""
_GRID = 101
"""Places where a median is taken, when curves have no common ones."""
_FIVE = {1: "peak", 2: "1 JND", 3: "mid", 4: "1 JND", 5: "neutral"}


def draw_transition_curves(
    ax: Axes,
    table: Table,
    *,
    by: str,
    value: str,
    x_name: str = "place in the transition",
    y_name: str = "share of the difference of the peak",
    names_frames: bool = False,
) -> None:
    """Draw how the difference from neutral falls, four panels side by side.

    Up to sixteen names over all panels get a look each and a key; of more, curves are thin, the
    median of each panel's curves is thick, and those that lose half first and last are named.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``actor``, ``expression``, ``x`` (the place along the transition), ``place`` (its
        number), ``half`` (where half of the difference is lost; rows without are not drawn), and
        values.
    by
        ``actor`` or ``expression``: what has a panel of its own.
    value
        Column of the values.
    x_name, y_name
        What the axes show.
    names_frames
        Whether the five frames of a transition are named on the axis.

    Raises
    ------
    InputError
        When there is no transition to draw.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 9 and 17 to 20.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"actor": ["ann"] * 3 + ["bob"] * 3, "expression": ["joy"] * 6,
    ...         "x": [1, 3, 5] * 2, "place": [1, 3, 5] * 2, "half": [3.0] * 6,
    ...         "share": [1, 0.7, 0, 1, 0.4, 0]}
    >>> page = draw_figure("transition_curves", data, by="expression", value="share")
    >>> [text.get_text() for text in page.legends[0].get_texts()]
    ['ann', 'bob']
    """
    second = "expression" if by == "actor" else "actor"
    frame = table.frame.filter(table.frame["half"].is_not_nan()).sort(by, second, "place")
    charts = frame.partition_by(by, as_dict=True, maintain_order=True)
    if not charts:
        raise InputError("there is no transition to draw; expected at least one")
    n, x_name = drawing.first_of(len(charts), f"{by}s", x_name, drawing.MOST_PANELS)
    charts = dict([*charts.items()][:n])
    names = frame[second].unique(maintain_order=True).to_list()
    looks: dict[str, _Look] = {}
    if len(names) <= len(_HUES) * len(_DASHES):
        looks = {
            name: (colour(_HUES[k % len(_HUES)]), _DASHES[k // len(_HUES)])
            for k, name in enumerate(names)
        }
    lines = any(len(name) > _PANEL_LETTERS for (name,) in charts)
    across = min(_CURVES_ACROSS, len(charts))
    keyed = len(looks) if looks else 2 + len(_NAMED)
    each = (1.45 if lines else 1.35) if across > 2 else 2.0
    height = 0.75 + -(-len(charts) // across) * each
    drawing.fit(
        ax, height, drawing.WIDTH if across > 2 else 2.6 * across + 0.9, wspace=0.07, hspace=0.02
    )
    panels = drawing.panels_of(ax, len(charts), across, sharex=True, sharey=True)
    for place, (axes, ((name,), own)) in enumerate(zip(panels, charts.items(), strict=True)):
        _draw_curves(axes, str(name), own, second, value, looks)
        if place + across >= len(panels):
            axes.set_xlabel(fill(x_name, 30), fontsize=7)
        if place % across == 0:
            axes.set_ylabel(fill(y_name, 24), fontsize=7)
    places = sorted(frame["place"].unique())
    if names_frames and set(places) <= set(_FIVE):
        near = "near_peak" in frame["role"].to_list()
        ticks = [_FIVE[at] if near or at not in (2, 4) else str(at) for at in places]
        panels[0].set_xticks(places, ticks)
    if not looks:
        # Room for the names.
        low, high = panels[0].get_ylim()
        panels[0].set_ylim(low, high + 0.22 * (high - low))
    drawing.key_below(ax, _key(looks), columns=min(_CURVES_ACROSS, keyed))


def _draw_curves(
    axes: Axes,
    title: str,
    frame: pl.DataFrame,
    by: str,
    value: str,
    looks: Mapping[str, _Look],
) -> None:
    curves: dict[str, _Curve] = {}
    for (name,), own in frame.group_by(by, maintain_order=True):
        x, y = drawing.columns_of(own, "x", value)
        curves[str(name)] = x, y
        tint, dash = looks.get(str(name), (colour("people"), "solid"))
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
    if not looks:
        axes.plot(*_median([*curves.values()]), color=colour("ink"), linewidth=1.7)
        by_half = frame.sort("half", maintain_order=True)[by].to_list()
        for k, (role, name) in enumerate(zip(_NAMED, (by_half[0], by_half[-1]), strict=True)):
            axes.plot(*curves[name], color=colour(role), linewidth=1.3, marker="x", markersize=3)
            drawing.write(
                axes,
                shown(name, _PANEL_LETTERS),
                (1, 1),
                (-2, -2 - 8 * k),
                xycoords="axes fraction",
                ha="right",
                va="top",
                fontsize=drawing.SMALLEST,
                color=colour(role),
            )
    axes.grid(visible=True)
    axes.tick_params(length=0, labelsize=7)
    title = fill(shown(title, 2 * _PANEL_LETTERS), _PANEL_LETTERS)
    axes.set_title(title, fontsize=7.2, pad=3, color=colour("ink"), linespacing=1.05)


def _median(curves: Sequence[_Curve]) -> _Curve:
    """Take the median of curves on straight lines; a curve keeps its last value from its end on."""
    at = np.unique(np.concatenate([x for x, _ in curves]))
    if at.size > max(x.size for x, _ in curves):
        at = np.linspace(at[0], at[-1], _GRID)
    return at, np.median([np.interp(at, x, y) for x, y in curves], axis=0)


def _key(looks: Mapping[str, _Look]) -> list[tuple[str, Line2D]]:
    from matplotlib.lines import Line2D as Line

    if looks:
        style: dict[str, Any] = {"linewidth": 1.2, "marker": "x", "markersize": 3.5}
        return [
            (name, Line([], [], color=tint, linestyle=dash, **style))
            for name, (tint, dash) in looks.items()
        ]
    return [
        ("one transition", Line([], [], color=colour("people"), linewidth=0.8, alpha=0.5)),
        ("median of the panel", Line([], [], color=colour("ink"), linewidth=1.7)),
        *(
            (text, Line([], [], color=colour(role), linewidth=1.3, marker="x"))
            for role, text in _NAMED.items()
        ),
    ]


def draw_ranges(
    ax: Axes,
    table: Table,
    *,
    by: str,
    value: str = "value",
    value_name: str = "difference between peak and neutral",
    of: str = "an actor",
    kind: str | None = None,
    line: float | None = None,
) -> None:
    """Draw the values of each group, their range and their median, the largest median at the top.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds a row for each value; those that are not finite are not drawn.
    by, value
        Column of the groups, such as expressions, and of the values, such as one per actor.
    value_name
        What the axis shows.
    of
        What one value is of, for the key.
    kind
        What the column ``kind`` holds in the rows that are drawn; by default all rows.
    line
        Value to mark with a line, such as 0 for differences.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 6.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"expression": ["joy", "joy", "fear"], "value": [40, 50, 60]}
    >>> page = draw_figure("ranges", data, by="expression")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['fear', 'joy']
    """
    frame = table.frame if kind is None else table.frame.filter(kind=kind)
    groups = frame.partition_by(by, as_dict=True, maintain_order=True)
    names = [str(name) for (name,) in groups]
    values = [drawing.columns_of(own, value)[0] for own in groups.values()]
    values = [own[np.isfinite(own)] for own in values]
    median = np.array([np.median(own) if own.size else np.nan for own in values])
    order, value_name = drawing.ends_of(median, value_name)
    people, model = colour("people"), colour("model")
    drawing.fit(ax, 0.95 + 0.19 * max(order.size, 3))
    for row, k in enumerate(order.tolist()):
        own = values[k]
        if not own.size:
            drawing.say(ax, row, "no values")
            continue
        ax.hlines(row, own.min(), own.max(), colors=people, linewidth=3, alpha=0.45)
        cross: dict[str, Any] = {"marker": "x", "s": 17, "linewidths": 0.9, "zorder": 3}
        ax.scatter(own, np.full(own.size, row), color=colour("ink"), **cross)
        mark: dict[str, Any] = {"s": 30, "edgecolors": colour("paper"), "linewidths": 0.7}
        ax.scatter(median[k], row, color=model, zorder=4, **mark)
    if line is not None:
        ax.axvline(line, color=colour("soft"), linewidth=0.9)
    drawing.names_on_y(ax, [names[k] for k in order], value_name, limit=_NAME_LIMIT)
    key = [
        (of, swatch("ink", "x", size=5)),
        ("median", swatch(model, "o", size=5.5)),
        ("range", swatch(people, "_", size=12)),
    ]
    drawing.key_below(ax, key)
