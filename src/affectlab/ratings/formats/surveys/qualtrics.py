"""Qualtrics: responses of a survey, under three rows of headers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from affectlab.ratings.build import words_of
from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import (
    ORDER,
    PLATFORM,
    TIMING,
    AnswerSheets,
    Asked,
    Sheet,
    differing_words,
    row_names,
    without_rows,
)

_OF_PLATFORM = {
    "startDate", "endDate", "status", "ipAddress", "progress", "duration", "finished",
    "recordedDate", "_recordId", "recipientLastName", "recipientFirstName", "recipientEmail",
    "externalDataReference", "locationLatitude", "locationLongitude", "distributionChannel",
    "userLanguage",
}  # fmt: skip
"""What Qualtrics says of each response, by its own names."""
_BROWSER = ("_browser", "_version", "_operating system", "_resolution")
_CLICKS = ("first click", "last click", "page submit", "click count")
_PREVIEWS = {
    "1": "a preview", "2": "a test", "9": "a preview", "17": "a preview",
    "survey preview": "a preview", "survey test": "a test", "preview": "a preview",
    "test": "a test",
}  # fmt: skip
"""What stands as status or channel of rows that no participant made."""
_ASKED = re.compile(r"(?:(?P<loop>[0-9]+)_)?QID[0-9]+(?P<part>.*)")
_PERSON = (
    "prolific_pid",
    "prolific_id",
    "prolificid",
    "participant_id",
    "participantid",
    "workerid",
)


@file_format("qualtrics", "Qualtrics, responses (CSV, TSV or Excel with three rows of headers)")
class Qualtrics(AnswerSheets):
    r"""The responses of a Qualtrics survey, as numbers or as the texts of the choices.

    The first row has the names of the columns, the second the questions in words, the third the
    identifiers of Qualtrics. Columns of loop and merge (``1_Q3``) belong to the stimulus of their
    loop, which is named by what differs in the words of the question; rows of a matrix
    (``Q5_1``) have the name that the words give them. Multiple choices with several answers are
    yes or no to each option. Embedded data and questions asked once describe the rater. Previews
    and tests are set aside; names, addresses and places of participants are not kept.

    Parameters
    ----------
    questions
        Names of the questions that hold answers, such as ``Q3``; by default those that are asked
        again and again: of loops, else of matrices, else all.
    rows
        What the rows of matrices are, ``"labels"`` or ``"stimuli"``; by default labels where they
        are called like emotions, or several questions have the same words.
    rater
        Column that names the person; by default an identifier of Prolific or the like where every
        response has its own, else ``ResponseId``.

    Notes
    -----
    Source: Qualtrics support, "Understanding your data set" (three header rows, loop and merge,
    status, timing).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "faces.csv"
    >>> rows = [["ResponseId", "1_Q3", "2_Q3"],
    ...         ["Response ID", "a.jpg - How happy?", "b.jpg - How happy?"],
    ...         ['{""ImportId"":""_recordId""}', '{""ImportId"":""1_QID3""}',
    ...          '{""ImportId"":""2_QID3""}'],
    ...         ["R_1", "1", "7"]]
    >>> _ = file.write_text("\n".join(",".join(f'"{c}"' for c in row) for row in rows))
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('a.jpg', 'R_1', 'Q3', 1.0), ('b.jpg', 'R_1', 'Q3', 7.0)]
    """

    layout = Layout({"rater": "ResponseId"})
    choices = (r",(?! )",)

    def recognise(self, head: Peek) -> Sure:
        rows = head.first_rows
        return Sure.if_(len(rows) > 2 and rows[2][0].replace(" ", "").startswith('{"ImportId":'))

    expected = 'no export of Qualtrics: expected its identifiers ({"ImportId": …}) in the third row'

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:
        texts = {name: _cell(column.to_list(), 0) for name, column in read.columns.items()}
        ids = {name: _import_id(column.to_list()) for name, column in read.columns.items()}
        if not any(ids.values()):
            return None
        unused = {name: why for name in ids if (why := _unused(name, ids[name]))}
        asked = _asked({n: ids[n] for n in ids if n not in unused}, texts, read)
        people = without_rows(read, _people(read, ids, rejects))
        return Sheet(people, asked, unused, rater=_rater(people, ids))


def _cell(cells: Sequence[object], row: int) -> str:
    return "" if len(cells) <= row or cells[row] is None else " ".join(str(cells[row]).split())


def _import_id(cells: Sequence[object]) -> str:
    try:
        found = json.loads(_cell(cells, 1))
    except (ValueError, RecursionError):
        return ""
    return str(found.get("ImportId", "")) if isinstance(found, dict) else ""


def _unused(name: str, import_id: str) -> str | None:
    """Say why a column never holds an answer or something about the person."""
    folded = name.casefold()
    if import_id in _OF_PLATFORM or folded.startswith("q_") or folded.endswith(_BROWSER):
        return PLATFORM
    if folded.endswith(_CLICKS):
        return TIMING
    return ORDER if re.search(r"_DO(_|$)", name) else None


def _asked(ids: Mapping[str, str], texts: Mapping[str, str], read: Columns) -> dict[str, Asked]:
    """Say what each column asks, from the identifiers and words of the questions."""
    groups: dict[tuple[str | None, str], list[str]] = {}
    typed = set()
    for name, import_id in ids.items():
        match = _ASKED.fullmatch(import_id)
        if match is None:
            continue
        loop, part = match["loop"], match["part"]
        question = name.removeprefix(f"{loop}_") if loop else name
        if part.endswith("TEXT") or " - " in name:
            typed.add(name)
        elif part:
            question = question.rpartition("_")[0] or question
        groups.setdefault((loop, question), []).append(name)
    loops = _loop_names(groups, texts)
    asked = {}
    for (loop, question), names in groups.items():
        several = len(names) > 1 or names[0] != (f"{loop}_{question}" if loop else question)
        said = [texts[name].replace("Selected Choice - ", "") for name in names]
        rows = row_names(said) if several else [None]
        options = several and _are_options(names, rows, read)
        for name, row, text in zip(names, rows, said, strict=True):
            stem = text.removesuffix(row).rstrip(" -") if row else text
            numbered = None if row is None else row or name.rpartition("_")[2]
            if numbered is not None and len(set(rows)) < len(rows):
                numbered = name.rpartition("_")[2]
            asked[name] = Asked(
                question, numbered, loops.get(loop, loop), stem, options, name in typed
            )
    return asked


def _loop_names(
    groups: Mapping[tuple[str | None, str], list[str]], texts: Mapping[str, str]
) -> dict[str | None, str]:
    """Name loops by what differs in the words of a question."""
    said: dict[str, dict[str, str]] = {}
    for (loop, question), names in groups.items():
        if loop is not None:
            said.setdefault(question, {})[loop] = texts[names[0]]
    most = max((len(one) for one in said.values()), default=0)
    for one in said.values():
        found = differing_words(list(one.values())) if most > 1 else None
        if len(one) == most and found is not None:
            return dict(zip(one, found, strict=True))
    return {}


def _are_options(names: Sequence[str], rows: Sequence[str | None], read: Columns) -> bool:
    """Whether each column holds nothing or the one option that it stands for."""
    cells = [read.columns[name].slice(2) for name in names]
    given = [words_of(column) for column in cells]
    values = [set(column.unique()) for column in given]
    if all(own <= {row} for own, row in zip(values, rows, strict=True)):
        return any(values)
    gaps = any(0 < len(filled) < len(column) for filled, column in zip(given, cells, strict=True))
    return gaps and all(own <= {"1"} for own in values) and sum(map(bool, values)) > 1


def _people(read: Columns, ids: Mapping[str, str], rejects: Rejects) -> list[int]:
    """Rows of participants; previews and tests are set aside."""
    said = [
        read.columns[name].to_list()
        for name, one in ids.items()
        if one in ("status", "distributionChannel")
    ]
    keep = []
    for row in range(2, len(next(iter(read.columns.values())))):
        cells = (str(column[row] or "").strip().casefold() for column in said)
        made = next((_PREVIEWS[cell] for cell in cells if cell in _PREVIEWS), None)
        if made is None:
            keep.append(row)
        else:
            rejects.skip(read.place(row), f"{made} of the survey, not of a participant")
    return keep


def _rater(people: Columns, ids: Mapping[str, str]) -> str | None:
    """Choose the column that names people."""
    for name, column in people.columns.items():
        own = column.drop_nulls().n_unique() == len(column)
        if own and name.casefold().replace(" ", "_") in _PERSON:
            return name
    return next((name for name, one in ids.items() if one == "_recordId"), None)
