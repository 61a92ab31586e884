"""The formats that can be read; others are added by entry point, never by editing a list here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import Plug, find_plug, find_sound_plugs, warn_of_plug
from affectlab.ratings.files import Peek
from affectlab.ratings.options import Absent, ReadOptions, Wide
from affectlab.ratings.table import Ratings

__all__ = ["ENTRY_POINTS", "Format", "find_format", "list_formats", "offer_formats"]

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
    absent: Absent = "missing"
    """What a label that a rater of a stimulus left out means: a rating of 0, or nothing known."""
    wide: tuple[Wide, ...] = ()
    """What a user may say with ``wide`` of a file that is recognised; else it is a plain table."""


@cache
def list_formats() -> tuple[Format, ...]:
    """Give all known formats: those of the papers, and those of installed plugins.

    Warns
    -----
    BrokenPlugWarning
        Of what another package adds and cannot be used; it is left out.

    Examples
    --------
    >>> "goemotions-raw" in [found.name for found in list_formats()]
    True
    """
    found = _own_formats()
    for plug in find_sound_plugs(ENTRY_POINTS):
        try:
            entry = _of_plug(plug)
        except InputError as problem:
            warn_of_plug(problem)
        else:
            found.setdefault(entry.name, entry)
    return tuple(found.values())


_PLACES: list[str] = []


def offer_formats(place: str) -> None:
    """Say where formats of affectlab lie: the ``module:name`` of a tuple of them.

    The readers there build on :func:`read_ratings`, which therefore imports none of them: what
    knows both says so, and the module is loaded when the first file is read.
    """
    _PLACES.append(place)


def _own_formats() -> dict[str, Format]:
    return {entry.name: entry for place in _PLACES for entry in resolve_name(place)}


def _of_plug(plug: Plug) -> Format:
    if not isinstance(plug.found, Format):
        raise InputError(
            f"{plug.where} offers a {type(plug.found).__name__} as a format; "
            "expected affectlab.ratings.Format"
        )
    return plug.found


def find_format(peek: Peek, name: str | None, wide: Wide | None = None) -> Format | None:
    """Find a format by name, or by looking at the file; None when no published format fits."""
    if name is None:
        fits = (entry for entry in list_formats() if wide is None or wide in entry.wide)
        return next((entry for entry in fits if entry.sniff(peek)), None)
    own = _own_formats()
    if name in own:
        return own[name]
    plug = find_plug(ENTRY_POINTS, name)
    if plug is not None:
        return _of_plug(plug)
    known = {entry.name: entry for entry in list_formats()}
    if name not in known:
        raise unknown_name("format", name, known)
    return known[name]
