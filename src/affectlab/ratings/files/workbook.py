"""Workbooks of spreadsheet programs: the cells of one sheet, as they were typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError, unknown_name
from affectlab.ratings.files.frames import series_of
from affectlab.ratings.files.ledger import Place
from affectlab.ratings.scale import folded

_XLS = b"\xd0\xcf\x11\xe0"
_REMARKS = 2
"""Columns of a sheet of remarks, at most."""
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"


@dataclass(frozen=True)
class Workbook:
    """One sheet of a workbook."""

    path: Path
    name: str
    """The sheet that was read."""
    others: Mapping[str, int]
    """Further sheets with anything in them that were not read, and how many columns each has."""
    rows: tuple[tuple[Any, ...], ...]
    """Cells from the header on, None where nothing is; without rows and columns that are empty."""
    places: tuple[str, ...]
    """Where each row stands: its sheet, and its number from 1."""
    title: tuple[str, ...] = ()
    """What stands above the header."""
    joined: tuple[str, ...] = ()
    """Sheets with the same columns that were put together; their name is the last column."""
    partial: tuple[str, ...] = ()
    """Columns that only some of these have."""

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return _names(self.rows[0])

    def columns(self) -> dict[str, pl.Series]:
        """Give the columns under the header.

        Raises
        ------
        InputError
            When a column has no name or that of another.
        """
        where, names = f"{self.path}, {self.places[0]}", self.header
        for position, name in enumerate(names):
            if not name and position:
                raise InputError(
                    f"{where}: column {position + 1} has no name; expected one (of merged cells "
                    "only the first has it)"
                )
            if name in names[:position]:
                raise InputError(f"{where}: column '{name}' stands twice; expected different names")
        cells = zip(*self.rows[1:], strict=True) if len(self.rows) > 1 else ((),) * len(names)
        return {name: series_of(name, list(own)) for name, own in zip(names, cells, strict=True)}

    def locate(self, row: int) -> Place:
        """Say where a row under the header stands."""
        return Place(self.places[row + 1], self.path)


def is_workbook(head: bytes, suffix: str) -> bool:
    """Whether a file begins like a workbook of Excel or of OpenDocument."""
    if head.startswith(_XLS):
        return suffix == ".xls"
    return head.startswith(b"PK\x03\x04") and (b"xl/" in head or _OPEN_DOCUMENT in head[:120])


def read_workbook(
    path: Path, sheet: str | None = None, shared: Collection[str] | None = None
) -> Workbook:
    """Read a sheet of a workbook: the named one, else the first that may hold answers.

    A sheet of remarks has two columns at most, and goes before larger ones. Further sheets that
    have the same columns, in any order and case, are read with the first where none is named; and
    those that have some more or some fewer, if they have the `shared` ones.

    Raises
    ------
    InputError
        When it cannot be read, or there is no such sheet, or nothing in it.
    MissingDependencyError
        When the library is not installed.
    """
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingDependencyError(
            f"{path} is a workbook, which needs the library python-calamine: "
            f"{install_line('files')}, or save the sheet as CSV"
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        names = [
            one.name
            for one in book.sheets_metadata
            if one.typ == calamine.SheetTypeEnum.WorkSheet
            and one.visible == calamine.SheetVisibleEnum.Visible
        ]
        if sheet is not None and sheet not in names:
            raise unknown_name("sheet", sheet, names, str(path))
        filled = {name: rows for name in names if (rows := list(_rows(book, name)))}
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} cannot be read as a workbook: {reason}") from None
    tables = {own: _table(own, rows) for own, rows in filled.items()}
    name = sheet or _first_of_answers(tables)
    if name is None or name not in filled:
        where = str(path) if name is None else f"{path}, sheet '{name}'"
        raise InputError(f"{where} is empty; expected a table")
    first = tables[name]
    others = {own: len(one.names) for own, one in tables.items() if own != name}
    joined = {own: one for own, one in tables.items() if first.goes_with(one, shared)}
    if sheet is not None or len(joined) < 2:
        return Workbook(path, name, others, first.rows, first.places, first.title)
    spelling = {key: name for one in reversed(joined.values()) for key, name in one.names.items()}
    keys = dict.fromkeys(key for one in joined.values() for key in one.names)
    partial = [key for key in keys if any(key not in one.names for one in joined.values())]
    below = [
        ((*(cells.get(key) for key in keys), own), at)
        for own, one in joined.items()
        for cells, at in one.below
    ]
    return Workbook(
        path,
        name,
        {own: width for own, width in others.items() if own not in joined},
        ((*(spelling[key] for key in keys), SHEET), *(row for row, _ in below)),
        (first.places[0], *(at for _, at in below)),
        first.title,
        tuple(joined),
        tuple(spelling[key] for key in partial),
    )


def _names(header: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple("" if one is None else str(one).strip() for one in header)


SHEET = "sheet"
"""Column of the name of the sheet, where several are read."""


@dataclass(frozen=True)
class _Sheet:
    """The rows of one sheet from the header on, where each stands, and what is above."""

    rows: tuple[tuple[Any, ...], ...]
    places: tuple[str, ...]
    title: tuple[str, ...]

    @property
    def names(self) -> dict[str, str]:
        """Names of the columns, by what is the same in any case."""
        names = _names(self.rows[0])
        keys = tuple(map(folded, names))
        return dict(zip(keys if len(set(keys)) == len(keys) else names, names, strict=True))

    @property
    def below(self) -> list[tuple[dict[str, Any], str]]:
        """Cells of the rows under the header by column, and where each row stands."""
        keys = self.names
        return [
            (dict(zip(keys, row, strict=True)), at)
            for row, at in zip(self.rows[1:], self.places[1:], strict=True)
        ]

    def goes_with(self, other: _Sheet, shared: Collection[str] | None) -> bool:
        """Whether another sheet has the same columns, or some more or fewer beside the `shared`."""
        own, theirs = self.names.keys(), other.names.keys()
        twice = any(len(one.rows[0]) > len(one.names) for one in (self, other))
        if twice or SHEET in own | theirs or min(len(own), len(theirs)) < 2:
            return False
        if own == theirs or shared is None:
            return own == theirs
        alike = any(len(set(map(folded, keys))) < len(keys) for keys in (own, theirs))
        nested = own < theirs or theirs < own
        return nested and not alike and set(map(folded, shared)) <= own & theirs


def _first_of_answers(tables: Mapping[str, _Sheet]) -> str | None:
    """Name the first sheet, or behind sheets of remarks the first larger one.

    Remarks have one or two columns, and words in the second; a first sheet with other columns
    than several alike ones, and no more rows than each of these, holds them, too.
    """
    first = next(iter(tables), None)
    if first is None:
        return None
    shapes = Counter(frozenset(one.names) for one in tables.values())
    alike = [name for name, one in tables.items() if shapes[frozenset(one.names)] > 1]
    if first not in alike and any(
        len(tables[name].names) > _REMARKS and len(tables[name].rows) >= len(tables[first].rows)
        for name in alike[:1]
    ):
        return alike[0]
    second = [row[-1] for row in tables[first].rows[1:]]
    numbers = sum(isinstance(cell, int | float) for cell in second)
    if len(tables[first].names) > _REMARKS or 2 * numbers > len(second):
        return first
    rows = len(tables[first].rows)
    larger = (
        name for name, one in tables.items() if len(one.names) > _REMARKS and len(one.rows) > rows
    )
    return next(larger, first)


def _table(name: str, rows: list[tuple[int, list[Any]]]) -> _Sheet:
    """Take rows above the header as a title, and empty columns out.

    A title fills one or two cells from the left; the header is the first row that fills as many as
    any, with words.
    """
    width = max(sum(cell is not None for cell in row) for _, row in rows)
    start = next((at for at, (_, row) in enumerate(rows) if not _is_title(row, width)), 0)
    header = [cell for cell in rows[start][1] if cell is not None]
    if len(header) < width or not all(isinstance(cell, str) for cell in header):
        start = 0
    title = tuple(" ".join(str(c) for c in row if c is not None) for _, row in rows[:start])
    table = rows[start:]
    used = [at for at in range(len(table[0][1])) if any(row[at] is not None for _, row in table)]
    return _Sheet(
        tuple(tuple(row[at] for at in used) for _, row in table),
        tuple(f"sheet '{name}', row {number}" for number, _ in table),
        title,
    )


def _is_title(row: list[Any], width: int) -> bool:
    filled = sum(cell is not None for cell in row)
    return filled < min(width, 3) and all(cell is not None for cell in row[:filled])


def _rows(book: Any, name: str) -> Iterator[tuple[int, list[Any]]]:
    """Yield number and cells of the rows that are not empty."""
    for number, row in enumerate(book.get_sheet_by_name(name).to_python(skip_empty_area=False), 1):
        cells = [_cell(one) for one in row]
        if any(one is not None for one in cells):
            yield number, cells


def _cell(cell: Any) -> Any:
    """Give a cell as it is shown: whole numbers without a point, nothing where it is empty."""
    if isinstance(cell, str):
        return cell if cell.strip() else None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, timedelta) else cell
