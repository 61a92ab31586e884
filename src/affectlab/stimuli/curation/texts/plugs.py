"""Parts that users replace: by a name of ours, a callable, or an entry point of another package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import added_names, find_plug

__all__ = ["has_name", "known_plug", "load_plug", "plug_name", "wanted_library"]


def known_plug(kind: str, name: object, ours: Iterable[str]) -> bool:
    """Tell whether a part of that name exists, without importing its library.

    A name of the form ``spacy:MODEL`` is known by what stands before the colon.
    """
    if callable(name):
        return True
    before = str(name).split(":", 1)[0]
    return before in set(ours) or name in added_names(_of(kind))


def load_plug(kind: str, name: str, ours: Iterable[str]) -> Callable[..., Any]:
    """Load a part that another package adds under the entry points ``affectlab.KIND``.

    Raises
    ------
    InputError
        When nothing has that name, or what has it cannot be called.
    """
    plug = find_plug(_of(kind), name)
    if plug is None:
        raise unknown_name(kind, name, sorted({*ours, *added_names(_of(kind))}))
    if not callable(plug.found):
        raise InputError(f"{plug.where} gives {type(plug.found).__name__}; expected a function")
    function: Callable[..., Any] = plug.found
    return function


def plug_name(part: object) -> str:
    """Name a part in a record: a name as it is, a callable by where it is defined."""
    if isinstance(part, str):
        return part
    own = getattr(part, "name", None)
    if isinstance(own, str):
        return own
    kind = part if hasattr(part, "__qualname__") else type(part)
    return f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"


def has_name(part: object) -> bool:
    """Tell whether a name stands for a part: its own, or its attribute ``name``.

    Where a callable is defined does not say what it does: it may have been edited since, or be one
    of several that one function made.

    Examples
    --------
    >>> has_name("words"), has_name(str.split)
    (True, False)
    """
    return isinstance(part, str) or isinstance(getattr(part, "name", None), str)


def wanted_library(module: str, package: str, purpose: str) -> ModuleType:
    """Import a library of the extra ``scale``.

    Raises
    ------
    InputError
        When it is not installed; the sentence says what it is needed for and how it is installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f'{purpose} needs {package}; install it with: pip install "affectlab[scale]"'
        ) from error


def _of(kind: str) -> str:
    return f"affectlab.{kind.replace(' ', '_')}s"
