"""Answers that are known, and the ways in which a table can hold them.

A layout is a description, not a function: which of stimulus, rater and label tell rows apart, and
what stands in each column. A name in braces is filled in, in the name of a column of answers as
well as in a cell: ``{"Sentence": "{s}", "{r}_{l}": ANSWERS}`` has a row for each stimulus and a
column for each rater and label.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

Value = float | str
"""An answer: a number, or a category or text in words."""


class Answer(NamedTuple):
    """One answer as it is meant."""

    stimulus: str
    rater: str
    label: str
    value: Value


class Row(NamedTuple):
    """What a row is about, under the short names that templates use, and numbers from 1."""

    s: str
    r: str
    l: str  # noqa: E741 (as in the templates)
    v: Value
    n: int
    s_n: int
    r_n: int
    l_n: int


Levels = Sequence[Value] | Mapping[str, Sequence[Value]]
"""What can be answered, or that for each label."""


def world(
    raters: Sequence[str],
    stimuli: Sequence[str],
    labels: Sequence[str] = ("",),
    levels: Levels = range(1, 8),
    *,
    gaps: int = 0,
    seed: str = "",
) -> tuple[Answer, ...]:
    """Let everybody answer every question; each level is about as frequent as any other.

    Parameters
    ----------
    gaps
        Every answer of so many is left out; 0: none is.
    """
    found = []
    for label in labels:
        given = list(levels[label] if isinstance(levels, Mapping) else levels)
        pairs = list(product(stimuli, raters))
        pool = (given * (len(pairs) // len(given) + 1))[: len(pairs)]
        random.Random(f"{seed} {label}").shuffle(pool)
        found += [
            Answer(stimulus, rater, label, float(value) if isinstance(value, int) else value)
            for (stimulus, rater), value in zip(pairs, pool, strict=True)
        ]
    return tuple(one for n, one in enumerate(found, start=1) if not gaps or n % gaps)


def written(value: Value) -> str:
    """Write an answer as most tables have it."""
    return f"{value:g}" if isinstance(value, float) else value


def single(answers: Sequence[Answer]) -> str:
    """Write the one answer of a cell; nothing where there is none."""
    (answer,) = answers or [None]
    return "" if answer is None else written(answer.value)


def chosen(separator: str, none: str = "") -> Callable[[Sequence[Answer]], str]:
    """Write the labels that were ticked in one cell."""

    def write(answers: Sequence[Answer]) -> str:
        return separator.join(one.label for one in answers if one.value == 1.0) or none

    return write


def count(answers: Sequence[Answer]) -> str:
    """Write how many answers there are."""
    return str(len(answers))


@dataclass(frozen=True)
class Answers:
    """A column, or several, that hold answers."""

    write: Callable[[Sequence[Answer]], str] = single


ANSWERS = Answers()
Cell = str | Answers | Callable[[Row], object]
"""A template, answers, or what is computed from what a row is about."""
_PLACE = {"s": 0, "r": 1, "l": 2, "v": 3}


def table(
    answers: Sequence[Answer], rows: str, columns: Mapping[str, Cell], *, header: bool = True
) -> list[list[str]]:
    """Lay answers out as a table.

    Parameters
    ----------
    rows
        What tells rows apart, of ``s``, ``r`` and ``l``: the first changes most slowly.
    columns
        What stands in each column; see the head of this file.
    header
        Whether names of columns stand in the first row.
    """
    names = {
        letter: list(dict.fromkeys(one[place] for one in answers))
        for letter, place in _PLACE.items()
    }
    spread: list[tuple[str, str | Answers | Callable[[Row], object], dict[str, Any]]] = []
    for name, cell in columns.items():
        letters = [letter for letter in _PLACE if f"{{{letter}}}" in name]
        letters.sort(key=lambda letter: name.index(f"{{{letter}}}"))
        for parts in product(*(names[letter] for letter in letters)):
            about = dict(zip(letters, parts, strict=True))
            shown = {letter: written(part) for letter, part in about.items()}
            spread.append((name.format(**shown) if letters else name, cell, about))
    made = [[name for name, _, _ in spread]] if header else []
    n = 0
    for parts in product(*(names[letter] for letter in rows)):
        about = dict(zip(rows, parts, strict=True))
        here = [one for one in answers if _fits(one, about)]
        if not here:
            continue
        n += 1
        first = here[0]
        numbers = (names[letter].index(first[_PLACE[letter]]) + 1 for letter in "srl")
        row = Row(*first, n, *numbers)
        made.append([_cell(cell, row, here, about) for _, cell, about in spread])
    return made


def _fits(answer: Answer, about: Mapping[str, Any]) -> bool:
    return all(answer[_PLACE[letter]] == name for letter, name in about.items())


def _cell(cell: Cell, row: Row, here: Sequence[Answer], about: Mapping[str, Any]) -> str:
    if isinstance(cell, Answers):
        return cell.write([one for one in here if _fits(one, about)])
    if isinstance(cell, str):
        return cell.format(**{**row._asdict(), "v": written(row.v)})
    return str(cell(row))


def as_text(
    rows: Sequence[Sequence[str]], separator: str = ",", *, quoted: bool = False, end: str = "\n"
) -> str:
    """Write rows as text with a separator."""
    buffer = io.StringIO()
    how = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=how).writerows(rows)
    return buffer.getvalue()
