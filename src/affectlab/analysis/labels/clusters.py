"""Labels that are used alike: a tree over correlations, clusters, and how stable they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.labels import wording
from affectlab.analysis.labels.correlations import LabelCorrelations, label_correlations
from affectlab.analysis.labels.trees import LabelClusters, complete, label_tree
from affectlab.analysis.labels.wording import Choice
from affectlab.core.arrays import as_floats, ratio
from affectlab.core.errors import InputError, check_choice
from affectlab.core.facts import Cause, Reason
from affectlab.core.result import Result
from affectlab.core.tables import Figure, Key, Number, Share, Table
from affectlab.core.types import Floats
from affectlab.core.wording import undefined_text
from affectlab.core.words import plural
from affectlab.ratings import Ratings

_METHODS = ("ward", "average", "complete", "single")
_METRICS: dict[str, Callable[[Floats], Floats]] = {
    "correlation": lambda r: 1 - r,
    "euclidean": lambda r: np.sqrt(np.maximum(2 * (1 - r), 0)),
    "absolute": lambda r: 1 - np.abs(r),
}
"""Distance of two labels from their correlation r."""


def cluster_labels(
    ratings: Ratings | LabelCorrelations | ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    linkage: Literal["ward", "average", "complete", "single"] = "ward",
    metric: Literal["correlation", "euclidean", "absolute"] = "correlation",
    k: int | Choice = "silhouette",
    method: Literal["pearson", "spearman"] = "pearson",
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
    linkage
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
    method
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
        there is no tree, and ``reason`` says so.

        ``members()`` and ``stability()`` go by number of the cluster; ``cluster``,
        ``order`` and ``linkage`` (as SciPy writes it) are arrays over ``labels``,
        ``scores`` the mean silhouette of each number of clusters, ``k`` the number.

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
    check_choice("linkage", linkage, _METHODS)
    check_choice("metric", metric, _METRICS)
    correlations: LabelCorrelations | ArrayLike
    if not isinstance(ratings, Ratings):
        correlations = ratings
    else:
        if labels is not None:
            raise InputError("labels: ratings name their own; expected None")
        correlations = label_correlations(
            ratings,
            method=method,
            exclude_neutral=exclude_neutral,
            n_boot=n_boot,
            seed=seed,
        )
    matrix, names, groups, replicates = _given(correlations, labels)
    rest = complete(np.isnan(matrix)).tolist()
    found = label_tree(
        tuple(names[at] for at in rest),
        _distances(matrix[np.ix_(rest, rest)], metric),
        (
            _distances(drawn, metric)
            for drawn in _squares(replicates, len(names), rest)
            if not np.isnan(drawn).any()
        ),
        linkage=linkage,
        k=k,
        method=wording.tree_method(linkage, metric),
        undefined=Reason(Cause.FEWER, least=3, of="labels with all correlations defined"),
        groups=None if groups is None else tuple(groups[at] for at in rest),
        left_out=tuple(name for at, name in enumerate(names) if at not in rest),
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
    ok = found.ok
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
                f"Clusters: {members if ok else undefined_text(found.reason)}.",
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
    matrix = as_floats(correlations, "expected correlations, or a square array of numbers").copy()
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


def _squares(replicates: Floats | None, n_labels: int, rest: list[int]) -> Iterator[Floats]:
    """Spread replicates of pairs over squares of some of the labels, shape (n, n) each."""
    first, second = np.triu_indices(n_labels, 1)
    for pairs in () if replicates is None else replicates:
        square = np.ones((n_labels, n_labels))
        square[first, second] = square[second, first] = pairs
        yield square[np.ix_(rest, rest)]


def _distances(matrix: Floats, metric: str) -> Floats:
    distance = _METRICS[metric](np.clip((matrix + matrix.T) / 2, -1, 1))
    np.fill_diagonal(distance, 0.0)
    return distance


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
    linkage: Literal["ward", "average", "complete", "single"] = "ward",
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
    linkage, metric, k
        As in :func:`cluster_labels`.

    Returns
    -------
    ConfusionClusters
        ``rows`` are the shares of each row, shape (L, L), ``counts`` the sums of rows, and
        ``clusters`` the tree as :func:`cluster_labels` gives it.

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
    counts = as_floats(matrix, "expected a confusion matrix of numbers")
    n = len(labels)
    if counts.shape != (n, n):
        raise InputError(f"expected a matrix of shape ({n}, {n}), got shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        row, column = np.argwhere(~np.isfinite(counts) | (counts < 0))[0]
        raise InputError(
            f"row {labels[row]!r}, column {labels[column]!r}: {counts[row, column]:g} is no count"
        )
    total = counts.sum(axis=1)
    rows = ratio(counts, total[:, None])
    correlations = _row_correlations(rows)
    clusters = cluster_labels(correlations, labels=labels, linkage=linkage, metric=metric, k=k)
    shares = pl.DataFrame(
        {"true": np.repeat(labels, n), "predicted": np.tile(labels, n), "share": rows.ravel()}
    )
    columns = (Key("true"), Key("predicted"), Share("share"))
    ok = clusters.ok
    figure = Figure(
        "confusion_clusters",
        "confusion_clusters",
        "shares",
        wording.CONFUSION,
        options={
            "labels": list(labels),
            "linkage": clusters.linkage.tolist() if ok else None,
            "tree_labels": list(clusters.labels) if ok else None,
        },
    )
    return ConfusionClusters(
        (
            *clusters.tables[:3],
            Table("shares", f"{wording.CONFUSION}.", shares, columns, limit=0),
        ),
        clusters.sentences,
        (figure,),
        notes=clusters.notes,
        settings=clusters.settings,
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
