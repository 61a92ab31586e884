"""SurveyMonkey: all responses of a survey, under two rows of headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.build import words_of
from affectlab.ratings.files import Columns, Peek, rows_below
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import FREE_TEXT, PLATFORM, AnswerSheets, Asked, Sheet
from affectlab.ratings.options import ReadOptions

_PERSON = "respondent id"
_OF_PLATFORM = {
    _PERSON, "collector id", "start date", "end date", "date created", "date modified",
    "ip address", "email address", "first name", "last name", "custom data 1",
}  # fmt: skip
_SINGLE = {"", "response", "open-ended response"}
"""What stands in the second row where a question has one column."""
_TYPED = re.compile(r"\[other \(please specify\)\]", re.IGNORECASE)
_ROW = re.compile(r"(?P<question>.*) \[(?P<row>.*)\]", re.DOTALL)


@file_format(
    "surveymonkey", "SurveyMonkey, all responses (CSV or Excel: Respondent ID, Collector ID, …)"
)
class SurveyMonkey(AnswerSheets):
    """The responses of a survey of SurveyMonkey, with numbers or with the texts of the answers.

    The first row has the questions, each over the first of its columns, the second row what each
    column is: a row of a matrix, a choice, or ``Response``. Columns are called ``question [row]``
    here; of questions with the same words, later ones have a number. Multiple choices are yes or
    no to each option. Questions asked once beside matrices describe the rater, who is called as
    the respondent. Times, addresses and names are not kept.

    Parameters
    ----------
    questions
        Questions that hold answers, in full; by default those of matrices, else all.
    rows
        What the rows of matrices are, ``"labels"`` or ``"stimuli"``; by default labels where they
        are called like emotions, or several questions have the same words.
    rater
        Column that names the person.

    Notes
    -----
    Source: SurveyMonkey's help, "Understanding your spreadsheet export" (expanded columns).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "Faces.csv"
    >>> _ = file.write_text("Respondent ID,Collector ID,Face 1,\\n,,Joy,Fear\\n118,4,5,1\\n")
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('Face 1', '118', 'Joy', 5.0), ('Face 1', '118', 'Fear', 1.0)]
    """

    layout = Layout({"rater": "Respondent ID"}, others=("Collector ID",))
    expected = "no export of SurveyMonkey: expected the columns Respondent ID and Collector ID"

    def recognise(self, head: Peek) -> Sure:
        rows = head.first_rows
        return Sure.if_(len(rows) > 1 and _is_export(rows[0]) and not rows[1][0].strip())

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Read the two rows of headers as one."""
        if head.frame is not None or not self.recognise(head):
            return head
        top = head.first_rows[0]
        (_, second), *rows = rows_below(head)
        if not rows:
            raise InputError(f"{head.path}: no sheet of a participant; expected at least one")
        names = _names(top, second)
        cells = zip(*(row for _, row in rows), strict=True)
        columns = [
            pl.Series(name, [cell or None for cell in own], dtype=pl.String)
            for name, own in zip(names, cells, strict=True)
        ]
        return Peek.of_frame(pl.DataFrame(columns), str(head.path), head.steps)

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        if not _is_export(tuple(read.columns)):
            return None
        unused = {name: PLATFORM for name in read.columns if _folded(name) in _OF_PLATFORM}
        unused |= {name: FREE_TEXT for name in read.columns if _TYPED.search(name)}
        rows: dict[str, list[str]] = {}
        parts: dict[str, tuple[str, str | None]] = {}
        for name in read.columns:
            if name not in unused:
                match = _ROW.fullmatch(name)
                parts[name] = (match["question"], match["row"]) if match else (name, None)
                rows.setdefault(parts[name][0], []).append(name)
        choices = {q for q, names in rows.items() if _are_choices(names, parts, read)}
        asked = {
            name: Asked(
                question,
                row,
                text=question,
                option=question in choices,
            )
            for name, (question, row) in parts.items()
        }
        rater = next(name for name in read.columns if _folded(name) == _PERSON)
        return Sheet(read, asked, unused, rater=rater)


def _folded(name: str) -> str:
    return name.strip().casefold()


def _is_export(header: Sequence[str]) -> bool:
    return {_PERSON, "collector id"} <= set(map(_folded, header[:3]))


def _names(top: Sequence[str], second: Sequence[str]) -> list[str]:
    """Call columns by their question and what they are of it."""
    seen: Counter[str] = Counter()
    question = ""
    names: list[str] = []
    for said, part in zip(top, second, strict=True):
        if said.strip():
            question = " ".join(said.split())
            seen[question] += 1
        number = f" ({seen[question]})" if seen[question] > 1 else ""
        row = "" if _folded(part) in _SINGLE else f" [{part.strip()}]"
        names.append(f"{question}{number}{row}")
    twice = Counter(names)
    return [f"{n} ({at})" if twice[n] > 1 else n for at, n in enumerate(names, 1)]


def _are_choices(
    names: Sequence[str], parts: dict[str, tuple[str, str | None]], read: Columns
) -> bool:
    """Whether each column holds nothing but the choice that it stands for, or its number."""
    given = [set(words_of(read.columns[name])) for name in names]
    own = [{str(parts[name][1] or ""), str(at)} for at, name in enumerate(names, 1)]
    holds = [words <= mine for words, mine in zip(given, own, strict=True) if words]
    gaps = any(read.columns[name].null_count() for name in names)
    return len(holds) > 1 and all(holds) and gaps
