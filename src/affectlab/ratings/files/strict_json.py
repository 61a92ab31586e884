"""JSON read strictly: a key that stands twice is an error, not a value that gets lost."""

from __future__ import annotations

import json
from typing import Any, TypeGuard


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
