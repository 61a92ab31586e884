"""Workbooks of Excel and LibreOffice: a table in one of the sheets."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Contents, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import PlainTable
from affectlab.ratings.options import ReadOptions, Wide


@file_format("excel", "a workbook of Excel or LibreOffice with a table", wide=get_args(Wide))
class Excel(PlainTable):
    """A long or wide table in a workbook (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``, ``.ods``).

    Cells are taken as they are shown: whole numbers have no point, text stays text, formulas are
    their last result. Hidden sheets are not looked at. It needs the library python-calamine
    (``pip install "affectlab[files]"``).

    Parameters
    ----------
    sheet
        Name of the sheet; by default the first with anything in it.

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
        return super().describe(replace(head, sheet=self.sheet), options)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the sheet as a table, and say which it is where there are several."""
        if not head.is_workbook:
            raise InputError(f"{head.path} is no workbook")
        head = replace(head, sheet=self.sheet)
        contents = super().contents(head, options, rejects)
        book = head.workbook
        if book.others:
            others = ", ".join(f"'{name}'" for name in book.others)
            how = option("format", f"{self.name},sheet=NAME")
            step = f"sheet '{book.name}' was read, and not {others}; name another ({how})"
            contents.history = (step, *contents.history)
        return contents
