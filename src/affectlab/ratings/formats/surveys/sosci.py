"""SoSci Survey: the data set with a second row of what each variable asks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import Columns, Peek, rows_below
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import PLATFORM, AnswerSheets, Asked, Sheet
from affectlab.ratings.options import ReadOptions

_ITEM = re.compile(r"(?P<question>[A-Z]{1,2}\d{2,3}(?:x\d+)?)_(?P<item>\d{1,2}[a-z]?)")
"""A variable: two letters and a number of its question, and the number of the item."""
_OF_PLATFORM = re.compile(
    r"SERIAL|REF|QUESTNNR|MODE|STARTED|TIME\d+|TIME_SUM|TIME_RSI|MAILSENT|LASTDATA|FINISHED"
    r"|Q_VIEWER|LASTPAGE|MAXPAGE|MISSING|MISSREL|DEG_TIME|DEG_MISS|DEG_MAX"
)
_NO_ANSWER = {"-9", "-1", "-2"}
"""Codes of SoSci: not answered, no statement, and the like."""


@file_format("sosci", "SoSci Survey, data set with variable labels in the second row (CSV, Excel)")
class SoSci(AnswerSheets):
    """The data set of SoSci Survey, with what each variable asks in its second row.

    Variables ``B101_01`` and ``B101_02`` are items of one question. The second row has *question:
    item*. Questions with the same items are repeated about other stimuli; questions asked once
    describe the rater, who is called as the interview (``CASE``). Negative codes are no answers;
    times, pages and shares of missing answers are not kept.

    Parameters
    ----------
    questions
        Questions that hold answers, such as ``B101``; by default those with several items.
    rows
        What items are, ``"labels"`` or ``"stimuli"``; by default labels where they are called like
        emotions or come back in several questions.
    rater
        Variable that names the person.

    Notes
    -----
    Source: SoSci Survey's manual, "Datensatz herunterladen" and "Besondere Variablen".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "rdata.csv"
    >>> _ = file.write_text("CASE;QUESTNNR;STARTED;B101_01;B101_02\\n"
    ...     "Interview;Fragebogen;Beginn;Hund: Freude;Hund: Angst\\n7;base;2026-05-04;5;-9\\n")
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('Hund', '7', 'Freude', 5.0)]
    """

    layout = Layout({"rater": "CASE"}, others=("QUESTNNR", "STARTED"))
    expected = (
        "no data set of SoSci Survey with labels of variables: expected the columns CASE, QUESTNNR "
        "and STARTED, and a second row that says what variables ask"
    )

    def recognise(self, head: Peek) -> Sure:
        rows = head.first_rows
        return Sure.if_(len(rows) > 1 and _is_export(rows[0]) and not rows[1][0].strip().isdigit())

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Join names and labels of items, and leave out codes for no answer."""
        if head.frame is not None or not self.recognise(head):
            return head
        top = head.first_rows[0]
        (_, second), *rows = rows_below(head)
        if not rows:
            raise InputError(f"{head.path}: no sheet of a participant; expected at least one")
        cells = [
            [cell.strip() for cell in own] for own in zip(*(row for _, row in rows), strict=True)
        ]
        columns = [
            pl.Series(
                f"{name.strip()} [{said.strip()}]" if _ITEM.fullmatch(name.strip()) else name,
                [None if cell in _codes_in(own) else cell or None for cell in own],
                dtype=pl.String,
            )
            for name, said, own in zip(top, second, cells, strict=True)
        ]
        return Peek.of_frame(pl.DataFrame(columns), str(head.path), head.steps)

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        if not _is_export(tuple(read.columns)):
            return None
        unused = {name: PLATFORM for name in read.columns if _OF_PLATFORM.fullmatch(name)}
        asked: dict[str, Asked] = {}
        variables: dict[str, str] = {}
        for name in read.columns:
            variable, _, said = name.rstrip("]").partition(" [")
            if match := _ITEM.fullmatch(variable):
                question, _, item = said.rpartition(": ")
                asked[name] = Asked(question or match["question"], item or None, text=question)
                variables[name] = variable
            elif name not in unused and name != "CASE":
                asked[name] = Asked(name)
        counts = Counter(one.question for one in asked.values())
        items = {one.row for one in asked.values() if counts[one.question] > 1}
        # An item of its own, which no other question has, is about the person.
        asked = {
            name: one
            for name, one in asked.items()
            if counts[one.question] > 1 or (one.row and one.row in items)
        }
        return Sheet(read, asked, unused, rater="CASE", split=variables)


def _codes_in(cells: Sequence[str]) -> set[str]:
    """Codes for no answer in a column; where other answers are below 0, -9 alone is one."""
    below = {cell for cell in cells if cell.startswith("-")}
    return _NO_ANSWER if below <= _NO_ANSWER else {"-9"}


def _is_export(header: Sequence[str]) -> bool:
    return {"CASE", "QUESTNNR", "STARTED"} <= {name.strip() for name in header}
