"""Answers in people's own words, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from affectlab.protocols.parts import EntryField
from affectlab.protocols.protocol import Protocol


def label_field(protocol: Protocol) -> EntryField:
    """Give the field that names what an entry is about, such as the emotion.

    It is the one in which the entries of an answer must differ, else the first one.
    """
    wanted = protocol.rules.distinct
    return next((one for one in protocol.fields if one.name == wanted), protocol.fields[0])


def reason_field(protocol: Protocol) -> EntryField:
    """Give the field with the text of an entry: the longest one beside the label."""
    label = label_field(protocol)
    others = [one for one in protocol.fields if one is not label]
    return max(others, key=lambda one: one.max_length, default=label)


def entry_rows(
    protocol: Protocol, entries: Sequence[Mapping[str, str]]
) -> Iterator[dict[str, Any]]:
    """Spread an answer over rows, one per entry.

    Yields
    ------
    ``label``, the label in small letters and single spaces, so that two spellings of it are one;
    ``text``, the reason as it was written; ``entry``, the number of the entry from 1; and all other
    fields, that of the label among them, under their own names as they were written.
    """
    label, reason = label_field(protocol).name, reason_field(protocol).name
    others = [field.name for field in protocol.fields if field.name != reason]
    for number, entry in enumerate(entries, start=1):
        yield {
            "label": " ".join(entry.get(label, "").split()).casefold() or None,
            "value": None,
            "text": entry.get(reason, ""),
            "outcome": "ok",
            "entry": number,
            **{name: entry.get(name, "") for name in others},
        }
