"""Batch results of Amazon Mechanical Turk, which takes no new customers since 30 July 2026."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.codes import encode
from affectlab.ratings.files import Columns, Peek, Place, read_delimited
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, attributes, numbered, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step

_ANSWER = "Answer."
"""Before the names of the columns that hold answers."""
_INPUT = "Input."
_TASK = "Answer.taskAnswers"
_NEEDED = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
_STATES = ("Approved", "Submitted", "Rejected")
_MOST_CATEGORIES = 50
_TRUTHS = {"true": True, "on": True, "false": False, "off": False}
_TIME = "%a %b %d %H:%M:%S %z %Y"
_ZONES = {"UTC": "+0000", "GMT": "+0000", "PST": "-0800", "PDT": "-0700"}
"""Zones in which Mechanical Turk wrote times."""

Answers = dict[str, Any]
"""Answers of one assignment by question: a number, a text, or chosen options by name."""


@file_format(
    "mturk-batch",
    "Batch results of Amazon Mechanical Turk (CSV with HITId, WorkerId, Input.…, Answer.…)",
)
class MechanicalTurk(Format):
    """The results of a batch of Amazon Mechanical Turk.

    The CSV file of a batch, with columns ``HITId``, ``AssignmentId``, ``WorkerId``,
    ``AssignmentStatus``, ``Input.…`` and ``Answer.…``, or with the answers of a crowd-form as
    JSON in ``Answer.taskAnswers``.

    One row per answer of an assignment. An answer that is a number has its name as label. Of a
    choice (radio button, check box, classifier) each option is a label, with 1 where it was
    chosen and 0 where not; ``question.option`` where there are several questions. Buttons that
    are named by numbers are one number. Words are answers where there is nothing else, or where
    ``answers`` names them: each question on a nominal scale, without a label where it is the only
    one. ``Input.…`` columns are
    attributes of the stimulus; ``rt_ms`` is the time of the whole assignment.

    Parameters
    ----------
    answers
        Names of the answers to take, without ``Answer.``; by default all that are numbers or
        choices. Texts that are not named stay with the rows as columns.
    keep_rejected
        Take rejected assignments, too. By default they are set aside and counted.
    key
        A secret. With it a worker has the same pseudonym in all files; without one, workers are
        numbered in each file. ``WorkerId`` itself is never kept: it leads to a person's page.

    Notes
    -----
    Source: the Requester help and the Developer Guide of Amazon Mechanical Turk (retrieving
    results; crowd HTML elements). The names of the fields are theirs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "Batch_1_batch_results.csv"
    >>> _ = file.write_text(
    ...     "HITId,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.url,Answer.joy\\n"
    ...     "H1,A1,W1,Approved,12,a.jpg,3\\nH1,A2,W2,Rejected,2,a.jpg,7\\n")
    >>> r = read_ratings(file, format="mturk-batch", scale="0-7")
    >>> r.frame.select("stimulus", "rater", "label", "value", "rt_ms").rows()
    [('a.jpg', 'worker-01', 'joy', 3.0, 12000)]
    >>> print(r.set_aside[0])
    1 row: the assignment was rejected (line 3)
    """

    answers: tuple[str, ...] | None = None
    keep_rejected: bool = False
    key: str | None = None
    roles = ("stimulus",)
    layout = Layout({"stimulus": "HITId", "rater": "WorkerId"}, others=(_NEEDED[1], _NEEDED[3]))

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(not head.is_binary and set(_NEEDED) <= set(head.header))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say which columns hold answers, and which names what was shown."""
        try:
            named = _stimulus_column(head, ((options and options.columns) or {}).get("stimulus"))
        except InputError:
            # Reading says that there is no such column.
            return self.layout
        roles = {**self.layout.roles, "stimulus": named, "rt_ms": "WorkTimeInSeconds"}
        return replace(
            self.layout,
            roles={role: name for role, name in roles.items() if name in head.header},
            labels=tuple(name for name in head.header if name.startswith(_ANSWER)),
            stimuli=tuple(n for n in head.header if n.startswith(_INPUT) and n != named),
            others=tuple(name for name in _NEEDED if name not in roles.values()),
        )

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each answer of an assignment a row, and each option of a choice."""
        if not self.recognise(head):
            raise InputError(
                f"{head.path} is no batch of Mechanical Turk: expected the columns "
                f"{', '.join(_NEEDED)}"
            )
        named = _stimulus_column(head, (options.columns or {}).get("stimulus"))
        # Answers stay text: which of them are numbers is told by all their rows, not by the first.
        text = [name for name in head.header if name.startswith((_INPUT, _ANSWER))]
        read = read_delimited(head, names=(*_NEEDED, *text), on_bad=options.on_bad)
        rows = list(self._assignments(read, rejects))
        if not rows:
            raise InputError(f"{head.path}: no assignment can be used; expected approved ones")
        given, steps = _read_likert([_answers_of(read, row, rejects) for row in rows])
        kinds = _kinds_of(head, given, self.answers)
        cells = list(_cells_of(given, kinds))
        if not cells:
            raise InputError(f"{head.path}: no assignment has an answer; expected columns Answer.…")
        used = pl.Series(rows)
        of_cell = pl.Series([row for row, _, _ in cells])
        workers = [str(name).strip() for name in read.columns["WorkerId"].gather(used)]
        stimuli = read.columns[named].cast(pl.String).gather(used)
        inputs = {
            name.removeprefix(_INPUT): column.cast(pl.String).gather(used)
            for name, column in read.columns.items()
            if name.startswith(_INPUT) and name != named
        }
        coded = encode(stimuli.fill_null("None"), what="stimulus")
        about, of_stimuli = attributes("stimulus", coded, inputs)
        columns = {
            "stimulus": stimuli,
            "rater": pl.Series(_pseudonyms(workers, self.key)),
            **_beside(read, used, given, kinds),
        }
        columns = {name: column.gather(of_cell) for name, column in columns.items()}
        columns["value"] = pl.Series([value for _, _, value in cells], dtype=pl.String)
        if any(label for _, label, _ in cells):
            columns["label"] = pl.Series([label for _, label, _ in cells], dtype=pl.String)
        return Contents(
            columns,
            lambda cell: Place(read.place(rows[cells[cell][0]]), head.path),
            scale=_scales(kinds, given),
            stimuli=about,
            set_aside=read.set_aside,
            history=(*steps, *of_stimuli),
            unit="cell",
        )

    def _assignments(self, read: Columns, rejects: Rejects) -> Iterator[int]:
        """Rows to take; rejected work is set aside, which is no error."""
        states, workers = read.columns["AssignmentStatus"], read.columns["WorkerId"]
        for row, (state, worker) in enumerate(zip(states, workers, strict=True)):
            state = (state or "").strip()
            if state not in _STATES:
                sentence = f"AssignmentStatus is {shown(state)}; expected {', '.join(_STATES)}"
                rejects.reject(read.place(row), "status not known", sentence)
            elif not (worker or "").strip():
                sentence = "WorkerId is empty; expected a name"
                rejects.reject(read.place(row), "WorkerId is empty", sentence)
            elif state == "Rejected" and not self.keep_rejected:
                rejects.skip(read.place(row), "the assignment was rejected")
            else:
                yield row


def _stimulus_column(head: Peek, named: str | None) -> str:
    inputs = [name for name in head.header if name.startswith(_INPUT)]
    if named is None:
        return inputs[0] if len(inputs) == 1 else "HITId"
    for name in (named, f"{_INPUT}{named}"):
        if name in head.header:
            return name
    raise InputError(
        f"{head.path}: no column {named!r} for the stimulus; expected one of: "
        f"{', '.join([*inputs, 'HITId'])}"
    )


# The answers of an assignment of Mechanical Turk, in all the forms in which they were written.


def _answers_of(read: Columns, row: int, rejects: Rejects) -> Answers:
    answers: Answers = {}
    for name, column in read.columns.items():
        cell = (column[row] or "").strip() if name.startswith(_ANSWER) and name != _TASK else ""
        if not cell:
            continue
        question, _, option = name.removeprefix(_ANSWER).partition(".")
        truth = _TRUTHS.get(cell.casefold())
        if option and truth is not None:
            # A radio button or check box has one column per option.
            answers.setdefault(question, {})["" if option == "on" else option] = truth
        elif option == "label":
            answers[question] = cell
        else:
            answers[name.removeprefix(_ANSWER)] = _plain(cell)
    cell = (read.columns[_TASK][row] or "").strip() if _TASK in read.columns else ""
    if cell:
        try:
            answers |= _task_answers(cell)
        except Unusable as problem:
            rejects.note(read.place(row), problem)
    return answers


def _task_answers(cell: str) -> Answers:
    """Read the answers of a crowd-form: an object in a list."""
    try:
        content = json.loads(cell)
    except (ValueError, RecursionError):
        sentence = f"Answer.taskAnswers is {shown(cell)}; expected JSON"
        raise Unusable("taskAnswers is no JSON", sentence) from None
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, dict) for part in parts):
        sentence = f"Answer.taskAnswers is {shown(cell)}; expected a list of objects"
        raise Unusable("taskAnswers is no object", sentence)
    answers = {str(name): _crowd(value) for part in parts for name, value in part.items()}
    return {name: answer for name, answer in answers.items() if answer is not None}


def _crowd(value: Any) -> Any:
    """Bring the answer of one crowd element to a number, a text, or options; None for none."""
    if isinstance(value, bool):
        return {"": value}
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return _plain(value.strip()) if value.strip() else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("label"), str):
        return value["label"]
    if isinstance(value.get("labels"), list):
        return {str(label): True for label in value["labels"]}
    if value and all(isinstance(one, bool) for one in value.values()):
        # A single check box says {"on": true}.
        return {"" if name == "on" else str(name): one for name, one in value.items()}
    return None


def _plain(cell: str) -> float | str:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell


def _read_likert(given: list[Answers]) -> tuple[list[Answers], History]:
    """Read radio buttons that are named by numbers as one number: the one that was chosen."""
    offered = _offered(given)
    most = dict.fromkeys(offered, 0)
    for answers in given:
        for name, value in answers.items():
            if isinstance(value, dict):
                most[name] = max(most[name], sum(value.values()))
    levels = [
        name
        for name, options in offered.items()
        if len(options) > 1
        and most[name] <= 1
        and all(isinstance(_plain(one), float) for one in options)
    ]
    for answers in given:
        for name in levels:
            value = answers.get(name)
            if isinstance(value, dict):
                chosen = [_plain(one) for one, is_chosen in value.items() if is_chosen]
                answers |= {name: chosen[0]} if chosen else {name: None}
    steps = (step(StepKind.OPTION_NUMBERS, question=name) for name in levels)
    return [{k: v for k, v in one.items() if v is not None} for one in given], tuple(steps)


def _offered(given: Sequence[Answers]) -> dict[str, list[str]]:
    """Give the options of each choice, in the order in which they occur."""
    offered: dict[str, dict[str, None]] = {}
    for answers in given:
        for name, value in answers.items():
            if isinstance(value, dict):
                offered.setdefault(name, {}).update(dict.fromkeys(value))
    return {name: list(options) for name, options in offered.items()}


def _kinds_of(head: Peek, given: Sequence[Answers], wanted: Sequence[str] | None) -> dict[str, str]:
    """Say of each answer to take whether it is a number, options or words."""
    kinds: dict[str, str] = {}
    for answers in given:
        for name, value in answers.items():
            kind = "options" if isinstance(value, dict) else "number"
            kind = "words" if isinstance(value, str) else kind
            # Where one answer is a word, all of that question are words.
            kinds[name] = kind if kind == kinds.get(name, kind) else "words"
    if wanted is not None:
        for name in wanted:
            if name not in kinds:
                raise InputError(
                    f"{head.path}: no answer {name!r}; found: {', '.join(kinds) or 'none'}"
                )
        return {name: kinds[name] for name in wanted}
    # Words are answers where there is nothing else; beside others they are remarks.
    return {name: kind for name, kind in kinds.items() if kind != "words"} or kinds


def _cells_of(
    given: Sequence[Answers], kinds: Mapping[str, str]
) -> Iterator[tuple[int, str | None, str]]:
    """Rows of the table: assignment, label and value, as text."""
    offered = _offered(given)
    for row, answers in enumerate(given):
        for name, kind in kinds.items():
            value = answers.get(name)
            if value is None:
                continue
            if kind == "words":
                yield row, _label(name, None, kinds), str(value)
            elif kind == "number":
                yield row, name, repr(float(value))
            else:
                for option in offered[name]:
                    yield row, _label(name, option, kinds), "1" if value.get(option) else "0"


def _scales(kinds: Mapping[str, str], given: Sequence[Answers]) -> DeclaredScales:
    """Give the scales that the kinds of the answers have; those of numbers are told by them."""
    by_label: dict[str, Scale] = {}
    offered = _offered(given)
    for name, kind in kinds.items():
        if kind == "options":
            labels = (_label(name, option, kinds) for option in offered[name])
            by_label |= dict.fromkeys((label for label in labels if label), Scale.binary())
        elif kind == "words":
            words = [str(one[name]) for one in given if name in one]
            distinct = tuple(sorted(set(words)))
            free = len(distinct) > _MOST_CATEGORIES and 2 * len(distinct) > len(words)
            by_label[name] = Scale("text") if free else Scale.nominal(distinct)
    if len(kinds) == 1 and "words" in kinds.values():
        return DeclaredScales(next(iter(by_label.values())))
    return DeclaredScales(None, by_label)


def _label(name: str, option: str | None, kinds: Mapping[str, str]) -> str | None:
    """Name the label of an answer, or of an option; none where words are all there is."""
    several = len(kinds) > 1
    if kinds[name] == "words":
        return name if several else None
    if option is None:
        return name
    return f"{name}.{option}" if several and option else option or name


def _beside(
    read: Columns, used: pl.Series, given: Sequence[Answers], kinds: Mapping[str, str]
) -> dict[str, pl.Series]:
    """Columns beside the values: session, time, remarks."""
    columns = {"session": read.columns["AssignmentId"].cast(pl.String).gather(used)}
    if "WorkTimeInSeconds" in read.columns:
        seconds = read.columns["WorkTimeInSeconds"].cast(pl.Float64, strict=False).gather(used)
        times = [None if one is None else round(1000 * one) for one in seconds]
        columns["rt_ms"] = pl.Series(times, dtype=pl.Int64)
    if "SubmitTime" in read.columns:
        at = [_iso(one) for one in read.columns["SubmitTime"].cast(pl.String).gather(used)]
        columns["at"] = pl.Series(at, dtype=pl.String)
    remarks = dict.fromkeys(
        name
        for answers in given
        for name, value in answers.items()
        if name not in kinds and not isinstance(value, dict)
    )
    for name in remarks:
        texts = [None if one.get(name) is None else str(one[name]) for one in given]
        columns[f"answer_{name}"] = pl.Series(texts, dtype=pl.String)
    return columns


def _iso(text: str | None) -> str | None:
    """Bring a time such as ``Thu Oct 09 07:30:20 UTC 2025`` to ISO 8601 in UTC."""
    for name, offset in _ZONES.items():
        if text is not None and f" {name} " in text:
            try:
                time = datetime.strptime(text.strip().replace(name, offset), _TIME)
            except ValueError:
                return text
            return time.astimezone(UTC).isoformat()
    return text


def _pseudonyms(workers: Sequence[str], key: str | None) -> list[str]:
    """Name workers so that nobody can tell who they are."""
    if key == "":
        raise InputError("key is empty; expected a secret, or none")
    if key is not None:
        secret = key.encode()
        digests = (hmac.new(secret, name.encode(), hashlib.sha256) for name in workers)
        return [f"w{digest.hexdigest()[:12]}" for digest in digests]
    # Numbers, since a digest without a key can be undone with a list of known workers.
    distinct = dict.fromkeys(workers)
    names = dict(zip(distinct, numbered("worker", len(distinct)), strict=True))
    return [names[worker] for worker in workers]
