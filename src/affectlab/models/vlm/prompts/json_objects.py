"""Finding the one object in what a model wrote, with prose, fences and lists around it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

__all__ = [
    "DEPTH",
    "LONGEST",
    "Found",
    "NotAnObjectError",
    "find_object",
    "parse_object",
]

# One object out of a text: JSON, with the liberties that models take, each of them noted.


DEPTH = 12
"""Objects and lists within each other; an answer needs four."""

_SPACE = re.compile(r"[\s\ufeff\u200b]*")
_COMMENT = re.compile(r"(?:\#|//)[^\n]*")
_STRING = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {
    **dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True)),
    **dict(zip("'av0\n", ("'", "\a", "\v", "\0", ""), strict=True)),
}
_ONLY_PYTHON = frozenset("'av0\nxU")
"""First letters of escapes that Python knows and JSON does not."""
_CONTROL = re.compile(r"[\x00-\x1f]")
_TOKEN = re.compile(r"[0-9.+\-][0-9A-Za-z_.+\-]*|[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PYTHON_NUMBER = re.compile(
    r"[+-]?(?:0+|[1-9][0-9]*|[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?"
)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_WORDS: dict[str, tuple[Any, bool]] = {
    "true": (True, False),
    "false": (False, False),
    "null": (None, False),
    "True": (True, True),
    "False": (False, True),
    "None": (None, True),
}
"""Values by their words, and whether the word is Python's."""
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})


class NotAnObjectError(Exception):
    """What stands here is no object."""

    def __init__(self, why: str, *, begun: bool) -> None:
        super().__init__(why)
        self.why = why
        self.begun = begun
        """Whether it began as one: a key and a colon were read."""


class _Parser:
    """Reads one value after the other; never goes back."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.begun = False
        self.repairs: dict[str, None] = {}
        self.twice: list[str] = []

    def fail(self, why: str) -> NoReturn:
        raise NotAnObjectError(why, begun=self.begun)

    def gap(self) -> None:
        """Go over white space and comments."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            end = self.comment()
            if end is None:
                return
            self.repairs["comments"] = None
            self.at = end

    def comment(self) -> int | None:
        """Give the place after the comment that begins here; None where none does."""
        if self.text.startswith("/*", self.at):
            found = self.text.find("*/", self.at + 2)
            return None if found < 0 else found + 2
        match = _COMMENT.match(self.text, self.at)
        return None if match is None else match.end()

    def look(self) -> str:
        """Give the next character; what ends here was cut off."""
        if self.at >= len(self.text):
            self.fail("the object does not end")
        return self.text[self.at]

    def value(self, depth: int) -> Any:
        if depth > DEPTH:
            self.fail(f"objects and lists lie more than {DEPTH} deep in each other")
        first = self.look()
        if first == "{":
            return self.object(depth)
        if first == "[":
            return self.list(depth)
        if first in _STRING:
            return self.string()
        return self.token()

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        self.gap()
        while self.look() != "}":
            if self.text[self.at] not in _STRING:
                self.fail(f"expected a key in quotation marks at character {self.at + 1}")
            key = self.string()
            self.gap()
            if self.look() != ":":
                self.fail(f"expected a colon at character {self.at + 1}")
            self.begun = True
            self.at += 1
            self.gap()
            value = self.value(depth + 1)
            if key in found:
                self.twice.append(key)
            else:
                found[key] = value
            self.separator("}")
        self.at += 1
        return found

    def list(self, depth: int) -> list[Any]:
        found = []
        self.at += 1
        self.gap()
        while self.look() != "]":
            found.append(self.value(depth + 1))
            self.separator("]")
        self.at += 1
        return found

    def separator(self, end: str) -> None:
        """Go over a comma, or up to the end."""
        self.gap()
        if self.look() == end:
            return
        if self.text[self.at] != ",":
            self.fail(f"expected a comma or {end} at character {self.at + 1}")
        self.at += 1
        self.gap()
        if self.look() == end:
            self.repairs["trailing_comma"] = None

    def string(self) -> str:
        quote = self.text[self.at]
        match = _STRING[quote].match(self.text, self.at)
        if match is None:
            self.fail("a text within the object does not end")
        self.at = match.end()
        body = match[1]
        if quote == "'":
            self.repairs["python"] = None
        if _CONTROL.search(body):
            self.repairs["line_break"] = None
        if "\\" not in body:
            return body
        text = _ESCAPE.sub(self.unescaped, body)
        try:
            # Halves of one character, written as two escapes, become one.
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fail("a text within the object holds half a character")

    def unescaped(self, match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in _ONLY_PYTHON:
            self.repairs["python"] = None
        if len(code) > 1:
            number = int(code[1:], 16)
            if number > 0x10FFFF:
                self.fail("a text within the object holds an escape that is no character")
            return chr(number)
        if code not in _ESCAPED:
            self.fail(f"a text within the object holds the escape {match[0]!r}, which is not known")
        return _ESCAPED[code]

    def token(self) -> Any:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.fail(f"expected a value at character {self.at + 1}")
        token = match[0]
        self.at = match.end()
        if token in _WORDS:
            value, python = _WORDS[token]
            if python:
                self.repairs["python"] = None
            return value
        if token.lstrip("+-").casefold() in _NOT_FINITE:
            self.fail(f"{token} is not a number")
        if not _NUMBER.fullmatch(token):
            if not _PYTHON_NUMBER.fullmatch(token):
                self.fail(f"{_short(token)!r} is not a value")
            self.repairs["python"] = None
        number = _number(token)
        if not math.isfinite(number):
            self.fail(f"{_short(token)} is too large a number")
        return number


def _number(token: str) -> int | float:
    """Read a number; long ones only roughly, since reading all digits of them takes long."""
    return int(token) if len(token) < 20 and _WHOLE.fullmatch(token) else float(token)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def parse_object(text: str, at: int) -> tuple[dict[str, Any], int, list[str], list[str]]:
    """Read the object that begins at a place, which must be a brace.

    Returns
    -------
    The object, the place after it, what had to be repaired, and keys that came twice, of which the
    first value is kept.

    Raises
    ------
    NotAnObjectError
        When there is none, or not all of it.

    Examples
    --------
    >>> parse_object("{'joy': 3,}", 0)[0::2]
    ({'joy': 3}, ['python', 'trailing_comma'])
    """
    parser = _Parser(text, at)
    found = parser.object(1)
    return found, parser.at, list(parser.repairs), parser.twice


def as_json(value: object) -> str:
    """Write a value so that equal ones are written alike."""
    return json.dumps(value, sort_keys=True)


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
