"""Which libraries are here, and whether they can be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from affectlab.core.environment.requirements import Wanted, is_at_least, module_of

_IMPORTS = """\
import importlib, json, sys
for name in json.load(sys.stdin):
    say("> " + name)
    try:
        importlib.import_module(name)
    except BaseException as error:
        lines = [line.strip() for line in str(error).splitlines()]
        said = next((line for line in lines if line), "")
        say("! " + type(error).__name__ + (": " + said if said else ""))
say(">")
"""
"""Says the name of every module before it is imported: one that ends the process is known, too."""
_SECONDS = 180.0
"""How long one import may take; the first of a library can compile for long."""


@dataclass(frozen=True)
class Library:
    """A library that is wanted, and what is known of it."""

    name: str
    wanted: str
    """Oldest version that will do; "" for any."""
    version: str | None
    """Version that is installed; None for none."""
    problem: str = ""
    """Why it cannot be imported, in a sentence."""

    @property
    def state(self) -> str:
        """``here``, ``missing``, ``old`` or ``broken``."""
        if self.version is None:
            return "missing"
        if self.problem:
            return "broken"
        return "here" if is_at_least(self.version, self.wanted) else "old"


def look_up(wanted: Sequence[Wanted]) -> list[Library]:
    """Look at what is installed; nothing is imported."""
    return [Library(one.name, one.oldest, _version(one.name)) for one in wanted]


def _version(name: str) -> str | None:
    from importlib.metadata import version

    try:
        return str(version(name))
    except Exception:  # noqa: BLE001 - metadata that cannot be read is as good as none
        return None


def import_all(
    libraries: Iterable[Library], say: Callable[[str, int, int], None]
) -> dict[str, str]:
    """Import what is installed, in processes of their own; give the problems by library.

    Parameters
    ----------
    libraries
        What to import, in this order.
    say
        Told what is being imported, how many were, and how many there are.

    Returns
    -------
    dict
        By name of the library, the first line of the error, or how its import ended the process.
    """
    names = {module_of(one.name): one.name for one in libraries if one.version is not None}
    left, problems = list(names), dict[str, str]()
    while left:
        begun, found, ending = _run(left, len(names), say)
        problems.update({names[module]: said for module, said in found.items()})
        if not ending:
            break
        # The last one that was begun has ended the process; go on behind it.
        culprit = begun[-1] if begun else left[0]
        problems[names[culprit]] = ending
        left = left[left.index(culprit) + 1 :]
    return problems


def with_problems(libraries: Iterable[Library], problems: dict[str, str]) -> list[Library]:
    """Add what was found out by importing."""
    return [replace(one, problem=problems.get(one.name, "")) for one in libraries]


def _run(
    modules: Sequence[str], total: int, say: Callable[[str, int, int], None]
) -> tuple[list[str], dict[str, str], str]:
    """Import modules in one process: those begun, their problems, and how it ended too early."""
    from affectlab.core.environment.processes import stream

    begun: list[str] = []
    problems: dict[str, str] = {}
    finished = False

    def line(text: str) -> None:
        nonlocal finished
        if text == ">":
            finished = True
        elif text.startswith("> "):
            begun.append(text[2:])
            say(f"importing {begun[-1]}", total - len(modules) + len(begun) - 1, total)
        else:
            problems[begun[-1]] = text[2:]

    ended = stream(_IMPORTS, list(modules), line, seconds=_SECONDS)
    return begun, problems, "" if finished else f"importing it {ended or 'ended the process'}"
