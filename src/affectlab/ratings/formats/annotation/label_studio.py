"""Label Studio: tasks with the answers of people, and with predictions of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.ratings.build import is_number
from affectlab.ratings.files import BadJson, Peek, parse_json, read_delimited
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
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step

_PLACED = ("x", "start", "startOffset", "points", "item_index")
"""Keys of an answer that is about a part of the stimulus."""


class _Result(Record):
    type: str
    from_name: str = ""
    value: dict[str, Any] = Field(default_factory=dict)


class _Annotation(Record):
    result: list[_Result]
    completed_by: int | str | dict[str, Any] | None = None
    was_cancelled: bool = False
    ground_truth: bool | None = None
    created_at: str | None = None
    lead_time: float | None = None

    @property
    def rater(self) -> str:
        who = self.completed_by
        if isinstance(who, dict):
            who = who.get("email") or who.get("username") or who.get("id")
        return "annotator" if who is None else str(who)

    @property
    def beside(self) -> dict[str, Any]:
        return {
            "at": self.created_at,
            "rt_ms": None if self.lead_time is None else round(1000 * self.lead_time),
            "ground_truth": self.ground_truth or None,
        }


class _Prediction(Record):
    result: list[_Result]
    model_version: str | None = None
    score: float | None = None


class _Task(Record):
    id: int | str
    data: dict[str, Any]
    annotations: list[_Annotation]
    predictions: list[_Prediction] = Field(default_factory=list)


@file_format("label-studio", "tasks of Label Studio (JSON: id, data, annotations, predictions)")
class LabelStudio(Answers):
    """The JSON export of a project of Label Studio.

    Choices, taxonomies, ratings, numbers, texts and pairwise choices are answers to the question
    that is the name of the control. Stimuli are tasks, by their number, with their data as
    attributes. Raters are who completed an annotation, and the versions of models that predicted.
    ``rt_ms`` is the lead time, ``at`` the time of the annotation.

    Cancelled annotations, regions, spans and answers about these are left out and counted.

    Notes
    -----
    Source: Label Studio's guide, "Label Studio JSON format of annotated tasks".

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> chosen = [{"type": "choices", "from_name": "emotion", "to_name": "text",
    ...            "value": {"choices": ["joy"]}}]
    >>> task = {"id": 7, "data": {"text": "such a day!"},
    ...         "annotations": [{"result": chosen, "completed_by": 1}],
    ...         "predictions": [{"result": chosen, "model_version": "tiny"}]}
    >>> file = Path(tempfile.mkdtemp()) / "project.json"
    >>> _ = file.write_text(json.dumps([task]))
    >>> r = read_ratings(file)
    >>> r.rater_names, r.rater_kinds, r.scale.categories
    (('1', 'tiny'), ('human', 'model'), ('joy',))
    """

    layout = Layout(
        {
            "stimulus": "id",
            "rater": "annotations.completed_by, predictions.model_version",
            "label": "result.from_name",
            "value": "result.value",
            "at": "created_at",
            "rt_ms": "lead_time",
        },
        stimuli=("data",),
        unused={
            "result": "regions, spans and answers about them are no ratings of the stimulus",
            "was_cancelled": "a cancelled annotation is no answer",
        },
    )
    record = _Task

    def answers_of(self, record: _Task, at: Place) -> Iterable[Answer]:
        for one in record.annotations:
            if one.was_cancelled:
                at.skip("the annotation was cancelled")
                continue
            for question, given in _given(one.result, at):
                yield Answer(
                    stimulus=str(record.id),
                    rater=one.rater,
                    question=question,
                    given=given,
                    about=record.data,
                    beside=one.beside,
                )
        for guess in record.predictions:
            for question, given in _given(guess.result, at):
                yield Answer(
                    stimulus=str(record.id),
                    rater=guess.model_version or "prediction",
                    kind="model",
                    question=question,
                    given=given,
                    about=record.data,
                    beside={"score": guess.score},
                )


def _given(results: Sequence[_Result], at: Place) -> Iterator[tuple[str, Given]]:
    """Give question and answer of each result that is about the whole stimulus."""
    for one in results:
        given: Given
        if any(key in one.value for key in _PLACED):
            at.skip(f"{one.type}: about a part of the stimulus")
            continue
        match one.type, one.value:
            case "choices", {"choices": [*chosen]}:
                given = tuple(map(str, chosen))
            case "taxonomy", {"taxonomy": [*paths]}:
                given = tuple("/".join(map(str, path)) for path in paths if isinstance(path, list))
            case ("rating", {"rating": int() | float() as number}) | (
                "number",
                {"number": int() | float() as number},
            ):
                given = float(number)
            case "textarea", {"text": [*texts]}:
                given = "\n".join(map(str, texts))
            case "textarea", {"text": str(text)}:
                given = text
            case "pairwise", {"selected": str(side)}:
                given = (side,)
            case _:
                at.skip(f"{one.type}: no rating")
                continue
        yield one.from_name, given


_FIELDS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_NEEDED = {"annotator", "annotation_id", "lead_time"}
_DATA = ("text", "image", "audio", "video", "html", "url", "title", "agreement", "history")
_ADDRESS = ("http://", "https://", "/data/", "s3://", "gs://", "data:")
_FEW = 20


@file_format(
    "label-studio-min",
    "annotations of Label Studio, one a row (JSON-MIN, CSV, TSV: annotator, annotation_id, …)",
)
class LabelStudioMin(Answers):
    """The JSON-MIN, CSV or TSV export of a project of Label Studio.

    One row per annotation, in which the data of the task and the answers stand side by side and are
    not told apart. Data are columns with a usual name (``text``, ``image``, …), with addresses,
    that never differ within a task of several annotations, or with a text of its own in each of
    many rows; all others are answers. What was taken so is said in :attr:`Ratings.history`.

    Regions and spans are left out and counted. Predictions are not in these exports.

    Parameters
    ----------
    questions
        Names of the columns that hold answers, where they are not told rightly.

    Notes
    -----
    Source: Label Studio's guide, "Export formats supported by Label Studio".
    """

    questions: tuple[str, ...] | None = None
    layout = Layout(
        {"stimulus": "id", "rater": "annotator", "at": "created_at", "rt_ms": "lead_time"},
        unused={
            "": "cells with regions and spans are no ratings of the stimulus",
            "annotation_id, updated_at": "they are about the tool",
        },
    )

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        names = first if isinstance(first, dict) else head.columns
        return Sure.if_(set(names) >= _NEEDED)

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Give rows with what they answer, and what describes their task."""
        head, rejects = file.head, file.rejects
        rows = list(_rows(file))
        others, questions = self._asked(rows)
        unknown = [name for name in questions if name not in others]
        if unknown or not questions:
            raise InputError(
                f"{head.path}: no answers in column {unknown[0]!r}; found: {', '.join(others)}"
                if unknown
                else f"{head.path}: no column holds answers; name those that do "
                f"(format=\"{self.name},questions=['NAME']\"); found: {', '.join(others)}"
            )
        about_tasks = [name for name in others if name not in questions]
        rejects.steps.append(step(StepKind.TASK_COLUMNS, answers=questions, others=about_tasks))
        for number, (place, row) in enumerate(rows, start=1):
            cells = {one: row[one] for one in questions if row.get(one) not in (None, "")}
            about = {name: row.get(name) for name in others if name not in questions}
            yield place, (str(row.get("id") or f"row-{number}"), row, cells, about)

    def _asked(self, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[str], list[str]]:
        """Name the columns of tasks and answers, and of these those of answers."""
        named = (name for _, row in rows for name in row if name not in _FIELDS and name)
        others = list(dict.fromkeys(named))
        asked = self.questions or [name for name in others if not _is_data(name, rows)]
        return others, list(asked)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say which columns hold answers."""
        options = options or ReadOptions(on_bad="set_aside")
        rows = list(_rows(Place(head, options, Rejects(head.path, "set_aside"))))
        others, questions = self._asked(rows)
        return replace(
            self.layout,
            labels=tuple(questions),
            stimuli=tuple(name for name in others if name not in questions),
            unused=dict.fromkeys(("annotation_id", "updated_at"), "it is about the tool"),
        )

    def answers_of(self, record: Any, at: Place) -> Iterable[Answer]:
        """Read the cells of a row."""
        stimulus, row, cells, about = record
        lead = str(row.get("lead_time"))
        for question, cell in cells.items():
            given = _cell(cell)
            if given is None:
                at.skip(f"{question}: regions or spans")
                continue
            yield Answer(
                stimulus=stimulus,
                rater=str(row.get("annotator") or "annotator"),
                question=question,
                given=given,
                about=about,
                beside={
                    "at": row.get("created_at") or None,
                    "rt_ms": round(1000 * float(lead)) if is_number(lead) else None,
                },
            )


def _rows(file: Place) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the rows of the table, or the entries of the list."""
    head, rejects = file.head, file.rejects
    if head.starts_with_json():
        for place, entry in json_records(head, rejects):
            if isinstance(entry, dict) and set(entry) >= _NEEDED:
                yield place, entry
            else:
                sentence = f"expected an object with {', '.join(sorted(_NEEDED))}"
                rejects.reject(place, "entry not understood", sentence)
        return
    read = read_delimited(head, names=head.header, on_bad=file.options.on_bad)
    require_columns(read.columns, sorted(_NEEDED), f"{head.path}, line 1: ")
    yield from read.rows()


def _is_data(name: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    """Whether a column describes tasks rather than answering about them."""
    by_task: dict[str, list[str]] = {}
    for _, row in rows:
        if row.get(name) not in (None, ""):
            by_task.setdefault(str(row.get("id")), []).append(str(row[name]))
    cells = [cell for task in by_task.values() for cell in task]
    if name.casefold() in _DATA or not cells or all(cell.startswith(_ADDRESS) for cell in cells):
        return True
    several = [task for task in by_task.values() if len(task) > 1]
    if several and len(by_task) > 1:
        return all(len(set(task)) == 1 for task in several) and len(set(cells)) == len(by_task)
    return len(cells) > _FEW and len(set(cells)) == len(cells)


def _cell(value: Any) -> Given:
    """Read a cell: a number, one option, or several; None for regions and spans."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            value = parse_json(value)
        except BadJson:
            return (str(value),)
    match value:
        case {"choices": [*chosen]}:
            return tuple(map(str, chosen))
        case int() | float():
            return float(value)
        case str():
            return float(value) if is_number(value.strip()) else (value,)
        case [*several] if all(isinstance(one, str) for one in several):
            return tuple(several)
        case [{"rating": int() | float() as number}] | [{"number": int() | float() as number}]:
            return float(number)
    return None
