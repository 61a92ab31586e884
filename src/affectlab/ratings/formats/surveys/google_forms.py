"""Google Forms: responses of a form, as its sheet or as CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affectlab.ratings.build import words_of
from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import (
    PLATFORM,
    AnswerSheets,
    Asked,
    Sheet,
)

_TIMESTAMPS = {
    "timestamp", "zeitstempel", "horodateur", "marca temporal", "informazioni cronologiche",
    "carimbo de data/hora", "tijdstempel", "タイムスタンプ", "sygnatura czasowa", "tidstempel",
}  # fmt: skip
"""What the first column is called, in the languages of the form."""
_TIME = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T,]+\d{1,2}[:.]\d{2}.*")
_ZONED = re.compile(r"\d{4}/\d{2}/\d{2} \d{1,2}:\d{2}:\d{2} \S.* (GMT|UTC|[A-Z]{2,4})[-+:\d]*")
"""A time as forms write it in CSV, such as ``2026/11/27 9:00:00 AM GMT+1``."""
_GRID = re.compile(r"(?P<question>.*?)\s*\[(?P<row>[^\[\]]+)\]\s*", re.DOTALL)
_SENTENCE = re.compile(r".*\S\s.*[?.:!]\s*|.*\S\s\S+\s\S.*", re.DOTALL)
_WHO = {
    "username", "email address", "e-mail-adresse", "score", "total score", "email",
    "nom d'utilisateur", "adresse e-mail", "nutzername", "dirección de correo electrónico",
    "indirizzo email", "nome utente", "endereço de e-mail", "e-mailadres", "adres e-mail",
}  # fmt: skip
_PERSON = re.compile(
    r"\b(participant|prolific|worker|subject|rater)\b.*\b(id|code|number|name)\b", re.IGNORECASE
)


@file_format("google-forms", "Google Forms, responses (CSV or Excel: Timestamp, question [row], …)")
class GoogleForms(AnswerSheets):
    """The responses of a form of Google Forms, downloaded as CSV or from its spreadsheet.

    Columns of a grid are called ``question [row]``. Checkboxes, whose chosen options stand in one
    cell with semicolons (CSV) or commas (spreadsheet) between them, are yes or no to each option
    that anybody chose; those of a grid have its rows as stimuli. Questions
    asked once beside grids describe the rater. A question for an identifier of the participant
    names the rater; without one, responses are numbered. Times, addresses and quiz scores are not
    kept.

    Parameters
    ----------
    questions
        Questions that hold answers, in full; by default those of grids, else all.
    rows
        What the rows of grids are, ``"labels"`` or ``"stimuli"``; by default labels where they are
        called like emotions, or several questions have the same words.
    rater
        Question that names the person.

    Notes
    -----
    Source: Google's help on forms, "View & manage form responses".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "form.csv"
    >>> _ = file.write_text("Timestamp,Face 1 [Joy],Face 1 [Fear]\\n"
    ...                     "2026/11/27 9:00:00 AM MEZ,5,1\\n")
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "label", "value").rows()
    [('Face 1', 'participant-01', 'Joy', 5.0), ('Face 1', 'participant-01', 'Fear', 1.0)]
    """

    layout = Layout(others=("Timestamp",), labels=("question [row]",))
    choices = (";", ", ")

    def recognise(self, head: Peek) -> Sure:
        rows = head.first_rows
        if len(rows) < 2 or not rows[1] or not _is_form(rows[0], rows[1][0].strip()):
            return Sure.NO
        return Sure.if_(_TIME.fullmatch(rows[1][0].strip()))

    expected = "no sheet of Google Forms: expected a column Timestamp, and questions behind it"

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        time, *names = read.columns
        first = next(iter(words_of(read.columns[time])), "")
        if not _is_form((time, *names), first):
            return None
        unused = {
            name: PLATFORM for name in (time, *names) if _folded(name) in (*_WHO, *_TIMESTAMPS)
        }
        asked = {}
        for name in names:
            grid = _GRID.fullmatch(name)
            question = grid["question"] if grid else name.strip()
            if name not in unused:
                asked[name] = Asked(question, grid["row"] if grid else None, text=question)
        rater = next((name for name in names if _PERSON.search(name)), None)
        unique = rater and read.columns[rater].drop_nulls().n_unique() == len(read.columns[rater])
        return Sheet(read, asked, unused, rater=rater if unique else None)


def _folded(name: str) -> str:
    return name.strip().casefold()


def _is_form(header: Sequence[str], time: str) -> bool:
    """Whether a time stands in front, in the way of forms, or questions behind it."""
    if not header or _folded(header[0]) not in _TIMESTAMPS:
        return False
    if len(header) > 1 and (_ZONED.fullmatch(time) or _folded(header[1]) in _WHO):
        return True
    return any(_GRID.fullmatch(one) or _SENTENCE.fullmatch(one) for one in header[1:])
