"""Comparisons of pairs, one a row: who stood on the left and the right, and which was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import Locate, Peek, read_columns, series_of
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, numbered, shown
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale

_FIRST, _SECOND = "A", "B"
_OPEN = {
    "tie": "tie",
    "tied": "tie",
    "draw": "tie",
    "equal": "tie",
    "same": "tie",
    "0.5": "tie",
    "both": "both",
    "neither": "neither",
    "none": "neither",
}
"""Choices that are for no side."""
_CHOICES = ("choice", "chosen", "winner", "preferred", "preference", "label", "answer", "response")
_SIDES = {"left": True, "l": True, "a": True, "right": False, "r": False, "b": False}
_ITEMS = ("item", "prompt", "question", "task", "stimulus")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A judge compared two systems, and chose the first, the second or neither."""

    row: int
    first: str
    second: str
    judge: str
    choice: bool | str
    """Whether the first was chosen, or which choice that is for no side."""
    item: str = ""
    """What was compared by; empty where the pair is all there is."""
    left: str | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)


def pair_contents(comparisons: Iterable[Comparison], locate: Locate, *, path: Any) -> Contents:
    """Make ratings of comparisons as preferences read them.

    Stimuli are pairs, by item where there are items, whose columns ``A`` and ``B`` name what was
    compared; answers are on the nominal scale of ``A``, ``B`` and the choices that are for neither;
    ``left`` names what stood on the left.

    Raises
    ------
    InputError
        When there is none.
    """
    given = list(comparisons)
    if not given:
        raise InputError(f"{path}: no comparison can be used; expected who was compared and chosen")
    pairs_of: dict[str, set[tuple[str, str]]] = {}
    for one in given:
        pairs_of.setdefault(one.item, set()).add(_ordered(one))
    names, answers = [], []
    about: dict[str, tuple[str, str, str | None]] = {}
    for one in given:
        first, second = _ordered(one)
        name = f"{first} | {second}"
        if one.item:
            name = one.item if len(pairs_of[one.item]) == 1 else f"{one.item}: {name}"
        names.append(name)
        about[name] = (first, second, one.item or None)
        if isinstance(one.choice, str):
            answers.append(one.choice)
        else:
            answers.append(_FIRST if one.choice == (one.first == first) else _SECOND)
    others = sorted(set(answers) - {_FIRST, _SECOND})
    columns = {
        "stimulus": pl.Series(names, dtype=pl.String),
        "rater": pl.Series([one.judge for one in given], dtype=pl.String),
        "value": pl.Series(answers, dtype=pl.String),
        "left": pl.Series([one.left for one in given], dtype=pl.String),
    }
    for key in dict.fromkeys(key for one in given for key in one.beside):
        columns[key] = series_of(key, [one.beside.get(key) for one in given])
    stimuli = pl.DataFrame(
        [(name, *said) for name, said in about.items()],
        schema=["stimulus", _FIRST, _SECOND, "item"],
        orient="row",
    )
    rows = [one.row for one in given]
    return Contents(
        {name: column for name, column in columns.items() if column.null_count() < len(column)},
        lambda row: locate(rows[row]),
        scale=Scale.nominal((_FIRST, _SECOND, *others)),
        stimuli=stimuli if stimuli["item"].null_count() < stimuli.height else stimuli.drop("item"),
        split=False,
    )


def _ordered(one: Comparison) -> tuple[str, str]:
    return (one.first, one.second) if one.first <= one.second else (one.second, one.first)


@file_format(
    "pairs",
    "comparisons of pairs (table: left, right, choice, judge; or winner, loser, judge)",
)
class Pairs(Format):
    """A table of comparisons, one a row, for the statistics of preference.

    Columns ``left`` and ``right`` name what was compared, and ``choice`` (or ``label``, ``winner``,
    ``preferred``) what was chosen: its name, ``left`` or ``right``, or a tie, both or neither. Or
    ``winner`` and ``loser`` name both. A column of judges (``judge``, ``worker``, ``rater``, …) and
    one of items (``item``, ``prompt``, …) may stand beside; without judges each row is one.

    Stimuli are pairs, by item where there are items; their attributes ``A`` and ``B`` name what was
    compared, and ``left`` what stood on the left, so that ``preferences`` and ``preference_scale``
    understand the table as it is. It is what crowd-kit's aggregation of pairs takes, too.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.evaluation.preference import preferences
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("left,right,choice,judge\\nx,y,x,ann\\ny,x,left,bo\\nx,y,x,cy\\n")
    >>> r = read_ratings(file)
    >>> r.stimuli.rows(), r.value.tolist()
    ([('x | y', 'x', 'y')], [0.0, 1.0, 0.0])
    >>> preferences(r).votes.tolist()
    [[2.0, 1.0]]
    """

    layout = Layout(
        {"rater": "judge", "value": "choice"}, stimuli=("item",), others=("left", "right")
    )

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(_roles(head.columns) is not None)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read comparison by comparison."""
        read = read_columns(head, names=head.header, on_bad=options.on_bad)
        roles = _roles(tuple(read.columns))
        if roles is None:
            raise InputError(
                f"{head.path}: expected the columns left, right and choice, or winner and loser; "
                f"found: {', '.join(list(read.columns)[:10])}"
            )
        cells = {role: read.columns[name].cast(pl.String) for role, name in roles.items()}
        unnamed = numbered("judge", len(next(iter(cells.values()))))
        if "judge" not in roles:
            rejects.steps.append("no column names judges: each row is taken as a judge of its own")
        found: list[Comparison] = []
        for row, values in enumerate(zip(*cells.values(), strict=True)):
            said = {role: (value or "").strip() for role, value in zip(cells, values, strict=True)}
            try:
                found.append(_comparison(row, said, unnamed[row]))
            except Unusable as problem:
                rejects.note(read.place(row), problem)
        contents = pair_contents(found, read.locate, path=head.path)
        contents.set_aside = read.set_aside
        return contents


def _roles(names: tuple[str, ...]) -> dict[str, str] | None:
    """Say which column is what; None where there are no pairs."""
    by_name = {name.strip().casefold(): name for name in names}

    def first_of(wanted: tuple[str, ...]) -> str | None:
        return next((by_name[name] for name in wanted if name in by_name), None)

    roles: dict[str, str | None]
    if {"left", "right"} <= set(by_name):
        choice = first_of(_CHOICES)
        roles = {"left": by_name["left"], "right": by_name["right"], "choice": choice}
    elif {"winner", "loser"} <= set(by_name):
        roles = {"winner": by_name["winner"], "loser": by_name["loser"]}
    else:
        return None
    if None in roles.values():
        return None
    roles |= {"judge": by_name.get("judge") or find_one("rater", names), "item": first_of(_ITEMS)}
    return {role: name for role, name in roles.items() if name is not None}


def _comparison(row: int, said: Mapping[str, str], judge: str) -> Comparison:
    """Read a row."""
    for role, value in said.items():
        if not value and role != "item":
            raise Unusable(f"{role} is empty", f"{role} is empty; expected a name")
    left = said.get("left")
    first, second = (
        (said["winner"], said["loser"]) if left is None else (said["left"], said["right"])
    )
    if first == second:
        raise Unusable(
            "compared with itself", f"{first!r} is compared with itself; expected two names"
        )
    return Comparison(
        row=row,
        first=first,
        second=second,
        judge=said.get("judge", judge),
        choice=True if left is None else _choice(said["choice"], first, second),
        item=said.get("item", ""),
        left=left,
    )


def _choice(word: str, first: str, second: str) -> bool | str:
    if word in (first, second):
        return word == first
    folded = word.casefold()
    if folded in _SIDES:
        return _SIDES[folded]
    if folded in _OPEN:
        return _OPEN[folded]
    raise Unusable(
        "choice not understood",
        f"{shown(word)} is neither {first!r} nor {second!r}; expected one of these, left, right or "
        "tie",
    )
