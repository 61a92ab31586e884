"""Microsoft Forms: responses of a form, as its workbook or as CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import PLATFORM, AnswerSheets, Asked, Sheet
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess

_FIRST = (
    ("id", "start time", "completion time", "email", "name"),
    ("id", "startzeit", "fertigstellungszeit", "e-mail", "name"),
)
"""The first columns, in the languages of the form."""
_OF_PLATFORM = re.compile(
    r"last modified time|language|total points|quiz feedback|grade posted time"
    r"|(points|feedback) - .*|zeitpunkt der letzten änderung|gesamtpunktzahl|sprache",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"(?P<question>.*\D)(?P<number>[2-9]|[1-9][0-9]+)", re.DOTALL)


@file_format(
    "microsoft-forms", "Microsoft Forms, responses (Excel or CSV: ID, Start time, …, question)"
)
class MicrosoftForms(AnswerSheets):
    """The responses of a form of Microsoft Forms.

    Each question, and each statement of a Likert grid, is a column. Where questions are repeated
    in the same words, as of each picture, forms number them (``Joy``, ``Joy2``, …): those of one
    number are about one stimulus. Several choices, with semicolons between them, are yes or no to
    each option that anybody chose. Raters are called as the responses; times, names, addresses and
    points of a quiz are not kept.

    Parameters
    ----------
    questions
        Questions that hold answers, in full; by default those that are repeated, else all.
    rows
        What the options of questions are, ``"labels"`` or ``"stimuli"``.
    rater
        Question that names the person.

    Notes
    -----
    Source: Microsoft support, "Check and share your form results", and workbooks that forms wrote.

    Examples
    --------
    >>> import tempfile, warnings
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "form.csv"
    >>> _ = file.write_text("ID,Start time,Completion time,Email,Name,Joy,Fear,Joy2,Fear2\\n"
    ...                     "1,11/27/26 9:00:00,11/27/26 9:05:00,anonymous,,5,1,2,4\\n")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()[:2]
    [('1', '1', 'Joy', 5.0), ('1', '1', 'Fear', 1.0)]
    """

    layout = Layout({"rater": "ID"}, others=("Start time", "Completion time"))
    choices = (";",)
    expected = (
        "no workbook of Microsoft Forms: expected the columns ID, Start time, Completion time, "
        "Email and Name in front"
    )

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(_is_form(head.columns))

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        person, *names = read.columns
        if not _is_form((person, *names)):
            return None
        unused = {
            name: PLATFORM
            for at, name in enumerate(names)
            if at < len(_FIRST[0]) - 1 or _OF_PLATFORM.fullmatch(name.strip())
        }
        asked = {
            name: Asked(name.strip(), text=name.strip()) for name in names if name not in unused
        }
        repeated = _repeated(list(asked))
        steps: History = ()
        if repeated:
            asked |= {
                name: replace(asked[name], question=question, loop=number)
                for name, (question, number) in repeated.items()
            }
            first = next(iter(repeated))
            steps = (guess(StepKind.NUMBERED_QUESTIONS, question=first, format=self.name),)
        return Sheet(read, asked, unused, rater=person, steps=steps)


def _is_form(header: Sequence[str]) -> bool:
    return tuple(name.strip().casefold() for name in header[: len(_FIRST[0])]) in _FIRST


def _repeated(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Tell questions that are repeated: each has the same numbers behind it, without a gap."""
    numbers: dict[str, dict[int, str]] = {}
    for name in names:
        match = _REPEATED.fullmatch(name)
        if match and match["question"] in names:
            numbers.setdefault(match["question"], {})[int(match["number"])] = name
    counts = {len(own) for own in numbers.values()}
    whole = all(sorted(own) == list(range(2, len(own) + 2)) for own in numbers.values())
    if len(counts) != 1 or not whole:
        return {}
    return {
        name: (question, str(number))
        for question, own in numbers.items()
        for number, name in ({1: question} | own).items()
    }
