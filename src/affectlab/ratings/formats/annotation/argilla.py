"""Argilla: records with responses of people and suggestions of models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, read_frame
from affectlab.ratings.formats.answers import (
    Answer,
    Answers,
    Given,
    Place,
    Record,
)
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, json_records
from affectlab.ratings.options import ReadOptions

_RESPONSES, _SUGGESTION = ".responses", ".suggestion"
_UNNAMED_MODEL = "suggestion"
_OF_1 = {"external_id", "metadata"}
"""Columns of a feedback data set of Argilla 1, beside its fields and questions."""
_GUESSED, _GUESSED_BY = "-suggestion", "-suggestion-metadata"
_CLASSIFIED = {"inputs", "prediction", "annotation", "annotation_agent", "multi_label", "status"}
"""Columns of records of text classification of Argilla 1."""
_LABEL = "label"


class _Response(Record):
    value: Any
    user_id: str | int | None = None
    status: str | None = None


class _Suggestion(Record):
    value: Any
    agent: str | None = None
    score: Any = None


class _Nested(Record):
    """A record as ``records.to_json`` writes it."""

    id: str | int
    fields: dict[str, Any]
    responses: dict[str, list[_Response] | None] | None
    suggestions: dict[str, _Suggestion | None] | None
    metadata: dict[str, Any] | None = None


@file_format("argilla", "records of Argilla (JSON; rows of a Hugging Face data set: id, status, …)")
class Argilla(Answers):
    """Records of Argilla 2, as JSON or as rows of a data set of the Hugging Face hub.

    JSON of ``records.to_json``, with fields, responses and suggestions within each record; or JSON
    Lines or Parquet of ``records.to_datasets`` and ``to_hub``, with columns such as
    ``emotion.responses``, ``emotion.responses.users`` and ``emotion.suggestion.agent``.

    Of Argilla 1, rows of a feedback data set (``external_id``, and a list of responses for each
    question), and records of text classification (``inputs``, ``annotation``, ``prediction``), of
    which what was validated is the answer of the agent who annotated.

    Labels, several labels, ratings and texts are answers to the question that they belong to.
    Users are people; agents of suggestions are models. Fields and metadata describe the stimulus.
    Spans, rankings, and responses that were drafts or discarded are left out and counted.

    Notes
    -----
    Source: Argilla's documentation, "Import and export datasets", and the exporter of its package.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> record = {"id": "7", "fields": {"text": "such a day!"}, "metadata": {},
    ...           "responses": {"emotion": [{"value": "joy", "user_id": "u1"}]},
    ...           "suggestions": {"emotion": {"value": "joy", "agent": "tiny", "score": 0.8}}}
    >>> file = Path(tempfile.mkdtemp()) / "records.json"
    >>> _ = file.write_text(json.dumps([record]))
    >>> r = read_ratings(file)
    >>> r.rater_names, r.rater_kinds, r.scale.categories
    (('u1', 'tiny'), ('human', 'model'), ('joy',))
    """

    record = _Nested
    layout = Layout(
        {
            "stimulus": "id",
            "rater": "responses.user_id, suggestions.agent",
            "label": "question",
            "value": "responses.value, suggestions.value",
            "score": "suggestions.score",
        },
        stimuli=("fields", "metadata"),
        unused={
            "responses": "spans, rankings, drafts and discarded responses are no ratings",
            "vectors": "they describe the text for a machine",
        },
    )

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns belong to questions, where each has columns of its own."""
        first = head.first_record
        ends = (_GUESSED, _GUESSED_BY)
        names = list(first) if isinstance(first, dict) else []
        of = [name for name in names if "." in name or name.endswith(ends)]
        asked = [name for name in names if name + _GUESSED in names]
        return replace(self.layout, others=(*asked, *of))

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        names = set(first if isinstance(first, dict) else head.columns if head.is_table else ())
        nested = names >= {"id", "fields", "responses", "suggestions"}
        flat = {"id", "status"} <= names and any(
            name.endswith((_RESPONSES, _SUGGESTION)) for name in names
        )
        return Sure.if_(nested or flat or names >= _CLASSIFIED or _is_feedback(names))

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Bring records of all versions into the shape of the newest."""
        return (
            (place, _nested(entry, place)) for place, entry in _entries(file.head, file.rejects)
        )

    def answers_of(self, record: _Nested, at: Place) -> Iterable[Answer]:
        """Give what people responded and models suggested."""
        found: list[tuple[str, Given, str, str, dict[str, Any]]] = []
        for question, responses in (record.responses or {}).items():
            for one in responses or ():
                if one.status not in (None, "submitted"):
                    at.skip(f"the response was {one.status}")
                    continue
                user = "user" if one.user_id is None else str(one.user_id)
                found.append((question, _given(one.value, question, at), user, "human", {}))
        for question, guess in (record.suggestions or {}).items():
            if guess is not None:
                score = guess.score if isinstance(guess.score, int | float) else None
                agent = guess.agent or _UNNAMED_MODEL
                given = _given(guess.value, question, at)
                found.append((question, given, agent, "model", {"score": score}))
        for question, given, rater, kind, beside in found:
            if given is not None:
                yield Answer(
                    stimulus=str(record.id),
                    rater=rater,
                    kind=kind,
                    question=question,
                    given=given,
                    about={**(record.metadata or {}), **record.fields},
                    beside=beside,
                )


def _entries(head: Peek, rejects: Rejects) -> Iterator[tuple[str, Any]]:
    if not head.is_table:
        yield from json_records(head, rejects)
        return
    frame = read_frame(head)
    names = set(frame.columns)
    if "id" not in names and not _is_feedback(names) and not names >= _CLASSIFIED:
        raise InputError(f"{head.path}: column 'id' is missing; expected records of Argilla")
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        yield f"row {number}", row


def _is_feedback(names: set[str]) -> bool:
    """Whether columns are those of a feedback data set of Argilla 1."""
    return names >= _OF_1 and any(name + _GUESSED in names for name in names)


def _nested(entry: Any, place: str) -> Any:
    """Bring a row of a data set into the form of a record."""
    if not isinstance(entry, dict) or "fields" in entry:
        return entry
    if set(entry) >= _CLASSIFIED:
        return _of_classification(entry, place)
    if _is_feedback(set(entry)):
        return _of_feedback(entry, place)
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, value in entry.items():
        question, dot, kind = name.rpartition(".")
        if dot + kind == _RESPONSES:
            users, states = entry.get(f"{name}.users"), entry.get(f"{name}.status")
            responses[question] = _responses(value, users, states)
        elif dot + kind == _SUGGESTION:
            suggestions[question] = {
                "value": value,
                "agent": entry.get(f"{name}.agent"),
                "score": entry.get(f"{name}.score"),
            }
        elif "." not in name and name not in ("id", "status", "_server_id", "vectors"):
            fields[name] = value
    return {
        "id": entry.get("id"),
        "fields": fields,
        "responses": responses,
        "suggestions": suggestions,
    }


def _of_feedback(entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Bring a row of a feedback data set of Argilla 1 into the form of a record."""
    questions = [name for name in entry if name + _GUESSED in entry]
    guessed = {f"{name}{end}" for name in questions for end in (_GUESSED, _GUESSED_BY)}
    responses, suggestions = {}, {}
    for name in questions:
        given, by = entry[name], entry.get(f"{name}{_GUESSED_BY}") or {}
        if isinstance(given, dict):
            # Earlier versions write a list for each part of a response.
            given = _responses(*map(given.get, ("value", "user_id", "status")))
        responses[name] = _list(given)
        suggestions[name] = {
            "value": entry[name + _GUESSED],
            "agent": by.get("agent"),
            "score": by.get("score"),
        }
    others = {*questions, *guessed, *_OF_1, "vectors"}
    return {
        "id": entry["external_id"] or place,
        "fields": {name: value for name, value in entry.items() if name not in others},
        "responses": responses,
        "suggestions": suggestions,
        "metadata": _described(entry["metadata"]),
    }


def _of_classification(entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Bring a record of text classification of Argilla 1 into the form of a record."""
    validated = entry["annotation"] is not None and entry["status"] == "Validated"
    state = "submitted" if validated else str(entry["status"]).lower()
    one = {"value": entry["annotation"], "user_id": entry["annotation_agent"], "status": state}
    guesses = [one for one in _list(entry["prediction"]) if isinstance(one, dict)]
    guesses = [{**one, "score": one.get("score") or 0.0} for one in guesses]
    best = max(guesses, key=lambda one: one["score"], default=None)
    agent = entry.get("prediction_agent")
    suggestion = None
    if best is not None and not entry["multi_label"]:
        suggestion = {"value": best.get("label"), "agent": agent, "score": best["score"]}
    return {
        "id": entry.get("id") or place,
        "fields": {name: text for name, text in (entry["inputs"] or {}).items() if text},
        "responses": {_LABEL: [one] if entry["annotation"] is not None else []},
        "suggestions": {_LABEL: suggestion},
        "metadata": _described(entry.get("metadata")),
    }


def _described(metadata: Any) -> dict[str, Any]:
    """Read metadata, which may be text of JSON."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return {}
    return metadata if isinstance(metadata, dict) else {}


def _responses(values: Any, users: Any, states: Any) -> list[dict[str, Any]]:
    """Join the lists of what was answered, by whom, and in which state."""
    beside = (chain(_list(one), repeat(None)) for one in (users, states))
    return [
        {"value": value, "user_id": user, "status": state}
        for value, user, state in zip(_list(values), *beside, strict=False)
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _given(value: Any, question: str, at: Place) -> Given:
    match value:
        case None:
            return None
        case int() | float() if not isinstance(value, bool):
            return float(value)
        case str():
            return (value,)
        case [*several] if all(isinstance(one, str) for one in several):
            return tuple(several)
    at.skip(f"{question}: spans or ranks")
    return None
