"""Text in CSV files: what a terminal or a spreadsheet would take for a command."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.facts import flat

_CONTROL = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F]"
"""Control characters except the tab and the breaks of lines, which CSV can quote."""
_FORMULA = r"^'*[=+\-@\t\r]"
"""Also with ``'`` before it, so that what a sheet holds can be read back as it was."""
_GUARDED = r"^'('*[=+\-@\t\r])"


def write_data_csv(frame: pl.DataFrame, path: Path) -> None:
    """Write a table for programs: text as it is, without control characters."""
    _without_control(frame).write_csv(path)


def write_sheet_csv(frame: pl.DataFrame, path: Path) -> None:
    """Write a table to be opened as a sheet: text that a sheet would compute gets a ``'`` first.

    Names in such tables come from files of others, and ``=HYPERLINK(…)`` is a name, too.
    """
    plain = _without_control(frame)
    text = [name for name, kind in plain.schema.items() if kind == pl.String]
    plain.with_columns(pl.col(text).str.replace(_FORMULA, "'$0")).rename(
        {name: f"'{name}" for name in plain.columns if name[:1] in "=+-@\t\r" and name}
    ).write_csv(path)


def cell_of_sheet(cell: str) -> str:
    """Give one cell as it was before :func:`write_sheet_csv` wrote it.

    Examples
    --------
    >>> cell_of_sheet("'=1+1"), cell_of_sheet("'tis")
    ('=1+1', "'tis")
    """
    return re.sub(_GUARDED, r"\1", cell)


def text_of_sheet(cells: pl.Expr) -> pl.Expr:
    """Give text as it was before :func:`write_sheet_csv` wrote it.

    Examples
    --------
    >>> import polars as pl
    >>> told = pl.DataFrame({"name": ["'=1+1", "'tis", "plain"]})
    >>> told.select(text_of_sheet(pl.col("name")))["name"].to_list()
    ['=1+1', "'tis", 'plain']
    """
    return cells.str.replace(_GUARDED, "$1")


def _without_control(frame: pl.DataFrame) -> pl.DataFrame:
    coded = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum)]
    frame = flat(frame.cast(dict.fromkeys(coded, pl.String)))
    listed = [name for name, kind in frame.schema.items() if kind == pl.List(pl.String)]
    frame = frame.with_columns(pl.col(listed).list.join("; "))
    text = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(text).str.replace_all(_CONTROL, ""))


# Reading the tables that stimuli are made from.


def read_table(path: str | Path, what: str) -> pl.DataFrame:
    """Read a CSV file, all columns as text, or a Parquet file.

    Raises
    ------
    InputError
        When the file is missing or is no such table; the sentence says `what` was expected.
    """
    place = Path(path)
    try:
        if place.suffix == ".parquet":
            return pl.read_parquet(place)
        return pl.read_csv(place, infer_schema=False)
    except FileNotFoundError:
        raise InputError(f"{place}: there is no such file") from None
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise InputError(f"{place}: not a table of {what} ({problem})") from None
