"""Small exports of survey tools and experiments, by the name of their format.

Each is written by hand from the documentation of the tool, unless said otherwise.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence


def table(*rows: Sequence[object], delimiter: str = ",") -> str:
    """Write rows as CSV, with quotes where they are needed."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", delimiter=delimiter).writerows(rows)
    return buffer.getvalue()


def qualtrics(columns: dict[str, tuple[str, str]], *rows: Sequence[object]) -> str:
    """Write an export of Qualtrics: names of columns with their words and identifiers."""
    texts, ids = zip(*columns.values(), strict=True)
    return table(list(columns), texts, [json.dumps({"ImportId": one}) for one in ids], *rows)


SURVEYS = {
    "qualtrics": qualtrics(
        {
            "ResponseId": ("Response ID", "_recordId"),
            "Status": ("Response Type", "status"),
            "Q1": ("How old are you?", "QID1_TEXT"),
            "1_Q3": ("a.jpg - How happy?", "1_QID3"),
            "2_Q3": ("b.jpg - How happy?", "2_QID3"),
            "2_Q9_Page Submit": ("Timing - Page Submit", "2_QID9_PAGE_SUBMIT"),
        },
        ["R_1", "IP Address", 31, 1, 7, 0.4],
        ["R_2", "Survey Preview", 1, 1, 1, 0.1],
        ["R_3", "IP Address", 40, "", 2, 0.4],
    ),
}


def cells(name: str) -> list[list[object]] | None:
    """Give a sample as the cells of a sheet, numbers as such; None where it is no CSV."""
    if SURVEYS[name].startswith(("[", "{")):
        return None

    def typed(cell: str) -> object:
        return float(cell) if cell.replace(".", "", 1).isdigit() and cell[0] != "0" else cell

    return [[typed(cell) for cell in row] for row in csv.reader(io.StringIO(SURVEYS[name]))]
