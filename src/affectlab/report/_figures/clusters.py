"""Heatmaps of labels in the order of a tree, with the tree above."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Colormap, Figure, Normalize
from affectlab._words import number, shown
from affectlab.report._figures._base import WIDTH, canvas, key_below, swatch
from affectlab.report._figures.frequencies import group_colours
from affectlab.report._theme import RAMP, colour, ink_on, themed

__all__ = ["fig_confusion_clusters", "fig_label_clusters"]

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
