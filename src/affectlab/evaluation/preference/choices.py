"""Who was compared with whom, by which judge, and what the judge chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Bools, Ints
from affectlab.core.words import joined
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import row_column

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BOTH", "Comparisons", "comparisons_of", "is_both", "is_system", "two_systems"]

BOTH = ("both", "both good", "both fit")
_NEITHER = ("neither", "none", "both bad", "neither fits")
_OPEN = (
    "indistinct",
    "tie",
    "tied",
    "equal",
    "same",
    "unclear",
    "undecided",
    "cannot tell",
    "no preference",
    "no majority",
)
LEFT = "left"
"""Column that says which option stood on the left."""


def _folded(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())


def is_system(choice: str) -> bool:
    """Say whether a choice is for one side, not both, neither or an open answer."""
    return _folded(choice) not in (*BOTH, *_NEITHER, *_OPEN)


def is_both(choice: str) -> bool:
    """Say whether a choice accepts both sides."""
    return _folded(choice) in BOTH


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One entry per answer: a judge compared two systems on an item."""

    item: Ints
    judge: Ints
    first: Ints
    second: Ints
    """Systems compared, as codes into ``systems``."""
    choice: Ints
    """0: the first system; 1: the second; 2 and on: a code into ``others``, plus 2."""
    first_left: Ints
    """1 where the first system stood on the left, 0 where the second did, -1 where not known."""
    items: tuple[str, ...]
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    others: tuple[str, ...]
    """Choices that are for no system."""
    side: str = ""
    """Name of the side that ``first_left`` is about; empty where it is not known."""

    def take(self, rows: Bools) -> Comparisons:
        """Keep some of the answers and all of the names."""
        names = ("item", "judge", "first", "second", "choice", "first_left")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def comparisons_of(ratings: Ratings, systems: Sequence[str] | None = None) -> Comparisons:
    """Read the answers of a preference study.

    Where the stimulus table has columns named like two of the choices (``A`` and ``B``), they name
    the systems that stood there; otherwise the choices name the systems themselves, and `systems`
    says which, where there are more than two.

    Raises
    ------
    InputError
        If the scale is not nominal, or a stimulus lacks the name of a system.
    """
    if ratings.scale.kind != "nominal":
        raise InputError(
            f"a preference is an answer on a nominal scale, such as 'nominal:A,B,both,neither'; "
            f"these are on another ({ratings.scale})"
        )
    used = ratings.answers()
    choices = used.scale.categories
    named = [choice for choice in choices if is_system(choice)]
    stimuli = used.stimuli
    places = [choice for choice in named if choice in stimuli.columns]
    item, items = _items(used)
    judge, value = used.rater_code.astype(np.int64), used.value.astype(np.int64)
    key = item * len(used.rater_names) + judge
    rows = np.sort(np.unique(key, return_index=True)[1])
    stimulus = used.stimulus_code.astype(np.int64)[rows]
    item, judge, value = item[rows], judge[rows], value[rows]
    if len(places) == 2:
        compared, at = _placed(stimuli, places)
        first, second = at[0][stimulus], at[1][stimulus]
        sides: Sequence[str] = places
    else:
        compared = sides = _sides(named, choices, systems)
        first, second = np.zeros(rows.size, dtype=np.int64), np.ones(rows.size, dtype=np.int64)
    others = tuple(choice for choice in choices if choice not in sides)
    code = np.array(
        [sides.index(choice) if choice in sides else 2 + others.index(choice) for choice in choices]
    )
    left, side = _left(used, rows, compared, sides, first, placed=len(places) == 2)
    return Comparisons(
        item=item,
        judge=judge,
        first=first,
        second=second,
        choice=code[value],
        first_left=left,
        items=items,
        judges=used.rater_names,
        systems=compared,
        others=others,
        side=side,
    )


def _sides(
    named: Sequence[str], choices: Sequence[str], systems: Sequence[str] | None
) -> tuple[str, ...]:
    if systems is not None and len(systems) == 2 and set(systems) <= set(choices):
        return tuple(systems)
    if len(named) != 2:
        raise InputError(
            f"the choices are {joined(map(repr, choices))}; expected two systems among them, named "
            "by systems, or by stimulus columns called like two choices"
        )
    return tuple(named)


def _items(used: Ratings) -> tuple[Ints, tuple[str, ...]]:
    """Take a stimulus, or a stimulus with one of its labels, as an item."""
    stimulus = used.stimulus_code.astype(np.int64)
    if used.n_labels == 1:
        return stimulus, used.stimulus_names
    cell = stimulus * used.n_labels + used.label_code
    present, item = np.unique(cell, return_inverse=True)
    names = [
        f"{used.stimulus_names[k // used.n_labels]}: {used.label_names[k % used.n_labels]}"
        for k in present.tolist()
    ]
    return item.astype(np.int64), tuple(names)


def _placed(stimuli: pl.DataFrame, places: Sequence[str]) -> tuple[tuple[str, ...], list[Ints]]:
    """Systems by name, and the one at each place of every stimulus."""
    columns = [
        [None if v is None else str(v) for v in stimuli[place].to_list()] for place in places
    ]
    names = stimuli["stimulus"].to_list()
    for k, pair in enumerate(zip(*columns, strict=True)):
        if None in pair:
            raise InputError(
                f"stimulus {names[k]!r}: no system is named in column "
                f"{places[pair.index(None)]!r}; expected one"
            )
        if pair[0] == pair[1]:
            raise InputError(
                f"stimulus {names[k]!r}: {pair[0]!r} is compared with itself; expected two systems"
            )
    systems = tuple(sorted({name for column in columns for name in column if name is not None}))
    place = {name: k for k, name in enumerate(systems)}
    return systems, [np.array([place[str(v)] for v in column]) for column in columns]


def _texts(values: Sequence[object]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def _left(
    used: Ratings,
    rows: Ints,
    systems: tuple[str, ...],
    sides: Sequence[str],
    first: Ints,
    *,
    placed: bool,
) -> tuple[Ints, str]:
    """Which of the two stood on the left, from a column, or from the places themselves."""
    given = row_column(used, LEFT, stimuli_first=True)
    if given is None:
        return (np.ones(rows.size, np.int64), sides[0]) if placed else (np.full(rows.size, -1), "")
    column, found = _texts(given.to_list()), np.full(rows.size, -1)
    for k, (row, system) in enumerate(zip(rows.tolist(), first.tolist(), strict=True)):
        name = column[row]
        if name is None:
            continue
        if name in sides:
            found[k] = int(name == sides[0])
        elif name in systems:
            found[k] = int(name == systems[system])
        else:
            raise InputError(
                f"column '{LEFT}': {name!r} is neither a choice nor a system; expected one of: "
                f"{', '.join(dict.fromkeys([*sides, *systems]))}"
            )
    return found, LEFT


def two_systems(found: Comparisons, systems: Sequence[str] | None) -> tuple[str, str]:
    """Choose the two systems that are compared.

    Raises
    ------
    InputError
        If there are more than two and none are chosen, or one is not known.
    """
    if systems is None:
        if len(found.systems) == 2:
            return found.systems[0], found.systems[1]
        shown = ", ".join(found.systems[:8]) + (", …" if len(found.systems) > 8 else "")
        raise InputError(
            f"{len(found.systems)} systems are compared ({shown}); expected systems to name two, "
            "or preference_scale for all"
        )
    pair = tuple(systems) if not isinstance(systems, str) else (systems,)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(f"systems {list(pair)!r}: expected two different names")
    for name in pair:
        if name not in found.systems:
            raise unknown_name("system", name, found.systems)
    return pair[0], pair[1]
