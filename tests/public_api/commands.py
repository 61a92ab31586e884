"""What is public about the commands: verbs, arguments, options, defaults and choices."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Literal

import typer

__all__ = ["command_entries"]

_OF_TYPER = {"install_completion", "show_completion"}


def command_entries() -> dict[str, str]:
    """Give each verb with its arguments, and each of its options."""
    from affectlab.cli._app import app

    return dict(_entries("affectlab", typer.main.get_command(app)))


def _entries(path: str, command: Any) -> Iterator[tuple[str, str]]:
    yield path, _arguments(command)
    for option in command.params:
        if option.opts[0].startswith("-") and option.name not in _OF_TYPER:
            names = "/".join([*option.opts, *option.secondary_opts])
            yield f"{path} {names}", _option(option)
    for name, verb in sorted(getattr(command, "commands", {}).items()):
        yield from _entries(f"{path} {name}", verb)


def _arguments(command: Any) -> str:
    if getattr(command, "commands", None):
        return "group of verbs"
    parts = []
    for given in command.params:
        if not given.opts[0].startswith("-"):
            name = (given.metavar or given.name).upper() + ("..." if given.nargs != 1 else "")
            parts.append(name if given.required else f"[{name}]")
    return f"verb {' '.join(parts)}".strip()


def _option(option: Any) -> str:
    what = "switch" if option.is_flag else "value"
    if choices := _choices(option):
        what = "one of " + ", ".join(map(str, choices))
    if option.multiple:
        what += ", several times"
    elif option.nargs != 1:
        what += f", {option.nargs} at once"
    if option.required:
        return f"{what}, required"
    plain = isinstance(option.default, str | int | float) and not (
        option.default is False and not option.secondary_opts
    )
    return f"{what} = {option.default or repr(option.default)}" if plain else what


def _choices(option: Any) -> tuple[Any, ...]:
    # typer has had click inside since 0.26; the clicks before name the choices otherwise.
    if hasattr(option, "type_descriptor"):
        return tuple(_literals(option.type_descriptor.annotation))
    return tuple(getattr(option.type, "choices", ()))


def _literals(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) is Literal:
        yield from typing.get_args(hint)
    else:
        for part in typing.get_args(hint):
            yield from _literals(part)
