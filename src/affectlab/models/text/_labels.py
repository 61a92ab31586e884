"""Texts and labels in the forms that users have them, checked and brought into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from affectlab._types import Floats
from affectlab._words import shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.text._levels import group_targets, membership
from affectlab.taxonomy import Taxonomy

__all__ = ["check_texts", "label_matrix", "targets_at"]


def check_texts(texts: Iterable[str], where: str = "texts") -> tuple[str, ...]:
    """Give texts as a tuple of strings.

    Raises
    ------
    InputError
        When one text stands for all, there is none, or an entry is no string or has no character.

    Examples
    --------
    >>> check_texts(["so happy", None])
    Traceback (most recent call last):
    affectlab.errors.InputError: texts, row 2: None is no text; expected a string
    """
    if isinstance(texts, str):
        raise InputError(
            f"{where}: expected a list of texts, not the one text {shown(texts, 40)!r}"
        )
    found = tuple(texts)
    if not found:
        raise InputError(f"{where}: there are none; expected at least one")
    for row, text in enumerate(found, 1):
        if not isinstance(text, str):
            said = shown(repr(text), 40)
            raise InputError(f"{where}, row {row}: {said} is no text; expected a string")
        if not text or text.isspace():
            raise InputError(f"{where}, row {row}: the text is empty; expected words")
    return found


def label_matrix(labels: Any, taxonomy: Taxonomy, n: int, *, where: str = "labels") -> Floats:
    """Give labels as one row of targets per text.

    Parameters
    ----------
    labels
        Per text a name, or a list or set of names or of label numbers (from 0, in the order of the
        taxonomy); or an array with one column per label, 0/1 or the share of raters who chose it.
    n
        Number of texts.

    Returns
    -------
    ndarray
        Values in [0, 1], shape (n, number of labels).

    Raises
    ------
    InputError
        When there is not one entry per text, a name or number is not known, a list repeats a
        number, or a value lies outside 0 to 1.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> label_matrix(["joy", ["fear", "anger"]], load_taxonomy("ekman"), 2).sum(axis=1)
    array([1., 2.])
    """
    if _is_array(labels):
        return _of_array(labels, taxonomy, n, where)
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"{where}: expected one entry per text, not {shown(repr(labels), 40)}")
    rows = list(labels)
    if len(rows) != n:
        raise InputError(f"{where}: {len(rows)} entries; expected one for each of {n} texts")
    _refuse_indicators(rows, len(taxonomy), where)
    found = np.zeros((n, len(taxonomy)))
    place: dict[Any, int] = {}
    for row, entry in enumerate(rows):
        chosen = [entry] if isinstance(entry, str | int | np.integer) else entry
        if not isinstance(chosen, Iterable):
            said = shown(repr(entry), 40)
            raise InputError(
                f"{where}, row {row + 1}: {said} is no label; expected names or numbers"
            )
        for label in chosen:
            key = (type(label), label)
            if key not in place:
                place[key] = _place(label, taxonomy, f"{where}, row {row + 1}")
            found[row, place[key]] = 1.0
    return found


def targets_at(labels: Any, given: Taxonomy, level: str | None, n: int, where: str) -> Floats:
    """Give targets of labels; with a level those of its groups, also from labels that make them."""
    if level is None:
        return label_matrix(labels, given, n, where=where)
    groups = given.coarsen(level)
    columns = getattr(labels, "shape", (0, 0))
    if len(columns) == 2 and columns[1] == len(groups):
        return label_matrix(labels, groups, n, where=where)
    try:
        found = label_matrix(labels, given, n, where=where)
    except InputError:
        # Not labels: names of groups, or an error that speaks of groups.
        return label_matrix(labels, groups, n, where=where)
    return group_targets(found, membership(given, level))


def _refuse_indicators(rows: Sequence[Any], k: int, where: str) -> None:
    """Refuse lists of whole numbers that look like 0/1 for each label, or repeat a number."""
    numbered = [
        row
        for row, entry in enumerate(rows)
        if isinstance(entry, list | tuple)
        and entry
        and all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in entry)
    ]
    for row in numbered:
        if len(set(rows[row])) < len(rows[row]):
            raise InputError(
                f"{where}, row {row + 1}: a number is repeated; expected label numbers, each once; "
                "0/1 for each label go in as an array, numpy.array(labels)"
            )
    if k == 2 and len(numbered) == len(rows) and all(sorted(row) == [0, 1] for row in rows):
        raise InputError(
            f"{where}: rows of 0 and 1 may be numbers of both labels, or 0/1 for each; expected "
            "names, or an array of 0/1, numpy.array(labels)"
        )


def _place(label: Any, taxonomy: Taxonomy, where: str) -> int:
    """Position of a label given by name or number."""
    if isinstance(label, str):
        text = label.strip()
        if text.isdecimal() and text not in taxonomy:
            return _numbered(int(text), taxonomy, where)
        if text not in taxonomy:
            raise unknown_name("label", text, taxonomy.labels, where)
        return taxonomy.index(text)
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return _numbered(int(label), taxonomy, where)
    said = shown(repr(label), 40)
    raise InputError(f"{where}: {said} is no label; expected a name or a number")


def _numbered(number: int, taxonomy: Taxonomy, where: str) -> int:
    if not 0 <= number < len(taxonomy):
        raise InputError(
            f"{where}: label number {number} is out of range; expected 0 to {len(taxonomy) - 1}"
        )
    return number


def _is_array(labels: Any) -> bool:
    if hasattr(labels, "ndim"):
        return bool(labels.ndim == 2)
    first = labels[0] if isinstance(labels, Sequence) and len(labels) else None
    return isinstance(first, list | tuple | np.ndarray) and any(
        isinstance(value, float | np.floating | bool | np.bool_) for value in first
    )


def _of_array(labels: Any, taxonomy: Taxonomy, n: int, where: str) -> Floats:
    try:
        given = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{where}: expected numbers, one column per label") from None
    if given.shape != (n, len(taxonomy)):
        raise InputError(
            f"{where}: shape {given.shape}; expected one row per text and one column per label of "
            f"{taxonomy.name}, {(n, len(taxonomy))}"
        )
    wrong = np.argwhere(~((given >= 0) & (given <= 1)))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(
            f"{where}, row {row + 1}, {taxonomy.labels[column]}: {given[row, column]:g}; expected "
            "0, 1 or a share of raters in between"
        )
    return given
