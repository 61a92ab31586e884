"""Results in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from affectlab.core.render.cells import NUMERIC, cell, head_of
from affectlab.core.render.notes import notes_of
from affectlab.core.tables import Table
from affectlab.core.words import count, shown

_MOST = 30


def table_html(table: Table) -> str:
    """Write a table as a fragment of HTML."""
    columns = table.shown_columns
    rows = table.frame.head(min(_MOST, table.limit)).rows(named=True)
    heads = "".join(
        f'<th scope="col" style="text-align:{_side(column.kind)}">{escape(head_of(column))}</th>'
        for column in columns
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{_side(column.kind)}">{escape(cell(column, row).text)}</td>'
            for column in columns
        )
        + "</tr>"
        for row in rows
    )
    caption = f"<caption>{escape(shown(table.caption))}</caption>" if table.caption else ""
    notes = notes_of(table)
    if table.frame.height > len(rows):
        notes.append(f"The first {count(len(rows))} of {count(table.frame.height)} rows.")
    below = "".join(f"<p><small>{escape(shown(note))}</small></p>" for note in notes)
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>{below}"


def _side(kind: str) -> str:
    return "right" if kind in NUMERIC else "left"


def result_html(sentences: Sequence[str], tables: Sequence[Table], notes: Sequence[str]) -> str:
    """Write a result as a fragment of HTML, its finding first."""
    first = "".join(f"<p>{escape(shown(text))}</p>" for text in sentences)
    last = "".join(f"<p><small>Note: {escape(shown(text))}</small></p>" for text in notes)
    shown_tables = "".join(table_html(table) for table in tables if table.limit)
    return f"<div>{first}{shown_tables}{last}</div>"
