"""A tree of expressions over their mean differences, and how stable its clusters are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab._types import Floats, Ints
from affectlab._words import plural
from affectlab.analysis._clusters import LabelClusters
from affectlab.analysis._tree import Choice, bends, choose, cut_into, numbered, silhouette, tree_of

__all__ = ["LINKAGES", "MISSING", "Linkage", "Missing", "elbow_of", "expression_tree"]

Linkage: TypeAlias = Literal["average", "complete", "single", "ward"]
LINKAGES = ("average", "complete", "single", "ward")
Missing: TypeAlias = Literal["leave-out", "fill"]
MISSING = ("leave-out", "fill")


def expression_tree(
    names: tuple[str, ...],
    matrix: Floats,
    replicates: Iterable[Floats],
    *,
    linkage: Linkage,
    k: int | Choice,
    missing: Missing,
) -> LabelClusters:
    """Cluster expressions by their mean differences.

    Parameters
    ----------
    matrix
        Mean differences, shape (n, n), ``nan`` where two expressions were not compared.
    replicates
        Bootstrap replicates of it, for the stability.

    Returns
    -------
    LabelClusters
        Where cells are missing, the expression with most of them is left out, one after the other,
        or they are filled; see :func:`expression_differences`.
    """
    kept = np.arange(len(names)) if missing == "fill" else _complete(matrix)
    left_out = tuple(name for at, name in enumerate(names) if at not in set(kept.tolist()))
    own = tuple(names[at] for at in kept.tolist())
    n = len(own)
    words = f"{linkage} linkage of mean differences"
    together = np.full((n, n), np.nan)
    if n < 3:
        why = f"undefined: {plural(n, 'expression')} compared with all others, expected 3 or more"
        empty, none, at = np.empty((0, 4)), np.zeros(n, dtype=np.int64), np.arange(n)
        return LabelClusters(
            own, empty, at, none, together, {}, words, left_out=left_out, status=why
        )
    from scipy.cluster.hierarchy import leaves_list

    distance = _distances(matrix, kept)
    tree = tree_of(distance, linkage, ordered=True)
    scores = {count: silhouette(distance, cut_into(tree, count)) for count in range(2, n)}
    count, chosen = choose(k, scores, tree, n)
    order: Ints = np.asarray(leaves_list(tree), dtype=np.int64)
    total, used = np.zeros((n, n)), 0
    for replicate in replicates:
        drawn = tree_of(_distances(replicate, kept), linkage, ordered=False)
        cut = _parts(drawn, count)
        total += cut[:, None] == cut[None, :]
        used += 1
    return LabelClusters(
        own,
        tree,
        order,
        numbered(cut_into(tree, count), order),
        total / used if used else together,
        scores,
        words,
        chosen,
        used,
        left_out,
    )


def elbow_of(clusters: LabelClusters) -> pl.DataFrame:
    r"""Give the heights of a tree by number of clusters, and how much they bend there.

    With :math:`h_k` the mean difference at which k clusters become k - 1, and n expressions, the
    bend at k is :math:`1 - (k - 1) / (n - 1) - h_{k+1} / h_2`: how far k clusters are below a
    straight line from one cluster to n. The elbow is the k where it is largest.
    """
    heights = clusters.linkage[::-1, 2]
    bend = np.full(heights.size, np.nan)
    bend[:-1] = bends(clusters.linkage)
    return pl.DataFrame(
        {"n_clusters": np.arange(2, heights.size + 2), "height": heights, "bend": bend}
    )


def _parts(tree: Floats, count: int) -> Ints:
    """Cut a tree into exactly so many clusters; of equal heights the first joining stays.

    SciPy's ``cut_tree`` takes ten times as long, which a thousand replicates would feel.
    """
    n = len(tree) + 1
    held: dict[int, list[int]] = {leaf: [leaf] for leaf in range(n)}
    for step, (first, second) in enumerate(tree[: n - count, :2].astype(np.int64).tolist()):
        held[n + step] = held.pop(first) + held.pop(second)
    cut = np.empty(n, dtype=np.int64)
    for part, leaves in enumerate(held.values()):
        cut[leaves] = part
    return cut


def _off(n: int) -> tuple[Ints, Ints]:
    first, second = np.triu_indices(n, 1)
    return first.astype(np.int64), second.astype(np.int64)


def _complete(matrix: Floats) -> Ints:
    """Leave out the expression with most missing cells, until none is missing."""
    missing = np.isnan(matrix)
    np.fill_diagonal(missing, False)
    kept = np.arange(len(matrix))
    while kept.size and missing[np.ix_(kept, kept)].any():
        kept = np.delete(kept, int(missing[np.ix_(kept, kept)].sum(axis=1).argmax()))
    return kept


def _distances(matrix: Floats, kept: Ints) -> Floats:
    """Take the part of a matrix that is clustered; missing cells are the sum of two effects."""
    distance = np.array(matrix[np.ix_(kept, kept)])
    first, second = _off(kept.size)
    cells = distance[first, second]
    known = ~np.isnan(cells)
    if not known.all():
        # The mean of a cell is the sum of one half-effect of either expression.
        design = np.zeros((cells.size, kept.size))
        rows = np.arange(cells.size)
        design[rows, first] = design[rows, second] = 1.0
        effect = np.linalg.lstsq(design[known], cells[known], rcond=None)[0]
        cells = np.where(known, cells, design @ effect)
        distance[first, second] = distance[second, first] = cells
    # Scores of a subject model may lie below the scale; a distance may not.
    distance = np.maximum(distance, 0.0)
    np.fill_diagonal(distance, 0.0)
    return distance
