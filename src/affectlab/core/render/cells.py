"""One cell of a table as people read it, the same wherever it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affectlab.core.facts import Reason
from affectlab.core.render.notes import row_status_text
from affectlab.core.tables import Column
from affectlab.core.words import count, joined, number, percent, sentence_case, shown

NUMERIC = ("count", "number", "p_value", "share", "interval", "share_interval", "value")
"""Kinds of columns that hold numbers."""
_CELL_LIMIT = 80
_TEXT_LIMIT = 600
_SHORT = 20


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and what kind of cell it is."""

    text: str
    numeric: bool = False
    head: bool = False
    title: str = ""
    """The whole of a text that is cut."""
    spare: bool = False
    """Whether a narrow page leaves it out."""

    @property
    def short(self) -> bool:
        """Whether the text is to stand on one line."""
        return len(self.text) <= _SHORT


def head_of(column: Column) -> str:
    """Give the head of a column, in sentence case unless it is a name that the data hold.

    Examples
    --------
    >>> head_of(Column("n_items", "stimuli")), head_of(Column("p", "p, corrected"))
    ('Stimuli', 'p, corrected')
    """
    head = shown(column.head.replace("\N{NO-BREAK SPACE}", " "))
    return head if column.verbatim else sentence_case(head)


def cell(column: Column, row: Mapping[str, Any], *, digits: int = 0, first: bool = False) -> Cell:
    """Write one cell.

    Parameters
    ----------
    column
        What the table declares.
    row
        The row of its frame.
    digits
        Digits after the point that numbers have beyond those declared.
    first
        Whether the cell names the row.
    """
    exact = column.digits + (digits if column.decimals is None else 0)
    if column.kind in ("interval", "share_interval"):
        low, high = (row[source] for source in column.sources)
        if low is None or low != low:
            return Cell("–", numeric=True)
        if column.kind == "share_interval":
            low, high, unit = 100 * low, 100 * high, "\u00a0%"
        else:
            unit = ""
        return Cell(f"{number(low, exact)} to {number(high, exact)}{unit}", numeric=True)
    value = row[column.key]
    if column.kind == "value" and row.get("status", "ok") != "ok":
        return Cell(shown(row_status_text(row)), numeric=True)
    if column.kind in NUMERIC:
        if value is None or value != value:
            return Cell("–", numeric=True)
        if column.kind == "count":
            return Cell(count(value), numeric=True)
        if column.kind == "p_value":
            return Cell("< 0.001" if value < 0.001 else number(value, 3), numeric=True)
        if column.kind == "share":
            return Cell(percent(value, exact), numeric=True)
        return Cell(number(value, exact), numeric=True)
    if column.kind == "yes_no":
        return Cell("–" if value is None else "yes" if value else "no")
    if column.key == "status":
        return Cell(shown(row_status_text(row)))
    if isinstance(value, Mapping):
        value = Reason.of_row(value)
    elif isinstance(value, list):
        value = joined(value) if value else None
    text = "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    limit = _CELL_LIMIT if column.kind == "name" else _TEXT_LIMIT
    cut = shown(text, limit)
    whole = shown(text, _TEXT_LIMIT) if len(text) > limit else ""
    return Cell(cut, head=first, title=whole)
