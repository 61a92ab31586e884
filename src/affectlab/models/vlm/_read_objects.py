"""Finding the one object in what a model wrote, with prose, fences and lists around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from affectlab.models.vlm._read_parse import NotAnObjectError, as_json, parse_object

__all__ = ["LONGEST", "Found", "find_object"]

LONGEST = 200_000
"""Characters of an answer that is read at all; 40 labels with reasons need about 10,000."""
_MOST_OBJECTS = 20
"""Equal objects after which the search ends."""
_MOST_BRACES = 500
"""Braces of prose that are gone over before the search ends."""

_THOUGHT = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_FENCE = re.compile(r"```[ \t]*[\w+.-]*")
_UNSEEN = " \t\r\n\ufeff\u200b"


@dataclass(frozen=True)
class Found:
    """The object of a text, or why there is none."""

    value: dict[str, Any] | None = None
    twice: tuple[str, ...] = ()
    """Keys that came twice in one object."""
    repairs: tuple[str, ...] = ()
    problem: str = ""


@dataclass
class _Search:
    """What the search has come across."""

    objects: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    """Where each object begins and ends, and the object."""
    repairs: dict[str, None] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    doubled: int = 0
    """Braces that were opened once more than needed, as templates write them."""


class _NoAnswerError(Exception):
    """There is not exactly one object."""


def find_object(text: str | None) -> Found:
    """Find the one object in a text.

    Examples
    --------
    >>> find_object('Here it is: {"joy": 3}').value
    {'joy': 3}
    >>> find_object('{"joy": 3} or rather {"joy": 4}').problem
    'the text holds several objects that differ'
    >>> find_object('{"joy": 3').problem
    'the object does not end'
    """
    search = _Search()
    try:
        if text is None or not text.strip():
            raise _NoAnswerError("there is no text")
        if len(text) > LONGEST:
            raise _NoAnswerError(f"the text has {len(text)} characters; expected at most {LONGEST}")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise _NoAnswerError("the text holds half a character")
        text = _after_thought(text, search)
        _look_through(text, search)
        return Found(
            search.objects[0][2],
            tuple(dict.fromkeys(search.twice)),
            tuple(dict.fromkeys((*_surroundings(text, search), *search.repairs))),
        )
    except (_NoAnswerError, NotAnObjectError) as error:
        return Found(problem=str(error), repairs=tuple(search.repairs))


def _after_thought(text: str, search: _Search) -> str:
    """Leave out what a model thought before it answered."""
    begins = _THOUGHT.match(text) is not None
    ends = [found.end() for found in _THOUGHT_ENDS.finditer(text)]
    # Where the tag that opens is missing, a server has cut it off; within an object it is a text.
    if not begins and (not ends or text.lstrip().startswith("{")):
        return text
    if not ends:
        raise _NoAnswerError("the text ends within the model's reasoning")
    search.repairs["reasoning"] = None
    return text[ends[-1] :]


def _look_through(text: str, search: _Search) -> None:
    """Find all objects; braces of prose, such as ``{label}``, are none."""
    at, passed = 0, 0
    while (brace := _BRACE.search(text, at)) is not None:
        start = brace.start()
        if brace[0] == "}":
            if not search.doubled:
                raise _NoAnswerError("a brace closes that was not opened")
            search.doubled -= 1
            at = start + 1
            continue
        try:
            found, end, repairs, twice = parse_object(text, start)
        except NotAnObjectError as error:
            passed += 1
            if error.begun:
                raise
            at = _after_prose(text, start, search)
            if passed > _MOST_BRACES:
                raise _NoAnswerError("the text holds too many braces") from None
            continue
        if search.objects and as_json(search.objects[0][2]) != as_json(found):
            raise _NoAnswerError("the text holds several objects that differ")
        search.objects.append((start, end, found))
        if len(search.objects) > _MOST_OBJECTS:
            raise _NoAnswerError(f"the text repeats itself more than {_MOST_OBJECTS} times")
        search.repairs |= dict.fromkeys(repairs)
        search.twice += twice
        at = end
    if search.doubled:
        raise _NoAnswerError("a brace opens that is not closed")
    if not search.objects:
        raise _NoAnswerError("the text holds no JSON object")


def _after_prose(text: str, start: int, search: _Search) -> int:
    """Give the place after a pair of braces that is no object."""
    following = _BRACE.search(text, start + 1)
    if following is None:
        raise _NoAnswerError("a brace opens that is not closed")
    if following[0] == "}":
        return following.end()
    if text[start + 1 : following.start()].strip():
        raise _NoAnswerError("a brace opens that is not closed")
    search.doubled += 1
    return following.start()


def _surroundings(text: str, search: _Search) -> list[str]:
    """Say what stands around the object: prose, a fence, a list of one."""
    found = []
    outside, before = [], 0
    for start, end, _ in search.objects:
        outside.append(text[before:start])
        before = end
    outside.append(text[before:])
    head, tail = outside[0], outside[-1].lstrip()
    if head.rstrip().endswith("["):
        if len(search.objects) > 1 or not tail.startswith("]"):
            raise _NoAnswerError("the object stands in a list of several, or one that does not end")
        found.append("list")
    if len(search.objects) > 1:
        found.append("repeated")
    if any("```" in part for part in outside):
        found.append("fence")
    rest = _FENCE.sub("", " ".join(outside)).strip()
    if "list" in found:
        rest = re.sub(r"\[\s*\]", "", rest, count=1)
    if rest.strip(_UNSEEN):
        found.append("prose")
    return found
