"""Labels that a model confuses alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.analysis._clusters import LabelClusters, cluster_labels
from affectlab.analysis._tree import Choice
from affectlab.errors import InputError

__all__ = ["ConfusionClusters", "cluster_confusion"]


@dataclass(frozen=True)
class ConfusionClusters:
    """A confusion matrix by rows, and the tree of its labels."""

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
    k: int | Choice | None = None,
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
    clusters = cluster_labels(_row_correlations(rows), labels, method=method, metric=metric, k=k)
    return ConfusionClusters(tuple(labels), rows, total, clusters)


def _row_correlations(rows: Floats) -> Floats:
    """Correlate rows; ``nan`` for rows that are missing or flat."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    length = np.where(length > 1e-12, length, np.nan)
    matrix: Floats = np.clip(centred @ centred.T / length / length[:, None], -1, 1)
    return matrix
