"""Rows that cannot be used: counted with the reason, or the end of the reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.ratings.schema import AsideKind, SetAside, Unit

OnBad = Literal["raise", "set_aside"]


@dataclass(frozen=True)
class Place:
    """Where a row stands.

    Examples
    --------
    >>> place = Place("line 7", "ratings.csv")
    >>> str(place), str(place.then(", column 'joy'")), place.inside
    ('ratings.csv, line 7', "ratings.csv, line 7, column 'joy'", 'line 7')
    """

    inside: str
    """Where in the file, such as ``line 7``."""
    file: Path | str = ""
    """Empty where the rows are those of a table in memory."""

    def then(self, more: str) -> Place:
        """Say more precisely where."""
        return Place(f"{self.inside}{more}", self.file)

    def __str__(self) -> str:
        return f"{self.file}, {self.inside}" if str(self.file) else self.inside


Locate = Callable[[int], Place]
"""Says where a row (counted from 0) stands."""

Rows = NDArray[np.intp]


class PlacedError(InputError):
    """Input that cannot be used, and where it stands."""


@dataclass(frozen=True)
class Problem:
    """Rows that share one thing that is wrong with them."""

    rows: Rows
    reason: str
    """What is wrong, for the ledger of rows set aside."""
    say: Callable[[int], str]
    """The same for one row, with its value and what was expected."""
    kind: AsideKind = "unusable"


def row_number(row: int) -> Place:
    """Say where a row of a table in memory stands, counted from 1."""
    return Place(f"row {row + 1}")


class Ledger:
    """Collects unusable rows, or stops at the first.

    Each row is counted once, under the first thing found wrong with it, so that rows kept and rows
    set aside add up to the rows that came in.
    """

    def __init__(self, on_bad: OnBad, locate: Locate, unit: Unit = "row") -> None:
        self.on_bad = on_bad
        self.locate = locate
        self.unit = unit
        self.set_aside: list[SetAside] = []
        self._original: Rows | None = None
        self._dropped: list[Rows] = []

    def place(self, row: int) -> Place:
        """Say where a row stands in the source."""
        return self.locate(row if self._original is None else int(self._original[row]))

    def add(self, problem: Problem, *, always_aside: bool = False) -> None:
        """Take note of a problem.

        Raises
        ------
        InputError
            For the first row, when bad rows are to raise.
        """
        rows = problem.rows
        if len(rows) == 0:
            return
        if self._dropped:
            rows = np.setdiff1d(rows, np.concatenate(self._dropped))
            if len(rows) == 0:
                return
        if self.on_bad == "raise" and not always_aside:
            first = int(rows[0])
            raise PlacedError(f"{self.place(first)}: {problem.say(first)}{self._more(len(rows))}")
        self._dropped.append(rows)
        self._record(problem.reason, rows, problem.kind)

    def _record(self, reason: str, rows: Rows, kind: AsideKind = "unusable") -> None:
        aside = SetAside.of(
            reason, rows.tolist(), lambda row: self.place(row).inside, self.unit, kind
        )
        self.set_aside.append(aside)

    def _more(self, count: int) -> str:
        return "" if count == 1 else f" (and {plural(count - 1, f'more such {self.unit}')})"

    def kept(self, n_rows: int) -> NDArray[np.bool_]:
        """Say for each row whether it is kept."""
        mask = np.ones(n_rows, dtype=bool)
        for rows in self._dropped:
            mask[rows] = False
        return mask

    def drop_nameless(self, columns: dict[str, pl.Series]) -> dict[str, pl.Series]:
        """Take out rows without stimulus, rater or label, which cannot be coded at all."""
        for name in ("stimulus", "rater", "label"):
            if name not in columns:
                continue
            columns[name] = _blank_to_null(columns[name])
            if not columns[name].null_count():
                continue
            missing = np.flatnonzero(columns[name].is_null().to_numpy())
            if self.on_bad == "raise":
                place, more = self.place(int(missing[0])), self._more(len(missing))
                raise PlacedError(f"{place}: {name} is empty; expected a name{more}")
            self._record(f"{name} is empty", missing)
            keep = columns[name].is_not_null()
            original = np.flatnonzero(keep.to_numpy())
            if len(original) == 0:
                raise InputError(f"{name} is empty in every row; expected names")
            self._original = original if self._original is None else self._original[original]
            columns = {key: column.filter(keep) for key, column in columns.items()}
        return columns


def _blank_to_null(column: pl.Series) -> pl.Series:
    """Names made of white space only are no names."""
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return column
    distinct = column.unique().drop_nulls()
    blank = distinct.filter(distinct.cast(pl.String).str.strip_chars() == "")
    if len(blank) == 0:
        return column
    text = column.cast(pl.String)
    return text.set(text.str.strip_chars() == "", None)
