"""Several labels per item: from lists of names, or 0/1 columns, to an indicator matrix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np

from affectlab._types import Bools
from affectlab.errors import InputError
from affectlab.evaluation._costs_of import LabelFacts, TaxonomyLike, label_facts

__all__ = ["LabelSets", "is_multilabel", "label_sets"]

LabelSets: TypeAlias = Collection[Any]
"""Lists or sets of label names, one per item; or an array of 0 and 1, one column per label."""


def is_multilabel(given: Any) -> bool:
    """Whether items may have several labels: an array with columns, or a list of lists or sets."""
    if getattr(given, "ndim", 1) > 1:
        return True
    if isinstance(given, str) or (isinstance(given, np.ndarray) and given.dtype.kind != "O"):
        return False
    first = next(iter(given), None)
    return hasattr(first, "__iter__") and not isinstance(first, str | bytes)


def label_sets(
    y_true: LabelSets,
    y_pred: LabelSets,
    taxonomy: TaxonomyLike | None,
    labels: Sequence[str] | None,
) -> tuple[tuple[str, ...], Bools, Bools]:
    """Read the labels of every item as indicators.

    Returns
    -------
    The k labels, and which of them each item has, true and predicted, shape (n, k) each.

    Raises
    ------
    InputError
        When lengths differ, a label is not known, or an array is not 0/1 with a column per label.
    """
    facts = label_facts(taxonomy, labels=labels)
    sides = {"y_true": y_true, "y_pred": y_pred}
    if facts is None:
        names: set[str] = set()
        for name, given in sides.items():
            if _is_matrix(given):
                raise InputError(f"{name}: 0/1 columns need labels, the names of the columns")
            for item, chosen in enumerate(given):
                names.update(_names(name, item, chosen))
        facts = LabelFacts(tuple(sorted(names)))
    true, predicted = (_indicators(name, given, facts, labels) for name, given in sides.items())
    if len(true) != len(predicted):
        raise InputError(
            f"y_pred: {len(predicted)} items; expected one set of labels per item, {len(true)} "
            "as in y_true"
        )
    return facts.labels, true, predicted


def _is_matrix(given: Any) -> bool:
    if hasattr(given, "ndim"):
        return bool(given.ndim == 2)
    first = next(iter(given), None)
    return isinstance(first, list | tuple | np.ndarray) and any(
        isinstance(value, int | float | np.number | np.bool_) for value in first
    )


def _names(name: str, item: int, chosen: Any) -> list[str]:
    if isinstance(chosen, str) or not hasattr(chosen, "__iter__"):
        raise InputError(f"{name}, item {item}: {chosen!r}; expected a list or set of labels")
    found = list(chosen)
    for label in found:
        if not isinstance(label, str):
            raise InputError(f"{name}, item {item}: {label!r} is no label; expected a name")
    return found


def _indicators(name: str, given: Any, facts: LabelFacts, columns: Sequence[str] | None) -> Bools:
    k = len(facts.labels)
    if not _is_matrix(given):
        found: Bools = np.zeros((len(given), k), dtype=bool)
        place: dict[str, int] = {}
        for item, chosen in enumerate(given):
            for label in _names(name, item, chosen):
                if label not in place:
                    place[label] = facts.index(label)
                found[item, place[label]] = True
        return found
    matrix = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if columns is None:
        raise InputError(f"{name}: 0/1 columns need labels, the names of the columns")
    if matrix.ndim != 2 or matrix.shape[1] != len(columns):
        raise InputError(
            f"{name}: shape {matrix.shape}; expected one 0/1 column per label, {len(columns)}"
        )
    wrong = np.argwhere((matrix != 0) & (matrix != 1))
    if len(wrong):
        item, column = wrong[0]
        raise InputError(
            f"{name}, item {item}, label {columns[column]!r}: {matrix[item, column]}; expected 0 "
            "or 1 (thresholds turn scores into labels)"
        )
    # Columns stand in the order of `labels`, which is that of the facts.
    return matrix.astype(bool)
