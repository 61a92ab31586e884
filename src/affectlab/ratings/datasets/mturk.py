"""Batch results of Amazon Mechanical Turk, which takes no new customers since 30 July 2026."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.codes import encode
from affectlab.ratings.datasets.common import Rejects, attributes, numbered, shown
from affectlab.ratings.files import Delimited, OnBad, Peek, read_delimited
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales, ScaleLike
from affectlab.ratings.table import Ratings

__all__ = [
    "ANSWER",
    "FORMAT",
    "answers_of",
    "categories_of",
    "cells_of",
    "kinds_of",
    "mturk",
    "read_likert",
]

# The answers of an assignment of Mechanical Turk, in all the forms in which they were written.


ANSWER = "Answer."
"""Before the names of the columns that hold answers."""

_TASK = "Answer.taskAnswers"
_TRUTHS = {"true": True, "on": True, "false": False, "off": False}


def answers_of(read: Delimited, row: int, rejects: Rejects) -> dict[str, Any]:
    """Answers of one assignment: a number, a text, or chosen options by name."""
    found: dict[str, Any] = {}
    for name, column in read.columns.items():
        if not name.startswith(ANSWER) or name == _TASK:
            continue
        cell = (column[row] or "").strip()
        question, _, option = name.removeprefix(ANSWER).partition(".")
        truth = _TRUTHS.get(cell.casefold())
        if option and truth is not None:
            # A radio button or check box has one column per option.
            named = "" if option == "on" else option
            found.setdefault(question, {})[named] = truth
        elif option == "label" and cell:
            found[question] = cell
        elif cell:
            found[name.removeprefix(ANSWER)] = _plain(cell)
    if _TASK in read.columns:
        found |= _task_answers(read, row, rejects)
    return found


def _task_answers(read: Delimited, row: int, rejects: Rejects) -> dict[str, Any]:
    """Read the answers of a crowd-form: an object in a list."""
    cell = (read.columns[_TASK][row] or "").strip()
    if not cell:
        return {}
    line = read.locate(row).rpartition(", ")[2]
    try:
        content = json.loads(cell)
    except (ValueError, RecursionError):
        sentence = f"Answer.taskAnswers is {shown(cell)}; expected JSON"
        rejects.reject(line, "taskAnswers is no JSON", sentence)
        return {}
    parts = content if isinstance(content, list) else [content]
    if not all(isinstance(part, dict) for part in parts):
        sentence = f"Answer.taskAnswers is {shown(cell)}; expected a list of objects"
        rejects.reject(line, "taskAnswers is no object", sentence)
        return {}
    found: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            answer = _crowd(value)
            if answer is not None:
                found[str(name)] = answer
    return found


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


def read_likert(given: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Read radio buttons that are named by numbers as one number: the one that was chosen."""
    offered: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    for answer in given:
        for name, value in answer.items():
            if isinstance(value, dict):
                offered.setdefault(name, set()).update(value)
                most[name] = max(most.get(name, 0), sum(value.values()))
    levels = {
        name
        for name, options in offered.items()
        if len(options) > 1
        and most[name] <= 1
        and all(isinstance(_plain(one), float) for one in options)
    }
    read = [
        {
            name: next((_plain(one) for one, chosen in value.items() if chosen), None)
            if name in levels and isinstance(value, dict)
            else value
            for name, value in answer.items()
        }
        for answer in given
    ]
    steps = tuple(
        f"{name}: buttons named by numbers, read as the number that was chosen"
        for name in offered
        if name in levels
    )
    return [{k: v for k, v in one.items() if v is not None} for one in read], steps


def kinds_of(
    peek: Peek, given: Sequence[Mapping[str, Any]], wanted: Sequence[str] | None
) -> dict[str, str]:
    """Say of each answer to take whether it is a number, options or words."""
    found: dict[str, str] = {}
    for answer in given:
        for name, value in answer.items():
            kind = "options" if isinstance(value, dict) else "number"
            kind = "words" if isinstance(value, str) else kind
            before = found.get(name, kind)
            # Where one answer is a word, all of that question are words.
            found[name] = kind if kind == before else "words"
    if wanted is not None:
        for name in wanted:
            if name not in found:
                raise InputError(
                    f"{peek.path}: no answer {name!r}; found: {', '.join(found) or 'none'}"
                )
        return {name: found[name] for name in wanted}
    judged = {name: kind for name, kind in found.items() if kind != "words"}
    # Words are answers where there is nothing else; beside others they are remarks.
    return judged or found


def categories_of(given: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> list[str]:
    """Words that were given as answers, in the order of the alphabet."""
    return sorted({str(one[name]) for one in given for name in kinds if name in one})


def cells_of(
    given: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]
) -> Iterator[tuple[int, str | None, str]]:
    """Rows of the table: assignment, label and value, as text."""
    offered: dict[str, dict[str, None]] = {}
    for answer in given:
        for name in kinds:
            if isinstance(answer.get(name), dict):
                offered.setdefault(name, {}).update(dict.fromkeys(answer[name]))
    several = len(kinds) > 1
    for row, answer in enumerate(given):
        for name, kind in kinds.items():
            value = answer.get(name)
            if value is None:
                continue
            if kind == "words":
                yield row, None, str(value)
            elif kind == "number":
                yield row, name, repr(float(value))
            else:
                for option in offered[name]:
                    label = f"{name}.{option}" if several and option else option or name
                    yield row, label, "1" if value.get(option) else "0"


_NAME = "mturk-batch"
_NEEDED = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
_INPUT = "Input."
_STATES = ("Approved", "Submitted", "Rejected")
_TIME = "%a %b %d %H:%M:%S %z %Y"
_ZONES = {"UTC": "+0000", "GMT": "+0000", "PST": "-0800", "PDT": "-0700"}
"""Zones in which Mechanical Turk wrote times."""


def _sniff(peek: Peek) -> bool:
    return not peek.is_binary and set(_NEEDED) <= set(peek.header)


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    return _ratings(peek, options, answers=None, keep_rejected=False, key=None)


def mturk(
    path: str | Path,
    *,
    stimulus: str | None = None,
    answers: Sequence[str] | None = None,
    scale: ScaleLike | None = None,
    keep_rejected: bool = False,
    key: str | None = None,
    on_bad: OnBad = "raise",
) -> Ratings:
    """Read the results of a batch of Amazon Mechanical Turk.

    Parameters
    ----------
    path
        The CSV file of a batch, with columns ``HITId``, ``AssignmentId``, ``WorkerId``,
        ``AssignmentStatus``, ``Input.…`` and ``Answer.…``, or with the answers of a crowd-form as
        JSON in ``Answer.taskAnswers``.
    stimulus
        The column that names what was judged, such as ``"Input.image_url"``. By default the only
        ``Input.…`` column, or the HIT where there are several.
    answers
        Names of the answers to take, without ``Answer.``; by default all that are numbers or
        choices. Texts that are not named stay with the rows as columns.
    scale
        Scale of the answers, such as ``"0-7"``. By default binary for choices, nominal for words,
        and inferred for numbers.
    keep_rejected
        Take rejected assignments, too. By default they are set aside and counted.
    key
        A secret. With it a worker has the same pseudonym in all files; without one, workers are
        numbered in each file. ``WorkerId`` itself is never kept: it leads to a person's page.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        One row per answer of an assignment. An answer that is a number has its name as label. Of a
        choice (radio button, check box, classifier) each option is a label, with 1 where it was
        chosen and 0 where not; ``question.option`` where there are several questions. Buttons that
        are named by numbers are one number. A single question with words as answers is one nominal
        scale without labels. ``Input.…`` columns are
        attributes of the stimulus; ``rt_ms`` is the time of the whole assignment.

    Raises
    ------
    InputError
        When the file is no such table, an answer is no JSON, or answers of several kinds have no
        scale in common.

    Notes
    -----
    Source: the Requester help and the Developer Guide of Amazon Mechanical Turk (retrieving
    results; crowd HTML elements). The names of the fields are theirs.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "Batch_1_batch_results.csv"
    >>> _ = file.write_text(
    ...     "HITId,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.url,Answer.joy\\n"
    ...     "H1,A1,W1,Approved,12,a.jpg,3\\nH1,A2,W2,Rejected,2,a.jpg,7\\n")
    >>> found = mturk(file, scale="0-7")
    >>> found.frame.select("stimulus", "rater", "label", "value", "rt_ms").rows()
    [('a.jpg', 'worker-01', 'joy', 3.0, 12000)]
    >>> print(found.set_aside[0])
    1 row: the assignment was rejected (line 3)
    """
    peek = Peek.open(path)
    options = ReadOptions(
        scale=DeclaredScales.parse(scale),
        columns=None if stimulus is None else {"stimulus": stimulus},
        on_bad=on_bad,
    )
    return _ratings(peek, options, answers=answers, keep_rejected=keep_rejected, key=key)


def _ratings(
    peek: Peek,
    options: ReadOptions,
    *,
    answers: Sequence[str] | None,
    keep_rejected: bool,
    key: str | None,
) -> Ratings:
    if not _sniff(peek):
        raise InputError(
            f"{peek.path} is no batch of Mechanical Turk: expected the columns {', '.join(_NEEDED)}"
        )
    named = _stimulus_column(peek, options)
    # Answers stay text: which of them are numbers is told by all their rows, not by the first.
    text = [name for name in peek.header if name.startswith((_INPUT, ANSWER))]
    read = read_delimited(peek, names=(*_NEEDED, *text), on_bad=options.on_bad)
    rejects = Rejects(peek.path, options.on_bad)
    rows = list(_assignments(read, keep_rejected, rejects))
    if not rows:
        raise InputError(f"{peek.path}: no assignment can be used; expected approved ones")
    given, steps = read_likert([answers_of(read, row, rejects) for row in rows])
    kinds = kinds_of(peek, given, answers)
    scale = _scale(peek, options, kinds, categories_of(given, kinds))
    stimuli = [read.columns[named][row] for row in rows]
    workers = _pseudonyms([str(read.columns["WorkerId"][row]).strip() for row in rows], key)
    cells = list(cells_of(given, kinds))
    if not cells:
        raise InputError(f"{peek.path}: no assignment has an answer; expected columns Answer.…")
    row_of = [row for row, _, _ in cells]
    columns: dict[str, pl.Series] = {
        "stimulus": pl.Series("stimulus", [stimuli[row] for row in row_of], dtype=pl.String),
        "rater": pl.Series("rater", [workers[row] for row in row_of], dtype=pl.String),
        "value": pl.Series("value", [value for _, _, value in cells], dtype=pl.String),
    }
    if any(label for _, label, _ in cells):
        columns["label"] = pl.Series("label", [label for _, label, _ in cells], dtype=pl.String)
    columns |= _about(read, rows, row_of, given, kinds)
    coded = encode(pl.Series("stimulus", [str(name) for name in stimuli]), what="stimulus")
    inputs = {
        name.removeprefix(_INPUT): read.columns[name].cast(pl.String).gather(rows)
        for name in read.columns
        if name.startswith(_INPUT) and name != named
    }
    shown_stimuli, of_stimuli = attributes("stimulus", coded, inputs)
    lines = [read.locate(row).rpartition(", ")[2] for row in rows]
    return assemble(
        columns,
        # The column of the stimulus has been taken already.
        replace(options, columns=None),
        source=str(peek.path),
        locate=lambda place: f"{peek.path}, {lines[row_of[place]]}",
        scale=scale,
        stimuli=shown_stimuli,
        set_aside=(*read.set_aside, *rejects.set_aside),
        history=(*steps, *of_stimuli),
        unit="cell",
    )


def _stimulus_column(peek: Peek, options: ReadOptions) -> str:
    for given, value in (("wide", options.wide), ("attributes", options.attributes)):
        if value is not None:
            raise InputError(f"{peek.path}: {given} cannot be given with format {_NAME!r}")
    roles = dict(options.columns or {})
    named = roles.pop("stimulus", None)
    if roles:
        raise InputError(
            f"{peek.path}: columns can name the stimulus alone with format {_NAME!r}; found: "
            f"{', '.join(roles)}"
        )
    inputs = [name for name in peek.header if name.startswith(_INPUT)]
    if named is None:
        return inputs[0] if len(inputs) == 1 else "HITId"
    for name in (named, f"{_INPUT}{named}"):
        if name in peek.header:
            return name
    raise InputError(
        f"{peek.path}: no column {named!r} for the stimulus; expected one of: "
        f"{', '.join([*inputs, 'HITId'])}"
    )


def _assignments(read: Delimited, keep_rejected: bool, rejects: Rejects) -> Iterator[int]:
    """Rows to take; rejected work is set aside, which is no error."""
    states, workers = read.columns["AssignmentStatus"], read.columns["WorkerId"]
    for row, state in enumerate(states):
        line = read.locate(row).rpartition(", ")[2]
        state = (state or "").strip()
        if state not in _STATES:
            sentence = f"AssignmentStatus is {shown(state)}; expected {', '.join(_STATES)}"
            rejects.reject(line, "status not known", sentence)
        elif not (workers[row] or "").strip():
            rejects.reject(line, "WorkerId is empty", "WorkerId is empty; expected a name")
        elif state == "Rejected" and not keep_rejected:
            rejects.skip(line, "the assignment was rejected")
        else:
            yield row


def _scale(
    peek: Peek, options: ReadOptions, kinds: Mapping[str, str], categories: Sequence[str]
) -> Scale | None:
    """Give the scale that the kind of the answers has; None where their values tell."""
    used = set(kinds.values())
    if len(used) > 1:
        told = "; ".join(f"{name} ({kind})" for name, kind in kinds.items())
        raise InputError(
            f"{peek.path}: the answers are of several kinds, which have no scale in common: "
            f"{told}; name those to take with mturk(…, answers=[…])"
        )
    if used == {"words"} and len(kinds) > 1:
        raise InputError(
            f"{peek.path}: several questions have words as answers: {', '.join(kinds)}; name the "
            "one to take with mturk(…, answers=[…])"
        )
    if used == {"options"} and not options.scale:
        return Scale.binary()
    if used == {"words"} and not options.scale:
        return Scale.nominal(tuple(categories))
    return None


def _about(
    read: Delimited,
    rows: Sequence[int],
    row_of: Sequence[int],
    given: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, str],
) -> dict[str, pl.Series]:
    """Columns beside the values: session, time, remarks."""
    found: dict[str, pl.Series] = {}
    assignments = read.columns["AssignmentId"]
    found["session"] = pl.Series(
        "session", [assignments[rows[row]] for row in row_of], dtype=pl.String
    )
    if "WorkTimeInSeconds" in read.columns:
        seconds = read.columns["WorkTimeInSeconds"].cast(pl.Float64, strict=False)
        times = [seconds[rows[row]] for row in row_of]
        found["rt_ms"] = pl.Series(
            "rt_ms", [None if one is None else round(1000 * one) for one in times], dtype=pl.Int64
        )
    if "SubmitTime" in read.columns:
        at = [_iso(one) for one in read.columns["SubmitTime"].cast(pl.String)]
        found["at"] = pl.Series("at", [at[rows[row]] for row in row_of], dtype=pl.String)
    remarks = dict.fromkeys(
        name
        for answer in given
        for name, value in answer.items()
        if name not in kinds and not isinstance(value, dict)
    )
    for name in remarks:
        column = f"answer_{name}"
        texts = [given[row].get(name) for row in row_of]
        found[column] = pl.Series(
            column, [None if text is None else str(text) for text in texts], dtype=pl.String
        )
    return found


def _iso(text: str | None) -> str | None:
    """Bring a time such as ``Thu Oct 09 07:30:20 UTC 2025`` to ISO 8601 in UTC."""
    if text is None:
        return None
    for name, offset in _ZONES.items():
        if f" {name} " in text:
            try:
                found = datetime.strptime(text.strip().replace(name, offset), _TIME)
            except ValueError:
                return text
            return found.astimezone(UTC).isoformat()
    return text


def _pseudonyms(workers: Sequence[str], key: str | None) -> list[str]:
    """Name workers so that nobody can tell who they are."""
    if key is not None:
        if not key:
            raise InputError("key is empty; expected a secret, or none")
        return [
            "w" + hmac.new(key.encode(), worker.encode(), hashlib.sha256).hexdigest()[:12]
            for worker in workers
        ]
    # Numbers, since a digest without a key can be undone with a list of known workers.
    distinct = dict.fromkeys(workers)
    names = dict(zip(distinct, numbered("worker", len(distinct)), strict=True))
    return [names[worker] for worker in workers]


FORMAT = Format(
    name=_NAME,
    title="Batch results of Amazon Mechanical Turk (CSV with HITId, WorkerId, Input.…, Answer.…)",
    sniff=_sniff,
    read=_read,
)
