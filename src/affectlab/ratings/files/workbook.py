"""Workbooks of spreadsheet programs: the cells of one sheet, as they were typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError, MissingDependencyError, unknown_name
from affectlab.ratings.files.frames import series_of

_XLS = b"\xd0\xcf\x11\xe0"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"


@dataclass(frozen=True)
class Workbook:
    """One sheet of a workbook."""

    path: Path
    name: str
    """The sheet that was read."""
    others: tuple[str, ...]
    """Further sheets with anything in them."""
    rows: tuple[tuple[Any, ...], ...]
    """Cells from the header on, None where nothing is; without rows and columns that are empty."""
    numbers: tuple[int, ...]
    """Number of each row in the sheet, from 1."""

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple("" if one is None else str(one).strip() for one in self.rows[0])

    def columns(self) -> dict[str, pl.Series]:
        """Give the columns under the header.

        Raises
        ------
        InputError
            When a column has no name or that of another.
        """
        where, names = f"{self.place}, row {self.numbers[0]}", self.header
        for position, name in enumerate(names):
            if not name and position:
                raise InputError(f"{where}: column {position + 1} has no name; expected one")
            if name in names[:position]:
                raise InputError(f"{where}: column '{name}' stands twice; expected different names")
        cells = zip(*self.rows[1:], strict=True) if len(self.rows) > 1 else ((),) * len(names)
        return {name: series_of(name, list(own)) for name, own in zip(names, cells, strict=True)}

    @property
    def place(self) -> str:
        """File and sheet."""
        return f"{self.path}, sheet '{self.name}'"

    def locate(self, row: int) -> str:
        """Say where a row under the header stands."""
        return f"{self.place}, row {self.numbers[row + 1]}"


def is_workbook(head: bytes, suffix: str) -> bool:
    """Whether a file begins like a workbook of Excel or of OpenDocument."""
    if head.startswith(_XLS):
        return suffix == ".xls"
    return head.startswith(b"PK\x03\x04") and (b"xl/" in head or _OPEN_DOCUMENT in head[:120])


def read_workbook(path: Path, sheet: str | None = None) -> Workbook:
    """Read a sheet of a workbook: the named one, else the first with anything in it.

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
            'pip install "affectlab[files]", or save the sheet as CSV'
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
    name = sheet or next(iter(filled), None)
    if name is None or name not in filled:
        where = str(path) if name is None else f"{path}, sheet '{name}'"
        raise InputError(f"{where} is empty; expected a table")
    rows = filled[name]
    used = [at for at in range(len(rows[0][1])) if any(row[at] is not None for _, row in rows)]
    return Workbook(
        path,
        name,
        tuple(one for one in filled if one != name),
        tuple(tuple(row[at] for at in used) for _, row in rows),
        tuple(number for number, _ in rows),
    )


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
