"""Which labels go with which where items may have several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab._types import Floats, Ints
from affectlab.evaluation._confusion import Axis, long_frame, share_of
from affectlab.evaluation._costs_of import TaxonomyLike
from affectlab.evaluation._metrics_multilabel import LabelSets, label_sets

__all__ = ["MultilabelConfusion", "multilabel_confusion"]


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelConfusion:
    """Counts of (true, predicted) labels over items that may have several of each."""

    labels: tuple[str, ...]
    counts: Ints
    """Shape (k, k): items with true label i and predicted label j."""
    per_label: Ints
    """Shape (k, 2, 2): for each label [[neither, only predicted], [only true, both]]."""
    n: int
    """Items."""

    def normalized(self, axis: Axis = "true") -> Floats:
        """Divide the counts by their row (``"true"``), column (``"pred"``) or ``"all"``.

        Rows divided sum to 1; ``nan`` where a row holds nothing.
        """
        return share_of(self.counts.astype(np.float64), axis)

    def to_frame(self) -> pl.DataFrame:
        """One row per pair of labels: ``true``, ``predicted``, ``count``, ``share`` of the row."""
        return long_frame(self.labels, self.counts, self.normalized("true"))

    def per_label_frame(self) -> pl.DataFrame:
        """One row per label: neither, only_predicted, only_true, both."""
        names = ("neither", "only_predicted", "only_true", "both")
        table = self.per_label.reshape(-1, 4)
        columns = {name: table[:, column] for column, name in enumerate(names)}
        return pl.DataFrame({"label": pl.Series(self.labels, dtype=pl.String), **columns})

    def __repr__(self) -> str:
        return f"MultilabelConfusion({len(self.labels)} labels, {self.n:,} items)"


def multilabel_confusion(
    y_true: LabelSets,
    y_pred: LabelSets,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
) -> MultilabelConfusion:
    """Count, for each true label of an item, each of its predicted labels.

    Parameters
    ----------
    y_true, y_pred
        Labels of each item: lists or sets of names, or 0/1 arrays of shape (n, k) with `labels`.
    taxonomy
        Gives the labels, and understands names in any spelling.
    labels
        The labels in the order of rows, and of the columns of arrays.

    Returns
    -------
    The counts and, for each label, its two-by-two table.

    Raises
    ------
    InputError
        When lengths differ, a label is not known, or an array is not 0/1 with a column per label.

    References
    ----------
    Demszky et al. (2020), GoEmotions, appendix G.

    Examples
    --------
    >>> seen = multilabel_confusion([["joy", "love"]], [["joy", "pride"]],
    ...                             labels=["joy", "love", "pride"])
    >>> seen.counts.tolist()
    [[1, 0, 1], [1, 0, 1], [0, 0, 0]]
    >>> seen.per_label[0].tolist()
    [[0, 0], [0, 1]]
    """
    names, true, predicted = label_sets(y_true, y_pred, taxonomy, labels)
    # Sums of 0/1 in floats are exact, and their product runs on the fast path.
    t, p = true.astype(np.float64), predicted.astype(np.float64)
    counts = np.rint(t.T @ p).astype(np.int64)
    both = np.diagonal(counts)
    only_true, only_predicted = true.sum(axis=0) - both, predicted.sum(axis=0) - both
    neither = len(true) - both - only_true - only_predicted
    per_label = np.stack([neither, only_predicted, only_true, both], axis=-1)
    return MultilabelConfusion(names, counts, per_label.reshape(-1, 2, 2), len(true))
