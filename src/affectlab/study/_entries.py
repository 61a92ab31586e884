"""Answers in people's own words: what a page asks for, and how they are exported."""

from __future__ import annotations

from typing import Any

from affectlab.protocols import Protocol
from affectlab.protocols._entries import entry_rows, label_field, reason_field

__all__ = ["entry_rows", "fields_shown", "label_field", "reason_field"]

_ONE_LINE = 80
"""Most characters of a field that is asked for in one line."""


def fields_shown(protocol: Protocol) -> list[dict[str, Any]]:
    """Give what a page shows of the fields of an entry."""
    return [
        {**field.model_dump(mode="json"), "lines": 1 if field.max_length <= _ONE_LINE else 3}
        for field in protocol.fields
    ]
