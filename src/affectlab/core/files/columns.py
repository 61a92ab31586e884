"""Columns of tables that users give: that they are there, filled, distinct and of numbers.

What errors call the table stands first in each sentence, with a colon behind: ``"pairs.csv: "``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown, some

__all__ = ["numbers_of", "require_columns", "require_distinct", "require_filled"]

_SHOWN_COLUMNS = 12
_SHOWN_NAME = 80
"""Length at which a name from a table is cut."""


def require_columns(
    table: pl.DataFrame | Collection[str], needed: Sequence[str], where: str = "", hint: str = ""
) -> None:
    """Refuse a table, or the names of its columns, when one is missing; a hint says what to do.

    Examples
    --------
    >>> require_columns(pl.DataFrame({"a": [1]}), ["a", "b"], "scores: ")
    Traceback (most recent call last):
    affectlab.InputError: scores: column 'b' is missing; expected a and b, found a
    """
    names = table.columns if isinstance(table, pl.DataFrame) else table
    for name in needed:
        if name not in names:
            given = some([shown(one) for one in names], _SHOWN_COLUMNS) if names else "none"
            more = f"; {hint}" if hint else ""
            raise InputError(
                f"{where}column {name!r} is missing; expected {joined(needed)}, found {given}{more}"
            )


def require_filled(table: pl.DataFrame, names: Sequence[str], where: str = "") -> None:
    """Refuse a table in which a cell of these columns is empty, or text of spaces alone.

    Examples
    --------
    >>> require_filled(pl.DataFrame({"stimulus": ["a", " "]}), ["stimulus"], "pairs: ")
    Traceback (most recent call last):
    affectlab.InputError: pairs: row 2: stimulus is empty; expected a value
    """
    for name in names:
        empty = table[name].is_null()
        if table[name].dtype == pl.String:
            empty |= (table[name].str.strip_chars() == "").fill_null(False)
        if empty.any():
            row = int(empty.arg_max() or 0)
            raise InputError(f"{where}row {row + 1}: {name} is empty; expected a value")


def require_distinct(
    table: pl.DataFrame, keys: Sequence[str], where: str = "", expected: str = "once"
) -> None:
    """Refuse a table in which several rows have the same keys.

    Examples
    --------
    >>> require_distinct(pl.DataFrame({"stimulus": ["a", "a"]}), ["stimulus"], "pairs: ")
    Traceback (most recent call last):
    affectlab.InputError: pairs: stimulus 'a' stands twice; expected once
    """
    rows = table.select(keys)
    repeated = rows.filter(rows.is_duplicated())
    if repeated.height:
        first = repeated.row(0, named=True)
        named = (
            f"{key} {(shown(cell, _SHOWN_NAME) if isinstance(cell, str) else cell)!r}"
            for key, cell in first.items()
        )
        n = repeated.join(repeated.head(1), on=keys, how="semi", nulls_equal=True).height
        times = "twice" if n == 2 else f"{n:,} times"
        raise InputError(f"{where}{', '.join(named)} stands {times}; expected {expected}")


def numbers_of(
    table: pl.DataFrame, name: str, where: str = "", *, finite: bool = False
) -> pl.Series:
    """Read a column of numbers, null where a cell is empty.

    Raises
    ------
    InputError
        When a cell holds no number; where asked for, also when it is infinite.

    Examples
    --------
    >>> numbers_of(pl.DataFrame({"a": [" 1", ""]}), "a").to_list()
    [1.0, None]
    """
    given = table[name]
    if given.dtype == pl.String:
        given = given.str.strip_chars().replace("", None)
    elif not (given.dtype.is_numeric() or given.dtype == pl.Null):
        raise InputError(f"{where}column {name!r} holds {given.dtype} values; expected numbers")
    numbers = given.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & given.is_not_null()
    if finite:
        wrong |= numbers.is_infinite().fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{where}row {row + 1}, {name}: {given[row]!r}; expected a number")
    return numbers.fill_nan(None)
