"""Tables whose columns are declared once, and figures of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from affectlab.core.types import pl

__all__ = ["Column", "Figure", "Table"]

_LONG = 12
"""Rows above which a table is folded on a page."""

ColumnKind: TypeAlias = Literal[
    "name",
    "text",
    "count",
    "number",
    "p_value",
    "share",
    "interval",
    "share_interval",
    "value",
    "yes_no",
]


@dataclass(frozen=True)
class Column:
    """A column of a table: which one of the frame, what it is called, and how it is written.

    A ``share`` is written as a percentage. An ``interval`` or ``share_interval`` column reads
    ``key_low`` and ``key_high``, or ``low`` and ``high`` when `key` is ``"interval"``. A ``value``
    is a number in whose place the column ``status`` stands where it is not defined.
    """

    key: str
    head: str
    kind: ColumnKind = "text"
    decimals: int | None = None
    """Digits after the point: by default 2, and 0 for shares (as percentages)."""
    is_key: bool = False
    """Whether the column says, alone or with others, what a row is about."""
    unit: str = ""
    help: str = ""
    """What the column means, in a sentence."""
    verbatim: bool = False
    """Whether the head is a name that the data hold, which is written as it is."""
    spare: bool = False
    """Whether a terminal in which the columns do not fit beside each other leaves it out; pages,
    notebooks and files have it."""

    @property
    def digits(self) -> int:
        """Digits after the point."""
        if self.decimals is not None:
            return self.decimals
        return {"share": 0, "share_interval": 1}.get(self.kind, 2)

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of the frame that it reads."""
        if self.kind in ("interval", "share_interval"):
            prefix = "" if self.key == "interval" else f"{self.key}_"
            return f"{prefix}low", f"{prefix}high"
        return (self.key,)


def _head(key: str, head: str) -> str:
    return head or key.removeprefix("n_").replace("_", " ")


def Key(key: str, head: str = "", **more: Any) -> Column:
    """Declare a column that says what a row is about."""
    return Column(key, _head(key, head), "name", is_key=True, **more)


def Value(key: str = "value", head: str = "", **more: Any) -> Column:
    """Declare an estimate, which its status stands in for where it is not defined."""
    return Column(key, _head(key, head), "value", **more)


def Interval(key: str = "interval", head: str = "", **more: Any) -> Column:
    """Declare an interval, read from ``low`` and ``high`` or ``key_low`` and ``key_high``."""
    return Column(key, _head(key, head), "interval", **more)


def Number(key: str, head: str = "", **more: Any) -> Column:
    """Declare a number."""
    return Column(key, _head(key, head), "number", **more)


def Count(key: str, head: str = "", **more: Any) -> Column:
    """Declare a whole number."""
    return Column(key, _head(key, head), "count", **more)


def Share(key: str, head: str = "", **more: Any) -> Column:
    """Declare a share, which is written as a percentage."""
    return Column(key, _head(key, head), "share", **more)


def PValue(key: str = "p_value", head: str = "", **more: Any) -> Column:
    """Declare a p value."""
    return Column(key, _head(key, head), "p_value", **more)


def Text(key: str, head: str = "", **more: Any) -> Column:
    """Declare words."""
    return Column(key, _head(key, head), "text", **more)


def YesNo(key: str, head: str = "", **more: Any) -> Column:
    """Declare what is true or false."""
    return Column(key, _head(key, head), "yes_no", **more)


@dataclass(frozen=True, eq=False)
class Table:
    """A table: all of its frame is data, the columns declared are what people are shown.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"model": ["m"], "r": [0.5]})
    >>> table = Table("scores", "Scores of the models.", frame, (Key("model"), Number("r")))
    >>> table.shown_rows, table.keys
    (1, ('model',))
    """

    name: str
    """Name of the file, without suffix; unique in a result or report."""
    caption: str
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    limit: int = 60
    """Rows shown; the file holds all of them. 0: a page only says where the file is, and terminals
    and notebooks leave the table out."""
    folded: bool | None = None
    """Whether a reader has to unfold the table; ``None``: when it shows more than 12 rows."""
    notes: tuple[str, ...] = ()
    """What the columns mean, in sentences; they stand under the table."""
    template: ClassVar[str] = "table"

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that say what a row is about."""
        return tuple(column.key for column in self.columns if column.is_key)

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """Columns that people are shown: an interval that no row has, and a status that is ``ok``
        in all rows, say nothing."""
        return tuple(column for column in self.columns if self._says_something(column))

    def _says_something(self, column: Column) -> bool:
        if column.kind in ("interval", "share_interval"):
            low = self.frame[column.sources[0]].cast(float)
            return low.fill_nan(None).count() > 0
        if column.key == "status":
            return bool((self.frame["status"] != "ok").any())
        return True

    @property
    def shown_rows(self) -> int:
        """Number of rows that people are shown."""
        return min(self.frame.height, self.limit)

    @property
    def is_folded(self) -> bool:
        """Whether only the name of the table is seen at first."""
        return self.shown_rows > _LONG if self.folded is None else self.folded

    def __eq__(self, other: object) -> bool:
        """Whether both tables hold and declare the same; ``nan`` equals ``nan``."""
        if not isinstance(other, Table):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        same = all(mine[name] == theirs[name] for name in mine if name != "frame")
        return same and self.frame.schema == other.frame.schema and self.frame.equals(other.frame)

    __hash__ = None  # type: ignore[assignment]

    def with_columns(self, extra: Any, *columns: Column) -> Table:
        """Add columns to the frame, and declare those that people are to be shown."""
        given = extra if isinstance(extra, Mapping) else {}
        frame = self.frame.with_columns(**given) if given else self.frame.with_columns(extra)
        return replace(self, frame=frame, columns=(*self.columns, *columns))


@dataclass(frozen=True)
class Figure:
    """A figure that can be drawn of a table: what kind, and what it says.

    Parameters
    ----------
    name
        Name of its files, without suffix; unique in a result.
    kind
        A registered figure, such as ``"intervals"``.
    of
        Name of the table that it shows.
    title, caption, description
        Its title; what is drawn, for readers who see it; what it shows, with its key numbers, for
        readers who do not.
    options
        Settings of the kind of figure.
    """

    name: str
    kind: str
    of: str
    title: str
    caption: str = ""
    description: str = ""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
