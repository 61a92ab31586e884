"""ISEAR: students of 16 countries on when they felt each of seven emotions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings.codes import encode
from affectlab.ratings.datasets.common import Rejects, attributes, lines_of, refuse_layout, shown
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy

__all__ = ["FORMAT", "isear"]

_NAME = "isear"
_PERSON = ("CITY", "COUN", "SUBJ", "SEX", "AGE", "RELI", "PRAC", "FOCC", "MOCC", "FIEL")
_NEEDED = ("ID", *_PERSON, "EMOT", "Field1", "MYKEY", "SIT", "STATE")
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


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].removesuffix("\r").split("|")
    return not peek.is_binary and set(_NEEDED) <= set(first)


def _read(peek: Peek, options: ReadOptions, *, keep_non_answers: bool = False) -> Ratings:
    refuse_layout(peek, options, _NAME)
    peek, notes = _with_encoding(peek)
    records = lines_of(peek)
    header = next(records)[1].split("|")
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise InputError(
            f"{peek.path}, line 1: column '{missing[0]}' is missing; expected the columns of "
            f"ISEAR separated by '|', found: {shown('|'.join(header))}"
        )
    rejects = Rejects(peek.path, options.on_bad)
    text_at = header.index("SIT")
    lines: list[int] = []
    reports: list[list[str]] = []
    rejoined = 0
    for line, fields in _fields(records, header, rejects):
        rejoined += len(fields) > len(header)
        report = _rejoin(fields, header)
        missing_text = None if keep_non_answers else _non_answer(report[text_at])
        if missing_text is not None:
            rejects.skip(f"line {line}", missing_text)
        elif _agrees(report, header, line, rejects):
            lines.append(line)
            reports.append(report)
    if not reports:
        raise InputError(f"{peek.path} holds no report; expected {len(header)} fields per line")
    if rejoined:
        notes += (f"texts that held the separator '|', joined again: {rejoined:,}",)
    table = dict(zip(header, zip(*reports, strict=True), strict=True))
    table.pop("", None)
    notes += _without_stray_quotes(table)
    columns = {
        name: pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
        for name, cells in table.items()
    }
    rater = encode(pl.Series(table["ID"]), what="rater")
    stimulus = encode(pl.Series(table["MYKEY"]), what="stimulus")
    emotion = columns.pop("Field1")
    for name in ("ID", "MYKEY", "EMOT"):
        columns.pop(name)
    raters, of_rater = attributes("rater", rater, {name: columns.pop(name) for name in _PERSON})
    of_report = {"text": columns.pop("SIT"), **columns}
    stimuli, of_stimulus = attributes("stimulus", stimulus, of_report)
    return assemble(
        {
            "stimulus": stimulus.to_series("stimulus"),
            "rater": rater.to_series("rater"),
            "label": emotion,
            "value": pl.Series("value", [1.0]).new_from_index(0, len(reports)),
        },
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, line {lines[row]}",
        scale="binary",
        taxonomy=Taxonomy.from_labels(_EMOTIONS, name="isear"),
        raters=raters,
        stimuli=stimuli,
        set_aside=rejects.set_aside,
        history=(*notes, *of_rater, *of_stimulus),
    )


def _with_encoding(peek: Peek) -> tuple[Peek, tuple[str, ...]]:
    """Copies exist in UTF-8 and in Latin-1; what is no UTF-8 is the latter, and that is said."""
    if peek.encoding is None and peek.codec == "utf-8":
        try:
            peek.path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            step = "read as Latin-1, since the file is not UTF-8"
            return replace(peek, encoding="latin-1"), (step,)
    return peek, ()


def _fields(
    records: Iterator[tuple[int, str]], header: list[str], rejects: Rejects
) -> Iterator[tuple[int, list[str]]]:
    for line, record in records:
        fields = record.split("|")
        if len(fields) < len(header):
            rejects.reject(
                f"line {line}",
                f"fewer than {len(header)} fields",
                f"{len(fields)} field{'' if len(fields) == 1 else 's'}; expected {len(header)}, "
                "or more where the text holds '|'",
            )
            continue
        yield line, fields


def _rejoin(fields: list[str], header: list[str]) -> list[str]:
    """Put a text that holds the separator together again; all other fields hold none."""
    start = header.index("SIT")
    end = len(fields) - (len(header) - start - 1)
    return [*fields[:start], "|".join(fields[start:end]), *fields[end:]]


def _agrees(report: list[str], header: list[str], line: int, rejects: Rejects) -> bool:
    """Check that the number and the name of the emotion agree, so that no field has moved."""
    code, name = report[header.index("EMOT")], report[header.index("Field1")]
    place = f"line {line}"
    if name not in _EMOTIONS:
        sentence = f"Field1 is {shown(name)}; expected one of {', '.join(_EMOTIONS)}"
        rejects.reject(place, "emotion not known", sentence)
        return False
    if code != str(_EMOTIONS.index(name) + 1):
        sentence = f"EMOT is {shown(code)}; expected {_EMOTIONS.index(name) + 1} for {name}"
        rejects.reject(place, "EMOT and Field1 disagree", sentence)
        return False
    return True


def _non_answer(text: str) -> str | None:
    """Say why a text is no report; None where it is one."""
    # á stands where the file had a line break.
    plain = " ".join(_BREAKS.sub(" ", text.casefold().replace("á", " ")).split())
    if _NO_ANSWER.fullmatch(plain):
        return "no answer, such as '[ No response.]'"
    if _ELSEWHERE.fullmatch(plain):
        return "no answer but the name of another, such as 'The same as in shame.'"
    return None


def _without_stray_quotes(table: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Take the end of a quotation off the one field that follows the text."""
    stray = sum(cell.endswith('"') for cell in table["STATE"])
    if not stray:
        return ()
    table["STATE"] = tuple(cell.removesuffix('"') for cell in table["STATE"])
    return (f"stray quotation marks taken off column STATE: {stray:,}",)


def isear(
    path: str | Path,
    *,
    encoding: str | None = None,
    on_bad: OnBad = "raise",
    keep_non_answers: bool = False,
) -> Ratings:
    """Read the ISEAR self-reports.

    Parameters
    ----------
    path
        The table with ``|`` between the fields. Some texts hold that sign themselves; since the
        fields on both sides of the text are known, such texts are put together again.
    encoding
        Encoding of the file; when not given, UTF-8, or Latin-1 where it is no UTF-8.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.
    keep_non_answers
        Keep reports whose whole text says that there is none ("[ No response.]", "Never
        experienced.", "Can't remember.") or names the answer for another emotion ("The same as in
        shame."). By default they are set aside and counted, by reason: their label is the question
        and nothing in the text.

    Returns
    -------
    Ratings
        A person is a rater (``ID``), a report is a stimulus (``MYKEY``), and the emotion asked for
        is the label, of a taxonomy ``isear`` of seven. Each report has one row with value 1: the
        person named that emotion. The other six were not asked of that report, so they are absent
        and not 0.

        City, country, subject, sex, age, religion and so on are attributes of the rater, under
        their published names; the text, and what was asked of the event (``WHEN``, ``LONG``,
        ``INTS``, …), are attributes of the stimulus. Texts are kept as they stand, line-break
        residues (``á``) included; some occur several times, also under different emotions. The
        history says how many texts were joined again, and `set_aside` what was no answer.

    Raises
    ------
    InputError
        When a column is missing, a line has too few fields, or number and name of an emotion
        disagree.

    Notes
    -----
    Source: K. R. Scherer and H. G. Wallbott (1994), Evidence for universality and cultural
    variation of differential emotion response patterning.

    Examples
    --------
    >>> import tempfile
    >>> names = "ID CITY COUN SUBJ SEX AGE RELI PRAC FOCC MOCC FIEL EMOT Field1 MYKEY SIT STATE"
    >>> lines = ["|".join(names.split()) + "|",
    ...          "7|1|1|1|1|33|1|2|6|1|2|2|fear|71|When I was lost|or thought so.|1|"]
    >>> file = Path(tempfile.mkdtemp()) / "isear.csv"
    >>> _ = file.write_text("\\n".join(lines))
    >>> r = isear(file)
    >>> r.stimuli["text"][0], r.label_names, r.history
    ('When I was lost|or thought so.', ('fear',),
     ("texts that held the separator '|', joined again: 1",))
    """
    if not keep_non_answers:
        return read_ratings(path, format=_NAME, encoding=encoding, on_bad=on_bad)
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
    peek = Peek.open(path, encoding=encoding)
    return _read(peek, ReadOptions(on_bad=on_bad), keep_non_answers=True)


FORMAT = Format(
    name=_NAME,
    title="ISEAR self-reports (text with '|' between the fields)",
    sniff=_sniff,
    read=_read,
)
