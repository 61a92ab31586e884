"""Names that a package hands out, and loads when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazily(
    package: str, listed: Sequence[str], places: Mapping[str, str], *, first: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Type checkers see the imports under ``TYPE_CHECKING`` instead: what is made here stands in a
    branch that they do not take, or every name would exist for them.

    Parameters
    ----------
    package
        Its ``__name__``.
    listed
        Its ``__all__``; what is neither there already nor in `places` is a module of the package.
    places
        The module, within the package, that has each name.
    first
        A module to import before, which says what to install where a library is missing.

    Examples
    --------
    >>> get, names = lazily("affectlab.core", ["InputError", "csv"], {"InputError": "errors"})
    >>> get("InputError").__name__, get("csv").__name__, names()
    ('InputError', 'affectlab.core.csv', ['InputError', 'csv'])
    """

    def get(name: str) -> Any:
        if name not in places and name not in listed:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if first:
            import_module(first)
        if name not in places:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return get, lambda: sorted(listed)
