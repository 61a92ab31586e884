"""Items of a preference study as good and poor outputs of one system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, check_once
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined
from affectlab.evaluation.preference.choices import is_both, is_system
from affectlab.evaluation.preference.clusters import cluster_codes
from affectlab.evaluation.preference.preferences import Preferences

Choices: TypeAlias = Preferences | Mapping[str, str] | pl.DataFrame
"""The result of :func:`preferences`; a verdict by item; or a table with item and verdict."""
Unit: TypeAlias = Literal["item", "vote"]

_MACHINES = ("model", "machine")


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Which outputs of one system are good, and which poor.

    With votes as units a row is an item with one side of its votes, which count as often as judges
    voted so.
    """

    items: tuple[str, ...]
    """Name of the item of each row, shape (rows,)."""
    verdict: tuple[str, ...]
    """What people chose, shape (rows,)."""
    good: Bools
    """Shape (rows,)."""
    weight: Floats
    """How often a row counts, shape (rows,)."""
    system: str
    """The system whose outputs are good or poor."""
    other: str
    aside: dict[str, int]
    """Verdicts that are neither good nor poor, with their counts."""
    unit: Unit

    @property
    def n_good(self) -> int:
        """Good items, or votes for good."""
        return int(self.weight[self.good].sum())

    @property
    def n_poor(self) -> int:
        """Poor items, or votes for poor."""
        return int(self.weight[~self.good].sum())

    def clusters(self, of_item: Mapping[str, str] | None) -> Ints:
        """Code of what each row belongs to; without a mapping an item belongs to itself."""
        return cluster_codes(self.items, of_item)


def judged_items(
    choices: Choices,
    *,
    system: str | None = None,
    unit: Unit = "item",
    good: Collection[str] | None = None,
    poor: Collection[str] | None = None,
) -> JudgedItems:
    """Say which items are good and which are poor, after Socratis (2023), section 4.

    A machine's text is good where people choose it or both, and poor where they choose the other;
    items where both are bad, or that have no majority, are set aside and counted.

    Parameters
    ----------
    choices
        The result of :func:`preferences`; a verdict by item; or a table with ``item`` and
        ``verdict``.
    system
        The system that is judged; by default the one called model or machine.
    unit
        ``"item"``: the verdict of each item; ``"vote"``: each judge's choice.
    good, poor
        Verdicts that count as good, and as poor, in place of these.

    Raises
    ------
    InputError
        If the system is not told, no item is good, or none poor, or a verdict is both.

    Examples
    --------
    >>> found = judged_items({"a": "model", "b": "human", "c": "both", "d": "neither"})
    >>> found.n_good, found.n_poor, found.aside
    (2, 1, {'neither': 1})
    """
    check_choice("unit", unit, ("item", "vote"))
    items, said, weight, systems = _rows(choices, unit)
    name = machine_of(systems, system)
    others = sorted(set(systems) - {name})
    if len(others) != 1:
        raise InputError(
            f"the choices name {joined(map(repr, systems))}; expected {name!r} and one other system"
        )
    accepted = {name, *filter(is_both, said)} if good is None else set(good)
    rejected = {others[0]} if poor is None else set(poor)
    if accepted & rejected:
        raise InputError(f"verdict {min(accepted & rejected)!r} is both good and poor")
    is_good, is_poor = (
        np.array([verdict in side for verdict in said], dtype=bool) for side in (accepted, rejected)
    )
    aside: dict[str, int] = {}
    for k in np.flatnonzero(~(is_good | is_poor)).tolist():
        aside[said[k]] = aside.get(said[k], 0) + int(weight[k])
    for marks, of, wanted in ((is_good, "good", accepted), (is_poor, "poor", rejected)):
        if not weight[marks].sum():
            named = joined(map(repr, sorted(wanted)), "or")
            raise InputError(
                f"no {unit} is {of}, since people chose {named} on none; expected some good and "
                "poor ones"
            )
    kept = np.flatnonzero(is_good | is_poor)
    return JudgedItems(
        items=tuple(items[k] for k in kept),
        verdict=tuple(said[k] for k in kept),
        good=is_good[kept],
        weight=weight[kept],
        system=name,
        other=others[0],
        aside=aside,
        unit=unit,
    )


def _rows(choices: Choices, unit: Unit) -> tuple[list[str], list[str], Floats, tuple[str, ...]]:
    if isinstance(choices, Preferences):
        tally, systems = choices.tally, choices.choices[:2]
        if not tally.items:
            raise InputError("only counts are known; expected the verdict of every item")
        if unit == "vote":
            row, column = np.nonzero(tally.counts)
            names = [tally.items[k] for k in row.tolist()]
            said = [tally.choices[k] for k in column.tolist()]
            return names, said, tally.counts[row, column], systems
        frame = choices.to_frame("verdicts")
        names, said = frame["item"].to_list(), frame["verdict"].to_list()
        return names, said, np.ones(len(names)), systems
    if unit == "vote":
        raise InputError("unit 'vote' needs the votes; expected the result of preferences")
    names, said = verdicts_of(choices)
    systems = tuple(dict.fromkeys(verdict for verdict in said if is_system(verdict)))
    return names, said, np.ones(len(names)), systems


def verdicts_of(choices: Mapping[str, str] | pl.DataFrame | Any) -> tuple[list[str], list[str]]:
    """Give the items and their verdicts.

    Raises
    ------
    InputError
        If a verdict is missing, or an item has two.
    """
    if isinstance(choices, Mapping):
        names, said = list(choices), list(choices.values())
    elif hasattr(choices, "columns") and {"item", "verdict"} <= set(choices.columns):
        names, said = choices["item"].to_list(), choices["verdict"].to_list()
    else:
        raise InputError(
            "choices: expected the result of preferences, a verdict by item, or a table with the "
            "columns item and verdict"
        )
    for name, verdict in zip(names, said, strict=True):
        if not isinstance(verdict, str) or not verdict.strip():
            raise InputError(f"item {name!r}: verdict {verdict!r}; expected the name of a choice")
    texts = [str(name) for name in names]
    check_once("item", texts, "choices")
    return texts, [str(verdict) for verdict in said]


def machine_of(systems: Sequence[str], system: str | None) -> str:
    """Tell whose outputs are judged.

    Raises
    ------
    InputError
        If it is not one of those compared, or not told by their names.
    """
    if system is not None:
        check_choice("system", system, systems)
        return system
    likely = [name for name in systems if any(word in name.casefold() for word in _MACHINES)]
    if len(likely) != 1:
        raise InputError(
            f"whose output the metrics score is not told by {joined(map(repr, systems)) or 'none'}"
            "; expected system to name it"
        )
    return likely[0]
