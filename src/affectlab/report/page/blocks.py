"""What a report is made of: sections, and the blocks in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from affectlab.core.render.cells import head_of
from affectlab.core.render.figure import figure_of
from affectlab.core.result import Result
from affectlab.core.tables import Column, Table
from affectlab.core.tables import Figure as Declared
from affectlab.core.types import Figure, pl

__all__ = [
    "Block",
    "Bullets",
    "Column",
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
    "columns_shown",
]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, the steps done and the steps in all."""


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

    @classmethod
    def of(cls, result: Result, figure: str, *, options: Any = (), **said: Any) -> Picture:
        """Draw a figure that a result declares; what else is given replaces what it says."""
        one = next(one for one in result.figures if one.name == figure)
        return cls.drawn(
            replace(one, options={**one.options, **dict(options)}, **said), result.table(one.of)
        )

    @classmethod
    def drawn(cls, figure: Declared, table: Table | pl.DataFrame) -> Picture:
        """Draw a declared figure of a table, or of a data frame that stands nowhere else."""
        if not isinstance(table, Table):
            table = Table(figure.of, "", table, ())
        description = figure.description or figure.title
        drawing = figure_of(figure, table)
        return cls(figure.name, figure.title, figure.caption, description, drawing)


INTERVAL = "95 % interval"
"""What the intervals of a report are called above their columns and in its glossary."""


def columns_shown(table: Table) -> list[tuple[str, Column]]:
    """Give the columns of a table that a page shows, with their heads.

    Every interval says how sure it is; where no row has one, there is no such column.
    """
    shown = []
    for column in table.columns:
        head = head_of(column)
        if column.kind in ("interval", "share_interval"):
            low = table.frame[column.sources[0]].cast(float)
            if low.fill_nan(None).count() == 0:
                continue
            head = INTERVAL if head in ("Interval", INTERVAL) else head
        shown.append((head, column))
    return shown


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
