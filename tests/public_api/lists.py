"""The lists as files: one entry a line, a name and what is promised about it."""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import Path

from tests.public_api.commands import command_entries
from tests.public_api.entries import key_entries, module_entries
from tests.public_api.names import name_entries, registered_names
from tests.public_api.source import public_modules

__all__ = ["FOLDER", "current", "difference", "read_list", "write_lists"]

FOLDER = Path(__file__).resolve().parent / "listed"
_NOTE = (
    "# What is public, and stays (docs/reference/stability.md). `make api` writes this file.\n\n"
)
_BETWEEN = "  "


@cache
def current() -> dict[str, dict[str, str]]:
    """Give what the source makes public, by the name of the list."""
    return {
        "commands": command_entries(),
        "keys": key_entries(),
        "names": name_entries(),
        "registries": registered_names(read_list(FOLDER / "registries.txt")),
        **{module: module_entries(module) for module in public_modules()},
    }


def write_lists(folder: Path = FOLDER) -> list[str]:
    """Write all lists, remove those of modules that are gone, and give the files that changed."""
    folder.mkdir(exist_ok=True)
    changed = []
    lists = {f"{name}.txt": _text(entries) for name, entries in current().items()}
    for path in folder.glob("*.txt"):
        if path.name not in lists:
            path.unlink()
            changed.append(path.name)
    for name, text in lists.items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            changed.append(name)
    return sorted(changed)


def read_list(path: Path) -> dict[str, str]:
    """Read a list as it was written; none where there is no file."""
    if not path.is_file():
        return {}
    text = path.read_text("utf-8").removeprefix(_NOTE).replace("\n" + " " * 8, " ")
    pairs = (line.partition(_BETWEEN) for line in text.splitlines())
    return {name: promise for name, _, promise in pairs}


def difference(was: dict[str, str], now: dict[str, str]) -> str:
    """Say in one line what was added, removed, changed or moved; nothing when all is as it was."""
    said = []
    if added := [name for name in now if name not in was]:
        said.append(f"added: {', '.join(added)}")
    if removed := [name for name in was if name not in now]:
        said.append(f"removed: {', '.join(removed)}")
    both = [name for name in was if name in now]
    said += [
        f"changed: {name}, which was {was[name]!r} and is {now[name]!r}"
        for name in both
        if was[name] != now[name]
    ]
    if not said and both != list(now):
        moved = next(a for a, b in zip(both, now, strict=True) if a != b)
        said.append(f"another order, from {moved} on")
    return "; ".join(said)


def _text(entries: dict[str, str]) -> str:
    return _NOTE + "".join(_line(name, promise) for name, promise in entries.items())


def _line(name: str, promise: str) -> str:
    lines = textwrap.wrap(
        f"{name}{_BETWEEN}{' '.join(promise.split())}",
        width=100,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines) + "\n"
