"""Names as integers: every statistic runs on codes 0..n-1 instead of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.files import wrong_kind

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of names: the distinct names in order, and each row's position among them."""

    names: pl.Series
    """The distinct names, String, in order of first appearance unless said otherwise."""
    code: Codes
    """Position of each row's name, shape (n_rows,)."""

    @property
    def n(self) -> int:
        """Number of distinct names."""
        return len(self.names)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Coded:
        """Keep some rows, and the names they use, in their order."""
        code = self.code[rows]
        used = np.zeros(self.n, dtype=bool)
        used[code] = True
        if used.all():
            return Coded(self.names, frozen(code))
        position = np.cumsum(used, dtype=np.int32) - 1
        return Coded(self.names.filter(pl.Series(used)), frozen(position[code]))

    def first_rows(self) -> NDArray[np.int64]:
        """Give the first row of each distinct name, shape (n,)."""
        first = np.full(self.n, len(self.code), dtype=np.int64)
        # Written backwards, so that the first row of each name is the one that stays.
        first[self.code[::-1]] = np.arange(len(self.code) - 1, -1, -1)
        return first

    def reorder(self, names: list[str]) -> Coded:
        """Put the distinct names in another order.

        Of `names`, those that do not occur are left out; names that occur but are not among them
        come last, in the order they had.
        """
        own = self.names.to_list()
        present = set(own)
        order = list(dict.fromkeys([*(name for name in names if name in present), *own]))
        if order == own:
            return self
        position = {name: index for index, name in enumerate(order)}
        lookup = np.array([position[name] for name in own], dtype=np.int32)
        return Coded(pl.Series("name", order, dtype=pl.String), frozen(lookup[self.code]))

    def by_name(self) -> Coded:
        """Put the distinct names in the order of the alphabet."""
        if self.names.is_sorted():
            return self
        order = self.names.arg_sort()
        place = np.empty(self.n, dtype=np.int32)
        place[order.to_numpy()] = np.arange(self.n, dtype=np.int32)
        return Coded(self.names.gather(order), frozen(place[self.code]))

    def rename(self, new_names: list[str]) -> Coded:
        """Give the distinct names new names; names that become equal are joined."""
        position: dict[str, int] = {}
        lookup = np.array(
            [position.setdefault(name, len(position)) for name in new_names], dtype=np.int32
        )
        code = lookup[self.code] if len(lookup) else self.code
        return Coded(pl.Series("name", list(position), dtype=pl.String), frozen(code))

    def append(self, code: NDArray[np.integer]) -> Coded:
        """Add rows that use the same names."""
        return Coded(self.names, frozen(np.concatenate([self.code, code.astype(np.int32)])))

    def to_series(self, name: str) -> pl.Series:
        """Give the column as polars Enum, whose physical values are the codes."""
        enum = pl.Enum(self.names)
        if self.n == 0:
            return pl.Series(name, [], dtype=enum)
        width = pl.UInt8 if self.n <= 255 else pl.UInt16 if self.n <= 65535 else pl.UInt32
        return pl.Series(name, self.code).cast(width).cat.to(enum)

    def to_text(self, name: str) -> pl.Series:
        """Give the column as text."""
        return self.names.gather(self.code).alias(name)


def as_categories(column: pl.Series) -> pl.Series:
    """Turn names of any type into categories; text stays as it is, exactly.

    Raises
    ------
    InputError
        When the column holds lists, objects or bytes, or numbers that are not whole.
    """
    dtype = column.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return column
    if dtype.is_float():
        column = _float_names(column)
    elif dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        raise wrong_kind(column, "names")
    return column.cast(pl.String).cast(pl.Categorical(pl.Categories.random()))


def encode(column: pl.Series, *, what: str) -> Coded:
    """Turn a column of names into codes, numbered in order of first appearance.

    Text stays as it is, exactly; whole numbers become their decimal text.

    Raises
    ------
    InputError
        When a name is missing; the sentence names the row (counted from 1).
    """
    column = as_categories(column)
    if column.null_count():
        row = int(column.is_null().arg_max() or 0)
        raise InputError(f"row {row + 1}: {what} is empty; expected a name")
    physical = column.to_physical()
    first = physical.unique(maintain_order=True)
    seen = first.to_numpy()
    if len(seen) == 0:
        return Coded(pl.Series("name", [], dtype=pl.String), frozen(np.zeros(0, dtype=np.int32)))
    names = first.cat.to(column.dtype).cast(pl.String).alias("name")
    lookup = np.empty(int(seen.max()) + 1, dtype=np.int32)
    lookup[seen] = np.arange(len(seen), dtype=np.int32)
    return Coded(names, frozen(lookup[physical.to_numpy()]))


def _float_names(column: pl.Series) -> pl.Series:
    """Names that arrived as floats are whole numbers that met a gap on their way (pandas)."""
    known = column.drop_nulls().drop_nans()
    wrong = known.filter((known != known.round()) | (known.abs() >= 2.0**53))
    if len(wrong):
        raise InputError(
            f"column '{column.name}': {wrong[0]} is not a name; expected text or whole numbers"
        )
    return column.fill_nan(None).cast(pl.Int64)


def duplicate_rows(columns: Sequence[Coded]) -> NDArray[np.intp]:
    """Find the rows that repeat an earlier row in all given columns, in rising order.

    The columns are packed into one integer per row and sorted, which needs no hash table.
    """
    packed = pack(columns)
    ordered = np.sort(packed)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(0, dtype=np.intp)
    order = np.argsort(packed, kind="stable")
    ordered = packed[order]
    return np.sort(order[1:][ordered[1:] == ordered[:-1]])


def pack(columns: Sequence[Coded]) -> NDArray[np.int64] | NDArray[np.uint32]:
    """Give equal integers to the rows that agree in all columns, in the shortest type that fits."""
    packed = columns[0].code.astype(np.int64)
    size = max(columns[0].n, 1)
    for column in columns[1:]:
        if size * max(column.n, 1) >= 2**62:
            _, packed = np.unique(packed, return_inverse=True)
            size = int(packed.max(initial=0)) + 1
        packed *= column.n
        packed += column.code
        size *= max(column.n, 1)
    return packed.astype(np.uint32) if size <= 2**32 else packed


def frozen(array: Codes) -> Codes:
    """Make an array read-only."""
    array.setflags(write=False)
    return array
