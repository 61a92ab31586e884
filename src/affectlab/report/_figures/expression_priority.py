"""Which expressions need most care, and at how many clusters their tree bends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.report._figures._base import WIDTH, canvas, grid_along, key_below, names_on_y, swatch
from affectlab.report._figures.expression_heatmap import cluster_colours
from affectlab.report._theme import colour, themed

__all__ = ["fig_expression_elbow", "fig_expression_priority"]

_NAME = 40


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
    axes.set_yticks(rows, [shown(names[k], _NAME) for k in order])
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
