"""Expressions: differences, histograms, priorities, and transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import fill
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.types import Axes, Colormap, Figure, Floats, Line2D, Normalize
from affectlab.core.words import number, shown
from affectlab.report.drawing import (
    RAMP,
    WIDTH,
    canvas,
    colour,
    grid_along,
    ink_on,
    key_below,
    names_on_y,
    say,
    swatch,
    themed,
)

__all__ = [
    "CurvePanel",
    "HistogramPanel",
    "cluster_colours",
    "fig_expression_elbow",
    "fig_expression_heatmap",
    "fig_expression_histograms",
    "fig_expression_priority",
    "fig_transition_curves",
    "fig_transition_ranges",
]

_ANNOTATED = 12
_HEATMAP_NAME_LIMIT = 44
_SPARE = 0.15
_TREE = 0.75
"""Height of the tree in inches."""
_CLUSTER_HUES = ("people", "model", "positive", "mixed", "ambiguous", "negative", "ink")


def cluster_colours(clusters: Sequence[int | None]) -> dict[int | None, str]:
    """Give each cluster a colour, in turn; grey for expressions of no cluster."""
    known = sorted({number for number in clusters if number is not None})
    tints: dict[int | None, str] = {
        number: colour(_CLUSTER_HUES[k % len(_CLUSTER_HUES)]) for k, number in enumerate(known)
    }
    return tints | {None: colour("neutral")}


@themed
def fig_expression_heatmap(
    matrix: ArrayLike,
    names: Sequence[str],
    linkage: ArrayLike | None = None,
    *,
    cluster: Sequence[int | None] | None = None,
    value_name: str = "mean difference",
) -> Figure:
    """Draw differences of expressions, ordered by their tree, clusters framed and in colour.

    Rows carry a number and the name, columns the number alone. Cells that were not compared are
    crossed out.

    Parameters
    ----------
    matrix
        Mean differences, shape (n, n), ``nan`` where there is none; the diagonal is blank.
    names
        Shape (n,).
    linkage
        The tree of the first m expressions as SciPy writes it, shape (m - 1, 4); the others stand
        last. None: no tree, expressions as they are given.
    cluster
        Cluster of each expression, None for those in none.
    value_name
        What the colours show.

    Raises
    ------
    InputError
        When the matrix is not square, or does not fit the names.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 10.

    Examples
    --------
    >>> figure = fig_expression_heatmap([[0, 20, 70], [20, 0, 60], [70, 60, 0]],
    ...                                 ["joy", "awe", "fear"], [[0, 1, 20, 2], [2, 3, 65, 3]])
    >>> [text.get_text() for text in figure.axes[1].get_yticklabels()]
    ['1  fear', '2  joy', '3  awe']
    """
    value = np.array(matrix, dtype=np.float64)
    n = len(names)
    if value.shape != (n, n):
        raise InputError(f"matrix of shape {value.shape}; expected ({n}, {n}) for {n} names")
    np.fill_diagonal(value, np.nan)
    order = _order(linkage, n)
    value = value[np.ix_(order, order)]
    clusters = [None] * n if cluster is None else [cluster[k] for k in order]
    size = 8.0 if n <= 20 else 6.6 if n <= 40 else 5.4
    rows = [f"{row + 1}  {shown(names[k], _HEATMAP_NAME_LIMIT)}" for row, k in enumerate(order)]
    text = max(map(len, rows), default=1) * size * 0.62 / 72
    cell = min(0.36, max((WIDTH - text - 0.9) / max(n, 4), 0.085))
    side = cell * max(n, 4)
    tree = _TREE if linkage is not None and n > 1 else 0.0
    figure = canvas(side + tree + 0.85, max(side + text + 0.9, 4.2))
    heights = [part for part in (tree, side) if part]
    grid = figure.add_gridspec(
        len(heights), 2, height_ratios=heights, width_ratios=[side, 0.13], hspace=0.0, wspace=0.02
    )
    # Small letters are wider, beside their size, in fine files than where the layout measures them.
    spare = _SPARE * text / figure.get_figwidth()
    figure.get_layout_engine().set(  # type: ignore[union-attr]
        hspace=0.0,  # type: ignore[call-arg]
        wspace=0.02,
        h_pad=0.015,
        rect=(spare, 0, 1 - spare, 1),
    )
    if tree:
        _tree(figure.add_subplot(grid[0, 0], label="tree"), linkage, n)
    axes = figure.add_subplot(grid[-1, 0], label="heat")
    tones, norm = _tones(value)
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(value),
        cmap=tones,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8 if n <= 20 else 0.25,
    )
    lacking = np.isnan(value) & ~np.eye(n, dtype=bool)
    _crossed(axes, lacking, n)
    if n <= _ANNOTATED:
        _numbers(axes, value, tones, norm)
    _names(axes, rows, size, clusters)
    _frames(axes, clusters)
    bar = figure.colorbar(mesh, cax=figure.add_subplot(grid[-1, 1], label="bar"))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7.5)
    tints = cluster_colours(clusters)
    key = [(f"cluster {one}", swatch(tint)) for one, tint in tints.items() if one is not None]
    if lacking.any():
        key.append(("not compared", swatch(colour("soft"), "x", size=5)))
    key_below(figure, key, columns=min(len(key), 8))
    return figure


def _order(linkage: ArrayLike | None, n: int) -> list[int]:
    from scipy.cluster.hierarchy import leaves_list

    if linkage is None or n < 2:
        return list(range(n))
    leaves: list[int] = leaves_list(np.asarray(linkage, dtype=np.float64)).tolist()
    return leaves + [k for k in range(n) if k >= len(leaves)]


def _tones(value: Floats) -> tuple[Colormap, Normalize]:
    """Pale for alike, dark for different."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    known = value[np.isfinite(value)]
    low = float(np.floor(known.min() / 10) * 10) if known.size else 0.0
    high = float(np.ceil(known.max() / 10) * 10) if known.size else 1.0
    tones = LinearSegmentedColormap.from_list("difference", ["#fbf6e6", *RAMP])
    return tones, Normalize(low, high if high > low else low + 1)


def _tree(axes: Axes, linkage: ArrayLike | None, n: int) -> None:
    """Draw the joinings; leaf k stands over the middle of cell k."""
    from scipy.cluster.hierarchy import dendrogram

    found = dendrogram(np.asarray(linkage, dtype=np.float64), no_plot=True)
    for x, height in zip(found["icoord"], found["dcoord"], strict=True):
        # SciPy puts leaves at 5, 15, 25, …
        axes.plot(np.array(x) / 10, height, color=colour("soft"), linewidth=0.8)
    axes.set_xlim(0, n)
    axes.set_ylim(0, max(map(max, found["dcoord"])) * 1.04 or 1.0)
    axes.axis("off")


def _crossed(axes: Axes, lacking: np.ndarray, n: int) -> None:
    rows, columns = np.nonzero(lacking)
    size = 18.0 if n <= 12 else 8.0 if n <= 30 else 3.0
    axes.scatter(
        columns + 0.5, rows + 0.5, marker="x", s=size, color=colour("soft"), linewidths=0.6
    )


def _numbers(axes: Axes, value: Floats, tones: Colormap, norm: Normalize) -> None:
    from matplotlib.colors import to_hex

    for row, column in np.argwhere(np.isfinite(value)):
        axes.text(
            column + 0.5,
            row + 0.5,
            number(value[row, column], 0),
            ha="center",
            va="center",
            fontsize=7.5,
            color=ink_on(to_hex(tones(norm(value[row, column])))),
        )


def _names(axes: Axes, rows: list[str], size: float, clusters: Sequence[int | None]) -> None:
    n = len(rows)
    at = np.arange(n) + 0.5
    every = 1 if n <= 40 else 2
    axes.set_yticks(at, rows, fontsize=size)
    axes.set_xticks(at[::every], [str(k + 1) for k in range(0, n, every)], fontsize=size)
    axes.set_ylim(n, 0)
    axes.set_xlim(0, n)
    axes.tick_params(length=0, pad=2.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if any(one is not None for one in clusters):
        tints = cluster_colours(clusters)
        for text, one in zip(axes.get_yticklabels(), clusters, strict=True):
            text.set_color(tints[one])


def _frames(axes: Axes, clusters: Sequence[int | None]) -> None:
    """Frame runs of neighbours of one cluster, in its colour."""
    from matplotlib.patches import Rectangle

    n = len(clusters)
    tints = cluster_colours(clusters)
    edges = [0, *(k for k in range(1, n) if clusters[k] != clusters[k - 1]), n]
    for start, end in pairwise(edges):
        if clusters[start] is None:
            continue
        axes.add_patch(
            Rectangle(
                (start, start),
                end - start,
                end - start,
                fill=False,
                edgecolor=tints[clusters[start]],
                linewidth=1.6,
                clip_on=False,
            )
        )


# Histograms of scores side by side, with one axis for all.


_HISTOGRAMS_ACROSS = 4
_FEW = 0.05
"""Height of an axis below which its marks need a decimal."""
_ROLES = {"intra": "people", "inter": "negative", "all": "mixed"}


@dataclass(frozen=True)
class HistogramPanel:
    """Bins of one group."""

    title: str
    low: ArrayLike
    """Lower ends of the bins, shape (m,)."""
    high: ArrayLike
    """Upper ends."""
    share: ArrayLike
    """Share of the group in each bin; ``nan`` everywhere for an empty group."""
    note: str = ""
    """A few words below the title, such as the mean."""
    role: str = "all"
    """``intra``, ``inter`` or ``all``, for the colour."""


@themed
def fig_expression_histograms(
    panels: Sequence[HistogramPanel], *, value_name: str = "score", count_name: str = "pairs"
) -> Figure:
    """Draw histograms in shares of their groups, up to four side by side.

    Parameters
    ----------
    panels
        What is drawn.
    value_name
        What the horizontal axis shows.
    count_name
        What is counted.

    Raises
    ------
    InputError
        When there are no panels.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 5 and 13 to 16.

    Examples
    --------
    >>> panel = HistogramPanel("intra", [0, 50], [50, 100], [0.4, 0.6])
    >>> figure = fig_expression_histograms([panel])
    >>> figure.axes[0].get_title(loc="left")
    'intra'
    """
    if not panels:
        raise InputError("there are no panels; expected at least one")
    from matplotlib.ticker import PercentFormatter

    across = _across(len(panels))
    down = -(-len(panels) // across)
    figure = canvas(0.4 + 1.75 * down, WIDTH if across > 1 else 4.4)
    figure.get_layout_engine().set(wspace=0.04, hspace=0.03)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw_histogram(axes, panel)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, axes in enumerate(grid.ravel()[: len(panels)]):
        if place + across >= len(panels):
            axes.tick_params(labelbottom=True)
    few = grid[0, 0].get_ylim()[1] < _FEW
    grid[0, 0].yaxis.set_major_formatter(PercentFormatter(1, 1 if few else 0, "\u00a0%"))
    figure.supxlabel(value_name, fontsize=8.5, color=colour("soft"))
    figure.supylabel(f"share of {count_name}", fontsize=8.5, color=colour("soft"))
    return figure


def _across(n: int) -> int:
    """Put panels into full rows where that is possible."""
    if n <= _HISTOGRAMS_ACROSS:
        return n
    return next((k for k in (4, 3) if n % k == 0), _HISTOGRAMS_ACROSS)


def _draw_histogram(axes: Axes, panel: HistogramPanel) -> None:
    low, high, share = (
        np.asarray(part, dtype=np.float64) for part in (panel.low, panel.high, panel.share)
    )
    if np.isnan(share).all():
        axes.text(0.5, 0.5, "no pairs", transform=axes.transAxes, ha="center", color=colour("soft"))
    else:
        axes.bar(
            low,
            share,
            width=high - low,
            align="edge",
            color=colour(_ROLES[panel.role]),
            alpha=0.8,
            edgecolor=colour("paper"),
            linewidth=0.4,
        )
    axes.grid(visible=True, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=7.5)
    axes.set_title(shown(panel.title, 34), fontweight="bold", pad=14 if panel.note else 4)
    if panel.note:
        axes.annotate(
            shown(panel.note, 44),
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 4),
            textcoords="offset points",
            fontsize=7,
            color=colour("soft"),
        )


# Which expressions need most care, and at how many clusters their tree bends.


_PRIORITY_NAME_LIMIT = 40


@themed
def fig_expression_priority(
    names: Sequence[str],
    value: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    cluster: Sequence[int | None] | None = None,
    value_name: str = "mean difference from the other expressions",
    interval_name: str = "95 % interval",
) -> Figure:
    """Draw mean differences from all other expressions, the smallest at the top.

    Parameters
    ----------
    names, value, low, high
        Shape (n,); ends are ``nan`` where there is no interval.
    cluster
        Cluster of each expression, for the colour.
    value_name
        What the axis shows.
    interval_name
        What the lines are, for the key.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, appendix A.5, figure 21.

    Examples
    --------
    >>> figure = fig_expression_priority(["joy", "clench"], [70, 40], [65, 36], [75, 44])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['clench', 'joy']
    """
    point, lower, upper = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    order = np.argsort(np.where(np.isnan(point), np.inf, point), kind="stable")
    clusters = [None] * len(names) if cluster is None else list(cluster)
    tints = cluster_colours(clusters)
    if cluster is None:
        tints = {None: colour("people")}
    own = [tints[clusters[k]] for k in order]
    figure = canvas(1.2 + 0.19 * max(len(names), 3))
    axes = figure.add_subplot()
    rows = np.arange(len(names))
    axes.hlines(rows, lower[order], upper[order], colors=own, linewidth=1.6, alpha=0.5)
    axes.scatter(
        point[order], rows, c=own, s=26, zorder=3, edgecolors=colour("paper"), linewidths=0.6
    )
    names_on_y(axes, [names[k] for k in order])
    axes.set_yticks(rows, [shown(names[k], _PRIORITY_NAME_LIMIT) for k in order])
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    axes.set_title("needs most care: easily taken for others", color=colour("soft"), pad=4)
    known = [one for one in tints if one is not None]
    key = [(f"cluster {one}", swatch(tints[one], "o", size=5)) for one in known]
    if None in clusters and cluster is not None:
        key.append(("in no cluster", swatch(tints[None], "o", size=5)))
    if np.isfinite(lower).any():
        key.append((interval_name, swatch(colour("soft"), "_", size=12)))
    key_below(figure, key, columns=min(len(key), 5))
    return figure


@themed
def fig_expression_elbow(
    n_clusters: ArrayLike, height: ArrayLike, chosen: int, *, value_name: str = "mean difference"
) -> Figure:
    """Draw the heights of a tree by number of clusters, and the number that was chosen.

    Parameters
    ----------
    n_clusters, height
        Mean difference at which so many clusters become one fewer, shape (m,).
    chosen
        Number of clusters that is marked.
    value_name
        What the heights are.

    Examples
    --------
    >>> figure = fig_expression_elbow([2, 3, 4], [70, 65, 20], 3)
    >>> figure.axes[0].texts[0].get_text()
    '3 clusters'
    """
    from matplotlib.ticker import MaxNLocator

    count, at = np.asarray(n_clusters, dtype=np.float64), np.asarray(height, dtype=np.float64)
    figure = canvas(2.6, 0.75 * WIDTH)
    axes = figure.add_subplot()
    axes.plot(
        count, at, color=colour("people"), linewidth=1.3, marker="o", markersize=3.2, zorder=2
    )
    place = np.flatnonzero(count == chosen)
    if place.size:
        y = float(at[place[0]])
        axes.scatter([chosen], [y], s=60, color=colour("model"), zorder=3)
        axes.annotate(
            f"{chosen} clusters",
            (chosen, y),
            xytext=(8, 6),
            textcoords="offset points",
            color=colour("model"),
            fontweight="bold",
        )
    grid_along(axes, "y")
    # Room for the mark of the highest point, and for what is written beside it.
    axes.set_ylim(0, 1.15 * float(np.nanmax(at, initial=0.0)) or 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("number of clusters, of which the nearest two are joined there")
    axes.set_ylabel(value_name)
    return figure


# Differences from neutral along transitions, in small panels.


_Dash: TypeAlias = Literal["solid", "dashed"]
_Look: TypeAlias = tuple[str, _Dash]

_CURVES_ACROSS = 4
_CURVE_HUES = ("people", "model", "positive", "mixed", "ambiguous", "negative", "neutral", "ink")
"""Roles whose colours tell curves apart; more curves than these are drawn thin."""
_DASHES: tuple[_Dash, ...] = ("solid", "dashed")
_NAMED = ("model", "positive")
_PANEL_LETTERS = 27
"""Letters that fit over a panel."""
_GRID = 101
"""Places where a median is taken, when curves have no common ones."""


@dataclass(frozen=True)
class CurvePanel:
    """One panel: curves by name."""

    title: str
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]]
    """Places along the transition, ascending, and differences there, each of shape (m,)."""
    named: Sequence[str] = field(default=())
    """Curves that are drawn in colour and named within the panel, where there are too many to tell
    them all apart."""


@themed
def fig_transition_curves(
    panels: Sequence[CurvePanel],
    *,
    x_name: str = "place in the transition",
    y_name: str = "share of the difference of the peak",
    ticks: Sequence[tuple[float, str]] = (),
    named_as: Sequence[str] = (),
) -> Figure:
    """Draw how the difference from neutral falls, four panels side by side.

    Up to sixteen names over all panels get a look each and a key; of more, curves are thin, and the
    median of each panel's curves is thick.

    Parameters
    ----------
    panels
        What is drawn; all have the same axes.
    x_name, y_name
        What the axes show.
    ticks
        Marks along the horizontal axis, and what to call them.
    named_as
        What the curves in colour are, for the key, where there are too many to tell apart.

    Raises
    ------
    InputError
        When there are no panels, or the arrays of a curve do not fit together.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figures 9 and 17 to 20.

    Examples
    --------
    >>> curves = {"ann": ([1, 3, 5], [1, 0.7, 0]), "bob": ([1, 3, 5], [1, 0.4, 0])}
    >>> figure = fig_transition_curves([CurvePanel("joy", curves)])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['ann', 'bob']
    """
    if not panels:
        raise InputError("there are no panels; expected at least one")
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    looks = _looks(names)
    lines = any(len(panel.title) > _PANEL_LETTERS for panel in panels)
    across = min(_CURVES_ACROSS, len(panels))
    down = -(-len(panels) // across)
    width = WIDTH if across > 2 else 2.6 * across + 0.9
    keyed = len(looks) if looks else 2 + len(named_as)
    rows = -(-keyed // _CURVES_ACROSS)
    figure = canvas(
        0.55 + down * ((1.45 if lines else 1.35) if across > 2 else 2.0) + 0.2 * rows, width
    )
    figure.get_layout_engine().set(wspace=0.04, hspace=0.02)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.ravel(), panels, strict=False):
        _draw_curves(axes, panel, looks)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    for place, axes in enumerate(grid.ravel()[: len(panels)]):
        if place + across >= len(panels):
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(fill(x_name, 30), fontsize=7)
        if place % across == 0:
            axes.set_ylabel(fill(y_name, 24), fontsize=7)
    if ticks:
        grid[0, 0].set_xticks([at for at, _ in ticks], [text for _, text in ticks])
    if not looks and any(panel.named for panel in panels):
        low, high = grid[0, 0].get_ylim()
        grid[0, 0].set_ylim(low, high + 0.22 * (high - low))
    key_below(figure, _key(looks, named_as), columns=min(_CURVES_ACROSS, keyed))
    return figure


def _looks(names: Sequence[str]) -> dict[str, _Look]:
    """Give each name a colour and a dash; none where there are too many to tell apart."""
    if len(names) > len(_CURVE_HUES) * len(_DASHES):
        return {}
    return {
        name: (colour(_CURVE_HUES[k % len(_CURVE_HUES)]), _DASHES[k // len(_CURVE_HUES)])
        for k, name in enumerate(names)
    }


def _draw_curves(axes: Axes, panel: CurvePanel, looks: Mapping[str, _Look]) -> None:
    drawn = {name: _arrays(panel.title, name, *curve) for name, curve in panel.curves.items()}
    for name, (x, y) in drawn.items():
        tint, dash = looks.get(name, (colour("people"), "solid"))
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
    if not looks and drawn:
        axes.plot(*_median(list(drawn.values())), color=colour("ink"), linewidth=1.7)
        for k, name in enumerate(name for name in panel.named if name in drawn):
            tint = colour(_NAMED[k % 2])
            axes.plot(*drawn[name], color=tint, linewidth=1.3, marker="x", markersize=3)
            axes.annotate(
                shown(name, _PANEL_LETTERS),
                (1, 1),
                xycoords="axes fraction",
                xytext=(-2, -2 - 8 * k),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=6.2,
                color=tint,
            )
    if not drawn:
        axes.text(0.5, 0.5, "no curve", transform=axes.transAxes, ha="center", fontsize=7)
    axes.grid(visible=True)
    axes.tick_params(length=0, labelsize=7)
    title = fill(shown(panel.title, 2 * _PANEL_LETTERS), _PANEL_LETTERS)
    axes.set_title(title, fontsize=7.2, pad=3, color=colour("ink"), linespacing=1.05)


def _arrays(title: str, name: str, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    at, value = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if at.ndim != 1 or at.shape != value.shape or (np.diff(at) <= 0).any():
        raise InputError(
            f"panel {title!r}, curve {name!r}: shapes {at.shape} and {value.shape}; expected two "
            "arrays of one length, the first ascending"
        )
    return at, value


def _median(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Take the median of curves on straight lines; a curve keeps its last value from its end on."""
    at = np.unique(np.concatenate([x for x, _ in curves]))
    if at.size > max(x.size for x, _ in curves):
        at = np.linspace(at[0], at[-1], _GRID)
    return at, np.median([np.interp(at, x, y) for x, y in curves], axis=0)


def _key(looks: Mapping[str, _Look], named_as: Sequence[str]) -> list[tuple[str, Line2D]]:
    from matplotlib.lines import Line2D as Line

    if not looks:
        return [
            ("one transition", Line([], [], color=colour("people"), linewidth=0.8, alpha=0.5)),
            ("median of the panel", Line([], [], color=colour("ink"), linewidth=1.7)),
            *(
                (text, Line([], [], color=colour(_NAMED[k % 2]), linewidth=1.3, marker="x"))
                for k, text in enumerate(named_as)
            ),
        ]
    return [
        (name, Line([], [], color=tint, linestyle=dash, linewidth=1.2, marker="x", markersize=3.5))
        for name, (tint, dash) in looks.items()
    ]


# How far peaks are from neutral: the range over actors for each expression.


_RANGE_NAME_LIMIT = 40


@themed
def fig_transition_ranges(
    names: Sequence[str],
    values: Sequence[ArrayLike],
    *,
    value_name: str = "difference between peak and neutral",
    of: str = "an actor",
    line: float | None = None,
) -> Figure:
    """Draw the values of each row, their range and their median, the largest median at the top.

    Parameters
    ----------
    names
        Name of each row, such as an expression.
    values
        Values of each row, such as one per actor, each of shape (m,); ``nan`` is not drawn.
    value_name
        What the axis shows.
    of
        What one value is of, for the key.
    line
        Value to mark with a line, such as 0 for differences.

    Raises
    ------
    InputError
        When names and values differ in number.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 6.

    Examples
    --------
    >>> figure = fig_transition_ranges(["joy", "fear"], [[40, 50], [60, 80, 70]])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['fear', 'joy']
    """
    if len(names) != len(values):
        raise InputError(f"{len(names)} names and {len(values)} rows; expected as many of each")
    rows = [np.asarray(row, dtype=np.float64) for row in values]
    rows = [row[np.isfinite(row)] for row in rows]
    median = np.array([np.median(row) if row.size else np.nan for row in rows])
    order = np.argsort(np.where(np.isnan(median), np.inf, -median), kind="stable")
    figure = canvas(0.95 + 0.19 * max(len(names), 3))
    axes = figure.add_subplot()
    for place, k in enumerate(order.tolist()):
        if not rows[k].size:
            say(axes, place, "no values")
            continue
        axes.hlines(
            place, rows[k].min(), rows[k].max(), colors=colour("people"), linewidth=3, alpha=0.45
        )
        axes.scatter(
            rows[k],
            np.full(rows[k].size, place),
            marker="x",
            s=17,
            color=colour("ink"),
            linewidths=0.9,
            zorder=3,
        )
        axes.scatter(
            median[k],
            place,
            s=30,
            color=colour("model"),
            edgecolors=colour("paper"),
            linewidths=0.7,
            zorder=4,
        )
    if line is not None:
        axes.axvline(line, color=colour("soft"), linewidth=0.9)
    names_on_y(axes, [names[k] for k in order])
    axes.set_yticks(range(len(names)), [shown(names[k], _RANGE_NAME_LIMIT) for k in order])
    grid_along(axes, "x")
    axes.set_xlabel(value_name)
    key_below(
        figure,
        [
            (of, swatch(colour("ink"), "x", size=5)),
            ("median", swatch(colour("model"), "o", size=5.5)),
            ("range", swatch(colour("people"), "_", size=12)),
        ],
    )
    return figure
