"""Records of files: each used, rejected with its place and the reason, or left out and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.codes import Coded
from affectlab.ratings.files import BadJson, OnBad, Peek, parse_json, typed_column
from affectlab.ratings.schema import AsideKind, SetAside, StepKind, Unit
from affectlab.ratings.steps import History, Step, step

_SHOWN_LENGTH = 60


class Unusable(Exception):
    """An entry cannot be used.

    Parameters
    ----------
    reason
        The kind of problem, by which entries are counted.
    sentence
        What is wrong, with the value and what was expected; None: it is no error, and is left out.
    """

    def __init__(
        self, reason: str, sentence: str | None = None, *, kind: AsideKind = "unusable"
    ) -> None:
        super().__init__(sentence or reason)
        self.reason = reason
        self.sentence = sentence
        self.kind: AsideKind = kind


class Rejects:
    """Counts entries that cannot be used, or stops at the first."""

    def __init__(self, path: Path, on_bad: OnBad) -> None:
        self._path = path
        self._on_bad = on_bad
        self._places: dict[tuple[str, Unit, AsideKind], list[str]] = {}
        self.steps: list[Step] = []
        """What was decided about answers, for the history."""

    def reject(self, place: str, reason: str, sentence: str, *, unit: Unit = "row") -> None:
        """Note an entry that cannot be used.

        Raises
        ------
        InputError
            With ``on_bad="raise"``: `sentence`, after the file and the place.
        """
        if self._on_bad == "raise":
            raise InputError(f"{self._path}, {place}: {sentence}")
        self.skip(place, reason, unit=unit)

    def note(self, place: str, problem: Unusable) -> None:
        """Note an entry that raised :class:`Unusable`."""
        if problem.sentence is None:
            self.skip(place, problem.reason, kind=problem.kind)
        else:
            self.reject(place, problem.reason, problem.sentence)

    def skip(
        self, place: str, reason: str, *, unit: Unit = "row", kind: AsideKind = "unusable"
    ) -> None:
        """Note an entry that is left out for a reason that is no error."""
        self._places.setdefault((reason, unit, kind), []).append(place)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What was left out, by reason."""
        return tuple(
            SetAside.of(reason, places, unit=unit, kind=kind)
            for (reason, unit, kind), places in self._places.items()
        )


def shown(value: Any) -> str:
    """Show a value of a file in an error, cut when long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…"


def lines_of(peek: Peek) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of the lines that are not empty.

    Only line feeds end a line, since texts may hold other characters that Python calls line ends.

    Raises
    ------
    InputError
        When a byte does not fit the encoding.
    """
    for number, ended in enumerate(peek.decode().split("\n"), start=1):
        kept = ended.removesuffix("\r")
        if kept:
            yield number, kept


def json_lines(peek: Peek, rejects: Rejects) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) of each line; lines that are no JSON are rejected."""
    return ((f"line {number}", value) for number, value in numbered_json_lines(peek, rejects))


def numbered_json_lines(peek: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:
    """Yield (number of the line, value) of each line; lines that are no JSON are rejected."""
    for number, line in lines_of(peek):
        try:
            found = parse_json(line)
        except BadJson as error:
            rejects.reject(f"line {number}", error.reason, str(error))
            continue
        yield number, found


def json_records(peek: Peek, rejects: Rejects) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) of each entry of a JSON list, or of JSON Lines, or the one object."""
    if peek.is_json_lines:
        yield from json_lines(peek, rejects)
        return
    content = peek.load_json()
    entries = content if isinstance(content, list) else [content]
    yield from ((f"entry {number}", entry) for number, entry in enumerate(entries, start=1))


def numbered(prefix: str, count: int) -> list[str]:
    """Make names for what has none: ``subject-01``, ``subject-02``, …, all of one length."""
    width = max(2, len(str(count)))
    return [f"{prefix}-{number:0{width}d}" for number in range(1, count + 1)]


def attributes(
    key: str, coded: Coded, columns: Mapping[str, pl.Series]
) -> tuple[pl.DataFrame, History]:
    """Make an attribute table of columns that repeat the attributes with every row.

    Parameters
    ----------
    key
        ``"rater"`` or ``"stimulus"``.
    coded
        Name of each row.
    columns
        Attributes, one entry per row.

    Returns
    -------
    tuple
        The table, with the first entry of each name that is not empty, and a step for the history
        for each column in which a name has other entries too.
    """
    code = coded.code.astype(np.int64)
    first = coded.first_rows()
    table = [coded.names.alias(key)]
    steps: list[Step] = []
    for name, column in columns.items():
        values = column.gather(first)
        other = np.flatnonzero(~column.eq_missing(values.gather(code)).to_numpy())
        if len(other):
            count = len(np.unique(code[other]))
            steps.append(step(StepKind.ATTRIBUTE_VARIES, unit=key, name=name, n=count))
        table.append(typed_column(values).alias(name))
    return pl.DataFrame(table).filter(pl.col(key) != ""), tuple(steps)
