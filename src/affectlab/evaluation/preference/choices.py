"""Who was compared with whom, by which judge, and what the judge chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.core.types import Ints
from affectlab.core.words import joined
from affectlab.ratings import Ratings, row_column

_BOTH = ("both", "both good", "both fit")
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
    return _folded(choice) not in (*_BOTH, *_NEITHER, *_OPEN)


def is_both(choice: str) -> bool:
    """Say whether a choice accepts both sides."""
    return _folded(choice) in _BOTH


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

    def between(self, systems: tuple[str, str]) -> Comparisons:
        """Keep the answers about two systems by item, as if the first had always come first."""
        a, b = (self.systems.index(name) for name in systems)
        turned = (self.first == b) & (self.second == a)
        rows = np.flatnonzero(turned | ((self.first == a) & (self.second == b)))
        rows = rows[np.argsort(self.item[rows], kind="stable")]
        turned, choice, left = turned[rows], self.choice[rows], self.first_left[rows]
        items, item = np.unique(self.item[rows], return_inverse=True)
        judges, judge = np.unique(self.judge[rows], return_inverse=True)
        return replace(
            self,
            item=item.astype(np.int64),
            judge=judge.astype(np.int64),
            first=np.full(rows.size, a),
            second=np.full(rows.size, b),
            choice=np.where(turned & (choice < 2), 1 - choice, choice),
            first_left=np.where(turned & (left >= 0), 1 - left, left),
            items=tuple(self.items[k] for k in items.tolist()),
            judges=tuple(self.judges[k] for k in judges.tolist()),
        )


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
    choices, stimuli = used.scale.categories, used.stimuli
    named = [choice for choice in choices if is_system(choice)]
    places = tuple(choice for choice in named if choice in stimuli.columns)
    item, items = _items(used)
    # Of several answers of a judge on an item the first counts.
    _, rows = np.unique(item * len(used.rater_names) + used.rater_code, return_index=True)
    rows = np.sort(rows)
    systems_of: tuple[str, ...]
    sides: tuple[str, ...]
    if len(places) == 2:
        systems_of, (first, second) = _placed(stimuli, places)
        stimulus = used.stimulus_code[rows]
        first, second, sides = first[stimulus], second[stimulus], places
    else:
        systems_of = sides = _sides(named, choices, systems)
        first, second = np.zeros(rows.size, dtype=np.int64), np.ones(rows.size, dtype=np.int64)
    others = tuple(choice for choice in choices if choice not in sides)
    ordered = (*sides, *others)
    code = np.array([ordered.index(choice) for choice in choices])
    left, side = _left(used, rows, systems_of, sides, first)
    return Comparisons(
        item=item[rows],
        judge=used.rater_code[rows].astype(np.int64),
        first=first,
        second=second,
        choice=code[used.value[rows].astype(np.int64)],
        first_left=left,
        items=items,
        judges=used.rater_names,
        systems=systems_of,
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
    first, second = (stimuli[place].cast(pl.String) for place in places)
    wrong = first.is_null() | second.is_null() | (first == second)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        name, *pair = stimuli["stimulus"][row], first[row], second[row]
        if None in pair:
            raise InputError(
                f"stimulus {name!r}: no system is named in column "
                f"{places[pair.index(None)]!r}; expected one"
            )
        raise InputError(
            f"stimulus {name!r}: {pair[0]!r} is compared with itself; expected two systems"
        )
    systems = pl.concat([first, second.alias(first.name)]).unique().sort()
    code = [
        side.cast(pl.Enum(systems)).to_physical().to_numpy().astype(np.int64)
        for side in (first, second)
    ]
    return tuple(systems.to_list()), code


def _left(
    used: Ratings, rows: Ints, systems: tuple[str, ...], sides: Sequence[str], first: Ints
) -> tuple[Ints, str]:
    """Which of the two stood on the left, from a column, or from the places themselves."""
    given = row_column(used, LEFT, stimuli_first=True)
    if given is None:
        placed = sides is not systems
        return (np.ones(rows.size, np.int64), sides[0]) if placed else (np.full(rows.size, -1), "")
    # A name on the left is that of a side, or else of one of the systems.
    of_side = {name: int(name == sides[0]) for name in sides}
    found = np.full(rows.size, -1)
    names = given.cast(str)[rows].to_list()
    for k, (name, system) in enumerate(zip(names, first.tolist(), strict=True)):
        if name in of_side or name in systems:
            found[k] = of_side.get(name, int(name == systems[system]))
        elif name is not None:
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
    check_choices("system", pair, found.systems)
    return pair[0], pair[1]
