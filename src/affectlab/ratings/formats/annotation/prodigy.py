"""Prodigy: tasks with the answer of one annotator each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.answers import Answer, Answers, Place, Record
from affectlab.ratings.formats.format import Layout, column_names, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, json_records
from affectlab.ratings.options import ReadOptions

_PARTS = ("spans", "relations", "audio_spans")
_OF_TOOL = (
    *_PARTS,
    "tokens",
    "config",
    "meta",
    "priority",
    "score",
    "options",
    "accept",
    "answer",
    "label",
)


class _Option(Record):
    id: str | int | float


class _Task(Record):
    input_hash: int = Field(alias="_input_hash")
    answer: str
    annotator: str | None = Field(None, alias="_annotator_id")
    session: str | None = Field(None, alias="_session_id")
    timestamp: float | None = Field(None, alias="_timestamp")
    options: list[_Option] | None = None
    accept: list[str | int | float] | None = None
    label: str | None = None
    config: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None


@file_format("prodigy", "annotations of Prodigy (JSONL: _input_hash, answer, accept or label)")
class Prodigy(Answers):
    """Annotations that Prodigy's ``db-out`` writes, one a line.

    Of a choice the options that were accepted are the answer. Of one label that was shown, accepted
    is 1 and rejected 0. Raters are the annotators, or sessions where annotators are not named.
    Stimuli have the number of their input (``_input_hash``), and its text, picture and ``meta`` as
    attributes.

    Ignored tasks, choices that were rejected as a whole, spans and relations are left out and
    counted.

    Notes
    -----
    Source: Prodigy's documentation, "Annotation interfaces" and "Annotation task formats".

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> task = {"text": "such a day!", "_input_hash": 7, "_task_hash": 8, "answer": "accept",
    ...         "options": [{"id": "joy", "text": "joy"}, {"id": "fear", "text": "fear"}],
    ...         "accept": ["joy"], "_annotator_id": "ann", "config": {"choice_style": "single"}}
    >>> file = Path(tempfile.mkdtemp()) / "emotions.jsonl"
    >>> _ = file.write_text(json.dumps(task) + "\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names, str(r.scale)
    (('7',), ('ann',), 'nominal: joy, fear')
    """

    record = _Task
    layout = Layout(
        {
            "stimulus": "_input_hash",
            "rater": "_annotator_id",
            "value": "accept, answer",
            "label": "label",
            "at": "_timestamp",
        },
        stimuli=("text", "image", "html", "meta"),
        others=("options",),
        unused={
            "spans, relations, audio_spans": "no ratings of the whole stimulus",
            "answer": "ignored tasks and rejected choices are no answers",
        },
    )

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which column has the answers, and which names raters."""
        records = [one for _, one in json_records(head, Rejects(head.path, "set_aside"))]
        told = {key for one in records if isinstance(one, dict) for key in one}
        names = {*told, *column_names(head)}
        chosen = "accept" in names
        roles = {**self.layout.roles, "value": "accept" if chosen else "answer"}
        unused = dict.fromkeys(_PARTS, "no ratings of the whole stimulus")
        if chosen and "label" not in names:
            unused["answer"] = self.layout.unused["answer"]
        if "_annotator_id" in names:
            unused["_session_id"] = "annotators are named"
        else:
            roles["rater"] = "_session_id"
        # Options are objects, whose fields stand in columns of their own.
        own = (
            "answer",
            "options",
            "id",
            "options.id",
            "config",
            "choice_style",
            "config.choice_style",
        )
        return replace(
            self.layout,
            roles={role: name for role, name in roles.items() if name in names},
            others=tuple(name for name in own if name in names and name not in unused),
            unused=unused,
        )

    def answers_of(self, record: _Task, at: Place) -> Iterable[Answer]:
        extra = at.entry
        for name in _PARTS:
            if extra.get(name):
                at.skip(f"{name}: no ratings of the whole stimulus")
        shown = {
            name: value
            for name, value in extra.items()
            if not name.startswith("_") and name not in _OF_TOOL
        }
        given: bool | tuple[str, ...]
        offered: tuple[str, ...] = ()
        if record.options is not None:
            if record.answer != "accept":
                raise Unusable(f"the task was answered with {record.answer!r}")
            offered = tuple(str(one.id) for one in record.options)
            given = tuple(map(str, record.accept or ()))
        elif record.label is not None and not any(extra.get(name) for name in _PARTS):
            if record.answer not in ("accept", "reject"):
                raise Unusable(f"the task was answered with {record.answer!r}")
            given = record.answer == "accept"
        else:
            raise Unusable("no choice and no label: nothing that is a rating")
        yield Answer(
            stimulus=str(record.input_hash),
            rater=record.annotator or record.session or at.rater,
            question="accept" if isinstance(given, tuple) else str(record.label),
            given=given,
            options=offered,
            several=(record.config or {}).get("choice_style") == "multiple",
            about={**(record.meta or {}), **shown},
            beside={"at": _iso(record.timestamp)},
        )


def _iso(timestamp: float | None) -> str | None:
    try:
        return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
