"""Tables with two rows of names, as pivot tables and spreadsheets are written, or with none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import get_args

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.build import is_number
from affectlab.ratings.files import Peek, has_no_names, rows_below
from affectlab.ratings.formats.format import Contents, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import PlainTable, crossings
from affectlab.ratings.options import ReadOptions, Wide
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import Step, guess

_SHOWN = 3


@file_format(
    "pivot",
    "a table with two rows of names, such as pandas' pivot tables (CSV, Excel)",
    wide=get_args(Wide),
)
class Pivot(PlainTable):
    """A table in whose first row names stand several times, or once above those of the second.

    The two names of a column, such as a dimension and a rater, are read as one that crosses both.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "pivot.csv"
    >>> rows = [",joy,joy,fear,fear", "rater,r1,r2,r1,r2", "image,,,,", "a,1,3,5,2", "b,2,4,3,1"]
    >>> _ = file.write_text("\\n".join(rows))
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names, r.label_names
    (('a', 'b'), ('r1', 'r2'), ('joy', 'fear'))
    """

    def recognise(self, head: Peek) -> Sure:
        if head.is_table or not _names_in(head.first_rows):
            return Sure.NO
        return Sure.LAYOUT if _is_pivot(head.first_rows) else Sure.KIND

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Read the table under names of two parts."""
        rows = _rows(head)
        names = _names_in(rows)
        return _under(head, names, rows[3 if _is_pivot(rows) else 2 :])


@file_format(
    "nameless",
    "a table whose first row holds answers, without names of columns (CSV)",
    wide=get_args(Wide),
)
class Nameless(PlainTable):
    """A table whose first row looks like those below it; its columns are called by their numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> rows = [f"p{rater},face{k}.png,{(rater + k) % 5}" for rater in range(3) for k in range(4)]
    >>> _ = file.write_text("\\n".join(rows))
    >>> columns = {"rater": "column 1", "stimulus": "column 2", "value": "column 3"}
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     r = read_ratings(file, columns=columns)
    >>> r.n_stimuli, r.n_raters
    (4, 3)
    """

    def recognise(self, head: Peek) -> Sure:
        text = not (head.is_table or head.is_workbook or head.is_binary or head.is_json)
        return Sure.KIND if text and has_no_names(head) else Sure.NO

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Read the table under numbers of columns."""
        rows = _rows(head)
        names = [f"column {place + 1}" for place in range(len(rows[0]))]
        return _under(head, names, rows, guess(StepKind.NO_HEADER, format="table"))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say what each column is taken for, or that none is named."""
        with _nameless(head):
            return super().describe(head, options)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the rows as those of a table."""
        with _nameless(head):
            return super().contents(head, options, rejects)


@contextmanager
def _nameless(head: Peek) -> Iterator[None]:
    """Say of a table that cannot be read that its columns have no names."""
    try:
        yield
    except InputError as error:
        _, first, *_ = head.first_rows
        row = ", ".join(first[:_SHOWN]) + (", …" if len(first) > _SHOWN else "")
        raise InputError(
            f"{head.path}, line 1: the first row ({row}) looks like those below it, so columns are "
            "called by their numbers; write names above it, or say which column is what: "
            f"{str(error).removeprefix(f'{head.path}: ')}"
        ) from None


def _rows(head: Peek) -> list[Sequence[str]]:
    return [head.first_rows[0], *(row for _, row in rows_below(head))]


def _under(head: Peek, names: Sequence[str], rows: Sequence[Sequence[str]], *steps: Step) -> Peek:
    cells = [[*row, *repeat("", len(names) - len(row))][: len(names)] for row in rows]
    frame = pl.DataFrame(cells, schema=list(names), orient="row")
    return Peek.of_frame(frame, str(head.path), (*head.steps, *steps))


def _names_in(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the names of two rows that cross; none where they do not."""
    if _is_pivot(rows):
        return [rows[2][0], *map(": ".join, zip(rows[0][1:], rows[1][1:], strict=True))]
    if len(rows) < 3 or len(rows[0]) != len(rows[1]):
        return []
    above = [name.strip() for name in rows[0]]
    below = [name.strip() for name in rows[1]]
    spread = _spread(above, below)
    names = [": ".join(filter(None, pair)) for pair in zip(spread, below, strict=True)]
    if not all(names) or len({*names}) < len(names) or any(map(is_number, above + below)):
        return []
    both = [name for name, *pair in zip(names, spread, below, strict=True) if all(pair)]
    crossed = next(iter(crossings(both)), None)
    if crossed is None or crossed.fullness < 1:
        return []
    places = [names.index(name) for name in crossed.columns]
    data = [row[place] for row in rows[2:] for place in places if place < len(row)]
    return names if 2 * sum(map(is_number, data)) > len(data) else []


def _spread(above: Sequence[str], below: Sequence[str]) -> list[str]:
    """Repeat a name of the first row above the names of the second that stand under it."""
    found: list[str] = []
    last = ""
    for first, second in zip(above, below, strict=True):
        last = first or (last if second else "")
        found.append(last)
    return found


def _is_pivot(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first two rows cross, and the third names the rows alone."""
    if len(rows) <= 3 or len({*map(len, rows[:3])}) > 1:
        return False
    (_, *first), (_, *second), (name, *rest) = rows[:3]
    pairs = list(zip(first, second, strict=True))
    return (
        bool(name)
        and not any(rest)
        and all(map(all, pairs))
        and 1 < len({*first}) < len(pairs) == len({*pairs})
        and 1 < len({*second}) < len(pairs)
    )
