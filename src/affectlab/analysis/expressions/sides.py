"""Which expressions move one side of the face, and which mirrors which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import read_table

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
"""Words of a name, whether they are parted by blanks, underscores or capitals."""
_CODE = re.compile(r"^[A-Za-z]{0,3}[0-9]+[\s_.:-]+")
"""A number in front of a name, such as E041, which the mirrored expression has not."""

SidesSource: TypeAlias = Mapping[str, str] | pl.DataFrame | str | Path


@dataclass(frozen=True, eq=False)
class Sides:
    """Expressions by the side that moves."""

    mirrored: tuple[tuple[str, str], ...]
    """Right expression and the left one that mirrors it."""
    right: frozenset[str]
    left: frozenset[str]
    symmetric: frozenset[str]
    unclear: tuple[str, ...]
    """Expressions that name both sides: they belong to no group."""

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Expressions of one side whose mirror image is not there."""
        matched = {name for pair in self.mirrored for name in pair}
        return tuple(sorted((self.right | self.left) - matched))

    def to_frame(self, expressions: Sequence[str]) -> pl.DataFrame:
        """Give ``expression``, ``side`` and ``mirror`` of each expression."""
        other = dict(self.mirrored) | {left: right for right, left in self.mirrored}
        return pl.DataFrame(
            {
                "expression": list(expressions),
                "side": [self._side(name) for name in expressions],
                "mirror": [other.get(name) for name in expressions],
            },
            schema={"expression": pl.String, "side": pl.String, "mirror": pl.String},
        )

    def _side(self, name: str) -> str:
        for side in ("right", "left", "symmetric"):
            if name in getattr(self, side):
                return side
        return "unclear"


def sides_of(expressions: Sequence[str], sides: SidesSource | None) -> Sides:
    """Find the expressions of one side, and the mirror image of each.

    Parameters
    ----------
    expressions
        Their names.
    sides
        Right expression to the left one that mirrors it: a mapping, or a table or file with the
        columns ``right`` and ``left``, where one of the two may be empty. Expressions that it does
        not name are symmetric. None: told by the words "right" and "left" in the names, whatever
        number stands in front.

    Raises
    ------
    InputError
        When a table names an expression that is not there, or one twice.

    Examples
    --------
    >>> found = sides_of(["E041_Mouth_Right", "E042_Mouth_Left", "Bright Smile"], None)
    >>> found.mirrored, sorted(found.symmetric)
    ((('E041_Mouth_Right', 'E042_Mouth_Left'),), ['Bright Smile'])
    """
    if sides is not None:
        return _given(expressions, sides)
    right: dict[tuple[str, ...], list[str]] = {}
    left: dict[tuple[str, ...], list[str]] = {}
    symmetric, unclear = [], []
    for name in expressions:
        words = [word.casefold() for word in _WORD.findall(_CODE.sub("", name))]
        said = {"right", "left"} & set(words)
        if len(said) == 2:
            unclear.append(name)
        elif said:
            key = tuple("side" if word in said else word for word in words)
            (right if said == {"right"} else left).setdefault(key, []).append(name)
        else:
            symmetric.append(name)
    mirrored = tuple(
        (names[0], left[key][0])
        for key, names in right.items()
        # Where two names of a side differ by their number alone, nothing tells which mirrors which.
        if len(names) == 1 and len(left.get(key, ())) == 1
    )
    return Sides(
        mirrored,
        frozenset(name for names in right.values() for name in names),
        frozenset(name for names in left.values() for name in names),
        frozenset(symmetric),
        tuple(unclear),
    )


def _given(expressions: Sequence[str], sides: SidesSource) -> Sides:
    rows = _rows(sides)
    used: set[str] = set()
    for row in rows:
        for name in row:
            if name is None:
                continue
            if name not in set(expressions):
                raise unknown_name("expression", name, expressions, "sides")
            if name in used:
                raise InputError(f"sides: expression {name!r} stands twice; expected once")
            used.add(name)
    return Sides(
        tuple((right, left) for right, left in rows if right is not None and left is not None),
        frozenset(right for right, _ in rows if right is not None),
        frozenset(left for _, left in rows if left is not None),
        frozenset(expressions) - used,
        (),
    )


def _rows(sides: SidesSource) -> list[tuple[str | None, str | None]]:
    if isinstance(sides, Mapping):
        return [(str(right), str(left)) for right, left in sides.items()]
    where = "sides: "
    if isinstance(sides, str | Path):
        where, sides = f"{sides}: ", read_table(sides, "mirrored expressions")
    require_columns(sides, ["right", "left"], where)
    told = sides.select(pl.col("right", "left").cast(pl.String).str.strip_chars().replace("", None))
    return told.rows()
