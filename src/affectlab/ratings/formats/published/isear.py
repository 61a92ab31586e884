"""ISEAR: students of 16 countries on when they felt each of seven emotions."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.codes import encode
from affectlab.ratings.files import Peek, Place
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, attributes, lines_of, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, Step, step
from affectlab.taxonomy import Taxonomy

_PERSON = ("CITY", "COUN", "SUBJ", "SEX", "AGE", "RELI", "PRAC", "FOCC", "MOCC", "FIEL")
_EMOTIONS = ("joy", "fear", "anger", "sadness", "disgust", "shame", "guilt")
"""In the order of the codes 1 to 7 of the column EMOT."""
_BREAKS = re.compile(r"[^a-z0-9'/]+")
_CANNOT = r"(?:can ?not|can't|do not|don't)"
_EVENT = (
    r"(?:any(?:thing)?|ever|having|being|feeling|one)(?: [a-z']+){0,6}|"
    r"(?:(?:such an?|an?|the|that|this|exact|specific) )+"
    r"(?:emotion|feeling|situation|event|incident|example|episode|time)(?: [a-z']+){0,3}"
)
_EMOTION = (
    r"(?:(?:this|the|that|such|any|an?) (?:emotion|feeling|experience)|joy|fear|anger|"
    r"sad(?:ness)?|disgust(?:ed)?|shame|ashamed|guilt(?:y)?|frightened|scared)"
    r"(?: (?:for|in|about|at|any|yet|just)(?: [a-z']+){0,6})?"
)
_NOT_FELT = r"(?:have |was )?never(?: really)?|have not|haven't|normally i do not"
_NO_ANSWER = re.compile(
    "|".join(
        (
            r"no (?:res?ponse|answer|description)",
            r"none|nothing|never|blank|n/a|not included on questionnaire",
            r"does not apply|doesn't apply",
            r"(?:i am [a-z]+ [a-z]+ )?not applicable(?: to myself)?",
            r"(?:i )?do(?: not|n't) know",
            rf"(?:sorry )?(?:i )?{_CANNOT} (?:remember|recall|describe|think of)"
            rf"(?: (?:{_EVENT}))?",
            r"can think of no (?:time|situation|incident|event)(?: [a-z']+){0,6}",
            rf"(?:sorry |honestly )?(?:i )?(?:{_NOT_FELT})(?: yet)?"
            rf"(?: (?:felt|feel|experienced|been|had))?(?: {_EMOTION})?(?: n/a)?",
        )
    )
)
"""Whole answers that describe nothing, in small letters and without marks."""
_ELSEWHERE = re.compile(
    r"(?:the )?same(?: as)? (?:in|for) [a-z]+(?: would apply)?|as (?:in|for) [a-z]+"
)
"""Whole answers that name the answer for another emotion in place of their own."""


@file_format("isear", "ISEAR self-reports (text with '|' between the fields)")
class Isear(Format):
    """The ISEAR self-reports.

    The table with ``|`` between the fields. Some texts hold that sign themselves; since the
    fields on both sides of the text are known, such texts are put together again.

    A person is a rater (``ID``), a report is a stimulus (``MYKEY``), and the emotion asked for
    is the label, of a taxonomy ``isear`` of seven. Each report has one row with value 1: the
    person named that emotion. The other six were not asked of that report, so they are absent
    and not 0.

    City, country, subject, sex, age, religion and so on are attributes of the rater, under
    their published names; the text, and what was asked of the event (``WHEN``, ``LONG``,
    ``INTS``, …), are attributes of the stimulus. Texts are kept as they stand, line-break
    residues (``á``) included; some occur several times, also under different emotions. The
    history says how many texts were joined again, and `set_aside` what was no answer.

    Parameters
    ----------
    keep_non_answers
        Keep reports whose whole text says that there is none ("[ No response.]", "Never
        experienced.", "Can't remember.") or names the answer for another emotion ("The same as in
        shame."). By default they are set aside and counted, by reason: their label is the question
        and nothing in the text.

    Notes
    -----
    Source: K. R. Scherer and H. G. Wallbott (1994), Evidence for universality and cultural
    variation of differential emotion response patterning.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> names = "ID CITY COUN SUBJ SEX AGE RELI PRAC FOCC MOCC FIEL EMOT Field1 MYKEY SIT STATE"
    >>> lines = ["|".join(names.split()) + "|",
    ...          "7|1|1|1|1|33|1|2|6|1|2|2|fear|71|When I was lost|or thought so.|1|"]
    >>> file = Path(tempfile.mkdtemp()) / "isear.csv"
    >>> _ = file.write_text("\\n".join(lines))
    >>> r = read_ratings(file)
    >>> r.stimuli["text"][0], r.label_names, *map(str, r.history)
    ('When I was lost|or thought so.', ('fear',),
     "texts that held the separator '|' were joined again: 1")
    """

    keep_non_answers: bool = False
    layout = Layout(
        {"stimulus": "MYKEY", "rater": "ID", "label": "Field1", "text": "SIT"},
        raters=_PERSON,
        others=(*_PERSON, "EMOT", "STATE"),
    )

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(set(self.layout.needed) <= set(head.first_line.split("|")))

    def opened(self, head: Peek, options: ReadOptions) -> Peek:  # noqa: ARG002
        """Take a copy that is no UTF-8 as Latin-1, in which there are copies, and say so."""
        if head.steps or (head.encoding is None and head.codec == "utf-8"):
            try:
                head.path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                done = step(StepKind.ENCODING, encoding="latin-1")
                return replace(head, encoding="latin-1", steps=(done,))
        return head

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Give each report a row, with the value 1 for the emotion asked for."""
        records = lines_of(head)
        header = next(records)[1].split("|")
        self.layout.check(head, header, "'|'")
        lines: list[int] = []
        reports: list[list[str]] = []
        rejoined, notes = 0, tuple[Step, ...]()
        for line, record in records:
            fields = record.split("|")
            rejoined += len(fields) > len(header)
            try:
                reports.append(self._report(fields, header))
            except Unusable as problem:
                rejects.note(f"line {line}", problem)
            else:
                lines.append(line)
        if not reports:
            raise InputError(f"{head.path} holds no report; expected {len(header)} fields per line")
        if rejoined:
            notes = (step(StepKind.SEPARATORS_JOINED, n=rejoined),)
        table = dict(zip(header, zip(*reports, strict=True), strict=True))
        table.pop("", None)
        notes += _without_stray_quotes(table)
        columns = {
            name: pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
            for name, cells in table.items()
            if name not in ("ID", "MYKEY", "EMOT")
        }
        emotion = columns.pop("Field1")
        rater = encode(pl.Series(table["ID"]), what="rater")
        stimulus = encode(pl.Series(table["MYKEY"]), what="stimulus")
        raters, of_rater = attributes("rater", rater, {name: columns.pop(name) for name in _PERSON})
        of_report = {"text": columns.pop("SIT"), **columns}
        stimuli, of_stimulus = attributes("stimulus", stimulus, of_report)
        return Contents(
            {
                "stimulus": stimulus.to_series("stimulus"),
                "rater": rater.to_series("rater"),
                "label": emotion,
                "value": pl.Series("value", [1.0]).new_from_index(0, len(reports)),
            },
            lambda row: Place(f"line {lines[row]}", head.path),
            scale="binary",
            taxonomy=Taxonomy.from_labels(_EMOTIONS, name="isear"),
            raters=raters,
            stimuli=stimuli,
            history=(*notes, *of_rater, *of_stimulus),
        )

    def _report(self, fields: list[str], header: list[str]) -> list[str]:
        """Bring the fields of a line to the columns; raises where they are no report."""
        if len(fields) < len(header):
            noun = "field" if len(fields) == 1 else "fields"
            raise Unusable(
                f"fewer than {len(header)} fields",
                f"{len(fields)} {noun}; expected {len(header)}, or more where the text holds '|'",
            )
        # Only a text may hold the separator, and all fields behind it are known.
        start = header.index("SIT")
        end = len(fields) - (len(header) - start - 1)
        report = [*fields[:start], "|".join(fields[start:end]), *fields[end:]]
        if not self.keep_non_answers:
            _check_answer(report[start])
        # Number and name of the emotion agree where no field has moved.
        code, name = report[header.index("EMOT")], report[header.index("Field1")]
        if name not in _EMOTIONS:
            sentence = f"Field1 is {shown(name)}; expected one of {', '.join(_EMOTIONS)}"
            raise Unusable("emotion not known", sentence)
        if code != str(_EMOTIONS.index(name) + 1):
            sentence = f"EMOT is {shown(code)}; expected {_EMOTIONS.index(name) + 1} for {name}"
            raise Unusable("EMOT and Field1 disagree", sentence)
        return report


def _check_answer(text: str) -> None:
    """Leave out texts that are no report."""
    # á stands where the file had a line break.
    plain = " ".join(_BREAKS.sub(" ", text.casefold().replace("á", " ")).split())
    if _NO_ANSWER.fullmatch(plain):
        raise Unusable("no answer, such as '[ No response.]'", kind="no_answer")
    if _ELSEWHERE.fullmatch(plain):
        raise Unusable(
            "no answer but the name of another, such as 'The same as in shame.'", kind="no_answer"
        )


def _without_stray_quotes(table: dict[str, tuple[str, ...]]) -> History:
    """Take the end of a quotation off the one field that follows the text."""
    stray = sum(cell.endswith('"') for cell in table["STATE"])
    if not stray:
        return ()
    table["STATE"] = tuple(cell.removesuffix('"') for cell in table["STATE"])
    return (step(StepKind.QUOTES_REMOVED, column="STATE", n=stray),)
