"""Mean differences of expressions as a heatmap in the order of their tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Axes, Colormap, Figure, Floats, Normalize
from affectlab._words import number, shown
from affectlab.errors import InputError
from affectlab.report._figures._base import WIDTH, canvas, key_below, swatch
from affectlab.report._theme import RAMP, colour, ink_on, themed

__all__ = ["cluster_colours", "fig_expression_heatmap"]

_ANNOTATED = 12
_NAME = 44
_SPARE = 0.15
_TREE = 0.75
"""Height of the tree in inches."""
_HUES = ("people", "model", "positive", "mixed", "ambiguous", "negative", "ink")


def cluster_colours(clusters: Sequence[int | None]) -> dict[int | None, str]:
    """Give each cluster a colour, in turn; grey for expressions of no cluster."""
    known = sorted({number for number in clusters if number is not None})
    tints: dict[int | None, str] = {
        number: colour(_HUES[k % len(_HUES)]) for k, number in enumerate(known)
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
    rows = [f"{row + 1}  {shown(names[k], _NAME)}" for row, k in enumerate(order)]
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
