"""Settings that are given one by one with --set."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from typing import Any

from affectlab.core.errors import InputError

__all__ = ["read_settings"]


def read_settings(given: Sequence[str], options: Collection[str] = ()) -> dict[str, Any]:
    """Read settings as TOML values; what is none is text.

    Parameters
    ----------
    given
        Settings such as ``"width=64"``.
    options
        Names that have an option of their own.

    Raises
    ------
    InputError
        When one is not understood, is given twice, or has an option of its own.

    Examples
    --------
    >>> read_settings(["width=64", "pooling=mean"])
    {'width': 64, 'pooling': 'mean'}
    """
    found: dict[str, Any] = {}
    for part in given:
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key or not value:
            raise InputError(f"--set: {part!r} is not understood; expected NAME=VALUE")
        if key in options:
            option = key.replace("_", "-")
            raise InputError(
                f"--set: {key!r} has an option of its own; expected --{option} {value}"
            )
        if key in found:
            raise InputError(f"--set: {key!r} is given twice; expected once")
        # True and False as Python writes them are meant as well.
        plain = value.lower() if value in ("True", "False") else value
        try:
            found[key] = tomllib.loads(f"value = {plain}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            found[key] = value
    return found
