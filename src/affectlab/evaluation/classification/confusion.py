"""Which label is taken for which: the confusion matrix of one label per item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Number, Share, Table
from affectlab.core.types import Floats, Ints
from affectlab.core.words import shown
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.estimates import checked_counts
from affectlab.evaluation.classification.labels import (
    LabelSets,
    LabelsLike,
    code_labels,
    counts_of,
    label_sets,
)
from affectlab.evaluation.classification.metrics import metric_called
from affectlab.evaluation.label_facts import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)

Axis = Literal["true", "pred", "all"]


_GRID = 10
"""Labels up to which a matrix is shown whole."""
_PAIRS = (Key("true"), Key("predicted"), Count("count"), Share("share", "of the true label"))
_FREQUENT = 10
"""Mistakes that people are shown."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Confusion(Result):
    """Counts of (true, predicted) labels, true labels in rows.

    Made by :func:`confusion`, or from a published matrix by :meth:`from_counts`. The first table
    has one row per pair of labels: ``true``, ``predicted``, ``count``, ``share`` of the row. The
    table ``mistakes`` has those that occur, by what they lose: ``share`` of all mistakes, and,
    where costs are known, ``cost`` W and ``lost``, the part of 1 - ECC that is due to the pair,
    count (1 - 1 / W) / n; the sum of ``lost`` is 1 - ECC. The table ``matrix``, of up to ten
    labels, has one row per true label, with its recall and precision.

    Examples
    --------
    >>> seen = Confusion.from_counts([[8, 2], [1, 9]], ["awe", "fear"], "mikels")
    >>> print(seen.finding)
    85.0... of 20 items have the right label; awe is taken for fear most often (2 of 10).
    >>> round(seen.ecc, 3), round(seen.emc, 3)
    (0.875, 0.2)
    """

    labels: tuple[str, ...]
    counts: NDArray[Any]
    """Shape (k, k): whole numbers, or sums of weights."""
    facts: LabelFacts
    """What is known of the labels: costs, polarity or groups."""

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        labels: Sequence[str],
        taxonomy: TaxonomyLike | None = None,
        *,
        costs: CostsLike | None = None,
        groups: GroupsLike | None = None,
    ) -> Confusion:
        """Take a confusion matrix as it is, such as a published one.

        Parameters
        ----------
        counts
            Shape (k, k), true labels in rows; counts or shares of all items.
        labels
            The k labels, in the order of rows and columns.
        taxonomy, costs, groups
            As for :func:`confusion`.

        Raises
        ------
        InputError
            When the shape does not fit, a count is negative, or a label is not known.
        """
        facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
        facts = facts or LabelFacts(tuple(labels))
        matrix = checked_counts(counts, facts)
        if matrix.ndim != 2:
            raise InputError(f"counts: shape {matrix.shape}; expected one matrix")
        whole = np.asarray(counts).dtype.kind in "iu"
        return _confusion(facts, matrix.astype(np.int64) if whole else matrix.copy())

    @property
    def n(self) -> float:
        """Items, or the sum of their weights."""
        total = self.counts.sum()
        return int(total) if self.counts.dtype.kind == "i" else float(total)

    @property
    def accuracy(self) -> float:
        """Share of items whose label is right."""
        return self.metric("accuracy")

    @property
    def acc2(self) -> float:
        """Share of items whose predicted label has the polarity of the true one."""
        return self.metric("acc2")

    @property
    def ecc(self) -> float:
        """Emotion confusion confidence; see :func:`ecc`."""
        return self.metric("ecc")

    @property
    def emc(self) -> float:
        """Emotional misclassification confidence, ``nan`` without mistakes; see :func:`emc`."""
        return self.metric("emc")

    @property
    def mean_emotional_distance(self) -> float:
        """Mean distance W between true and predicted label."""
        return self.metric("mean_emotional_distance")

    def metric(self, name: str, *, zero_division: float = 0.0) -> float:
        """Compute a metric among ``CLASSIFICATION_METRICS`` from the counts.

        Raises
        ------
        InputError
            When the name is not known, or the labels have not what the metric needs.
        """
        used = np.flatnonzero(self.counts.sum(axis=0) + self.counts.sum(axis=1))
        return metric_called(name).of_counts(self.facts, self.counts, used, zero_division)

    def normalized(self, axis: Axis = "true") -> Floats:
        """Divide the counts.

        Parameters
        ----------
        axis
            ``"true"``: rows sum to 1, the shares of the answers to each true label; ``"pred"``:
            columns do; ``"all"``: everything does.

        Returns
        -------
        Shape (k, k), ``nan`` in rows, or columns, that hold nothing.
        """
        return share_of(self.counts.astype(np.float64), axis)


def _confusion(facts: LabelFacts, counts: NDArray[Any]) -> Confusion:
    """Lay a matrix out as a result."""
    counts.setflags(write=False)
    labels = facts.labels
    mistakes = _mistakes(facts, counts)
    pairs = long_table(labels, counts)
    shown = (*_PAIRS[:3], *(Number(name) for name in ("cost", "lost") if name in mistakes.columns))
    tables = [
        replace(pairs, limit=0),
        Table("mistakes", "Mistakes, the most costly first.", mistakes, shown, limit=_FREQUENT),
    ]
    if len(labels) <= _GRID:
        tables.append(_grid(labels, counts))
    n = counts.sum()
    sentence = wording.NO_ITEMS
    if n:
        accuracy = np.trace(counts) / n
        sentence = wording.confusions(_amount(n), accuracy, _most_frequent(labels, counts))
    figure = _figure("Which label is taken for which", sentence, labels)
    return Confusion(
        tuple(tables), (sentence,), (figure,), labels=labels, counts=counts, facts=facts
    )


def _figure(title: str, sentence: str, labels: Sequence[str], more: str = "") -> Figure:
    return Figure(
        "confusion",
        "confusion",
        "confusion",
        title,
        wording.ROWS_AND_COLUMNS + more,
        sentence,
        {"labels": list(labels)},
    )


def _most_frequent(labels: Sequence[str], counts: NDArray[Any]) -> tuple[str, str, str, str] | None:
    """Give the most frequent mistake, how often it is made, and of how many."""
    wrong = np.where(np.eye(len(labels), dtype=bool), 0, counts)
    if not wrong.any():
        return None
    row, column = map(int, np.unravel_index(int(wrong.argmax()), wrong.shape))
    return labels[row], labels[column], _amount(wrong[row, column]), _amount(counts[row].sum())


def _amount(counted: Any) -> str:
    """Write a number of items, or a sum of weights."""
    return f"{counted:,}" if counted.dtype.kind == "i" else f"{counted:,.1f}"


def _mistakes(facts: LabelFacts, given: NDArray[Any]) -> pl.DataFrame:
    """List the mistakes, those that lose most first."""
    counts = given.astype(np.float64)
    n = counts.sum()
    np.fill_diagonal(counts, 0.0)
    true, predicted = np.nonzero(counts)
    count = counts[true, predicted]
    columns: dict[str, Any] = {
        "true": [facts.labels[place] for place in true],
        "predicted": [facts.labels[place] for place in predicted],
        "count": given[true, predicted],
        "share": count / max(count.sum(), 1e-300),
    }
    order = ["count"]
    if facts.costs is not None:
        cost = facts.costs[true, predicted]
        columns |= {"cost": cost, "lost": count * (1 - 1 / cost) / max(n, 1e-300)}
        order = ["lost", "count"]
    frame = pl.DataFrame(columns, schema_overrides={"true": pl.String, "predicted": pl.String})
    return frame.sort(order, descending=True, maintain_order=True)


def _grid(labels: Sequence[str], counts: NDArray[Any]) -> Table:
    """Lay the matrix out as people read it, each label with its recall and precision."""
    hits = np.diagonal(counts).astype(np.float64)
    column = Count if counts.dtype.kind == "i" else Number
    frame = pl.DataFrame(
        {
            "true": pl.Series(labels, dtype=pl.String),
            **{f"predicted {label}": counts[:, place] for place, label in enumerate(labels)},
            "recall": ratio(hits, counts.sum(axis=1)),
            "precision": ratio(hits, counts.sum(axis=0)),
        }
    )
    columns = (
        Key("true", "true label"),
        *(column(f"predicted {label}", shown(label, 12), verbatim=True) for label in labels),
        Number("recall", decimals=2),
        Number("precision", decimals=2),
    )
    return Table("matrix", "What is taken for what, true labels in rows.", frame, columns)


def confusion(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    labels: Sequence[str] | None = None,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Confusion:
    """Count which label is taken for which.

    Parameters
    ----------
    y_true, y_pred
        True and predicted label of each item, shape (n,): names, or integer codes with `labels`.
    taxonomy
        A taxonomy, its name or path, or a cost matrix; gives the labels, their costs and polarity.
    labels
        The labels in the order of rows and columns, which integer codes stand for; by default
        those of the taxonomy, or those that occur, sorted.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes; its own by default.
    groups
        Group of each label, or a level of the taxonomy, for ACC2; by default polarity.
    sample_weight
        Weight of each item, shape (n,).

    Raises
    ------
    InputError
        When lengths differ, or a label is missing or not known.

    Examples
    --------
    >>> seen = confusion(["awe", "fear", "fear"], ["awe", "anger", "fear"],
    ...                  labels=["anger", "awe", "fear"])
    >>> seen.counts.tolist()
    [[0, 0, 0], [0, 1, 0], [1, 0, 1]]
    >>> seen.normalized("true")[2].tolist()
    [0.5, 0.0, 0.5]
    """
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    coded = code_labels(facts, y_true, {"y_pred": y_pred}, coded_by=labels)
    return _confusion(coded.facts, counts_of(coded, 0, sample_weight))


def share_of(counts: Floats, axis: Axis) -> Floats:
    """Divide counts by their row, their column, or all; ``nan`` where there is nothing."""
    check_choice("axis", axis, ("true", "pred", "all"))
    sums = {"true": 1, "pred": 0, "all": None}[axis]
    total = counts.sum(axis=sums, keepdims=True)
    return ratio(counts, total)


def long_table(labels: Sequence[str], counts: NDArray[Any]) -> Table:
    """One row per (true, predicted), with the count and the share of the row."""
    frame = pl.DataFrame(
        {
            "true": [label for label in labels for _ in labels],
            "predicted": list(labels) * len(labels),
            "count": counts.ravel(),
            "share": share_of(counts.astype(np.float64), "true").ravel(),
        },
        schema_overrides={"true": pl.String, "predicted": pl.String},
    )
    return Table("confusion", "How often each label is taken for each.", frame, _PAIRS)


# Which labels go with which where items may have several.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MultilabelConfusion(Result):
    """Counts of (true, predicted) labels over items that may have several of each.

    The first table has one row per pair of labels: ``true``, ``predicted``, ``count``, ``share`` of
    the row. The table ``per_label`` has one row per label, with the number of items: ``neither``,
    ``only_predicted``, ``only_true``, ``both``.
    """

    labels: tuple[str, ...]
    counts: Ints
    """Shape (k, k): items with true label i and predicted label j."""
    n: int
    """Items."""

    @property
    def per_label(self) -> Ints:
        """Shape (k, 2, 2): for each label [[neither, only predicted], [only true, both]]."""
        table: Ints = self.to_frame("per_label").drop("label").to_numpy().reshape(-1, 2, 2)
        return table

    def normalized(self, axis: Axis = "true") -> Floats:
        """Divide the counts by their row (``"true"``), column (``"pred"``) or ``"all"``.

        Rows divided sum to 1; ``nan`` where a row holds nothing.
        """
        return share_of(self.counts.astype(np.float64), axis)


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
    names_of = ("neither", "only_predicted", "only_true", "both")
    columns = dict(zip(names_of, (neither, only_predicted, only_true, both), strict=True))
    per_label = Table(
        "per_label",
        "Items that each label is true of, predicted for, or both.",
        pl.DataFrame({"label": pl.Series(names, dtype=pl.String), **columns}),
        (Key("label"), *map(Count, columns)),
    )
    n = len(true)
    sentence = wording.confused_sets(n, len(names), _most_frequent(names, counts))
    figure = _figure(
        "Which label goes with which",
        sentence,
        names,
        wording.SETS_OF_LABELS,
    )
    return MultilabelConfusion(
        (replace(long_table(names, counts), limit=0), per_label),
        (sentence,),
        (figure,),
        labels=names,
        counts=counts,
        n=n,
    )
