"""Logs of Inspect: what a model answered to the samples of a task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, is_numeric
from affectlab.ratings.formats.answers import Answer, Answers, Given, Place, Record, checked
from affectlab.ratings.formats.archive import files_in, json_in, names_in
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable

_STARTS = re.compile(r'\s*\{\s*"version"\s*:\s*[0-9]+\s*,\s*"status"\s*:\s*"')
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
_OUTCOMES = {
    "invalid_response_format": "unparseable",
    "refusal": "refused",
    "no_response": "empty",
    "content_filter": "refused",
    "max_tokens": "truncated",
    "model_length": "truncated",
}
"""What a reason of a score, or that for which a model stopped, is called here."""


class _Score(Record):
    value: Any = None
    answer: str | None = None
    reason: str | None = None


class _Choice(Record):
    stop_reason: str | None = None


class _Output(Record):
    completion: str | None = None
    choices: list[_Choice] = Field(default_factory=list)


class _Sample(Record):
    model: str
    id: int | str
    epoch: int = 1
    input: Any = None
    choices: list[str] | None = None
    target: str | list[str] | None = None
    output: _Output = Field(default_factory=_Output)
    scores: dict[str, _Score] | None = None
    metadata: dict[str, Any] | None = None
    completed_at: str | None = None
    total_time: float | None = None
    error: dict[str, Any] | None = None


class _Eval(Record):
    model: str


class _Header(Record):
    eval: _Eval


@file_format("inspect", "logs of Inspect (.eval or .json: version, status, eval, samples)")
class InspectLogs(Answers):
    """A log of an evaluation with Inspect, as a ``.eval`` or a ``.json`` file.

    The model is the rater, samples are stimuli, and epochs are trials. The answer is what a scorer
    took from the reply; where no scorer says it, the reply. Letters of a multiple choice are the
    choices that they stand for. Several scorers with an answer are labels. Where a scorer gives
    numbers by name, each name is a label.

    The value of the score (such as C and I) stands in the column ``score``, target and metadata
    describe the stimulus, and ``rt_ms`` is the time of the whole sample. A sample without an answer
    is a row whose ``outcome`` says why. Messages, events and tools are not read.

    Notes
    -----
    Source: the documentation of Inspect, "Eval logs". Files that are packed by zstandard need the
    library of that name.
    """

    record = _Sample
    layout = Layout(
        {
            "stimulus": "samples.id",
            "rater": "eval.model",
            "label": "samples.scores",
            "value": "samples.scores.answer, samples.output.completion",
            "trial": "samples.epoch",
            "at": "samples.completed_at",
            "rt_ms": "samples.total_time",
        },
        stimuli=("samples.input", "samples.target", "samples.metadata"),
        unused={"messages, events, store": "how the answer came about"},
    )

    def recognise(self, head: Peek) -> Sure:
        names = names_in(head)
        zipped = {_HEADER, _START} & set(names) and any(one.startswith(_SAMPLES) for one in names)
        return Sure.if_(zipped or (_STARTS.match(head.text) and '"eval"' in head.text))

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Give the samples, each with the model that the log is of."""
        header, samples = _opened(file.head, file.rejects)
        try:
            model = checked(_Header, header).eval.model
        except Unusable as problem:
            raise InputError(f"{file.head.path}: no log of Inspect: {problem}") from None
        for place, entry in samples:
            yield place, {**entry, "model": model} if isinstance(entry, dict) else entry

    def answers_of(self, record: _Sample, at: Place) -> Iterable[Answer]:
        """Give what each scorer took from the reply, else the reply."""
        scores = record.scores or {}
        given: list[tuple[str, Given, _Score]] = []
        for name, score in scores.items():
            if score.answer is not None:
                said = _chosen(score.answer, record.choices) if score.answer.strip() else None
                given.append((name, said, score))
            elif isinstance(score.value, dict):
                numbers = {k: float(one) for k, one in score.value.items() if is_numeric(one)}
                given += ((key, number, score) for key, number in numbers.items())
                for _ in range(len(score.value) - len(numbers)):
                    at.skip(f"{name}: no number")
        if not given:
            reply = (record.output.completion or "").strip()
            given = [("", (reply,) if reply else None, next(iter(scores.values()), _Score()))]
        about = {
            **(record.metadata or {}),
            "input": record.input,
            "target": _target(record),
        }
        for question, answer, score in given:
            yield Answer(
                stimulus=str(record.id),
                rater=at.options.rater or record.model,
                kind="model",
                question=question,
                given=answer,
                options=tuple(record.choices or ()),
                about=about,
                beside={
                    "trial": record.epoch,
                    "outcome": _outcome(record, score) if answer is None else None,
                    "at": record.completed_at,
                    "rt_ms": None if record.total_time is None else round(1000 * record.total_time),
                    "score": score.value,
                },
            )


def _opened(head: Peek, rejects: Rejects) -> tuple[Any, Iterable[tuple[str, Any]]]:
    """Give what the log says of itself, and its samples with their places."""
    if names_in(head):
        found = dict(files_in(head, (_HEADER, _START)))
        try:
            header = json.loads(found.get(_HEADER) or found.get(_START) or b"null")
        except ValueError:
            header = None
        samples = (
            (place.removesuffix(", entry"), entry)
            for place, entry in json_in(head, rejects, (".json",))
            if place.startswith(_SAMPLES)
        )
        return header, samples
    content = head.load_json()
    listed = content.get("samples") if isinstance(content, dict) else None
    entries = listed if isinstance(listed, list) else []
    return content, ((f"sample {number}", one) for number, one in enumerate(entries, start=1))


def _chosen(answer: str, choices: list[str] | None) -> tuple[str, ...]:
    """Give the choices that letters stand for, else the answer itself."""
    letters = [letter.strip() for letter in answer.split(",")]
    named = {chr(ord("A") + number): choice for number, choice in enumerate(choices or ())}
    if named and all(letter in named for letter in letters):
        return tuple(named[letter] for letter in letters)
    return (answer,)


def _target(sample: _Sample) -> str | None:
    targets = sample.target if isinstance(sample.target, list) else [sample.target or ""]
    return "; ".join("; ".join(_chosen(one, sample.choices)) for one in targets) or None


def _outcome(sample: _Sample, score: _Score) -> str:
    """Say why there is no answer."""
    if sample.error is not None:
        return "transport"
    stopped = next((one.stop_reason for one in sample.output.choices), None)
    for reason in (score.reason, stopped):
        if reason in _OUTCOMES:
            return _OUTCOMES[str(reason)]
    return "unparseable" if (sample.output.completion or "").strip() else "empty"
