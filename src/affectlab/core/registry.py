"""Entry points: what installed packages add to affectlab, found and loaded in one way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from affectlab.core.errors import InputError, unknown_name

__all__ = [
    "BrokenPlugWarning",
    "Plug",
    "Registry",
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


# Definitions that users extend: built-in TOML files, files of their own, and entry points.
#
# Taxonomies and protocols are found in the same way, so the finding is written once here. A name
# is looked up among the built-in files first and then among the entry points of installed
# packages; a path is read as a TOML file. Nothing is registered by changing a list inside
# affectlab.


Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Registry(Generic[Item]):
    """Where definitions of one kind are found."""

    kind: str
    """What is looked up, in the singular, for errors: ``"taxonomy"``."""
    group: str
    """Group of entry points through which other packages add definitions."""
    package: str
    """Package whose folder ``data`` holds the built-in TOML files."""
    item_type: type[Item]
    """What a definition is, once loaded."""
    parse: Callable[[str, str], Item]
    """Turns TOML text, and the name of its place, into a definition."""
    read: Callable[[Path], Item]
    """Turns a TOML file into a definition."""
    _loaded: dict[str, Item] = field(default_factory=dict, repr=False)

    def builtin_names(self) -> tuple[str, ...]:
        """Names of the built-in definitions, sorted."""
        folder = files(self.package) / "data"
        return tuple(
            sorted(
                entry.name.removesuffix(".toml")
                for entry in folder.iterdir()
                if entry.name.endswith(".toml")
            )
        )

    def names(self) -> tuple[str, ...]:
        """Names of the built-in definitions and of those that installed packages add, sorted."""
        return tuple(sorted({*self.builtin_names(), *added_names(self.group)}))

    def builtin(self, name: str) -> Item:
        """Load one built-in definition; the file is read once."""
        if name not in self._loaded:
            text = (files(self.package) / "data" / f"{name}.toml").read_text(encoding="utf-8")
            self._loaded[name] = self.parse(text, f"built-in {self.kind} {name}")
        return self._loaded[name]

    def load(self, name_or_path: str | Path | Item) -> Item:
        """Load a definition by name or from a file; a definition is given back as it is.

        A string that ends in ``.toml`` or holds a path separator is a path.

        Raises
        ------
        InputError
            When nothing has that name, when the file cannot be used, or when an entry point fails.
        """
        if isinstance(name_or_path, self.item_type):
            return name_or_path
        if isinstance(name_or_path, Path):
            return self.read(name_or_path)
        if not isinstance(name_or_path, str):
            raise InputError(
                f"{self.kind}: expected a name, a path or a {self.item_type.__name__}, "
                f"not {type(name_or_path).__name__}"
            )
        if name_or_path.endswith(".toml") or "/" in name_or_path or "\\" in name_or_path:
            return self.read(Path(name_or_path))
        plain = name_or_path.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self.builtin_names():
            return self.builtin(plain)
        plug = find_plug(self.group, name_or_path)
        if plug is None:
            error = unknown_name(self.kind, name_or_path, self.names())
            if "." not in name_or_path:
                raise error
            raise InputError(f"{error}; the path of a file ends in .toml")
        return self._of_plug(plug)

    def _of_plug(self, plug: Plug) -> Item:
        found = plug.found
        if callable(found) and not isinstance(found, self.item_type):
            try:
                found = found()
            except Exception as error:
                raise InputError(f"{plug.where} cannot be loaded: {error}") from error
        if isinstance(found, str | Path):
            return self.read(Path(found))
        if isinstance(found, self.item_type):
            return found
        raise InputError(
            f"{plug.where} gives {type(found).__name__}; expected a {self.item_type.__name__}, "
            "a path, or a function that returns one"
        )
