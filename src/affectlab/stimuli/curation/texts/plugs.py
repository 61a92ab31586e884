"""How parts that users replace are named in records, and libraries that they need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError

__all__ = ["has_name", "plug_name", "wanted_library"]


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
            f"{purpose} needs {package}; install it with: {install_line('scale')}"
        ) from error
