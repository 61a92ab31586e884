"""REDCap: records of a project, raw or with labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.surveys.sheets import PLATFORM, AnswerSheets, Asked, Sheet

_CHECKBOX = re.compile(r"(?P<field>[a-z][a-z0-9_]*?)___(?P<code>\w+)")
_CHOICE = re.compile(r"(?P<field>.*?)\s*\(choice=(?P<code>.*)\)\s*", re.DOTALL)
_OF_PLATFORM = re.compile(
    r"redcap_\w+|\w+_complete|\w+_timestamp|complete\?(\.\d+)?|survey (identifier|timestamp)"
    r"|data access group|event name|repeat (instrument|instance)",
    re.IGNORECASE,
)
_EVENTS = ("redcap_event_name", "redcap_repeat_instance", "event name", "repeat instance")


@file_format("redcap", "REDCap, records (CSV: record_id, field___1, form_complete, …)")
class RedCap(AnswerSheets):
    """The records of a REDCap project, with raw values and field names or with labels.

    A record is a rater, and each of its events or repeated instances a session. Checkboxes
    (``field___1``, or ``Field (choice=Joy)``) are yes or no to each option. Fields are stimuli;
    personal ones, such as ``age``, describe the rater. What REDCap adds (events, completeness,
    times, identifiers of surveys) is no answer.

    Parameters
    ----------
    questions
        Fields that hold answers; by default checkboxes that share their options, else all.
    rows
        What the options of checkboxes are, ``"labels"`` or ``"stimuli"``.
    rater
        Column that names the person; by default the first, which has the record.

    Notes
    -----
    Source: REDCap's help on exports and its data dictionary (checkbox fields, form status,
    longitudinal and repeating exports).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "Faces_DATA_2026.csv"
    >>> _ = file.write_text("record_id,age,face1,face2,rating_complete\\n1,31,4,2,2\\n")
    >>> r = read_ratings(file, scale="1-7")
    >>> r.frame.select("stimulus", "rater", "value").rows(), r.raters["age"].to_list()
    ([('face1', '1', 4.0), ('face2', '1', 2.0)], [31])
    """

    layout = Layout({"rater": "record_id"})

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(_is_export(head.columns))

    expected = (
        "no export of REDCap: expected a column record_id, and one that says whether a form is "
        "complete"
    )

    def sheet(self, read: Columns, rejects: Rejects) -> Sheet | None:  # noqa: ARG002
        names = list(read.columns)
        if not _is_export(names):
            return None
        unused = {name: PLATFORM for name in names if _OF_PLATFORM.fullmatch(name.strip())}
        asked = {}
        for name in names[1:]:
            match = _CHECKBOX.fullmatch(name) or _CHOICE.fullmatch(name)
            if name in unused:
                continue
            if match is None:
                asked[name] = Asked(name.strip(), text=name if " " in name else "")
            else:
                asked[name] = Asked(match["field"], match["code"], text=match["field"], option=True)
        events = [name for name in names if name.strip().casefold() in _EVENTS]
        session = None
        if events:
            parts = [read.columns[name].cast(pl.String).fill_null("") for name in events]
            joined = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" "))
            session = joined.to_series().str.strip_chars()
        return Sheet(read, asked, unused, rater=names[0], session=session, sessions=tuple(events))


def _is_export(header: Sequence[str]) -> bool:
    if not header or header[0].strip().casefold().replace(" ", "_") != "record_id":
        return False
    folded = [name.strip().casefold() for name in header[1:]]
    forms = any(re.fullmatch(r"\w+_complete|complete\?(\.\d+)?", name) for name in folded)
    return forms or any(name.startswith("redcap_") or "___" in name for name in folded)
