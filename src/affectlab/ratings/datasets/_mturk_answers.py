"""The answers of an assignment of Mechanical Turk, in all the forms in which they were written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from affectlab.errors import InputError
from affectlab.ratings._delimited import Delimited
from affectlab.ratings._peek import Peek
from affectlab.ratings.datasets._common import Rejects, shown

__all__ = ["ANSWER", "answers_of", "categories_of", "cells_of", "kinds_of", "read_likert"]

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
