"""What every message to the server keeps to, whoever sends it."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

__all__ = ["Message"]

_DEEPEST = 7
"""Levels of nesting that a message may have, itself counted."""
_LARGEST_BITS = 1023
"""Whole numbers of more bits have no counterpart among a browser's numbers."""


class Message(BaseModel):
    """A body as it came: nothing unknown, and nothing that a database could not keep."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _can_be_stored(cls, content: Any) -> Any:
        """Refuse hostile content before anything else looks at it: its names stand in errors."""
        problem = _problem(content, 1)
        if problem:
            raise PydanticCustomError("content", "{problem}", {"problem": problem})
        return content


def _problem(content: Any, depth: int) -> str:
    """Say why content cannot be stored; nothing when it can."""
    if depth > _DEEPEST:
        return "The content is nested too deeply."
    if isinstance(content, str):
        return "" if _is_text(content) else "The content holds a character that is not one."
    if isinstance(content, float):
        return "" if math.isfinite(content) else "The content holds a number that is not finite."
    if isinstance(content, int):
        large = content.bit_length() > _LARGEST_BITS
        return "The content holds too large a number." if large else ""
    parts: list[Any] = []
    if isinstance(content, dict):
        parts = [*content, *content.values()]
    elif isinstance(content, list):
        parts = content
    return next(filter(None, (_problem(part, depth + 1) for part in parts)), "")


def _is_text(content: str) -> bool:
    """Whether a text can be stored: half a character cannot, nor the character that is none."""
    try:
        content.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in content
