"""Workbooks of Excel and LibreOffice: a table in one of the sheets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from affectlab.core.errors import InputError
from affectlab.ratings.files import SHEET, Peek
from affectlab.ratings.formats.format import Contents, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import PlainTable, called_after_raters, find_one
from affectlab.ratings.options import ReadOptions, Wide
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step
from affectlab.ratings.wording import SHEETS, one_column_per
from affectlab.taxonomy import are_labels


@file_format("excel", "a workbook of Excel or LibreOffice with a table", wide=get_args(Wide))
class Excel(PlainTable):
    """A long or wide table in a workbook (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``, ``.ods``).

    Cells are taken as they are shown: whole numbers have no point, text stays text, formulas are
    their last result. Hidden sheets are not looked at. It needs the library python-calamine
    (``pip install "affectlab[files]"``).

    Parameters
    ----------
    sheet
        Name of the sheet; by default the first that may hold answers. Further sheets with the same
        columns, in any order and case, are read with it: each is that of a label where columns
        hold raters or sheets are called after emotions, else of a rater where no column names one.

    Notes
    -----
    Source: ECMA-376 (Office Open XML) and OpenDocument 1.3, as python-calamine reads them.

    Examples
    --------
    >>> from affectlab.ratings import read_ratings
    >>> read_ratings("faces.xlsx", format="excel,sheet=Answers")
    Traceback (most recent call last):
    affectlab.InputError: faces.xlsx: no such file
    """

    sheet: str | None = None

    def recognise(self, head: Peek) -> Sure:
        return Sure.KIND if head.is_workbook else Sure.NO

    def opened(self, head: Peek, options: ReadOptions) -> Peek:
        """Read the sheet that is named, or the first and those that go with it.

        Where a column names the rater, sheets may differ in columns that are no role.
        """
        head = replace(head, sheet=self.sheet)
        if not head.is_workbook or not (rater := _find("rater", head, options)):
            return head
        others = (_find(role, head, options) for role in ("stimulus", "label", "value"))
        return replace(head, shared=(rater, *filter(None, others)))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        found = _of_sheets(head, options or ReadOptions())
        layout = super().describe(head, found.options)
        why = {SHEET: SHEETS[found.why]} if found.why else {}
        if found.options.wide != (options or ReadOptions()).wide:
            why |= dict.fromkeys(layout.labels, one_column_per("guessed", "rater"))
        return replace(layout, why={**layout.why, **why})

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the sheet as a table, and say which it is where there are several."""
        if not head.is_workbook:
            raise InputError(f"{head.path} is no workbook")
        book = head.workbook
        found = _of_sheets(head, options)
        # A sheet with few columns, as of remarks or codes, holds no answers.
        least = min(3, len(book.header))
        answers = self.sheet is None and any(n >= least for n in book.others.values())
        left = step(
            StepKind.SHEETS_LEFT,
            guessed=answers,
            sheets=book.joined or [book.name],
            left=book.others,
            format=self.name,
            answers=answers,
        )
        try:
            contents = super().contents(head, found.options, rejects)
        except InputError as error:
            if not book.others:
                raise
            raise InputError(f"{error}; {left.text}") from None
        contents.history = (*found.steps, *([left] if book.others else []), *contents.history)
        return contents


@dataclass(frozen=True)
class _Sheets:
    """What the name of a sheet stands for where several are read together."""

    options: ReadOptions
    steps: History = ()
    why: str = ""
    """Why the names of sheets are what they are; empty where the user or nobody says so."""


def _of_sheets(head: Peek, options: ReadOptions) -> _Sheets:
    """Take the name of a sheet as the label or the rater where several were read.

    It is the label where columns hold raters, or sheets are called after emotions; else the rater
    where no column names one.
    """
    book = head.workbook
    if not book.joined:
        return _Sheets(options)
    columns = dict(options.columns or {})
    rater = options.rater or _find("rater", head, options)
    labelled = _find("label", head, options) or options.wide == "labels"
    own = {name: column for name, column in book.columns().items() if name != SHEET}
    free = not (rater or labelled or options.wide)
    over_raters = options.wide == "raters" or (free and len(called_after_raters(list(own))) > 1)
    role, why = "", ""
    if SHEET not in columns.values():
        if over_raters and not labelled:
            role, why = "label", "raters"
        elif not labelled and are_labels(book.joined):
            role, why = "label", "emotions"
        elif not rater and options.wide in (None, "labels"):
            role, why = "rater", "unnamed"
    spread = False
    if role == "label" and options.wide is None and not (rater or _find("value", head, options)):
        # Stimuli stand in rows and labels on sheets, so that columns can only be those of raters.
        options = replace(options, wide="raters")
        spread = True
    if role:
        options = replace(options, columns={**columns, role: SHEET})
    read = step(
        StepKind.SHEETS_JOINED,
        guessed=bool(role or book.partial),
        sheets=book.joined,
        partial=book.partial,
        role=role,
        why=why,
        over_raters=spread,
    )
    return _Sheets(options, (read,), why)


def _find(role: str, head: Peek, options: ReadOptions) -> str | None:
    """Find the column of a role, as the user or its name says."""
    return (options.columns or {}).get(role) or find_one(role, head.columns)
