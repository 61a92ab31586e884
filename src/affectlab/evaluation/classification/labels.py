"""From label names, codes or sets of labels to positions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import as_floats
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.label_facts import LabelFacts, TaxonomyLike, label_facts

if TYPE_CHECKING:
    import polars as pl


LabelsLike: TypeAlias = Collection[Any]
"""Label names, or integer codes of them: a list, a tuple, an array, or a column of a table."""


@dataclass(frozen=True)
class Coded:
    """True and predicted labels as positions in ``facts.labels``."""

    facts: LabelFacts
    true: Ints
    """Shape (n,)."""
    predicted: Ints
    """Shape (models, n)."""

    @property
    def used(self) -> Ints:
        """Positions of the labels that occur."""
        return np.unique(np.append(self.predicted, self.true))


def code_labels(
    facts: LabelFacts | None,
    y_true: LabelsLike,
    predictions: Mapping[str, LabelsLike],
    *,
    coded_by: Sequence[str] | None = None,
) -> Coded:
    """Find the position of every true and predicted label.

    Parameters
    ----------
    facts
        The labels that there are; ``None`` takes those that occur, sorted.
    y_true
        Label of each item, shape (n,).
    predictions
        What to call each prediction in errors, and its label of each item, shape (n,).
    coded_by
        The names that integer codes stand for.

    Raises
    ------
    InputError
        When the lengths differ, a label is missing or not known, or codes come without names.
    """
    true, *columns = (_Column(name, y) for name, y in (("y_true", y_true), *predictions.items()))
    for column in columns:
        if column.n != true.n:
            raise InputError(
                f"{column.name}: {column.n} labels; expected one per item, {true.n} as in y_true"
            )
    if facts is None:
        names = {name for column in (true, *columns) for name in column.names()}
        facts = LabelFacts(tuple(sorted(names)))
    predicted = np.empty((len(columns), true.n), dtype=np.int64)
    for row, column in zip(predicted, columns, strict=True):
        row[:] = column.positions(facts, coded_by)
    return Coded(facts, true.positions(facts, coded_by), predicted)


class _Column:
    """One label per item, read as names or as integer codes."""

    def __init__(self, name: str, given: LabelsLike) -> None:
        self.name = name
        self.codes: Ints = np.empty(0, dtype=np.int64)
        self.texts: pl.Series | None = None
        if isinstance(given, str | bytes):
            raise InputError(f"{name}: expected one label per item, not the one text {given!r}")
        if not hasattr(given, "__len__"):
            given = list(given)
        array = _array(given)
        if array is not None and array.ndim != 1:
            raise InputError(f"{name}: expected one label per item, got shape {array.shape}")
        kind = "" if array is None else array.dtype.kind
        if array is not None and (kind in "iub" or (kind == "f" and array.size)):
            self.codes = self._whole(array)
            self.n = array.size
            return
        self.texts = self._text(given, array)
        self.n = self.texts.len()

    def _whole(self, array: NDArray[Any]) -> Ints:
        wrong = np.flatnonzero(~np.isfinite(array) | (array != np.rint(array)))
        if wrong.size:
            raise InputError(
                f"{self.name}, item {wrong[0]}: {array[wrong[0]]:g} is no label; "
                "expected a name, or an integer code together with labels"
            )
        return array.astype(np.int64)

    def _text(self, given: Any, array: NDArray[Any] | None) -> pl.Series:
        import polars as pl

        if isinstance(given, pl.Series):
            if given.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
                raise InputError(f"{self.name}: a column of {given.dtype}; expected label names")
            series = given.cast(pl.String)
        else:
            values = array.tolist() if array is not None else list(given)
            if not all(issubclass(kind, str) for kind in set(map(type, values))):
                item = next(k for k, value in enumerate(values) if not isinstance(value, str))
                raise self._not_a_label(item, values[item])
            series = pl.Series(values, dtype=pl.String)
        if series.null_count():
            raise self._not_a_label(int(series.is_null().arg_true()[0]), None)
        return series

    def _not_a_label(self, item: int, value: object) -> InputError:
        why = f"{value!r} is no label; expected a name, or integer codes together with labels"
        if value is None or value != value:
            why = "the label is missing; leave the item out"
        return InputError(f"{self.name}, item {item}: {why}")

    def names(self) -> list[str]:
        """Names that occur."""
        if self.texts is None:
            raise self._no_names()
        return list(self.texts.unique())

    def _no_names(self) -> InputError:
        return InputError(
            f"{self.name}: integer codes have no meaning without labels, the names they stand for"
        )

    def positions(self, facts: LabelFacts, coded_by: Sequence[str] | None) -> Ints:
        """Position of every label among `facts`."""
        import polars as pl

        if self.texts is not None:
            if not self.n:
                return np.empty(0, dtype=np.int64)
            seen = self.texts.unique()
            places = [facts.index(name) for name in seen]
            found: Ints = self.texts.replace_strict(seen, places, return_dtype=pl.Int64).to_numpy()
            return found
        if coded_by is None:
            raise self._no_names()
        off = np.flatnonzero((self.codes < 0) | (self.codes >= len(coded_by)))
        if off.size:
            raise InputError(
                f"{self.name}, item {off[0]}: code {self.codes[off[0]]} is not one of the "
                f"{len(coded_by)} labels, 0 to {len(coded_by) - 1}"
            )
        place_of = np.array([facts.index(name) for name in coded_by], dtype=np.int64)
        coded: Ints = place_of[self.codes]
        return coded


def _array(given: Any) -> NDArray[Any] | None:
    """The values as an array where they are one already, or are plain numbers."""
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "__array__") and not hasattr(given, "null_count"):
        return np.asarray(given)
    kind = getattr(given, "dtype", None)
    if kind is not None and hasattr(given, "to_numpy"):
        return np.asarray(given.to_numpy()) if kind.is_integer() else None
    values = list(given)
    if values and all(isinstance(value, int | np.integer) for value in values):
        return np.asarray(values)
    return None


def counts_of(coded: Coded, model: int, sample_weight: ArrayLike | None) -> NDArray[Any]:
    """Count (true, predicted), shape (k, k): whole numbers without weights."""
    k = len(coded.facts.labels)
    weights = weights_of(sample_weight, coded.true.size)
    cell = coded.true * k + coded.predicted[model]
    return np.bincount(cell, weights=weights, minlength=k * k).reshape(k, k)


def weights_of(given: ArrayLike | None, n: int) -> Floats | None:
    """Weights of items, shape (n,), or nothing.

    Raises
    ------
    InputError
        When the length is wrong, or a weight is negative or not finite.
    """
    if given is None:
        return None
    weights = as_floats(given, "sample_weight: expected one number per item")
    if weights.shape != (n,):
        raise InputError(f"sample_weight: shape {weights.shape}; expected one number per item, {n}")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise InputError(
            f"sample_weight, item {wrong[0]}: {weights[wrong[0]]:g}; expected 0 or more"
        )
    return weights


# Several labels per item: from lists of names, or 0/1 columns, to an indicator matrix.


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
        for name, given in sides.items():
            if _is_matrix(given):
                raise _no_columns(name)
        names = {label for name, given in sides.items() for _, label in _names(name, given)}
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


def _no_columns(name: str) -> InputError:
    return InputError(f"{name}: 0/1 columns need labels, the names of the columns")


def _names(name: str, given: Any) -> Iterator[tuple[int, str]]:
    """Go over the labels of all items, each with the place of its item."""
    for item, chosen in enumerate(given):
        if isinstance(chosen, str) or not hasattr(chosen, "__iter__"):
            raise InputError(f"{name}, item {item}: {chosen!r}; expected a list or set of labels")
        for label in chosen:
            if not isinstance(label, str):
                raise InputError(f"{name}, item {item}: {label!r} is no label; expected a name")
            yield item, label


def _indicators(name: str, given: Any, facts: LabelFacts, columns: Sequence[str] | None) -> Bools:
    if not _is_matrix(given):
        found: Bools = np.zeros((len(given), len(facts.labels)), dtype=bool)
        place: dict[str, int] = {}
        for item, label in _names(name, given):
            if label not in place:
                place[label] = facts.index(label)
            found[item, place[label]] = True
        return found
    matrix = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if columns is None:
        raise _no_columns(name)
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
