"""Comparisons of pairs, one a row: who stood on the left and the right, and which was chosen."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.build import is_number
from affectlab.ratings.files import BadJson, Locate, Peek, parse_json, read_columns, series_of
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, numbered, shown
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.formats.table.columns import folded_name
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import guess, step

_FIRST, _SECOND = "A", "B"
_OPEN = {
    "tie": "tie",
    "tied": "tie",
    "draw": "tie",
    "equal": "tie",
    "same": "tie",
    "no preference": "tie",
    "0.5": "tie",
    "both": "both",
    "both good": "both",
    "neither": "neither",
    "none": "neither",
    "both bad": "neither",
    "bothbad": "neither",
    "tie (bothbad)": "neither",
    "tie (both bad)": "neither",
}
"""Choices that are for no side."""
_CHOICES = ("choice", "chosen", "winner", "preferred", "preference", "label", "answer", "response")
_ANSWERS = ("label", "answer", "response")
"""Those of them which other tables have, too."""
_PLACES = (("left", "right"), ("a", "b"), ("first", "second"), ("1", "2"))
"""What the two sides are called."""
_SYSTEMS = ("system", "model", "method")
"""What stands before that in the names of columns which say whose side it is."""
_CONTENTS = (
    *("response", "answer", "output", "candidate", "completion", "caption", "option", "choice"),
    *("image", "text", "item", "stimulus"),
)
"""The same, of columns which may hold what was compared itself."""
_SIDES = {
    f"{kind} {word}".strip(): word == places[0]
    for kind in ("", *_SYSTEMS, *_CONTENTS)
    for places in (*_PLACES, ("l", "r"))
    for word in places
}
"""Choices that are for a side, and whether it is the first."""
_ITEMS = (
    *("item", "item_id", "question_id", "prompt_id", "conversation_id", "task_id", "stimulus_id"),
    *("prompt", "question", "task", "stimulus", "image", "image_id", "video", "video_id", "clip"),
    *("clip_id", "text_id"),
)
_BESIDE = ("session", "trial", "trial_kind")
"""What tells two answers of a judge to one pair apart, by the name of its column."""
_YES = {"1", "1.0", "true"}
_FIRST_LINES = 50
_MOST = 0.9
"""Share of the first rows that must be comparisons where other tables have such columns, too."""
_MAY_BE_EMPTY = ("item", "turn", *_BESIDE)


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
    "comparisons of pairs (table: left, right, choice, judge; model_a, model_b, winner, judge; or "
    "winner, loser, judge)",
)
class Pairs(Format):
    """A table of comparisons, one a row, for the statistics of preference.

    Columns ``left`` and ``right`` name what was compared, and ``choice`` (or ``label``, ``winner``,
    ``preferred``) what was chosen: its name, ``left`` or ``right``, or a tie, both or neither. They
    may be called ``model_a`` and ``model_b`` (``system_a``, ``a``, ``first``, ``response_1``, …),
    as in the tables of the Chatbot Arena, with the choices ``model_a``, ``A``, ``tie (bothbad)``;
    or with columns ``winner_model_a``, ``winner_model_b`` and ``winner_tie`` of which one is 1.
    Or ``winner`` and ``loser`` name both. A column of judges (``judge``, ``worker``, ``rater``, …)
    and one of items (``item``, ``prompt``, ``question_id``, …) may stand beside; without judges
    each row is one. ``session``, ``trial`` and ``trial_kind`` tell answers of a judge apart, and so
    does ``turn``, the turn of a conversation.

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
        names = _names(head)
        roles = _roles(names)
        return Sure.if_(roles is not None and _fits(head, names, roles))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which column is what, by its name."""
        roles = dict(_roles(_names(head)) or {})
        named = {"judge": "rater", "choice": "value", **dict(zip(_BESIDE, _BESIDE, strict=True))}
        found = {role: roles.pop(own) for own, role in named.items() if own in roles}
        stimuli = tuple(roles.pop(own) for own in ("item", "turn") if own in roles)
        return Layout(found, stimuli=stimuli, others=tuple(roles.values()))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read comparison by comparison."""
        names = _names(head)
        roles = _roles(names)
        if roles is None:
            raise InputError(
                f"{head.path}: expected the columns left, right and choice (or model_a, model_b "
                f"and winner), or winner and loser; found: {', '.join(names[:10])}"
            )
        read = read_columns(
            head, names=head.header, on_bad=options.on_bad, only=tuple(roles.values())
        )
        cells = {role: read.columns[name].cast(pl.String) for role, name in roles.items()}
        unnamed = numbered("judge", len(next(iter(cells.values()))))
        if not folded_name(roles.get("left", "left")).startswith(("left", *_SYSTEMS)):
            rejects.steps.append(guess(StepKind.SIDES, left=roles["left"], right=roles["right"]))
        if "judge" not in roles:
            rejects.steps.append(step(StepKind.ROWS_ARE_RATERS, who="judges"))
        found: list[Comparison] = []
        turns: list[str] = []
        for row, values in enumerate(zip(*cells.values(), strict=True)):
            said = {role: (value or "").strip() for role, value in zip(cells, values, strict=True)}
            try:
                found.append(_comparison(row, said, unnamed[row], roles))
            except Unusable as problem:
                rejects.note(read.place(row), problem)
            else:
                turns.append(said.get("turn", ""))
        if _tells_apart(found, turns):
            rejects.steps.append(guess(StepKind.TURNS, column=roles["turn"]))
            found = [
                replace(one, item=f"{one.item} turn {turn}".strip() if turn else one.item)
                for one, turn in zip(found, turns, strict=True)
            ]
        contents = pair_contents(found, read.locate, path=head.path)
        contents.set_aside = read.set_aside
        return contents


def _names(head: Peek) -> tuple[str, ...]:
    """Name the columns of a table, or the fields of its first object."""
    record = head.first_record
    return tuple(record) if isinstance(record, dict) else head.columns


def _roles(names: tuple[str, ...]) -> dict[str, str] | None:
    """Say which column is what; None where there are no pairs."""
    by_name = {folded_name(name): name for name in names}

    def first_of(wanted: tuple[str, ...]) -> str | None:
        return next((by_name[name] for name in wanted if name in by_name), None)

    roles: dict[str, str | None]
    sides = _sides(by_name)
    if sides is not None:
        left, right = (by_name[name] for name in sides)
        roles = {"left": left, "right": right, "choice": first_of(_CHOICES)}
        won = [by_name.get(f"winner_{name}") for name in sides]
        if None not in won:
            # Of these columns one is 1.
            del roles["choice"]
            roles |= dict(zip(("left won", "right won"), won, strict=True))
            if "winner_tie" in by_name:
                roles["tie"] = by_name["winner_tie"]
    elif {"winner", "loser"} <= set(by_name):
        roles = {"winner": by_name["winner"], "loser": by_name["loser"]}
    else:
        return None
    if None in roles.values():
        return None
    roles |= {"judge": by_name.get("judge") or find_one("rater", names), "item": first_of(_ITEMS)}
    roles |= {name: by_name.get(name) for name in ("turn", *_BESIDE)}
    return {role: name for role, name in roles.items() if name is not None}


def _sides(names: Container[str]) -> tuple[str, str] | None:
    """Find the columns of what was compared; those of systems go before those of contents."""
    for kind in ("", *_SYSTEMS, *_CONTENTS):
        for gap in ("_", "") if kind else ("",):
            for places in _PLACES:
                left, right = (f"{kind}{gap}{place}" for place in places)
                if left in names and right in names:
                    return left, right
    return None


def _fits(head: Peek, names: tuple[str, ...], roles: Mapping[str, str]) -> bool:
    """Whether rows are comparisons, where the names of columns do not say it alone."""
    left = folded_name(roles.get("left", "left"))
    if left == "left":
        return True
    rows = _first_rows(head, names)
    choice = folded_name(roles.get("choice", ""))
    systems = left.startswith(_SYSTEMS)
    if not rows:
        # A file that is no text shows only its columns.
        return systems and choice not in _ANSWERS
    said = [{role: row.get(name, "").strip() for role, name in roles.items()} for row in rows]
    if choice in _ANSWERS and not all(_is_no_name(one["choice"]) for one in said):
        return False
    if not systems:
        # Numbers are ratings, and texts that come but once are no systems.
        sides = {one[side] for one in said for side in ("left", "right")}
        if len(sides) > len(rows) or all(map(is_number, sides)):
            return False
        if _describes_stimuli(rows, names, roles):
            return False
    return sum(_is_comparison(one, roles) for one in said) >= _MOST * len(said)


def _describes_stimuli(
    rows: Sequence[Mapping[str, str]], names: tuple[str, ...], roles: Mapping[str, str]
) -> bool:
    """Whether sides are attributes of stimuli, by whose names judges answer: no row swaps them.

    A plain table has that, too, and keeps what else it says.
    """
    stimulus = find_one("stimulus", names)
    if stimulus is None or "choice" not in roles:
        return False
    sides = roles["left"], roles["right"]
    pairs = {(row[stimulus], *(row[side] for side in sides)) for row in rows}
    chosen = {row[roles["choice"]].strip() for row in rows}
    return len(pairs) == len({row[stimulus] for row in rows}) and all(
        one in sides or _folded(one) in _OPEN for one in chosen
    )


def _first_rows(head: Peek, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Give the first rows of a table as text, or the first objects of a file of these."""
    if not isinstance(head.first_record, dict):
        rows = (row for row in head.first_rows[1:] if len(row) == len(names))
        return [dict(zip(names, row, strict=True)) for row in rows]
    objects = [head.first_record]
    if head.is_json_lines:
        for line in head.text.split("\n")[1:_FIRST_LINES]:
            try:
                objects.append(parse_json(line))
            except BadJson:
                # It is empty, or cut at the end of what is looked at.
                continue
    return [{k: str(v) for k, v in one.items()} for one in objects if isinstance(one, dict)]


def _is_comparison(said: Mapping[str, str], roles: Mapping[str, str]) -> bool:
    try:
        _comparison(0, said, "", roles)
    except Unusable:
        return False
    return True


def _is_no_name(choice: str) -> bool:
    return _folded(choice) in (*_SIDES, *_OPEN)


def _comparison(
    row: int, said: Mapping[str, str], judge: str, roles: Mapping[str, str]
) -> Comparison:
    """Read a row."""
    for role, value in said.items():
        if not value and role not in _MAY_BE_EMPTY:
            raise Unusable(f"{role} is empty", f"{roles[role]} is empty; expected a name")
    left = said.get("left")
    first, second = (
        (said["winner"], said["loser"]) if left is None else (said["left"], said["right"])
    )
    if first == second:
        raise Unusable(
            "compared with itself", f"{first!r} is compared with itself; expected two names"
        )
    choice: bool | str = True
    if "choice" in said:
        choice = _choice(said["choice"], first, second)
    elif left is not None:
        choice = _winner(said, roles)
    return Comparison(
        row=row,
        first=first,
        second=second,
        judge=said.get("judge", judge),
        choice=choice,
        item=said.get("item", ""),
        left=left,
        beside={name: said[name] or None for name in _BESIDE if name in said},
    )


def _winner(said: Mapping[str, str], roles: Mapping[str, str]) -> bool | str:
    """Say which of the columns of winners, and of ties, is 1."""
    columns: dict[str, bool | str] = {"left won": True, "right won": False, "tie": "tie"}
    won = [role for role in columns if said.get(role, "").casefold() in _YES]
    if len(won) != 1:
        names = ", ".join(roles[role] for role in columns if role in roles)
        raise Unusable("no one winner", f"{len(won)} of {names} are 1; expected one of them")
    return columns[won[0]]


def _choice(word: str, first: str, second: str) -> bool | str:
    if word in (first, second):
        return word == first
    folded = _folded(word)
    if folded in _SIDES:
        return _SIDES[folded]
    if folded in _OPEN:
        return _OPEN[folded]
    raise Unusable(
        "choice not understood",
        f"{shown(word)} is neither {first!r} nor {second!r}; expected one of these, left, right or "
        "tie",
    )


def _folded(word: str) -> str:
    return folded_name(word).replace("_", " ")


def _tells_apart(found: Sequence[Comparison], turns: Sequence[str]) -> bool:
    """Whether judges answer to the same pair again, and always in another turn."""
    keys = [(one.item, _ordered(one), one.judge, *one.beside.values()) for one in found]
    times = len(set(keys))
    return times < len(keys) == len(set(zip(keys, turns, strict=True)))
