"""Reading delimited text: fast when the file is clean, exact about lines when it is not."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.ratings.files.ledger import Locate, OnBad, Place
from affectlab.ratings.files.peek import Peek
from affectlab.ratings.schema import SetAside, StepKind
from affectlab.ratings.steps import History, step

_BLOCK = 1 << 22
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)")
_DIGITS = re.compile(r"\d+")
_LONGEST_NAME = 3
"""Words of a name of a column that stands above texts, at most."""
_END = re.compile(r"\s*end of file\s*", re.IGNORECASE)
"""A last line that says that a file is complete, as Gorilla writes it."""


@dataclass(frozen=True)
class Columns:
    """Columns of a file, with the way back to its rows."""

    columns: dict[str, pl.Series]
    locate: Locate
    set_aside: tuple[SetAside, ...] = ()
    typed: bool = True
    """False when the file says nothing of types, so that all columns are text."""
    history: History = ()
    """What of the file is no part of the table."""
    anonymous: bool = False
    """Whether nothing in the file says who gave which answer."""

    def place(self, row: int | np.intp) -> str:
        """Say where a row stands in the file, without the name of the file."""
        return self.locate(int(row)).inside

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give each row with its place: its cells by the names of columns."""
        cells = [column.to_list() for column in self.columns.values()]
        for row, values in enumerate(zip(*cells, strict=True)):
            yield self.place(row), dict(zip(self.columns, values, strict=True))


def _locator(peek: Peek, height: int, lines: Sequence[int] = ()) -> Locate:
    """Say where rows (counted from 0) stand: the first line of each record."""
    known = list(lines)

    def locate(row: int) -> Place:
        if not known:
            width = len(peek.header)
            known.extend(line for line, fields in _rows(peek) if len(fields) == width)
        if len(known) != height:
            # A bare carriage return inside a field ends a line for one reader and not for another.
            return Place(f"row {row + 1}", peek.path)
        return Place(f"line {known[row]}", peek.path)

    return locate


def read_delimited(
    peek: Peek,
    *,
    names: Sequence[str] = (),
    number: str | None = None,
    on_bad: OnBad = "raise",
) -> Columns:
    """Read all columns of a delimited file; nothing is guessed, identifiers stay text.

    Parameters
    ----------
    peek
        The file; its first line holds the column names.
    names
        Columns that repeat few names, read as categories.
    number
        A column of numbers. When one of its cells is none, the whole column is read as text.
    on_bad
        What happens with rows that have too few or too many fields.

    Raises
    ------
    InputError
        When a column has no name or one of another column, a byte does not fit the encoding, the
        quotes do not match up, or, with ``"raise"``, a row has too few or too many fields.
    """
    _check_header(peek)
    fast = _read_fast(peek, names, number)
    if fast is None and number is not None:
        fast = _read_fast(peek, (*names, number), None)
    if fast is None:
        return _table_of(peek, _read_exact(peek, on_bad))
    height = len(next(iter(fast.values())))
    return _table_of(peek, Columns(fast, _locator(peek, height), typed=False))


def _table_of(peek: Peek, read: Columns) -> Columns:
    """Leave out what is no part of the table: a title, and columns and rows without anything."""
    read = _without_last_blanks(read)
    first = next(iter(read.columns.values()))
    height = len(first)
    while height and all(column[height - 1] is None for column in read.columns.values()):
        height -= 1
    if height < len(first):
        columns = {name: column.head(height) for name, column in read.columns.items()}
        read = replace(read, columns=columns)
    return replace(read, history=above_header(peek.title))


def _check_header(peek: Peek) -> None:
    header = peek.header
    where = f"{peek.path}, line {peek.lines_before_header + 1}"
    if not header:
        # The header itself cannot be read; reading says on which line and why.
        next(_rows(peek), None)
        raise InputError(f"{where}: no column names; expected a header")
    if any("\ufffd" in name for name in header):
        # The mark of a byte that does not fit the encoding; decoding says which.
        peek.decode()
    for position, name in enumerate(header):
        if not name.strip() and position and any(other.strip() for other in header[position:]):
            raise InputError(f"{where}: column {position + 1} has no name; expected one")
        if name in header[:position]:
            raise InputError(f"{where}: column '{name}' stands twice; expected different names")


def has_no_names(peek: Peek) -> bool:
    """Whether each cell of the first row looks like those below it, so that no row has names.

    A word does that stands below, too, among others, and so does a name such as ``s01`` above
    ``s02`` and ``s03``. Numbers above numbers may be either, as columns can be called by numbers.
    Columns without anything say nothing.
    """
    first, *rows = peek.rows
    if len(first) < 2 or len(rows) < 2 or first in rows or len(first) != len(peek.header):
        return False
    likely, by_text = False, False
    below = [{row[at].strip() for row in rows if len(row) > at} - {""} for at in range(len(first))]
    filled = [at for at, name in enumerate(first) if name.strip() or below[at]]
    columns = [below[at] for at in filled]
    names = [first[at].strip() for at in filled]
    words = [(at, name) for at, name in enumerate(names) if "." not in name]
    if any(name in others for at, name in words for others in _without(columns, at)):
        # Raters who name each other, and columns that are numbered as what stands in them.
        return False
    for name, cells in zip(names, columns, strict=True):
        texts = len(cells) > 1 and _are_texts(name, *cells)
        by_text = by_text or (texts and name not in cells)
        if name in cells or texts or (len(cells) > 1 and _numbered_alike(name, cells)):
            likely = likely or _NUMBER.fullmatch(name) is None
        elif not all(_NUMBER.fullmatch(one) for one in (name, *cells)):
            return False
    if by_text:
        # A long name may stand above texts; beside it what stands below comes back.
        others = zip(names, columns, strict=True)
        likely = all(name in cells or _are_texts(name, *cells) for name, cells in others)
    return likely


def _without(columns: list[set[str]], at: int) -> list[set[str]]:
    return columns[:at] + columns[at + 1 :]


def _are_texts(*cells: str) -> bool:
    """Whether nearly all cells, and the first of them, are sentences."""
    long = [len(cell.split()) > _LONGEST_NAME for cell in cells]
    return long[0] and sum(long) >= 0.9 * len(long)


def _numbered_alike(name: str, others: Collection[str]) -> bool:
    """Whether names differ in their digits only."""
    blank = _DIGITS.sub("0", name)
    return "0" in blank and all(_DIGITS.sub("0", one) == blank for one in others)


def _without_last_blanks(read: Columns) -> Columns:
    """Drop the nameless columns that delimiters at the end of every line make."""
    named = dict(read.columns)
    while len(named) > 1 and not (name := list(named)[-1]).strip():
        column = named.pop(name)
        filled = (column.cast(pl.String).str.strip_chars() != "").fill_null(value=False)
        if filled.any():
            raise InputError(
                f"{read.locate(int(filled.arg_max() or 0))}: column {len(named) + 1} holds "
                f"{column.filter(filled)[0]!r} but has no name; expected one"
            )
    return replace(read, columns=named)


def _read_fast(peek: Peek, names: Sequence[str], number: str | None) -> dict[str, pl.Series] | None:
    """Let polars read the file; None when it is not clean enough for that."""
    if not peek.separator.isascii() or _ends_in_an_open_quote(peek):
        return None
    overrides: dict[str, pl.DataType | type[pl.DataType]] = {
        # Categories of its own keep the codes of a column small.
        _as_read(name): pl.Categorical(pl.Categories.random())
        for name in names
    }
    if number is not None:
        overrides[_as_read(number)] = pl.Float64
    source: str | bytes = str(peek.path)
    if peek.codec not in ("utf-8", "utf-8-sig"):
        source = peek.decode().encode()
    try:
        frame = pl.read_csv(
            source,
            separator=peek.separator,
            infer_schema=False,
            skip_lines=peek.lines_before_header,
            schema_overrides=overrides,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return None
    if tuple(frame.columns) != tuple(map(_as_read, peek.header)):
        return None
    unsure = frame.to_series(-1).null_count() > 0 or _has_odd_quotes(peek)
    if unsure and not _is_even(peek, frame.height):
        return None
    return {
        name: column.alias(name)
        for name, column in zip(peek.header, frame.get_columns(), strict=True)
    }


def _ends_in_an_open_quote(peek: Peek) -> bool:
    """Whether the file is cut behind a quote that opens a field, at which polars panics."""
    with peek.path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 64))
        end = file.read().rstrip(b"\r\n")
    return end.endswith(b'"') and end[-2:-1] in (b"", b"\r", b"\n", peek.separator.encode())


def _as_read(name: str) -> str:
    """Name under which polars reads a column: it leaves doubled quotes in the header doubled."""
    return name.replace('"', '""')


def _has_odd_quotes(peek: Peek) -> bool:
    """Whether a quote stands inside text, as in ``"a"b``, where polars may lose the rest.

    A quote that opens or closes a field has a delimiter or a line end on one side, and one that is
    doubled has another quote. Others may be harmless; they are a reason to look closely.
    """
    if peek.codec not in ("utf-8", "utf-8-sig"):
        return True
    plain = np.ones(256, dtype=bool)
    plain[[ord(mark) for mark in f'{peek.separator}"\r\n']] = False
    with peek.path.open("rb") as file:
        tail = b"\n"
        while block := file.read(_BLOCK):
            block = tail + block
            tail = block[-2:]
            if b'"' not in block:
                continue
            data = np.frombuffer(block, dtype=np.uint8)
            quote = np.flatnonzero(data[1:-1] == ord('"')) + 1
            after = plain[data[quote + 1]]
            if (after & plain[data[quote - 1]]).any():
                return True
            # An empty quoted field that goes on: a delimiter, two quotes, and text.
            second = quote[after & (data[quote - 1] == ord('"'))]
            second = second[second >= 2]
            before = data[second - 2]
            if (~plain[before] & (before != ord('"'))).any():
                return True
    return False


def _is_even(peek: Peek, height: int) -> bool:
    """Whether every row has all its fields: polars takes those that a short row lacks as empty."""
    width = len(peek.header)
    counted = _separators_agree(peek, width)
    if counted is not None:
        return counted
    rows = 0
    for _, row in _rows(peek):
        if len(row) != width:
            return False
        rows += 1
    return rows == height


def _separators_agree(peek: Peek, width: int) -> bool | None:
    """Whether every line has the separators of `width` fields; None when quotes may hide some."""
    if peek.codec not in ("utf-8", "utf-8-sig"):
        return None
    with peek.path.open("rb") as file:
        rest, skipped = b"", peek.lines_before_header
        while block := file.read(_BLOCK):
            block = rest + block
            if b'"' in block:
                return None
            end = block.rfind(b"\n") + 1
            block, rest = block[:end], block[end:]
            data = np.frombuffer(block, dtype=np.uint8)
            separator = np.flatnonzero(data == ord(peek.separator))
            line_end = np.flatnonzero(data == ord("\n"))
            before = np.searchsorted(separator, line_end)
            counts = np.diff(before, prepend=0)[skipped:]
            if (counts != width - 1).any():
                return False
            skipped = max(0, skipped - len(line_end))
    return not rest or rest.count(peek.separator.encode()) == width - 1


def _read_exact(peek: Peek, on_bad: OnBad) -> Columns:
    """Read record by record with the standard library, keeping line numbers."""
    header = peek.header
    width = len(header)
    kept: list[list[str]] = []
    lines: list[int] = []
    ragged: list[int] = []
    rows = list(_rows(peek))
    if rows and width > 1 and len(rows[-1][1]) == 1 and _END.fullmatch(rows[-1][1][0]):
        rows.pop()
    for line, row in rows:
        if len(row) == width:
            kept.append(row)
            lines.append(line)
        elif on_bad == "raise":
            raise InputError(_uneven(peek, line, row))
        else:
            ragged.append(line)
    aside: tuple[SetAside, ...] = ()
    if ragged:
        aside = (SetAside.of(f"not {width} fields", ragged, "line {}".format),)
        if not kept:
            raise InputError(f"{peek.path}: no row can be used: {aside[0]}")
    columns = {
        name: pl.Series(name, [row[position] or None for row in kept], dtype=pl.String)
        for position, name in enumerate(header)
    }
    return Columns(columns, _locator(peek, len(kept), lines), aside, typed=False)


def _rows(peek: Peek) -> Iterator[tuple[int, list[str]]]:
    """Yield (line on which the record starts, fields) after the header; blank lines are none."""
    reader = csv.reader(
        io.StringIO(peek.decode(), newline=""), delimiter=peek.separator, strict=True
    )
    limit = csv.field_size_limit(2**31 - 1)
    start = 1
    header_seen = False
    try:
        for row in reader:
            if row and header_seen:
                yield start, row
            header_seen = header_seen or (bool(row) and start > peek.lines_before_header)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{peek.path}, line {start}: the quotes do not match up ({error})"
        ) from None
    finally:
        csv.field_size_limit(limit)


def rows_below(peek: Peek) -> list[tuple[str, tuple[str, ...]]]:
    """Give the rows below the header of a text table or a sheet, each with its place.

    Raises
    ------
    InputError
        When one has more or fewer fields than the header.
    """
    if peek.is_workbook:
        book = peek.workbook
        return [
            (place, tuple("" if cell is None else str(cell) for cell in row))
            for place, row in zip(book.places[1:], book.rows[1:], strict=True)
        ]
    width = len(peek.header)
    rows = []
    for line, row in _rows(peek):
        if len(row) != width:
            raise InputError(_uneven(peek, line, row))
        rows.append((f"line {line}", tuple(row)))
    return rows


def _uneven(peek: Peek, line: int, row: Sequence[str]) -> str:
    return (
        f"{peek.path}, line {line}: {plural(len(row), 'field')}, expected {len(peek.header)} "
        f"(separated by {peek.separator!r})"
    )


def above_header(title: Sequence[str]) -> History:
    """Say what stands above the header and was left out."""
    return (step(StepKind.ABOVE_HEADER, lines=title),) if title else ()


# Numbers with a decimal comma, as spreadsheets in much of the world write them.


_COMMA = r"^\s*[-+]?[0-9]+,[0-9]+\s*$"
_POINT = r"^\s*[-+]?[0-9]*\.[0-9]+\s*$"


def with_points(column: pl.Series) -> pl.Series | None:
    """Write decimal commas as points; None when there are none, or points stand beside them.

    To be used only where a comma cannot be the delimiter.

    Examples
    --------
    >>> with_points(pl.Series(["3,5", "4", None])).to_list()
    ['3.5', '4', None]
    >>> with_points(pl.Series(["3,5", "4.5"])) is None
    True
    """
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return None
    distinct = column.unique().drop_nulls().cast(pl.String)
    if not distinct.str.contains(_COMMA).any() or distinct.str.contains(_POINT).any():
        return None
    text = column.cast(pl.String)
    return (
        text.to_frame("text")
        .select(
            pl.when(pl.col("text").str.contains(_COMMA))
            .then(pl.col("text").str.replace(",", ".", literal=True))
            .otherwise(pl.col("text"))
        )
        .to_series()
        .alias(column.name)
    )


def commas_step(names: list[str]) -> History:
    """Say in which columns commas were taken as decimal commas."""
    return (step(StepKind.DECIMAL_COMMAS, columns=names),) if names else ()
