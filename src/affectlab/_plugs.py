"""Entry points: what installed packages add to affectlab, found and loaded in one way."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from affectlab.errors import InputError

__all__ = [
    "BrokenPlugWarning",
    "Plug",
    "added_names",
    "find_plug",
    "find_plugs",
    "find_sound_plugs",
    "warn_of_plug",
]


class BrokenPlugWarning(UserWarning):
    """What another package adds cannot be used, and is left out where it was not asked for."""


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


def find_sound_plugs(group: str) -> Iterator[Plug]:
    """Load what can be loaded of a group, where nothing of it was asked for by name.

    Warns
    -----
    BrokenPlugWarning
        Of each entry point that cannot be loaded.

    Examples
    --------
    >>> list(find_sound_plugs("affectlab.nobody_adds_these"))
    []
    """
    for point in entry_points(group=group):
        try:
            yield _loaded(point)
        except InputError as problem:
            warn_of_plug(problem)


def warn_of_plug(problem: InputError) -> None:
    """Warn that an entry point is left out, and why.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn_of_plug(InputError("entry point 'x' cannot be loaded: no y"))
    >>> str(said[0].message)
    "entry point 'x' cannot be loaded: no y; it is left out"
    """
    warnings.warn(f"{problem}; it is left out", BrokenPlugWarning, stacklevel=3)


def _loaded(point: EntryPoint) -> Plug:
    where = f"entry point {point.name!r} ({point.value}) of group {point.group!r}"
    try:
        return Plug(point.name, point.load(), where)
    # What another package's import raises is up to that package.
    except Exception as error:
        raise InputError(f"{where} cannot be loaded: {error}") from error
