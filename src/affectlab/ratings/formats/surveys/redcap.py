"""REDCap: records of a project, raw or with labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from affectlab.core.errors import unknown_name
from affectlab.ratings.build import is_number, words_of
from affectlab.ratings.files import Columns, Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.shown import find_stimulus
from affectlab.ratings.formats.surveys.sheets import PLATFORM, AnswerSheets, Asked, Sheet
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess

_CHECKBOX = re.compile(r"(?P<field>[a-z][a-z0-9_]*?)___(?P<code>\w+)")
_CHOICE = re.compile(r"(?P<field>.*?)\s*\(choice=(?P<code>.*)\)\s*", re.DOTALL)
_OF_PLATFORM = re.compile(
    r"redcap_\w+|\w+_complete|\w+_timestamp|complete\?(\.\d+)?|survey (identifier|timestamp)"
    r"|data access group|event name|repeat (instrument|instance)",
    re.IGNORECASE,
)
_EVENTS = ("redcap_event_name", "event name")
_INSTANCE = ("redcap_repeat_instance", "repeat instance")


@file_format("redcap", "REDCap, records (CSV: record_id, field___1, form_complete, …)")
class RedCap(AnswerSheets):
    """The records of a REDCap project, with raw values and field names or with labels.

    A record is a rater, and each of its events or repeated instances a session. Checkboxes
    (``field___1``, or ``Field (choice=Joy)``) are yes or no to each option. Fields are stimuli;
    personal ones, such as ``age``, describe the rater. Where a field of a repeated instrument
    names what was shown, that is the stimulus, each instance a trial, and its other fields are
    labels. What REDCap adds (events, completeness, times, identifiers of surveys) is no answer.

    Parameters
    ----------
    questions
        Fields that hold answers; by default checkboxes that share their options, else all.
    rows
        What the options of checkboxes are, ``"labels"`` or ``"stimuli"``.
    rater
        Column that names the person; by default the first, which has the record.
    stimulus
        Field that names what was shown; by default one of a repeated instrument that differs
        between instances, and holds names of files or is called like what is shown.

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
    stimulus: str | None = None

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
        stimulus = self._stimulus(read, [name for name in names[1:] if name not in unused])
        asked = {}
        for name in names[1:]:
            match = _CHECKBOX.fullmatch(name) or _CHOICE.fullmatch(name)
            if name in unused:
                continue
            if match is None:
                asked[name] = Asked(name.strip(), text=name if " " in name else "")
            else:
                asked[name] = Asked(match["field"], match["code"], text=match["field"], option=True)
        instance = next((name for name in names if _folded(name) in _INSTANCE), None)
        events = [name for name in names if _folded(name) in _EVENTS]
        steps: History = ()
        if stimulus is not None:
            shown = read.columns[stimulus].is_not_null()
            asked = {
                name: replace(one, loop=stimulus)
                if read.columns[name].filter(shown).count()
                else one
                for name, one in asked.items()
                if name != stimulus
            }
            if self.stimulus is None:
                steps = (guess(StepKind.INSTANCE_FIELD, field=stimulus, format=self.name),)
        elif instance is not None:
            events.append(instance)
        session = None
        if events:
            parts = [read.columns[name].cast(pl.String).fill_null("") for name in events]
            joined = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" "))
            session = joined.to_series().str.strip_chars()
        return Sheet(
            read,
            asked,
            unused,
            rater=names[0],
            steps=steps,
            session=None if session is None else session.alias("session"),
            sessions=tuple(events),
            stimulus=stimulus,
            trial=None if stimulus is None else instance,
        )

    def _stimulus(self, read: Columns, fields: Sequence[str]) -> str | None:
        """Find the field that says what repeated instances of a record are about."""
        if self.stimulus is not None:
            if self.stimulus not in fields:
                raise unknown_name("field", self.stimulus, fields, "format redcap")
            return self.stimulus
        record, *_ = read.columns
        instance = next((name for name in read.columns if _folded(name) in _INSTANCE), None)
        if instance is None:
            return None
        repeated = pl.DataFrame(list(read.columns.values())).filter(pl.col(instance).is_not_null())
        counts = repeated.group_by(record).agg(pl.col(fields).drop_nulls().n_unique())
        named = {
            name: repeated[name]
            for name in fields
            if (counts[name] > 1).any()
            and (find_one("stimulus", [name]) or not all(map(is_number, words_of(repeated[name]))))
        }
        return find_stimulus(named)


def _folded(name: str) -> str:
    return name.strip().casefold()


def _is_export(header: Sequence[str]) -> bool:
    folded = [_folded(name) for name in header[1:]]
    if any(name in ("redcap_event_name", "redcap_repeat_instance") for name in folded):
        # A project may call its records otherwise.
        return True
    if not header or _folded(header[0]).replace(" ", "_") != "record_id":
        return False
    forms = any(re.fullmatch(r"\w+_complete|complete\?(\.\d+)?", name) for name in folded)
    return forms or any(name.startswith("redcap_") or "___" in name for name in folded)
