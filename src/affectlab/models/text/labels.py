"""Texts and labels in the forms that users have them, checked and brought into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab.core.errors import InputError, check_choice, check_choices, unknown_name
from affectlab.core.types import Bools, Floats
from affectlab.core.words import shown
from affectlab.models.text.decisions import logit, sigmoid
from affectlab.taxonomy import Taxonomy

__all__ = [
    "FromLabels",
    "GroupScores",
    "LevelPlan",
    "check_texts",
    "group_probabilities",
    "group_targets",
    "label_matrix",
    "level_logits",
    "level_plan",
    "membership",
    "targets_at",
]

# Scores of groups of labels from scores of labels, and targets of groups from targets.


FromLabels: TypeAlias = Literal["noisy_or", "max"]
GroupScores: TypeAlias = Literal["blend", "own", "noisy_or", "max"]


@dataclass(frozen=True)
class LevelPlan:
    """The outputs of a model: its labels, then the groups of each level it is trained on."""

    taxonomy: Taxonomy
    """Of the labels."""
    levels: tuple[str, ...]
    """Levels whose groups are outputs of their own."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output; groups are named ``level: group``."""
        groups = [f"{level}: {g}" for level in self.levels for g in self.taxonomy.groups(level)]
        return (*self.taxonomy.labels, *groups)

    def part(self, level: str | None) -> slice | None:
        """Outputs of a level, None where it has none of its own."""
        if level is None:
            return slice(0, len(self.taxonomy))
        start = len(self.taxonomy)
        for name in self.levels:
            stop = start + len(self.taxonomy.groups(name))
            if name == level:
                return slice(start, stop)
            start = stop
        return None

    def targets(self, targets: Floats) -> Floats:
        """Targets of all outputs, from those of the labels, shape (n, labels)."""
        parts = [group_targets(targets, membership(self.taxonomy, name)) for name in self.levels]
        return np.concatenate([targets, *parts], axis=1)


def level_plan(taxonomy: Taxonomy, levels: tuple[str, ...] | None) -> LevelPlan:
    """Plan outputs; by default for all levels that nest.

    Raises
    ------
    InputError
        When the taxonomy has no such level.
    """
    chosen = taxonomy.nesting_levels() if levels is None else levels
    check_choices("level", chosen, taxonomy.levels, f"taxonomy {taxonomy.name}")
    return LevelPlan(taxonomy, tuple(dict.fromkeys(chosen)))


def membership(taxonomy: Taxonomy, level: str) -> Bools:
    """Say which labels belong to each group of a level, shape (labels, groups)."""
    groups = taxonomy.groups(level)
    found = [[label in inside for inside in groups.values()] for label in taxonomy.labels]
    return np.array(found, dtype=bool)


def group_probabilities(
    probabilities: Floats, taxonomy: Taxonomy, level: str, how: FromLabels = "noisy_or"
) -> Floats:
    r"""Give the probability of each group of a level from those of its labels.

    Parameters
    ----------
    probabilities
        Shape (n, labels).
    how
        ``"noisy_or"``: :math:`1 - \prod_j (1 - p_j)`, the probability that at least one label of
        the group holds if labels were independent given the text; many small probabilities add up.
        ``"max"``: the largest :math:`p_j`, a lower bound.

    Raises
    ------
    InputError
        When there is no such level or rule.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> goemotions = load_taxonomy("goemotions")
    >>> given = np.zeros((1, 28))
    >>> given[0, [goemotions.index("joy"), goemotions.index("love")]] = 0.5
    >>> group_probabilities(given, goemotions, "sentiment").tolist()
    [[0.75, 0.0, 0.0, 0.0]]
    """
    check_choice("rule", how, get_args(FromLabels))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(taxonomy):
        raise InputError(
            f"probabilities: shape {probabilities.shape}; expected one column for each of "
            f"{len(taxonomy)} labels"
        )
    groups = [probabilities[:, inside] for inside in membership(taxonomy, level).T]
    if how == "max":
        return np.stack([group.max(axis=1) for group in groups], axis=1)
    return np.stack([1 - np.prod(1 - group, axis=1) for group in groups], axis=1)


def group_targets(targets: Floats, inside: Bools) -> Floats:
    """Give the targets of groups: any label for 0/1; for shares their sum, at most 1.

    A sum takes raters who chose two labels of a group for two people; few do.
    """
    return np.minimum(targets @ inside.astype(np.float64), 1.0)


def level_logits(plan: LevelPlan, outputs: Floats, level: str | None, how: GroupScores) -> Floats:
    """Logits of a level from those of all outputs, before calibration.

    A blend is the mean of the logits of own outputs and of noisy-or over the labels.
    """
    labels = outputs[:, plan.part(None)]
    if level is None:
        return labels
    part = plan.part(level)
    if part is not None and how == "own":
        return outputs[:, part]
    rule: FromLabels = "max" if how == "max" else "noisy_or"
    joined = logit(group_probabilities(sigmoid(labels), plan.taxonomy, level, rule))
    if part is not None and how == "blend":
        joined = (outputs[:, part] + joined) / 2
    return joined


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
    affectlab.InputError: texts, row 2: None is no text; expected a string
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
