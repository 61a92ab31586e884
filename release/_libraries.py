"""The libraries that users install with affectlab, those of its extras with them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["NOT_FOR_USERS", "Missing", "users_install"]

NOT_FOR_USERS = frozenset({"dev", "docs"})
"""Extras with tools of developers; some are under the GPL, as oracles of tests only."""


class Missing(Exception):
    """A library that would have to be looked at is not installed."""


@dataclass(frozen=True)
class _Asked:
    line: Requirement
    extra: str
    by: str


def users_install(package: str = "affectlab") -> dict[str, Distribution]:
    """Find everything that a package and its extras ask for, and what that asks for in turn.

    Parameters
    ----------
    package
        The package; it is not among what is found.

    Returns
    -------
    dict
        What is installed, by canonical name.

    Raises
    ------
    Missing
        When something is not installed.
    """
    root = distribution(package)
    extras = set(root.metadata.get_all("Provides-Extra") or []) - NOT_FOR_USERS
    waiting = _lines(root, "", package)
    for extra in extras:
        waiting += _lines(root, extra, package)
    found: dict[str, Distribution] = {}
    done: set[tuple[str, str]] = set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.line.name)
        if name == canonicalize_name(package):
            continue
        try:
            found.setdefault(name, distribution(name))
        except PackageNotFoundError:
            raise Missing(
                f"{asked.by} asks for {name}, which is not installed; the audit looks at what is "
                "installed, so install everything first (make .venv/.dev)"
            ) from None
        for extra in ("", *asked.line.extras):
            if (name, extra) not in done:
                done.add((name, extra))
                waiting += _lines(found[name], extra, name)
    return dict(sorted(found.items()))


def _lines(library: Distribution, extra: str, by: str) -> list[_Asked]:
    """Give the requirements that hold here with an extra."""
    lines = [Requirement(line) for line in library.requires or []]
    return [
        _Asked(line, extra, by)
        for line in lines
        if line.marker is None or line.marker.evaluate({"extra": extra})
    ]
