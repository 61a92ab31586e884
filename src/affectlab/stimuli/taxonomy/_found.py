"""What was found in one block of text, and how the search went."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["Finder", "Found"]


@dataclass(frozen=True)
class Found:
    """Emotion terms that something found in a block, and how that went.

    A finder that can fail says so in `outcome` instead of giving no terms: a block without an
    answer is not a block without emotions.
    """

    terms: tuple[str, ...]
    outcome: str = "ok"
    """``ok``, or one word for what went wrong."""
    detail: str = ""
    """What went wrong, in words."""


Finder = Callable[[str], Iterable[str] | Found]
"""Takes the text of a block; gives emotion terms, each once."""
