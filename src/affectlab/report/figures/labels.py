"""Labels: how often each is used, its words, trees of labels, and the map of stimuli."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.types import Axes, Colormap, Figure, Normalize
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
    swatch,
    themed,
)

__all__ = [
    "fig_confusion_clusters",
    "fig_frequencies",
    "fig_label_clusters",
    "fig_label_map",
    "fig_words",
    "group_colours",
]

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


# The words that go with each label, as small charts.


_ACROSS = 4
_WORD_HEIGHT = 0.17
"""Height of a bar in inches."""


@themed
def fig_words(
    words: Mapping[str, Sequence[tuple[str, float]]],
    *,
    groups: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the first words of each label as bars, one small chart per label.

    Parameters
    ----------
    words
        Label to its words with their z, the first first; a label may have none.
    groups
        Group of each label, which gives the colour.

    References
    ----------
    Demszky et al. (2020), GoEmotions, table 3.

    Examples
    --------
    >>> figure = fig_words({"joy": [("happy", 32.0), ("glad", 27.0)], "grief": []})
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['joy', 'grief']
    """
    across = min(_ACROSS, max(len(words), 1))
    down = -(-len(words) // across)
    lines = max((len(found) for found in words.values()), default=1) or 1
    figure = canvas(down * (0.36 + _WORD_HEIGHT * lines) + 0.1, WIDTH if across > 1 else WIDTH / 2)
    most = max((z for found in words.values() for _, z in found), default=1.0)
    tints = {} if groups is None else group_colours(list(groups.values()))
    for k, (label, found) in enumerate(words.items()):
        axes = figure.add_subplot(down, across, k + 1)
        tint = colour("people") if groups is None else tints[groups[label]]
        _bars(axes, found, lines, most, tint)
        axes.set_title(shown(label, 24), fontweight="bold", color=tint)
    return figure


def _bars(
    axes: Axes, found: Sequence[tuple[str, float]], lines: int, most: float, tint: str
) -> None:
    """Draw bars with the word and its z inside or beside them."""
    axes.barh(range(len(found)), [z for _, z in found], color=tint, height=0.86, alpha=0.3)
    for row, (word, z) in enumerate(found):
        axes.text(0.015 * most, row, shown(word, 20), va="center", fontsize=7.5)
        axes.text(
            most, row, number(z, 1), va="center", ha="right", fontsize=7, color=colour("soft")
        )
    if not found:
        axes.text(0.015 * most, 0, "no word", va="center", fontsize=7.5, color=colour("soft"))
    axes.set_xlim(0, most)
    axes.set_ylim(lines - 0.5, -0.5)
    axes.axis("off")


# Heatmaps of labels in the order of a tree, with the tree above.


_ANNOTATED = 12
_NAME = 26
_TREE = 0.8
"""Height of the tree in inches."""


@themed
def fig_label_clusters(
    matrix: ArrayLike,
    labels: Sequence[str],
    linkage: ArrayLike | None = None,
    *,
    cluster: Sequence[int] | None = None,
    groups: Sequence[str] | None = None,
    value_name: str = "correlation",
) -> Figure:
    """Draw the correlations of labels, ordered by their tree.

    Parameters
    ----------
    matrix
        Correlations, shape (n, n), ``nan`` (grey) where not defined; the diagonal is blank.
    labels
        Shape (n,).
    linkage
        The tree as SciPy writes it, shape (n - 1, 4). None: no tree, labels as they are given.
    cluster
        Cluster of each label; clusters are framed.
    groups
        Group of each label, such as its sentiment, shown as a strip of colours.
    value_name
        What the colours show.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 2.

    Examples
    --------
    >>> r = [[1, 0.5, -0.2], [0.5, 1, -0.3], [-0.2, -0.3, 1]]
    >>> figure = fig_label_clusters(r, ["joy", "awe", "fear"], [[0, 1, 0.5, 2], [2, 3, 1.4, 3]])
    >>> len(figure.axes[0].lines)
    2
    """
    value = np.array(matrix, dtype=np.float64)
    np.fill_diagonal(value, np.nan)
    order = _order(linkage, len(labels))
    most = np.nanmax(np.abs(value), initial=0.0, where=np.isfinite(value))
    step = 0.05 if most < 0.4 else 0.1
    high = float(min(max(np.ceil(most / step - 1e-9) * step, 0.1), 1.0))
    colours, norm = _diverging(high)
    return _draw(
        value[np.ix_(order, order)],
        [labels[k] for k in order],
        linkage,
        colours,
        norm,
        value_name,
        cluster=None if cluster is None else [cluster[k] for k in order],
        groups=None if groups is None else [groups[k] for k in order],
        blank_diagonal=True,
    )


@themed
def fig_confusion_clusters(
    rows: ArrayLike,
    labels: Sequence[str],
    linkage: ArrayLike | None = None,
    *,
    tree_labels: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Figure:
    """Draw a confusion matrix by rows, ordered by the tree of its labels.

    Parameters
    ----------
    rows
        Share of each row, shape (n, n), true labels in rows; ``nan`` for a label that does not
        occur.
    labels
        Shape (n,).
    linkage
        The tree of `tree_labels`; the others come last.
    tree_labels
        Labels in the tree; None: all.
    groups
        Group of each label, shown as a strip of colours.

    References
    ----------
    Demszky et al. (2020), GoEmotions, figure 6.

    Examples
    --------
    >>> figure = fig_confusion_clusters([[0.8, 0.2], [0.1, 0.9]], ["joy", "fear"])
    >>> figure.axes[0].get_ylabel()
    'true label'
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    share = np.array(rows, dtype=np.float64)
    # A label that does not occur has a grey row.
    inside = list(labels if tree_labels is None else tree_labels)
    order = [list(labels).index(inside[k]) for k in _order(linkage, len(inside))]
    order += [k for k in range(len(labels)) if k not in set(order)]
    high = float(np.nanmax(share, initial=0.1, where=np.isfinite(share)))
    figure = _draw(
        share[np.ix_(order, order)],
        [labels[k] for k in order],
        linkage,
        LinearSegmentedColormap.from_list("share", [colour("raised"), *RAMP]),
        Normalize(0, min(float(np.ceil(high * 10 - 1e-9) / 10), 1.0)),
        "share of the row",
        groups=None if groups is None else [groups[k] for k in order],
    )
    heat = next(axes for axes in figure.axes if axes.get_label() == "heat")
    heat.set_ylabel("true label")
    heat.set_xlabel("predicted label")
    return figure


def _order(linkage: ArrayLike | None, n: int) -> list[int]:
    from scipy.cluster.hierarchy import leaves_list

    if linkage is None or n < 2:
        return list(range(n))
    found: list[int] = leaves_list(np.asarray(linkage, dtype=np.float64)).tolist()
    return found


def _diverging(high: float) -> tuple[Colormap, Normalize]:
    """Rust below 0, pale at 0, blue above, equally far to both sides."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    tones = ["#7f2f04", "#d98747", "#f2efec", "#5b9bc6", "#0b2f4f"]
    return LinearSegmentedColormap.from_list("correlation", tones), Normalize(-high, high)


def _draw(
    value: np.ndarray[Any, Any],
    names: list[str],
    linkage: ArrayLike | None,
    colours: Colormap,
    norm: Normalize,
    value_name: str,
    *,
    cluster: list[int] | None = None,
    groups: list[str] | None = None,
    blank_diagonal: bool = False,
) -> Figure:
    from matplotlib.patches import Rectangle

    n = len(names)
    short = [shown(name, _NAME) for name in names]
    size = 8.0 if n <= 20 else 6.8 if n <= 32 else 5.6
    text = max(map(len, short), default=1) * size * 0.6 / 72
    cell = min(0.36, max((WIDTH - text - 0.9) / max(n, 4), 0.1))
    side = cell * max(n, 4)
    tree = _TREE if linkage is not None and n > 1 else 0.0
    strip = 0.09 if groups is not None else 0.0
    figure = canvas(side + text + tree + strip + 0.55, side + text + 0.95)
    heights = [part for part in (tree, strip, side) if part]
    grid = figure.add_gridspec(
        len(heights), 2, height_ratios=heights, width_ratios=[side, 0.13], hspace=0.01, wspace=0.03
    )
    figure.get_layout_engine().set(hspace=0.0, wspace=0.02, h_pad=0.015)  # type: ignore[union-attr, call-arg]
    heat_row = len(heights) - 1
    # The heatmap is made last, but the tree shares its range; both count cells from 0 to n.
    if tree:
        _tree(figure.add_subplot(grid[0, 0], label="tree"), linkage, n)
    if groups is not None:
        _strip(figure.add_subplot(grid[heat_row - 1, 0], label="strip"), groups)
    axes = figure.add_subplot(grid[heat_row, 0], label="heat")
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(value),
        cmap=colours,
        norm=norm,
        edgecolors=colour("paper"),
        linewidth=0.8 if n <= 20 else 0.35,
    )
    for row, column in np.argwhere(np.isnan(value)):
        tint = colour("paper" if blank_diagonal and row == column else "line")
        axes.add_patch(Rectangle((column + 0.06, row + 0.06), 0.88, 0.88, color=tint, linewidth=0))
    if n <= _ANNOTATED:
        _numbers(axes, value, colours, norm)
    _names(axes, short, size, groups)
    if cluster is not None:
        _frames(axes, cluster)
    bar = figure.colorbar(mesh, cax=figure.add_subplot(grid[heat_row, 1], label="bar"))
    bar.set_label(value_name)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7.5)
    key = [(name, swatch(tint)) for name, tint in group_colours(groups or ()).items()]
    undefined = np.isnan(value)
    if blank_diagonal:
        undefined &= ~np.eye(n, dtype=bool)
    if undefined.any():
        key.append(("not defined", swatch(colour("line"))))
    key_below(figure, key)
    return figure


def _tree(axes: Axes, linkage: ArrayLike | None, n: int) -> None:
    """Draw the joinings of a tree; leaf k stands over the middle of cell k."""
    from scipy.cluster.hierarchy import dendrogram

    found = dendrogram(np.asarray(linkage, dtype=np.float64), no_plot=True)
    for x, height in zip(found["icoord"], found["dcoord"], strict=True):
        # SciPy puts leaves at 5, 15, 25, …
        axes.plot(np.array(x) / 10, height, color=colour("soft"), linewidth=0.8)
    axes.set_xlim(0, n)
    axes.set_ylim(0, max(map(max, found["dcoord"])) * 1.04 or 1.0)
    axes.axis("off")


def _strip(axes: Axes, groups: list[str]) -> None:
    tints = group_colours(groups)
    for k, group in enumerate(groups):
        axes.axvspan(k, k + 1, color=tints[group], linewidth=0)
    axes.set_xlim(0, len(groups))
    axes.axis("off")


def _numbers(axes: Axes, value: np.ndarray[Any, Any], colours: Colormap, norm: Normalize) -> None:
    from matplotlib.colors import to_hex

    for row, column in np.argwhere(np.isfinite(value)):
        axes.text(
            column + 0.5,
            row + 0.5,
            number(value[row, column]),
            ha="center",
            va="center",
            fontsize=7,
            color=ink_on(to_hex(colours(norm(value[row, column])))),
        )


def _names(axes: Axes, names: list[str], size: float, groups: list[str] | None) -> None:
    at = np.arange(len(names)) + 0.5
    axes.set_xticks(at, names, rotation=90, fontsize=size)
    axes.set_yticks(at, names, fontsize=size)
    axes.set_ylim(len(names), 0)
    axes.set_xlim(0, len(names))
    axes.tick_params(length=0, pad=2.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if groups is not None:
        tints = group_colours(groups)
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            for text, group in zip(labels, groups, strict=True):
                text.set_color(tints[group])


def _frames(axes: Axes, cluster: list[int]) -> None:
    """Frame runs of neighbours that share a cluster."""
    from matplotlib.patches import Rectangle

    edges = [0, *(k for k in range(1, len(cluster)) if cluster[k] != cluster[k - 1]), len(cluster)]
    for start, end in pairwise(edges):
        if end - start > 1:
            axes.add_patch(
                Rectangle(
                    (start, start),
                    end - start,
                    end - start,
                    fill=False,
                    edgecolor=colour("ink"),
                    linewidth=1.1,
                )
            )


# A map of stimuli as a still picture.


_MANY = 3000
"""Dots above which they are drawn as pixels: as so many shapes a picture is slow to open."""
_NAME_HEIGHT = 0.029
_LETTER_WIDTH = 0.0125
"""Height of a name and width of a letter, as shares of the map."""


@themed
def fig_label_map(
    places: ArrayLike,
    colours: Sequence[str],
    *,
    chosen: ArrayLike | None = None,
    labels: Sequence[str] = (),
) -> Figure:
    """Draw stimuli as dots, and the name of each label where most of its stimuli are.

    Parameters
    ----------
    places
        Shape (n, 2).
    colours
        Colour of each dot, shape (n,).
    chosen
        Which labels each stimulus has, shape (n, L). None: no names.
    labels
        Shape (L,).

    Examples
    --------
    >>> figure = fig_label_map([[0, 0], [1, 1]], ["#aa0000", "#00aa00"],
    ...                        chosen=[[True, False], [False, True]], labels=["joy", "fear"])
    >>> sorted(text.get_text() for text in figure.axes[0].texts)
    ['fear', 'joy']
    """
    at = np.asarray(places, dtype=np.float64)
    figure = canvas(WIDTH * 0.86, WIDTH)
    axes = figure.add_subplot()
    size = float(np.clip(22000 / max(len(at), 1), 1.5, 30))
    axes.scatter(
        at[:, 0],
        at[:, 1],
        c=list(colours),
        s=size,
        linewidths=0,
        alpha=0.85,
        rasterized=len(at) > _MANY,
    )
    if chosen is not None:
        _place_names(axes, at, np.asarray(chosen, dtype=bool), labels)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.04)
    axes.axis("off")
    return figure


def _place_names(
    axes: Axes, at: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any], labels: Sequence[str]
) -> None:
    """Write each name at the densest spot of its stimuli, frequent labels first."""
    from matplotlib.patheffects import withStroke

    span = max(float(np.ptp(at, axis=0).max()), 1e-9)
    used: list[tuple[float, float, int]] = []
    for k in np.argsort(-chosen.sum(axis=0), kind="stable"):
        own = at[chosen[:, k]]
        if not len(own):
            continue
        # Stimuli with only this label say best where it is.
        alone = at[chosen[:, k] & (chosen.sum(axis=1) == 1)]
        x, y = _densest(alone if len(alone) else own, span)
        name = shown(labels[k], 24)
        tried = (
            (x, y + _NAME_HEIGHT * span * step, len(name)) for step in (0, -1, 1, -2, 2, -3, 3, -4)
        )
        free = (place for place in tried if not _taken(place, used, span))
        place = next(free, (x, y, len(name)))
        used.append(place)
        axes.text(
            place[0],
            place[1],
            name,
            ha="center",
            va="center",
            fontsize=8,
            color=colour("ink"),
            path_effects=[withStroke(linewidth=2.4, foreground=colour("paper"), alpha=0.85)],
        )


def _taken(
    place: tuple[float, float, int], used: Sequence[tuple[float, float, int]], span: float
) -> bool:
    """Say whether a name here would lie on another; a place is x, y and letters."""
    return any(
        abs(x - place[0]) < _LETTER_WIDTH * span * (letters + place[2]) / 2
        and abs(y - place[1]) < 0.97 * _NAME_HEIGHT * span
        for x, y, letters in used
    )


def _densest(at: np.ndarray[Any, Any], span: float) -> tuple[float, float]:
    """Middle of the fullest cell of a coarse grid."""
    cell = np.floor((at - at.min(axis=0)) / (0.12 * span)).astype(int)
    _, which, counts = np.unique(cell, axis=0, return_inverse=True, return_counts=True)
    x, y = at[which.ravel() == counts.argmax()].mean(axis=0)
    return float(x), float(y)
