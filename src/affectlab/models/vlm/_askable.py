"""What can be asked of a model: a prompt, where its answer is filed, and how it is read."""

from __future__ import annotations

from typing import Any, Protocol

from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._read import Read

__all__ = ["Askable"]


class Askable(Protocol):
    """One question, whatever it is about.

    :class:`~affectlab.models.vlm._question.Question` is one, about a picture and a protocol.
    """

    @property
    def key(self) -> str:
        """Names the question by all that decides about its answer."""

    def prompt(self) -> Prompt:
        """Build what is sent; raises InputError when a picture cannot be used."""

    def told(self) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""

    def read(self, text: str, *, held: bool) -> Read:
        """Read the answer; `held` says whether the provider held the model to the schema."""
