"""LimeSurvey: responses of a survey, under codes or under the words of the questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from affectlab.ratings.build import words_of
from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import (
    PLATFORM,
    TIMING,
    AnswerSheets,
    Asked,
    Sheet,
)
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step

_OF_PLATFORM = {
    "id", "submitdate", "lastpage", "startlanguage", "seed", "token", "startdate", "datestamp",
    "ipaddr", "refurl", "firstname", "lastname", "email", "response id", "date submitted",
    "last page", "start language", "access code", "date started", "date last action",
    "ip address", "referrer url", "first name", "last name", "email address",
}  # fmt: skip
"""What LimeSurvey says of each response, under codes and in words."""
_SAYS_SO = ({"id", "submitdate", "lastpage"}, {"response id", "date submitted", "last page"})
_NAME = re.compile(
    r"(?:(?P<code>[A-Za-z]\w*)\. )?(?P<question>.*?)\s*\[(?P<row>[^\[\]]+)\]"
    r"(?:\s*\[(?P<scale>[^\[\]]+)\])?(?P<rest>comment)?\s*",
    re.DOTALL,
)
_TIMES = re.compile(
    r"(group|question)Time[0-9]+|interviewtime|(group|question) time: .*|total time"
)
_ANSWER_CODE = r"^[AL]O?[0-9]+$"
_OPTIONS = {"y", "n", "yes", "no", "ja", "nein", "oui", "non"}


@file_format("limesurvey", "LimeSurvey, responses (CSV or Excel: id, submitdate, G1Q1[SQ001], …)")
class LimeSurvey(AnswerSheets):
    """The responses of a LimeSurvey survey, with codes or the words of questions as headers.

    Columns of an array are called ``code[SQ001]`` or ``question [row]``; of an array of texts or
    numbers, ``code[SQ001_SQ002]`` is a row and a column of it. Multiple choices are yes or no to
    each option. Codes of answers such as ``A3`` are their numbers. Questions asked once beside
    arrays describe the rater, who is called as the response. Responses that were not submitted are
    kept; times, addresses and tokens are not.

    Parameters
    ----------
    questions
        Codes or words of the questions that hold answers; by default those of arrays, else all.
    rows
        What the rows of arrays are, ``"labels"`` or ``"stimuli"``; by default labels where they are
        called like emotions, or several questions have the same words.
    rater
        Column that names the person.

    Notes
    -----
    Source: the LimeSurvey manual, "Exporting results" (headings, response codes).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "results-survey12345.csv"
    >>> _ = file.write_text('"id";"submitdate";"lastpage";"face1[joy]";"face1[fear]"\\n'
    ...                     '"4";"2026-11-27 09:00:00";"2";"A5";"A1"\\n')
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('face1', '4', 'joy', 5.0), ('face1', '4', 'fear', 1.0)]
    """

    layout = Layout({"rater": "id"}, others=("submitdate", "lastpage"))

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(_is_export(head.columns))

    expected = (
        "no export of LimeSurvey: expected the columns id, submitdate and lastpage, or Response "
        "ID, Date submitted and Last page"
    )

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        if not _is_export(tuple(read.columns)):
            return None
        questions = {name.partition("[")[0] for name in read.columns}
        unused, asked = {}, {}
        for name in read.columns:
            if _code(name) in _OF_PLATFORM:
                unused[name] = PLATFORM
            elif _TIMES.fullmatch(name) or name.removesuffix("Time") in questions - {name}:
                unused[name] = TIMING
            else:
                asked[name] = _asked(name)
        asked = _with_options(asked, read.columns)
        people, steps = _numbers(read, asked)
        rater = next(name for name in read.columns if _code(name) in ("id", "response id"))
        return Sheet(people, asked, unused, rater=rater, steps=steps)


def _code(name: str) -> str:
    """Give a name as it is compared: exports may write the code in front of the words."""
    return name.strip().casefold().partition(". ")[0]


def _is_export(header: Sequence[str]) -> bool:
    names = {_code(name) for name in header}
    return any(needed <= names for needed in _SAYS_SO)


def _asked(name: str) -> Asked:
    match = _NAME.fullmatch(name)
    if match is None:
        code, _, words = name.partition(". ")
        return Asked(code if words else name.strip(), text=words or name.strip())
    question = match["code"] or match["question"].strip()
    text = match["question"].strip() if match["code"] or " " in match["question"] else ""
    if match["rest"] or match["row"] in ("other", "Other"):
        return Asked(f"{question}[{match['row']}]{match['rest'] or ''}", text=text, typed=True)
    row, _, label = match["row"].partition("_")
    if label and re.fullmatch(r"[A-Za-z0-9]+", label):
        # Each cell of an array of numbers is asked of its row.
        return Asked(label, loop=row, text=text)
    if match["scale"]:
        return Asked(f"{question}[{match['scale']}]", match["row"], text=text)
    return Asked(question, match["row"], text=text)


def _with_options(asked: Mapping[str, Asked], columns: Mapping[str, pl.Series]) -> dict[str, Asked]:
    """Mark multiple choices: all cells of the question are yes, no or empty."""
    said: dict[str, set[str]] = {}
    for name, one in asked.items():
        if one.row is not None and not one.typed:
            words = {word.casefold() for word in words_of(columns[name])}
            said.setdefault(one.question, set()).update(words)
    choices = {question for question, words in said.items() if words and words <= _OPTIONS}
    return {
        name: replace(one, option=True) if one.row and one.question in choices else one
        for name, one in asked.items()
    }


def _numbers(read: Columns, asked: Mapping[str, Asked]) -> tuple[Columns, History]:
    """Give the codes of answers, such as ``A3``, as the numbers that they hold."""
    coded = [
        name
        for name in asked
        if len(given := words_of(read.columns[name])) and given.str.contains(_ANSWER_CODE).all()
    ]
    if not coded:
        return read, ()
    numbers = {
        name: read.columns[name].cast(pl.String).str.strip_chars().str.extract(r"([0-9]+)$")
        for name in coded
    }
    columns = {
        name: numbers[name].cast(pl.Int64, strict=False).cast(pl.String).alias(name)
        if name in numbers
        else column
        for name, column in read.columns.items()
    }
    done = step(StepKind.ANSWER_CODES, n=len(coded))
    return Columns(columns, read.locate, read.set_aside, read.typed), (done,)
