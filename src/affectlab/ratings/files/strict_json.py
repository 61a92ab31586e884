"""JSON read strictly: a key that stands twice is an error, not a value that gets lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeGuard

_SOMETHING = re.compile(r"\S")
_BEGINS = re.compile(r"\n[ \t\r]*(?=[\[{])")
"""The end of a line above one that begins a list or an object."""


class BadJson(ValueError):
    """Text that is no JSON, or says two things under one key; the message says which."""

    def __init__(
        self, message: str, line: int | None = None, *, reason: str = "not valid JSON"
    ) -> None:
        super().__init__(message)
        self.line = line
        self.reason = reason
        """The kind of problem, to count such texts by."""


def parse_json(text: str, *, finite: bool = False) -> Any:
    """Parse JSON text; where it has to be `finite`, without the numbers that JSON does not have.

    Raises
    ------
    BadJson
        When the text is not JSON, nests too deeply, or an object has a key twice.

    Examples
    --------
    >>> parse_json('{"rater": "anna", "rater": "bob"}')
    Traceback (most recent call last):
    affectlab.ratings.files.strict_json.BadJson: key 'rater' stands twice in one object
    """
    try:
        constant = _no_constant if finite else None
        return json.loads(text, object_pairs_hook=_object, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise BadJson(f"not valid JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise BadJson("lists inside lists go too deep") from None
    except BadJson:
        raise
    except ValueError as error:
        # A number with more digits than Python converts.
        raise BadJson(f"not valid JSON: {error}") from None


def json_sequence(text: str) -> Iterator[tuple[int, Any]]:
    """Parse JSON values that stand one behind the other, with or without line breaks between.

    What cannot be parsed is given as its :class:`BadJson`; the next value is then the first that
    begins on a line of its own.

    Yields
    ------
    tuple
        The line on which a value begins, and the value.

    Examples
    --------
    >>> list(json_sequence('[1][2]\\n{"a": 3}'))
    [(1, [1]), (1, [2]), (2, {'a': 3})]
    """
    at, line = 0, 1
    while (found := _SOMETHING.search(text, at)) is not None:
        line += text.count("\n", at, found.start())
        at = found.start()
        value: Any
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            value = BadJson(f"not valid JSON: {error.msg} (column {error.colno})", error.lineno)
        except RecursionError:
            value = BadJson("lists inside lists go too deep", line)
        except BadJson as error:
            value = error
        except ValueError as error:
            # A number with more digits than Python converts.
            value = BadJson(f"not valid JSON: {error}", line)
        if isinstance(value, BadJson):
            following = _BEGINS.search(text, at)
            end = len(text) if following is None else following.start()
        yield line, value
        line += text.count("\n", at, end)
        at = end


def is_numeric(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for position, name in enumerate(names) if name in names[:position])
        raise BadJson(f"key {twice!r} stands twice in one object", reason="a key stands twice")
    return found


def _no_constant(word: str) -> Any:
    raise BadJson(f"{word} is no JSON number; expected null")


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
