"""The formats that can be read; others are added by entry point, never by editing a list here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from affectlab._plugs import find_plugs
from affectlab.errors import InputError, unknown_name
from affectlab.ratings._options import ReadOptions
from affectlab.ratings._peek import Peek
from affectlab.ratings._table import Ratings

__all__ = ["ENTRY_POINTS", "Format", "find_format", "list_formats"]

ENTRY_POINTS = "affectlab.formats"
"""Entry point group under which other packages offer a :class:`Format`."""


@dataclass(frozen=True)
class Format:
    """A published format of ratings: how to recognise it, and how to read it."""

    name: str
    """Short name, for ``read_ratings(…, format=name)``."""
    title: str
    """What it is, in a few words."""
    sniff: Callable[[Peek], bool]
    """Says from the beginning of a file whether it has this format. Must be strict."""
    read: Callable[[Peek, ReadOptions], Ratings]
    """Reads the file."""


@cache
def list_formats() -> tuple[Format, ...]:
    """Give all known formats: those of the papers, and those of installed plugins.

    Examples
    --------
    >>> "goemotions-raw" in [found.name for found in list_formats()]
    True
    """
    from affectlab.ratings.datasets import FORMATS

    found = {entry.name: entry for entry in FORMATS}
    for plug in find_plugs(ENTRY_POINTS):
        entry = plug.found
        if not isinstance(entry, Format):
            raise InputError(
                f"{plug.where} offers a {type(entry).__name__} as a format; "
                "expected affectlab.ratings.Format"
            )
        found.setdefault(entry.name, entry)
    return tuple(found.values())


def find_format(peek: Peek, name: str | None) -> Format | None:
    """Find a format by name, or by looking at the file; None when no published format fits."""
    formats = list_formats()
    if name is not None:
        for entry in formats:
            if entry.name == name:
                return entry
        raise unknown_name("format", name, [entry.name for entry in formats])
    return next((entry for entry in formats if entry.sniff(peek)), None)
