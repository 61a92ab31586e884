"""What is public about the commands: verbs, arguments, options, defaults and choices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from cyclopts import App

from affectlab.cli.manifest import Parameter
from affectlab.cli.tree import find_verb, make_parser

__all__ = ["command_entries", "options_of", "verbs_of"]

_SHOWS_HELP = ("--help", "-h", "--version")


@cache
def command_entries() -> dict[str, str]:
    """Give each verb with its arguments, and each of its options."""
    return dict(_entries("affectlab", make_parser(None)))


def verbs_of(group: App) -> dict[str, App]:
    """Give the verbs of a group, and the groups in it, by name."""
    return {name: group[name] for name in group if name not in _SHOWS_HELP}


def options_of(verb: App) -> list[Any]:
    """Give arguments and options of a verb, as the parser has them."""
    return [] if verb.default_command is None else list(verb.assemble_argument_collection())


def _entries(path: str, command: App) -> Iterator[tuple[str, str]]:
    options = options_of(command)
    yield path, _arguments(command, options)
    if command.version_flags:
        yield f"{path} --version", "switch"
    for option in options:
        if option.name.startswith("-"):
            yield f"{path} {'/'.join(option.names)}", _option(option)
    verb = find_verb(path.split()[1:])
    if verb is not None:
        for name in verb.rarely:
            yield f"{path} --config {name}", _rare(verb.options[name])
    for name, inner in sorted(verbs_of(command).items()):
        yield from _entries(f"{path} {name}", inner)


def _rare(parameter: Parameter) -> str:
    """Say of an option that only a file gives what it is by default."""
    default = parameter.default
    return "value" if default is None else f"value = {default}"


def _arguments(command: App, options: list[Any]) -> str:
    if verbs_of(command):
        return "group of verbs"
    parts = []
    for given in options:
        if not given.name.startswith("-"):
            name = given.name.upper() + ("..." if _is_list(given) else "")
            parts.append(name if given.required else f"[{name}]")
    return f"verb {' '.join(parts)}".strip()


def _is_list(option: Any) -> bool:
    return bool(option.token_count()[1])


def _option(option: Any) -> str:
    what = "switch" if bool in (option.hint, *get_args(option.hint)) else "value"
    if choices := option.get_choices():
        what = "one of " + ", ".join(map(str, choices))
    if _is_list(option):
        what += ", several times"
    elif option.token_count()[0] > 1:
        what += f", {option.token_count()[0]} at once"
    if option.required:
        return f"{what}, required"
    default, shown = option.field_info.default, option.parameter.show_default
    # Some texts say in words what comes where nothing is given.
    if isinstance(shown, str) and shown != "False" and " " not in shown:
        return f"{what} = {shown}"
    plain = isinstance(default, str | int | float) and not (
        default is False and not option.negatives
    )
    return f"{what} = {default or repr(default)}" if plain else what
