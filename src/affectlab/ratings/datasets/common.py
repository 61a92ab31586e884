"""What the readers of published formats share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.codes import Coded
from affectlab.ratings.files import BadJson, OnBad, Peek, parse_json, typed_column
from affectlab.ratings.options import Absent, ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.schema import SetAside, Unit
from affectlab.ratings.table import Ratings

__all__ = [
    "Rejects",
    "attributes",
    "check_columns_there",
    "json_lines",
    "lines_of",
    "numbered",
    "read_family",
    "refuse_layout",
    "shown",
]

_SHOWN_PLACES = 3
_SHOWN_LENGTH = 60


class Rejects:
    """Counts entries that cannot be used, or stops at the first."""

    def __init__(self, path: Path, on_bad: OnBad) -> None:
        self._path = path
        self._on_bad = on_bad
        self._places: dict[tuple[str, Unit], list[str]] = {}

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

    def skip(self, place: str, reason: str, *, unit: Unit = "row") -> None:
        """Note an entry that is left out for a reason that is no error."""
        self._places.setdefault((reason, unit), []).append(place)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What was left out, by reason."""
        return tuple(
            SetAside(reason, len(places), tuple(places[:_SHOWN_PLACES]), unit)
            for (reason, unit), places in self._places.items()
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
    for number, line in lines_of(peek):
        try:
            found = parse_json(line)
        except BadJson as error:
            rejects.reject(f"line {number}", error.reason, str(error))
            continue
        yield f"line {number}", found


def numbered(prefix: str, count: int) -> list[str]:
    """Make names for what has none: ``subject-01``, ``subject-02``, …, all of one length."""
    width = max(2, len(str(count)))
    return [f"{prefix}-{number:0{width}d}" for number in range(1, count + 1)]


def attributes(
    key: str, coded: Coded, columns: Mapping[str, pl.Series]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
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
    first = np.full(coded.n, len(code), dtype=np.int64)
    # Written backwards, so that the first row of each name is the one that stays.
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    table = [coded.names.alias(key)]
    steps: list[str] = []
    for name, column in columns.items():
        values = column.gather(first)
        other = np.flatnonzero(~column.eq_missing(values.gather(code)).to_numpy())
        if len(other):
            count = len(np.unique(code[other]))
            steps.append(f"{key} with more than one {name}: {count:,}; the first is kept")
        table.append(typed_column(values).alias(name))
    return pl.DataFrame(table).filter(pl.col(key) != ""), tuple(steps)


def check_columns_there(peek: Peek, needed: Sequence[str], expected: str) -> None:
    """Say which column of a published layout is missing, and what was found.

    Raises
    ------
    InputError
        When one of `needed` is missing.
    """
    missing = next((name for name in needed if name not in peek.columns), None)
    if missing is None:
        return
    place = f"{peek.path}, line 1" if peek.columns == peek.header else str(peek.path)
    found = ", ".join(peek.columns[:8]) + (", …" if len(peek.columns) > 8 else "")
    raise InputError(f"{place}: column '{missing}' is missing; expected {expected}, found: {found}")


def refuse_layout(
    peek: Peek, options: ReadOptions, name: str, *, wide: Collection[str] = ()
) -> None:
    """Say that a published format fixes its layout, when the user gave another."""
    for given, value in (
        ("columns", options.columns),
        ("wide", options.wide),
        ("attributes", options.attributes),
    ):
        if value is not None and (given != "wide" or value not in wide):
            raise InputError(
                f"{peek.path}: {option(given)} cannot be given with format {name!r}, which says "
                "where everything stands; leave it out, or read as a table "
                f"({option('format', 'table')})"
            )


def read_family(
    path: str | Path,
    formats: Sequence[Format],
    *,
    on_bad: OnBad,
    absent: Absent | None = None,
    raters: Any = None,
) -> Ratings:
    """Read a file in the first of several related formats that fits it.

    Raises
    ------
    InputError
        When none fits.
    """
    peek = Peek.open(path)
    for entry in formats:
        if entry.sniff(peek):
            return read_ratings(
                path, format=entry.name, absent=absent, on_bad=on_bad, raters=raters
            )
    known = "; ".join(f"{entry.name} ({entry.title})" for entry in formats)
    raise InputError(f"{path} has none of the formats expected here: {known}")
