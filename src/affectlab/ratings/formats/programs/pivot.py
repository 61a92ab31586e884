"""Tables with two rows of names, as pivot tables of pandas are written."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import repeat
from typing import get_args

import polars as pl

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Sure, file_format
from affectlab.ratings.formats.table import PlainTable
from affectlab.ratings.options import ReadOptions, Wide

_ROWS = 3
"""Two rows of names, and one with the name of what rows are called after."""


@file_format(
    "pivot",
    "a table with two rows of names, such as pandas' pivot tables (CSV)",
    wide=get_args(Wide),
)
class Pivot(PlainTable):
    """A table in whose first row each name stands several times, above the names of the second.

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
        return Sure.NO if head.is_binary or head.is_table else Sure.if_(_is_pivot(head.first_rows))

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Read the table under names of two parts."""
        reader = csv.reader(io.StringIO(head.decode(), newline=""), delimiter=head.separator)
        first, second, index, *rows = (row for row in reader if row)
        names = [index[0], *map(": ".join, zip(first[1:], second[1:], strict=True))]
        cells = ([*row, *repeat("", len(names) - len(row))][: len(names)] for row in rows)
        frame = pl.DataFrame(list(cells), schema=names, orient="row")
        return Peek.of_frame(frame, str(head.path))


def _is_pivot(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first two rows cross, and the third names the rows alone."""
    if len(rows) <= _ROWS or len({*map(len, rows[:_ROWS])}) > 1:
        return False
    (_, *first), (_, *second), (name, *rest) = rows[:_ROWS]
    pairs = list(zip(first, second, strict=True))
    return (
        bool(name)
        and not any(rest)
        and all(map(all, pairs))
        and 1 < len({*first}) < len(pairs) == len({*pairs})
        and 1 < len({*second}) < len(pairs)
    )
