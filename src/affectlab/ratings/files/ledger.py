"""Rows that cannot be used: counted with the reason, or the end of the reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.ratings.schema import SetAside, Unit

OnBad = Literal["raise", "set_aside"]
Locate = Callable[[int], str]
"""Says where a row (counted from 0) stands, for example ``"ratings.csv, line 7"``."""

_PLACE = re.compile(r"(?:^|, )((?:table [0-9]+, )?(?:line |row |dis_videos\[)[0-9]+.*)$", re.DOTALL)

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """Rows that share one thing that is wrong with them."""

    rows: Rows
    reason: str
    """What is wrong, for the ledger of rows set aside."""
    say: Callable[[int], str]
    """The same for one row, with its value and what was expected."""


def row_number(row: int) -> str:
    """Say where a row of a table in memory stands, counted from 1."""
    return f"row {row + 1}"


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

    def place(self, row: int) -> str:
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
            raise InputError(f"{self.place(first)}: {problem.say(first)}{self._more(len(rows))}")
        self._dropped.append(rows)
        self._record(problem.reason, rows)

    def _record(self, reason: str, rows: Rows) -> None:
        self.set_aside.append(SetAside.of(reason, rows.tolist(), self._short, self.unit))

    def _short(self, row: int) -> str:
        """Leave the name of the file out of a place, since it is the same for all."""
        place = self.place(row)
        found = _PLACE.search(place)
        return found[1] if found else place

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
                raise InputError(f"{place}: {name} is empty; expected a name{more}")
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
