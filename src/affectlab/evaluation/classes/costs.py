"""What it costs to take one class for another, and which side each is on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.evaluation.classes.classes import Classes
from affectlab.ratings import read_table
from affectlab.taxonomy import CostMatrix, Label, Taxonomy, cost_from_confusions, load_taxonomy

Costs: TypeAlias = CostMatrix | str | Path

NO_ANSWER = "(no answer)"
"""The class of stimuli without an answer, where those count as mistakes."""
_KINDS = ("ring", "reference", "groups")


_MOST_COST = 1e9
"""Costs beyond which sums of them lose digits."""


def read_costs(path: str | Path) -> CostMatrix:
    """Read the costs of mistakes from a file.

    Parameters
    ----------
    path
        A table whose first column holds the labels and whose other columns are called as the
        labels; or one row per pair, with columns ``label``, ``other`` and ``cost``, as
        ``affectlab taxonomy show NAME --costs --out`` writes it; or a TOML file with a taxonomy.

    Raises
    ------
    InputError
        When the file is neither, or the numbers are no costs.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "costs.csv"
    >>> _ = file.write_text("label,joy,fear\\njoy,1,5\\nfear,5,1\\n")
    >>> read_costs(file).cost("joy", "fear")
    5.0
    """
    path = Path(path)
    if path.suffix == ".toml":
        return load_taxonomy(path).cost_matrix()
    frame = read_table(path, names=())
    if {"label", "other", "cost"} <= set(frame.columns):
        labels = frame["label"].cast(pl.String).unique(maintain_order=True).to_list()
        wide = frame.select("label", "other", "cost").pivot("other", index="label", values="cost")
        frame = wide.select("label", *[name for name in labels if name in wide.columns])
    first, *names = frame.columns
    labels = [str(name) for name in frame[first].to_list()]
    if sorted(labels) != sorted(names):
        odd = next(iter(set(labels) ^ set(names)), labels[0])
        raise InputError(
            f"{path}: label {odd!r} has no row or no column; expected one row and one column for "
            "each label"
        )
    text = [name for name in names if not frame.schema[name].is_numeric()]
    if text:
        _check_costs(path, frame.select(first, *labels))
        raise InputError(f"{path}: column {text[0]!r} holds no numbers; expected costs")
    _check_costs(path, frame.select(first, *labels))
    try:
        return CostMatrix(labels, frame.select(labels).to_numpy(), kind=path.name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _check_costs(path: Path, frame: pl.DataFrame) -> None:
    """Name the first cell that holds no cost."""
    for row in frame.iter_rows():
        for name, value in zip(frame.columns[1:], row[1:], strict=True):
            try:
                cost = math.nan if value is None else float(value)
            except ValueError:
                cost = math.nan
            if not abs(cost) <= _MOST_COST:
                raise InputError(
                    f"{path}: row {row[0]!r}, column {name!r} is {value!r}; expected a cost, a "
                    f"number from 1 to {_MOST_COST:,.0f}"
                )


@dataclass(frozen=True, eq=False)
class Judging:
    """The classes with all that the metrics of this room ask of them."""

    labels: tuple[str, ...]
    costs: CostMatrix | None
    groups: Mapping[str, str] | None
    """Polarity, or other group, of each class that has one."""

    @property
    def taxonomy(self) -> Taxonomy:
        """The names alone."""
        return Taxonomy("classes", tuple(Label(label) for label in self.labels))

    @property
    def facts(self) -> dict[str, Any]:
        """What metrics are told of the classes: their arguments ``taxonomy``, ``costs``, …"""
        known = {"costs": self.costs, "groups": self.groups, "labels": self.labels}
        return {"taxonomy": self.taxonomy, **known}

    def with_no_answer(self) -> Judging:
        """Add the class of stimuli without an answer: as far from all as the worst mistake."""
        costs = None
        if self.costs is not None:
            size = len(self.costs.labels)
            wide = np.full((size + 1, size + 1), max(2.0, float(self.costs.matrix.max())))
            wide[:size, :size] = self.costs.matrix
            wide[size, size] = 1.0
            costs = CostMatrix((*self.costs.labels, NO_ANSWER), wide, self.costs.kind)
        groups = None if self.groups is None else {**self.groups, NO_ANSWER: NO_ANSWER}
        return Judging((*self.labels, NO_ANSWER), costs, groups)


def judging_of(
    classes: Classes, costs: Costs | None, groups: Mapping[str, str] | str | None
) -> Judging:
    """Find costs and sides of the classes.

    Parameters
    ----------
    costs
        A cost matrix; a kind that the taxonomy makes (``"ring"``, ``"groups"``, ``"reference"``);
        ``"people"``, for how people confuse the classes; a file (see :func:`read_costs`). None:
        the first kind of the taxonomy that has all classes, if any.
    groups
        Group of each class, or a level of the taxonomy; by default polarity.

    Raises
    ------
    InputError
        When there are no such costs or groups.
    """
    if groups is None:
        polarity = classes.taxonomy.polarity
        sides = {label: side for label in classes.labels if (side := polarity[label])}
    elif isinstance(groups, str):
        level = classes.taxonomy.group_of(groups)
        sides = {label: level[label] for label in classes.labels}
    else:
        sides = {classes.taxonomy.name_of(label): group for label, group in groups.items()}
    return Judging(classes.labels, _known_costs(classes, costs), sides or None)


def _known_costs(classes: Classes, costs: Costs | None) -> CostMatrix | None:
    """Give costs of the classes alone, by their names and in their order; None if one has none."""
    found, taxonomy = _costs(classes, costs), classes.taxonomy
    if found is None:
        return None
    named = {taxonomy.name_of(label): label for label in found.labels if label in taxonomy}
    missing = [label for label in classes.labels if label not in named]
    if missing and costs is not None:
        raise InputError(
            f"costs ({found.kind}): class {missing[0]!r} has none; expected costs of all "
            f"{len(classes.labels)} classes"
        )
    if missing:
        return None
    wanted = found.reorder([named[label] for label in classes.labels])
    return CostMatrix(classes.labels, wanted.matrix, found.kind)


def _costs(classes: Classes, costs: Costs | None) -> CostMatrix | None:
    if isinstance(costs, CostMatrix):
        return costs
    if isinstance(costs, Path) or (
        isinstance(costs, str) and (Path(costs).suffix or "/" in costs or "\\" in costs)
    ):
        return read_costs(costs)
    taxonomy = classes.taxonomy
    if costs == "people":
        return _from_people(classes)
    if costs is not None:
        # A kind that is not known is refused by the taxonomy itself.
        return taxonomy.cost_matrix(costs)  # type: ignore[arg-type]
    has = {
        "ring": taxonomy.ring is not None,
        "reference": taxonomy.reference is not None,
        "groups": bool(taxonomy.nesting_levels()),
    }
    for kind in _KINDS:
        if has[kind]:
            made = taxonomy.cost_matrix(kind)  # type: ignore[arg-type]
            if set(classes.labels) <= set(made.labels):
                return made
    return None


def _from_people(classes: Classes) -> CostMatrix:
    """Costs from how each person's answers differ from the truth, or from the other people."""
    if classes.people is None or classes.multilabel:
        raise InputError(
            "costs 'people' come from how people take one class for another; expected answers of "
            "people that name one class each"
        )
    k = len(classes.labels)
    cells = classes.people.truth * k + classes.people.predicted
    counts = np.bincount(cells, minlength=k * k).reshape(k, k)
    return cost_from_confusions(counts, classes.labels)
