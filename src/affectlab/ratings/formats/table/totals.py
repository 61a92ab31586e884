"""Rows at the end of a table that sum up those above, as spreadsheets have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings.files import Columns
from affectlab.ratings.schema import SetAside

_MEANS = ("average", "avg", "mean", "mos", "durchschnitt", "mittelwert", "moyenne")
_SPREADS = ("sd", "standard deviation", "std", "std. dev.", "stdev", "stddev")
_TOTALS = ("grand total", "sum", "total", "totals", "gesamt", "summe")
_COUNTS = ("count", "n")
_OF_NAME: dict[str, Callable[[NDArray[np.float64]], tuple[float, ...]]] = {
    **dict.fromkeys(_MEANS, lambda given: (given.mean(),)),
    **dict.fromkeys(_SPREADS, lambda given: (given.std(), given.std(ddof=min(1, len(given) - 1)))),
    **dict.fromkeys(_TOTALS, lambda given: (given.sum(), len(given), given.mean())),
    **dict.fromkeys(_COUNTS, lambda given: (len(given),)),
    "median": lambda given: (float(np.median(given)),),
    "max": lambda given: (given.max(),),
    "maximum": lambda given: (given.max(),),
    "min": lambda given: (given.min(),),
    "minimum": lambda given: (given.min(),),
}
"""What stands in a row of a name: any of these of the numbers above."""
_MOST = 8
_ROUNDED = 0.051
"""Half of the last digit of a number with one decimal."""


def without_totals(given: Columns) -> Columns:
    """Set aside the last rows where they are called sums or means, and are those of the others.

    A name alone says nothing, as ``mean`` may be a word that was rated: all numbers of the row must
    be what the name says of the numbers above, up to rounding to one decimal.
    """
    frame = list(given.columns.values())
    height = len(frame[0]) if frame else 0
    names = [_name(frame, row) for row in range(max(0, height - _MOST), height)]
    n_called = next((k for k, name in enumerate(reversed(names)) if name is None), len(names))
    last = height - n_called
    if not n_called or not last:
        return given
    numbers = [_numbers(column.head(last).cast(pl.String)) for column in frame]
    rows = []
    for row in range(last, height):
        check = _OF_NAME[_name(frame, row) or ""]
        told = [
            _is_any(cell, check(above))
            for column, above in zip(frame, numbers, strict=True)
            if above is not None and (cell := _number(column[row])) is not None
        ]
        if not told or not all(told):
            return given
        rows.append(row)
    aside = SetAside.of("it sums up the rows above", rows, given.place)
    columns = {name: column.head(last) for name, column in given.columns.items()}
    return replace(given, columns=columns, set_aside=(*given.set_aside, aside))


def _name(frame: list[pl.Series], row: int) -> str | None:
    """Give the word that a row begins with, where it is one of a sum."""
    for column in frame:
        cell = "" if column[row] is None else str(column[row]).strip()
        if cell:
            folded = cell.casefold().rstrip(":")
            return folded if folded in _OF_NAME else None
    return None


def _numbers(text: pl.Series) -> NDArray[np.float64] | None:
    """Give the numbers of a column; None where it holds words."""
    numbers = text.str.strip_chars().str.replace(",", ".", literal=True)
    given = numbers.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    blank = text.is_null() | (text.str.strip_chars() == "")
    # A code for a missing answer may stand among many numbers, and no number among many words.
    if not len(given) or 2 * len(given) < len(text) - int(blank.sum()):
        return None
    return given.to_numpy()


def _number(cell: object) -> float | None:
    text = pl.Series([None if cell is None else str(cell)], dtype=pl.String)
    found = _numbers(text)
    return None if found is None else float(found[0])


def _is_any(cell: float, expected: tuple[float, ...]) -> bool:
    return bool(np.isclose(cell, expected, rtol=1e-6, atol=_ROUNDED).any())
