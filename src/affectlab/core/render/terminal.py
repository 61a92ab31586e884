"""Results and their tables in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from affectlab.core.render.cells import NUMERIC, cell, head_of
from affectlab.core.render.notes import notes_of
from affectlab.core.tables import Table
from affectlab.core.words import count, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from affectlab.core.render.grid import Table as Grid

_MOST = 60
_WIDTH = 100
"""Columns of text where there is no terminal."""
_DIGITS = 1
"""Digits that a terminal shows beyond those of a page: what it prints is compared and copied."""


def table_lines(table: Table, *, most: int = _MOST) -> Grid:
    """Lay a table out; its notes stand below it, and how many rows are not shown."""
    from affectlab.core.render.grid import Table as Grid

    columns = table.shown_columns
    rows = table.frame.head(min(most, table.limit)).rows(named=True)
    notes = notes_of(table)
    if table.frame.height > len(rows):
        notes.append(f"the first {count(len(rows))} of {count(table.frame.height)} rows")
    grid = Grid(
        box=None,
        show_header=any(column.head for column in columns),
        header_style="bold",
        caption=Text("\n".join(map(shown, notes))) if notes else None,
        caption_style="",
        caption_justify="left",
    )
    grid.spare = [place for place, column in enumerate(columns) if column.spare]
    for column in columns:
        numeric = column.kind in NUMERIC
        grid.add_column(
            Text(head_of(column)),
            justify="right" if numeric else "left",
            no_wrap=numeric and column.kind != "value",
        )
    for row in rows:
        grid.add_row(*(Text(cell(column, row, digits=_DIGITS).text) for column in columns))
    return grid


def as_text(shown_as: RenderableType) -> str:
    """Write what a terminal shows as plain text, as wide as the terminal is."""
    console = Console(
        file=StringIO(), width=get_terminal_size((_WIDTH, 24)).columns, markup=False, emoji=False
    )
    console.print(shown_as)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, lines)).rstrip()


def result_lines(
    sentences: Sequence[str], tables: Sequence[Table], notes: Sequence[str]
) -> RenderableType:
    """Lay a result out: what it says, its tables, its notes."""
    parts: list[RenderableType] = [Text(shown(text)) for text in sentences]
    # A table without rows says no more than the sentences.
    seen = [table for table in tables if table.limit and (table.frame.height or not sentences)]
    for table in seen:
        if parts:
            parts.append(Text())
        if len(seen) > 1 and table.caption:
            parts.append(Text(shown(table.caption), style="bold"))
        parts.append(table_lines(table))
    parts += [Text(f"note: {shown(text)}") for text in notes]
    return parts[0] if len(parts) == 1 else Group(*parts)
