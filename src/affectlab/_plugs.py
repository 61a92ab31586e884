"""Entry points: what installed packages add to affectlab, found and loaded in one way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from affectlab.errors import InputError

__all__ = ["Plug", "added_names", "find_plug", "find_plugs"]


@dataclass(frozen=True)
class Plug:
    """One entry point that was loaded."""

    name: str
    found: Any
    """What it leads to."""
    where: str
    """How errors name it: its name, its place and its group."""


def added_names(group: str) -> tuple[str, ...]:
    """Names of the entry points of a group, sorted; nothing is imported.

    Examples
    --------
    >>> added_names("affectlab.nobody_adds_these")
    ()
    """
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def find_plug(group: str, name: str) -> Plug | None:
    """Load the entry point of that name; None where there is none.

    Raises
    ------
    InputError
        When it cannot be loaded.

    Examples
    --------
    >>> find_plug("affectlab.nobody_adds_these", "x") is None
    True
    """
    return next((_loaded(point) for point in entry_points(group=group) if point.name == name), None)


def find_plugs(group: str) -> Iterator[Plug]:
    """Load all entry points of a group, one after the other.

    Raises
    ------
    InputError
        When one cannot be loaded.
    """
    return map(_loaded, entry_points(group=group))


def _loaded(point: EntryPoint) -> Plug:
    where = f"entry point {point.name!r} ({point.value}) of group {point.group!r}"
    try:
        return Plug(point.name, point.load(), where)
    # What another package's import raises is up to that package.
    except Exception as error:
        raise InputError(f"{where} cannot be loaded: {error}") from error
