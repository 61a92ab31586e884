"""Names that a package hands out, and loads when they are first used."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Sequence, Set
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazily(
    package: str, listed: Sequence[str], *, first: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    What it imports from its modules under ``TYPE_CHECKING`` is loaded when it is first used. What
    is made here stands in a branch that type checkers do not take, or every name would exist for
    them.

    Parameters
    ----------
    package
        Its ``__name__``.
    listed
        Its ``__all__``; what of it is imported nowhere is a module of the package.
    first
        A module to import before, which says what to install where a library is missing.

    Examples
    --------
    >>> import affectlab.protocols
    >>> get, names = lazily("affectlab.protocols", ["scale"])
    >>> get("entry_rows").__name__, get("scale").__name__, names()
    ('entry_rows', 'affectlab.protocols.scale', ['scale'])
    """

    @cache
    def places() -> dict[str, str]:
        """Find the module of each name in the source, so that it is written there alone."""
        source = ast.parse(inspect.getsource(sys.modules[package]))
        late = [node for node in source.body if isinstance(node, ast.If)]
        imports = [
            statement
            for node in late
            if ast.unparse(node.test) == "TYPE_CHECKING"
            for statement in node.body
            if isinstance(statement, ast.ImportFrom)
        ]
        return {
            alias.asname or alias.name: statement.module
            for statement in imports
            if statement.module and statement.module.startswith(f"{package}.")
            for alias in statement.names
        }

    def get(name: str) -> Any:
        if name.startswith("__") or (name not in places() and name not in listed):
            hint = "" if name.startswith("_") else _meant(package, name, {*places(), *listed})
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        if first:
            import_module(first)
        if name not in places():
            return import_module(f"{package}.{name}")
        return getattr(import_module(places()[name]), name)

    return get, lambda: sorted(listed)


def _meant(package: str, name: str, known: Set[str]) -> str:
    """Say which name was meant: one of a room of the package, or one that is spelt nearly so."""
    names = sorted(known | {*getattr(sys.modules[package], "__all__", ())})
    if "." not in package:
        for room in filter(str.islower, names):
            found = find_spec(f"{package}.{room}") is not None
            if found and name in getattr(import_module(f"{package}.{room}"), "__all__", ()):
                return f"; it stands in {package}.{room}"
    close = get_close_matches(name, names, n=2)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
