"""How a sentence points at an option: as a parameter in Python, else as the command line has it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from affectlab._words import joined

__all__ = ["command_line", "option"]


class _Reader:
    """Who reads the sentences of this process; threads of the command line are the command line."""

    on_command_line = False


@contextmanager
def command_line() -> Iterator[None]:
    """Let sentences name options of the command line instead of parameters."""
    before = _Reader.on_command_line
    _Reader.on_command_line = True
    try:
        yield
    finally:
        _Reader.on_command_line = before


def option(name: str, *values: object, cli: str = "") -> str:
    """Name an option and what to give it, as whoever reads the sentence has to write it.

    Parameters
    ----------
    name
        Name of the parameter in Python.
    values
        What to give it; several are a choice, and none names the option alone.
    cli
        How the command line says it, where it does not have an option of that name.

    Examples
    --------
    >>> option("columns", {"rater": "coder"})
    "columns={'rater': 'coder'}"
    >>> option("wide", "labels", "stimuli")
    "wide='labels' or 'stimuli'"
    >>> with command_line():
    ...     print(option("columns", {"rater": "coder"}), option("wide", "labels", "stimuli"))
    --columns rater=coder --wide labels or stimuli
    """
    if _Reader.on_command_line:
        name = cli or f"--{name.replace('_', '-')}"
        given = [] if cli else [shlex.quote(_written(value)) for value in values]
    else:
        given = [repr(value) for value in values]
    between = " " if _Reader.on_command_line else "="
    return f"{name}{between}{joined(given, 'or')}" if given else name


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}={entry}" for key, entry in value.items()]
    if not isinstance(value, list):
        return str(value)
    return ",".join(f'"{entry}"' if "," in str(entry) else str(entry) for entry in value)
