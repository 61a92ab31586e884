"""The texts of a protocol in another language."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from affectlab.protocols._parts import Part
from affectlab.protocols._wording import check_wording

__all__ = ["TRANSLATED", "Translation"]

_Wording = Annotated[str, AfterValidator(check_wording)]

TRANSLATED = ("question", "prompt", "instructions", "anchors", "legend", "note", "fields")
"""Keys of a protocol that a translation gives in its language."""


class Translation(Part):
    """What people read of a protocol, in another language; labels stay as the taxonomy has them."""

    question: _Wording = ""
    """Wording, with the same places as that of the protocol."""
    prompt: str = ""
    instructions: str = ""
    anchors: tuple[str, str] | None = None
    legend: str = ""
    note: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    """Question of each field of an entry, by the field's name."""
