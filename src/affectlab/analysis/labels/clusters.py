"""Labels that are used alike: a tree over correlations, clusters, and how stable they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.labels.correlations import LabelCorrelations, label_correlations
from affectlab.analysis.labels.trees import (
    METRICS,
    Choice,
    choose,
    cut_into,
    distances,
    numbered,
    silhouette,
    tree_of,
)
from affectlab.core.errors import InputError, unknown_name
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Number, Share, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, plural
from affectlab.ratings import Ratings

__all__ = [
    "ConfusionClusters",
    "LabelClusters",
    "cluster_confusion",
    "cluster_labels",
]

_METHODS = ("ward", "average", "complete", "single")


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
    chosen: str = "given"
    """How the number of clusters was found."""
    n_boot: int = 0
    """Replicates behind ``together``; those with an undefined correlation do not count."""
    left_out: tuple[str, ...] = ()
    """Labels with undefined correlations."""
    groups: tuple[str, ...] | None = None
    """Sentiment of each label in the tree, where known."""
    status: str = "ok"
    """``ok``, or why there is no tree."""

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
_STABILITY = (
    "Stability: share of bootstrap samples in which two labels of the cluster stay together."
)


def _sentences(
    n: int, k: int, method: str, chosen: str, scores: dict[int, float], left_out: Sequence[str]
) -> tuple[str, ...]:
    """Say how many clusters there are and why, and whether they stand apart."""
    score = scores.get(k)
    weight = ""
    if score is not None:
        weight = f" of {score:.2f}" if "silhouette" in chosen else f"; mean silhouette {score:.2f}"
    said = [f"{plural(n, 'label')}, {plural(k, 'cluster')} ({chosen}{weight}): {method}."]
    if score is not None and score < _CLEAR:
        said.append(
            f"A mean silhouette below {_CLEAR} means that labels shade into each other: read the "
            "tree and the heatmap, and take the clusters as a summary only."
        )
    if left_out:
        said.append(f"Not in the tree, for want of correlations: {joined(left_out)}.")
    return tuple(said)


def tree_result(
    labels: tuple[str, ...],
    linkage: Floats,
    order: Ints,
    cluster: Ints,
    together: Floats,
    *,
    groups: tuple[str, ...] | None = None,
    status: str = "ok",
    method: str,
    chosen: str = "given",
    scores: dict[int, float],
    left_out: tuple[str, ...] = (),
    n_boot: int = 0,
    **more: Any,
) -> LabelClusters:
    """Set out a tree and its clusters; arguments as the fields of :class:`LabelClusters`."""
    stability = {}
    for number in range(1, int(cluster.max(initial=0)) + 1):
        inside = np.flatnonzero(cluster == number)
        pairs = together[np.ix_(inside, inside)][np.triu_indices(inside.size, 1)]
        stability[number] = float(pairs.mean()) if pairs.size else float("nan")
    at = order if status == "ok" else order[:0]
    frame = pl.DataFrame(
        {
            "label": [labels[k] for k in at],
            "cluster": cluster[at],
            "stability": [stability[int(number)] for number in cluster[at]],
        },
        schema={"label": pl.String, "cluster": pl.Int64, "stability": pl.Float64},
    )
    if groups is not None:
        frame = frame.with_columns(pl.Series("group", [groups[k] for k in at], dtype=pl.String))
    members = (
        frame.group_by("cluster", maintain_order=True)
        .agg(pl.col("label").str.join(", "), pl.col("stability").first())
        .sort("cluster")
        .select("cluster", labels="label", stability="stability")
    )
    return LabelClusters(
        (
            Table(
                "labels",
                "Labels in the order of the tree.",
                frame,
                (Key("label"), Count("cluster"), Number("stability")),
                limit=0,
            ),
            Table(
                "clusters",
                "Labels of each cluster.",
                members,
                (Key("cluster"), Text("labels"), Number("stability")),
            ),
        ),
        (status,)
        if status != "ok"
        else _sentences(len(labels), len(stability), method, chosen, scores, left_out),
        notes=(_STABILITY,) if n_boot else (),
        labels=labels,
        method=method,
        chosen=chosen,
        scores=scores,
        left_out=left_out,
        n_boot=n_boot,
        linkage=linkage,
        order=order,
        cluster=cluster,
        together=together,
        groups=groups,
        status=status,
        **more,
    )


def cluster_labels(
    ratings: Ratings | LabelCorrelations | ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    method: Literal["ward", "average", "complete", "single"] = "ward",
    metric: Literal["correlation", "euclidean", "absolute"] = "correlation",
    k: int | Choice = "silhouette",
    correlation: Literal["pearson", "spearman"] = "pearson",
    exclude_neutral: bool = True,
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> LabelClusters:
    r"""Cluster labels that people use alike.

    Parameters
    ----------
    ratings
        Ratings; or correlations from :func:`label_correlations` (with its replicates, the clusters
        get a stability), or a symmetric matrix of these of shape (L, L).
    labels
        Names of the rows of a matrix.
    method
        How clusters are joined.

        ``"ward"`` as in the paper.
    metric
        Distance of two labels with correlation r: 1 - r, the distance of standardised answers, or
        ``1 - |r|``, where opposites are close.

        ``"correlation"``: :math:`1 - r`, as in the paper; ``"euclidean"``:
        :math:`\sqrt{2 (1 - r)}`, the distance of the standardised columns, for which Ward's
        criterion is the variance within clusters (with :math:`1 - r` it is used as a formula only);
        ``"absolute"``: :math:`1 - |r|`.
    k
        Number of clusters, or how it is found.

        ``"silhouette"``: the number with the highest mean silhouette; ``"elbow"``: the number at
        which the heights of the tree sag farthest below a straight line from one cluster to single
        labels.
    correlation
        Kind of correlation, of ratings.
    exclude_neutral
        Leave out the label that stands for no emotion, of ratings.
    n_boot
        Bootstrap replicates over stimuli for the stability of clusters, of ratings; 0: none.
    seed
        Same seed, same result.

    Returns
    -------
    LabelClusters
        With the labels whose correlations are all defined: the label with most undefined ones is
        left out, one after the other, and named in ``left_out``. With fewer than three labels left
        there is no tree, and ``status`` says so.

    Raises
    ------
    InputError
        If the matrix is not symmetric, has a value outside [-1, 1], or ``k`` is out of range.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.2. Rousseeuw (1987), Silhouettes.

    Examples
    --------
    >>> r = [[1, 0.8, -0.5, -0.4], [0.8, 1, -0.4, -0.5], [-0.5, -0.4, 1, 0.7], [-0.4, -0.5, 0.7, 1]]
    >>> found = cluster_labels(r, labels=["joy", "awe", "fear", "sadness"])
    >>> found.members()
    {1: ('joy', 'awe'), 2: ('fear', 'sadness')}
    """
    if method not in _METHODS:
        raise unknown_name("method", method, _METHODS)
    if metric not in METRICS:
        raise unknown_name("metric", metric, METRICS)
    correlations: LabelCorrelations | ArrayLike
    if not isinstance(ratings, Ratings):
        correlations = ratings
    else:
        if labels is not None:
            raise InputError("labels: ratings name their own; expected None")
        correlations = label_correlations(
            ratings,
            method=correlation,
            exclude_neutral=exclude_neutral,
            n_boot=n_boot,
            seed=seed,
        )
    matrix, names, groups, replicates = _given(correlations, labels)
    kept = _complete(matrix)
    left_out = tuple(name for at, name in enumerate(names) if at not in set(kept.tolist()))
    found = _cluster(
        matrix[np.ix_(kept, kept)],
        tuple(names[at] for at in kept),
        None if groups is None else tuple(groups[at] for at in kept),
        None if replicates is None else _replicate_matrices(replicates, len(names), kept),
        method=method,
        metric=metric,
        k=k,
        left_out=left_out,
    )
    return _with_correlations(found, matrix, names, groups)


def _with_correlations(
    found: LabelClusters, matrix: Floats, names: tuple[str, ...], groups: tuple[str, ...] | None
) -> LabelClusters:
    """Put the correlations beside the clusters, and declare their heatmap."""
    first, second = np.triu_indices(len(names), 1)
    pairs = pl.DataFrame(
        {
            "label_a": [names[k] for k in first],
            "label_b": [names[k] for k in second],
            "value": matrix[first, second],
        },
        schema={"label_a": pl.String, "label_b": pl.String, "value": pl.Float64},
    )
    columns = (Key("label_a", "label"), Key("label_b", "label"), Number("value", "correlation"))
    ok = found.status == "ok"
    # Without a tree there is only the heatmap, of all labels.
    shown = found.labels if ok else names
    of = found.groups if ok else groups
    members = "; ".join(", ".join(own) for own in found.members().values())
    return replace(
        found,
        tables=(
            *found.tables,
            Table("correlations", "Correlations of labels.", pairs, columns, limit=0),
        ),
        figures=(
            Figure(
                "label_correlations",
                "label_heatmap",
                "correlations",
                "Correlations of labels",
                description=f"{plural(len(shown), 'label')}. "
                f"Clusters: {members if ok else found.status}.",
                options={
                    "names": list(shown),
                    "linkage": found.linkage.tolist() if ok else None,
                    "cluster": found.cluster.tolist() if ok else None,
                    "groups": None if of is None else list(of),
                },
            ),
        ),
    )


def _given(
    correlations: LabelCorrelations | ArrayLike, labels: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...], tuple[str, ...] | None, Floats | None]:
    if isinstance(correlations, LabelCorrelations):
        if labels is not None:
            raise InputError("labels: correlations name their own; expected None")
        found = correlations
        replicates = found.replicates if found.replicates.size else None
        return found.matrix, found.labels, found.groups, replicates
    try:
        matrix = np.array(correlations, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("expected correlations, or a square array of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"expected a square matrix of correlations, got shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, atol=1e-8, equal_nan=True):
        raise InputError("the matrix of correlations is not symmetric")
    if np.nanmax(np.abs(matrix), initial=0.0) > 1 + 1e-8:
        raise InputError("a correlation lies outside [-1, 1]")
    names = tuple(f"label {k}" for k in range(len(matrix))) if labels is None else tuple(labels)
    if len(names) != len(matrix):
        raise InputError(f"labels: expected {len(matrix)} names, got {len(names)}")
    return matrix, names, None, None


def _complete(matrix: Floats) -> Ints:
    """Leave out the label with most undefined correlations, until none is undefined."""
    kept = np.arange(len(matrix))
    missing = np.isnan(matrix)
    while kept.size and missing[np.ix_(kept, kept)].any():
        kept = np.delete(kept, int(missing[np.ix_(kept, kept)].sum(axis=1).argmax()))
    return kept


def _replicate_matrices(replicates: Floats, n_labels: int, kept: Ints) -> Floats:
    """Spread replicates of pairs over squares of the labels kept, shape (B, n, n)."""
    first, second = np.triu_indices(n_labels, 1)
    square = np.ones((len(replicates), n_labels, n_labels))
    square[:, first, second] = square[:, second, first] = replicates
    return square[:, kept][:, :, kept]


def _cluster(
    matrix: Floats,
    names: tuple[str, ...],
    groups: tuple[str, ...] | None,
    replicates: Floats | None,
    *,
    method: str,
    metric: str,
    k: int | Choice,
    left_out: tuple[str, ...],
) -> LabelClusters:
    from scipy.cluster.hierarchy import leaves_list

    n = len(names)
    words = f"{method} linkage, {metric} distance"
    unknown = np.full((n, n), np.nan)
    if n < 3:
        why = f"undefined: {plural(n, 'label')} with all correlations defined, expected 3 or more"
        empty, none = np.empty((0, 4)), np.zeros(n, dtype=np.int64)
        at = np.arange(n)
        return tree_result(
            names,
            empty,
            at,
            none,
            unknown,
            scores={},
            method=words,
            left_out=left_out,
            groups=groups,
            status=why,
        )
    distance = distances(matrix, metric)
    tree = tree_of(distance, method, ordered=True)
    cuts = {count: cut_into(tree, count) for count in range(2, n)}
    scores = {count: silhouette(distance, cut) for count, cut in cuts.items()}
    count, chosen = choose(k, scores, tree, n)
    order = np.asarray(leaves_list(tree), dtype=np.int64)
    together, n_boot = unknown, 0
    if replicates is not None:
        together, n_boot = _together(replicates, method, metric, count)
    cluster = numbered(cut_into(tree, count), order)
    return tree_result(
        names,
        tree,
        order,
        cluster,
        together,
        scores=scores,
        method=words,
        chosen=chosen,
        n_boot=n_boot,
        left_out=left_out,
        groups=groups,
    )


def _together(replicates: Floats, method: str, metric: str, count: int) -> tuple[Floats, int]:
    n = replicates.shape[1]
    total, used = np.zeros((n, n)), 0
    for matrix in replicates:
        if np.isnan(matrix).any():
            continue
        cut = cut_into(tree_of(distances(matrix, metric), method, ordered=False), count)
        total += cut[:, None] == cut[None, :]
        used += 1
    return (total / used if used else np.full((n, n), np.nan)), used


# Labels that a model confuses alike.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConfusionClusters(Result):
    """A confusion matrix by rows, and the tree of its labels; it says what the tree says."""

    labels: tuple[str, ...]
    rows: Floats
    """Share of each row, shape (L, L): what the label in the row was taken for; rows sum to 1,
    ``nan`` where the label does not occur."""
    counts: Floats
    """Sum of each row before, shape (L,)."""
    clusters: LabelClusters
    """The tree over the rows; labels that do not occur, or whose row is flat, are left out."""


def cluster_confusion(
    matrix: ArrayLike,
    labels: Sequence[str],
    *,
    method: Literal["ward", "average", "complete", "single"] = "ward",
    metric: Literal["correlation", "euclidean", "absolute"] = "correlation",
    k: int | Choice = "silhouette",
) -> ConfusionClusters:
    """Normalise the rows of a confusion matrix, and cluster labels by the correlation of rows.

    Parameters
    ----------
    matrix
        Counts, shape (L, L): true label in the row, predicted label in the column. With several
        labels per example, every true label counts once for every predicted one.
    labels
        Names of rows and columns, shape (L,).
    method, metric, k
        As in :func:`cluster_labels`.

    Raises
    ------
    InputError
        If the matrix is not square, or has a negative count.

    References
    ----------
    Demszky et al. (2020), GoEmotions, appendix G.

    Examples
    --------
    >>> found = cluster_confusion([[8, 2, 0], [3, 7, 0], [0, 1, 9]], ["joy", "awe", "fear"])
    >>> found.rows[0].tolist(), found.clusters.members()
    ([0.8, 0.2, 0.0], {1: ('joy', 'awe'), 2: ('fear',)})
    """
    try:
        counts = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("expected a confusion matrix of numbers") from None
    n = len(labels)
    if counts.shape != (n, n):
        raise InputError(f"expected a matrix of shape ({n}, {n}), got shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        row, column = np.argwhere(~np.isfinite(counts) | (counts < 0))[0]
        raise InputError(
            f"row {labels[row]!r}, column {labels[column]!r}: {counts[row, column]:g} is no count"
        )
    total = counts.sum(axis=1)
    rows = np.divide(
        counts, total[:, None], out=np.full((n, n), np.nan), where=(total > 0)[:, None]
    )
    correlations = _row_correlations(rows)
    clusters = cluster_labels(correlations, labels=labels, method=method, metric=metric, k=k)
    shares = pl.DataFrame(
        {"true": np.repeat(labels, n), "predicted": np.tile(labels, n), "share": rows.ravel()}
    )
    columns = (Key("true"), Key("predicted"), Share("share"))
    ok = clusters.status == "ok"
    figure = Figure(
        "confusion_clusters",
        "confusion_clusters",
        "shares",
        "What each label was taken for",
        "Rows: true labels; columns: predicted labels; colours: shares of a row.",
        options={
            "labels": list(labels),
            "linkage": clusters.linkage.tolist() if ok else None,
            "tree_labels": list(clusters.labels) if ok else None,
        },
    )
    return ConfusionClusters(
        (
            *clusters.tables[:2],
            Table("shares", "What each label was taken for.", shares, columns, limit=0),
        ),
        clusters.sentences,
        (figure,),
        notes=clusters.notes,
        labels=tuple(labels),
        rows=rows,
        counts=total,
        clusters=clusters,
    )


def _row_correlations(rows: Floats) -> Floats:
    """Correlate rows; ``nan`` for rows that are missing or flat."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    length = np.where(length > 1e-12, length, np.nan)
    matrix: Floats = np.clip(centred @ centred.T / length / length[:, None], -1, 1)
    return matrix
