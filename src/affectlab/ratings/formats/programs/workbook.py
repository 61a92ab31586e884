"""Workbooks of Excel and LibreOffice: a table in one of the sheets."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files import SHEET, Peek
from affectlab.ratings.formats.format import Contents, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import PlainTable, find_one
from affectlab.ratings.options import ReadOptions, Wide
from affectlab.ratings.schema import GUESSED


@file_format("excel", "a workbook of Excel or LibreOffice with a table", wide=get_args(Wide))
class Excel(PlainTable):
    """A long or wide table in a workbook (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``, ``.ods``).

    Cells are taken as they are shown: whole numbers have no point, text stays text, formulas are
    their last result. Hidden sheets are not looked at. It needs the library python-calamine
    (``pip install "affectlab[files]"``).

    Parameters
    ----------
    sheet
        Name of the sheet; by default the first with anything in it. Further sheets with the same
        columns are read with it; where no column names the rater, each is that of one.

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

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        head = replace(head, sheet=self.sheet)
        return super().describe(head, _with_sheets(head, options or ReadOptions()))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the sheet as a table, and say which it is where there are several."""
        if not head.is_workbook:
            raise InputError(f"{head.path} is no workbook")
        head = replace(head, sheet=self.sheet)
        book = head.workbook
        told = _with_sheets(head, options)
        others = ", ".join(f"'{name}'" for name in book.others)
        how = option("format", f"{self.name},sheet=NAME")
        try:
            contents = super().contents(head, told, rejects)
        except InputError as error:
            if not others:
                raise
            raise InputError(
                f"{error}; sheet '{book.name}' was read, and not {others} ({how})"
            ) from None
        steps = []
        if book.joined:
            each = GUESSED if told is not options else ""
            role = "each as that of one rater" if told is not options else "one below the other"
            names = ", ".join(f"'{name}'" for name in book.joined)
            steps.append(f"{each}sheets {names} have the same columns: they were read {role}")
        if others:
            steps.append(f"sheet '{book.name}' was read, and not {others}; name another ({how})")
        contents.history = (*steps, *contents.history)
        return contents


def _with_sheets(head: Peek, options: ReadOptions) -> ReadOptions:
    """Take the name of a sheet as the rater where several were read and no column names one."""
    columns = dict(options.columns or {})
    found = "rater" in columns or options.rater or find_one("rater", head.columns)
    if not head.workbook.joined or found or options.wide not in (None, "labels"):
        return options
    return replace(options, columns={**columns, "rater": SHEET})
