"""Trees of labels: joining, cutting, and how many clusters to cut into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis.labels import wording
from affectlab.analysis.labels.wording import Choice, Chosen
from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, unknown_name
from affectlab.core.facts import Reason
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.wording import undefined_text


@dataclass(frozen=True, repr=False, kw_only=True)
class LabelClusters(Result):
    """A tree of labels, and the clusters it is cut into; n of the L labels are in it.

    Its table has one row per label in the order of the tree: ``label``, ``cluster``,
    ``stability`` and, where known, ``group``. Without a tree there are no rows.
    """

    labels: tuple[str, ...]
    """The labels in the tree, in the order they were given, shape (n,)."""
    linkage: Floats
    """The tree as SciPy writes it, shape (n - 1, 4)."""
    order: Ints
    """Positions of the labels from left to right under the tree, shape (n,)."""
    cluster: Ints
    """Cluster of each label, 1 for the leftmost under the tree, shape (n,)."""
    together: Floats
    """Share of bootstrap replicates in which two labels share a cluster, shape (n, n)."""
    scores: dict[int, float]
    """Mean silhouette for each number of clusters from 2 to n - 1."""
    method: str
    """Linkage and distance, in words."""
    chosen: Chosen = "given"
    """How the number of clusters was chosen."""
    n_boot: int = 0
    """Replicates behind ``together``; those with an undefined correlation do not count."""
    left_out: tuple[str, ...] = ()
    """Labels with undefined correlations."""
    groups: tuple[str, ...] | None = None
    """Sentiment of each label in the tree, where known."""
    reason: Reason | None = None
    """Why there is no tree, where there is none."""

    @property
    def ok(self) -> bool:
        """Whether there is a tree."""
        return self.reason is None

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max(initial=0))

    def members(self) -> dict[int, tuple[str, ...]]:
        """Labels of each cluster, in the order of the tree."""
        found = self.to_frame().group_by("cluster", maintain_order=True).agg("label")
        return {number: tuple(names) for number, names in found.sort("cluster").iter_rows()}

    def stability(self) -> dict[int, float]:
        """Give the mean share of replicates that keep two labels of a cluster together.

        ``nan`` for a cluster of one label, and without replicates.
        """
        return dict(self.to_frame().select("cluster", "stability").unique().sort("cluster").rows())


_CLEAR = 0.25
"""Mean silhouette from which on clusters stand apart at all (Kaufman and Rousseeuw 1990)."""


def _sentences(
    n: int, k: int, method: str, chosen: Chosen, scores: dict[int, float], left_out: Sequence[str]
) -> tuple[str, ...]:
    """Say how many clusters there are and why, and whether they stand apart."""
    score = scores.get(k)
    weak = score is not None and score < _CLEAR
    return (
        wording.clusters_text(n, k, chosen, score, method),
        *([wording.weak_clusters(_CLEAR)] if weak else []),
        *([wording.not_in_tree(left_out)] if left_out else []),
    )


def complete(missing: Bools) -> Ints:
    """Leave out what lacks most pairs, until none is missing; give the places of the rest."""
    rest = np.arange(len(missing))
    while rest.size and missing[np.ix_(rest, rest)].any():
        rest = np.delete(rest, int(missing[np.ix_(rest, rest)].sum(axis=1).argmax()))
    return rest


def label_tree(
    labels: tuple[str, ...],
    distance: Floats,
    drawn: Iterable[Floats],
    *,
    linkage: str,
    k: int | Choice,
    method: str,
    undefined: Reason,
    groups: tuple[str, ...] | None = None,
    left_out: tuple[str, ...] = (),
) -> LabelClusters:
    """Join labels, cut the tree, and see in how many draws labels stay together.

    Parameters
    ----------
    labels, distance
        The n labels, and their distances, shape (n, n).
    drawn
        Distances of bootstrap samples, shape (n, n) each.
    linkage, k
        How labels are joined, and into how many clusters the tree is cut.
    method
        Linkage and distance, in words.
    undefined
        Why fewer than three labels make no tree.
    groups, left_out
        As in :class:`LabelClusters`.
    """
    n = len(labels)
    order, cluster, tree = np.arange(n), np.zeros(n, dtype=np.int64), np.empty((0, 4))
    together, n_boot = np.zeros((n, n)), 0
    scores: dict[int, float] = {}
    chosen: Chosen = "given"
    reason = None if n > 2 else undefined
    if reason is None:
        from scipy.cluster.hierarchy import leaves_list

        tree = _joined(distance, linkage, ordered=True)
        scores = {count: silhouette(distance, _cut(tree, count)) for count in range(2, n)}
        count, chosen = _choose(k, scores, tree)
        order = np.asarray(leaves_list(tree), dtype=np.int64)
        # Clusters are numbered from 1, in the order in which they stand under the tree.
        cut = _cut(tree, count)
        place = {own: number for number, own in enumerate(dict.fromkeys(cut[order].tolist()), 1)}
        cluster = np.array([place[own] for own in cut.tolist()], dtype=np.int64)
        for one in drawn:
            cut = _cut(_joined(one, linkage, ordered=False), count)
            together += cut[:, None] == cut[None, :]
            n_boot += 1
    together = together / n_boot if n_boot else np.full((n, n), np.nan)
    stability = {}
    for number in range(1, int(cluster.max(initial=0)) + 1):
        inside = np.flatnonzero(cluster == number)
        pairs = together[np.ix_(inside, inside)][np.triu_indices(inside.size, 1)]
        stability[number] = float(pairs.mean()) if pairs.size else float("nan")
    at = order if reason is None else order[:0]
    columns: dict[str, Any] = {
        "label": [labels[place] for place in at],
        "cluster": cluster[at],
        "stability": [stability[number] for number in cluster[at].tolist()],
    }
    if groups is not None:
        columns["group"] = [groups[place] for place in at]
    types = {"cluster": pl.Int64, "stability": pl.Float64}
    frame = pl.DataFrame(columns, schema={name: types.get(name, pl.String) for name in columns})
    members = (
        frame.group_by("cluster", maintain_order=True)
        .agg(pl.col("label").str.join(", ").alias("labels"), pl.col("stability").first())
        .sort("cluster")
    )
    said = _sentences(n, len(stability), method, chosen, scores, left_out)
    shown = (Key("label"), Count("cluster"), Number("stability"))
    of_members = (Key("cluster"), Text("labels"), Number("stability"))
    of_numbers = (Key("n_clusters"), Number("silhouette", "mean silhouette"))
    silhouettes = pl.DataFrame(
        {"n_clusters": [*scores], "silhouette": [*scores.values()]},
        schema={"n_clusters": pl.Int64, "silhouette": pl.Float64},
    )
    return LabelClusters(
        (
            Table("labels", wording.TREE, frame, shown, limit=0),
            Table("clusters", "Labels of each cluster.", members, of_members),
            Table("silhouettes", wording.SILHOUETTES, silhouettes, of_numbers, limit=0),
        ),
        said if reason is None else (undefined_text(reason),),
        notes=(wording.STABILITY,) if n_boot else (),
        settings={"method": method, "chosen": chosen, "reason": reason},
        labels=labels,
        linkage=tree,
        order=order,
        cluster=cluster,
        together=together,
        scores=scores,
        method=method,
        chosen=chosen,
        n_boot=n_boot,
        left_out=left_out,
        groups=groups,
        reason=reason,
    )


def _joined(distance: Floats, method: str, *, ordered: bool) -> Floats:
    from scipy.cluster.hierarchy import leaves_list, linkage

    pairs = distance[np.triu_indices(len(distance), 1)]
    tree: Floats = linkage(pairs, method, optimal_ordering=ordered)
    if ordered and 2 * leaves_list(tree).tolist().index(0) > len(tree):
        # A tree and its mirror image say the same; the first label stands in the left half.
        tree[:, :2] = tree[:, 1::-1]
    return tree


def _cut(tree: Floats, count: int) -> Ints:
    """Cut a tree into exactly so many clusters; of equal heights the first joining stays."""
    n = len(tree) + 1
    held: dict[int, list[int]] = {leaf: [leaf] for leaf in range(n)}
    for step, (first, second) in enumerate(tree[: n - count, :2].astype(np.int64).tolist()):
        held[n + step] = held.pop(first) + held.pop(second)
    cut = np.empty(n, dtype=np.int64)
    for part, leaves in enumerate(held.values()):
        cut[leaves] = part
    return cut


def _choose(k: int | Choice, scores: dict[int, float], tree: Floats) -> tuple[int, Chosen]:
    n = len(tree) + 1
    if isinstance(k, bool) or not isinstance(k, int | str | np.integer):
        raise InputError(f"k {k!r}: expected a number of clusters, 'silhouette' or 'elbow'")
    if not isinstance(k, str):
        if not 1 <= k <= n:
            raise InputError(f"k {k}: expected 1 to {n} clusters of {n} labels")
        return int(k), "given"
    if k == "silhouette":
        # Equal scores: the fewest clusters.
        return max(scores, key=lambda count: (scores[count], -count)), k
    if k == "elbow":
        return int(bends(tree).argmax()) + 2, k
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
    score = ratio(nearest - within, largest, 0.0)
    return float(np.where(sizes[own] > 1, score, 0.0).mean())
