"""What a report is made of: sections, and the blocks in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

import polars as pl

from affectlab.core.types import Figure

__all__ = [
    "Block",
    "Bullets",
    "Column",
    "ColumnKind",
    "Gallery",
    "Paragraph",
    "Picture",
    "Progress",
    "ReportPaths",
    "Section",
    "Skipped",
    "Table",
    "Thumbnail",
    "Tile",
    "Tiles",
]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, the steps done and the steps in all."""

_LONG = 12
"""Rows above which a table is folded."""

ColumnKind = Literal[
    "name", "text", "count", "number", "p_value", "share", "interval", "share_interval"
]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    template: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Bullets:
    """A list of plain sentences."""

    items: tuple[str, ...]
    template: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class Tile:
    """One number with its name, and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side."""

    items: tuple[Tile, ...]
    template: ClassVar[str] = "tiles"


@dataclass(frozen=True)
class Column:
    """A column of a table as it is shown.

    A ``share`` is written as a percentage. An ``interval`` or ``share_interval`` column reads
    ``key_low`` and ``key_high``, or ``low`` and ``high`` when `key` is ``"interval"``.
    """

    key: str
    head: str
    kind: ColumnKind = "text"
    decimals: int | None = None
    """Digits after the point: by default 2, and 0 for shares (as percentages)."""

    @property
    def digits(self) -> int:
        """Digits after the point."""
        if self.decimals is not None:
            return self.decimals
        return {"share": 0, "share_interval": 1}.get(self.kind, 2)


@dataclass(frozen=True)
class Table:
    """A table: all of its frame goes to a CSV file, the columns chosen are shown.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table("scores", "Scores of the models.", pl.DataFrame({"model": ["m"], "r": [0.5]}),
    ...               (Column("model", "Model", "name"), Column("r", "Correlation", "number")))
    >>> table.shown_rows
    1
    """

    name: str
    """Name of the file, without suffix; unique in the report."""
    caption: str
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    limit: int = 60
    """Rows shown; the file holds all of them. 0: only a line that says where the file is."""
    folded: bool | None = None
    """Whether a reader has to unfold the table; ``None``: when it shows more than 12 rows."""
    notes: tuple[str, ...] = ()
    """What the columns mean, in sentences; they stand under the table."""
    template: ClassVar[str] = "table"

    @property
    def shown_rows(self) -> int:
        """Number of rows that the page shows."""
        return min(self.frame.height, self.limit)

    @property
    def is_folded(self) -> bool:
        """Whether only the name of the table is seen at first."""
        return self.shown_rows > _LONG if self.folded is None else self.folded


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, and with what it shows in words."""

    name: str
    """Name of the files, without suffix; unique in the report."""
    title: str
    caption: str
    description: str
    """What the figure shows, with its key numbers, for readers who cannot see it."""
    figure: Figure = field(repr=False)
    template: ClassVar[str] = "picture"


@dataclass(frozen=True)
class Thumbnail:
    """A small picture of a stimulus."""

    data_uri: str = field(repr=False)
    width: int
    height: int
    name: str
    description: str
    remark: str = ""


@dataclass(frozen=True)
class Gallery:
    """A contact sheet of stimuli."""

    caption: str
    items: tuple[Thumbnail, ...]
    template: ClassVar[str] = "gallery"


Block: TypeAlias = Paragraph | Bullets | Tiles | Table | Picture | Gallery


@dataclass(frozen=True)
class Section:
    """A part of the report under one heading.

    Parameters
    ----------
    key
        Name of its anchor: lower case letters, digits and dashes; unique in the report.
    title
        The heading.
    blocks
        What stands in it, in order.

    Examples
    --------
    >>> Section("truth", "Recovery of the truth", (Paragraph("All of it."),)).title
    'Recovery of the truth'
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Skipped:
    """A part that does not apply, and why."""

    title: str
    reason: str


@dataclass(frozen=True)
class ReportPaths:
    """Where the report and its parts were written."""

    html: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
