"""Trees of labels: distances, joining, cutting, and how many clusters to cut into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Bools, Floats, Ints

__all__ = [
    "METRICS",
    "Choice",
    "bends",
    "choose",
    "cut_into",
    "distances",
    "numbered",
    "silhouette",
    "tree_of",
]

Choice = Literal["silhouette", "elbow"]

METRICS: dict[str, Callable[[Floats], Floats]] = {
    "correlation": lambda r: 1 - r,
    "euclidean": lambda r: np.sqrt(np.maximum(2 * (1 - r), 0)),
    "absolute": lambda r: 1 - np.abs(r),
}
"""Distance of two labels from their correlation r."""


def distances(matrix: Floats, metric: str) -> Floats:
    distance = METRICS[metric](np.clip((matrix + matrix.T) / 2, -1, 1))
    np.fill_diagonal(distance, 0.0)
    return distance


def tree_of(distance: Floats, method: str, *, ordered: bool) -> Floats:
    from scipy.cluster.hierarchy import leaves_list, linkage

    pairs = distance[np.triu_indices(len(distance), 1)]
    tree: Floats = linkage(pairs, method, optimal_ordering=ordered)
    if ordered and 2 * leaves_list(tree).tolist().index(0) > len(tree):
        # A tree and its mirror image say the same; the first label stands in the left half.
        tree[:, :2] = tree[:, 1::-1]
    return tree


def cut_into(tree: Floats, count: int) -> Ints:
    """Cut a tree into exactly so many clusters, ties of height included."""
    from scipy.cluster.hierarchy import cut_tree

    return np.asarray(cut_tree(tree, count)[:, 0], dtype=np.int64)


def numbered(cut: Ints, order: Ints) -> Ints:
    """Number clusters from 1, in the order in which they stand under the tree."""
    seen = list(dict.fromkeys(cut[order].tolist()))
    return np.array([seen.index(own) + 1 for own in cut.tolist()], dtype=np.int64)


def choose(k: int | Choice, scores: dict[int, float], tree: Floats, n: int) -> tuple[int, str]:
    if isinstance(k, bool) or not isinstance(k, int | str | np.integer):
        raise InputError(f"k {k!r}: expected a number of clusters, 'silhouette' or 'elbow'")
    if not isinstance(k, str):
        if not 1 <= k <= n:
            raise InputError(f"k {k}: expected 1 to {n} clusters of {n} labels")
        return int(k), "given"
    if k == "silhouette":
        # Equal scores: the fewest clusters.
        return max(scores, key=lambda count: (scores[count], -count)), "highest mean silhouette"
    if k == "elbow":
        return int(bends(tree).argmax()) + 2, "elbow of the heights of the tree"
    raise unknown_name("way to choose k", k, ("silhouette", "elbow"))


def bends(tree: Floats) -> Floats:
    """How far the heights of a tree sag at 2, 3, … clusters below a straight line.

    The line goes from the height of 1 cluster to that of n, which is 0; both axes are from 0 to 1,
    as in Satopaa et al. (2011). Differences of neighbouring heights would be largest among the
    first labels joined, wherever two of these are all but alike.
    """
    heights = tree[::-1, 2]
    n = len(heights) + 1
    top = heights[0] if heights[0] > 0 else 1.0
    line: Floats = 1 - np.arange(1, n - 1) / (n - 1)
    return line - heights[1:] / top


def silhouette(distance: Floats, cluster: Ints) -> float:
    """Compute the mean silhouette of labels from their distances; 0 for one alone."""
    inside: Bools = cluster[:, None] == np.unique(cluster)[None, :]
    sizes = inside.sum(axis=0)
    total = distance @ inside
    own = inside.argmax(axis=1)
    rows = np.arange(len(cluster))
    within = total[rows, own] / np.maximum(sizes[own] - 1, 1)
    nearest = np.where(inside, np.inf, total / sizes).min(axis=1)
    largest = np.maximum(within, nearest)
    score = np.divide(nearest - within, largest, out=np.zeros(len(cluster)), where=largest > 0)
    return float(np.where(sizes[own] > 1, score, 0.0).mean())
