"""What users can do, a line each: ``python -m tests.golden.inventory`` prints it.

``inventory.txt`` is what this printed when the second edition began, and is not written again:
``test_moved.py`` holds the package against it. A line is

- ``affectlab ratings summary``, ``affectlab ratings summary FILE``, ``affectlab … --absent`` and
  ``affectlab … --absent zero``: verbs, arguments, options (with default) and choices of options;
- ``affectlab.reliability.krippendorff_alpha`` and ``affectlab.reliability.gwet_ac(n_boot=1000)``:
  public names, members of classes, parameters (with default);
- ``key: Consent.version = '1'``: keys of files, by the class that checks them;
- ``metric: ecc``, ``format: isear``, ``policy: p913``, ``schema: affectlab/ratings/1``: names that
  users write where one of several is chosen;
- ``status: undefined: no items``, ``note: …``, ``warning: …``: texts that come with results, where
  ``{}`` stands for what is filled in; and the classes of warnings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.golden.texts import text_lines, written
from tests.public_api.lists import current
from tests.public_api.source import all_modules, listed_in_all, module_tree, public_modules

__all__ = ["FROZEN", "TEXTS", "Inventory", "frozen", "live", "public_lines"]

FROZEN = Path(__file__).with_name("inventory.txt")

TEXTS = ("note", "status", "warning")
"""Kinds of lines that are found among all strings of the source."""
_MARKS = {"several times", "required"}
_NO_REGISTRY = {"list_accounts", "list_mle"}
"""Public functions called ``list_…`` that list nothing which a user could choose by name."""


@dataclass(frozen=True)
class Inventory:
    """What users can do: lines, and for texts every string of the source."""

    lines: frozenset[str]
    strings: frozenset[str]

    def __contains__(self, line: str) -> bool:
        # A text that moves to another variable or mechanism is still there.
        kind, _, text = line.partition(": ")
        return text in self.strings if kind in TEXTS else line in self.lines


def frozen() -> list[str]:
    """Read the lines of the base."""
    return FROZEN.read_text("utf-8").splitlines()


@cache
def live() -> Inventory:
    """Give what users can do now."""
    trees = [module_tree(module) for module in all_modules()]
    return Inventory(
        frozenset([*public_lines(current()), *_registered()]),
        frozenset(text for tree in trees for text in _strings(tree)),
    )


def public_lines(lists: dict[str, dict[str, str]]) -> Iterator[str]:
    """Give a line for each thing that the lists of what is public promise."""
    for module, entries in lists.items():
        for name, promise in entries.items():
            if module == "commands":
                yield from _command(name, promise)
            elif module == "keys":
                yield f"key: {name}{promise.removeprefix('field')}"
            elif module == "names":
                yield _named(name, promise)
            elif not name.endswith(".model_config"):
                yield from _python(f"{module}.{name}", promise)


def _command(name: str, promise: str) -> Iterator[str]:
    if promise == "group of verbs":
        yield name
    elif promise == "verb" or promise.startswith("verb "):
        yield name
        yield from (f"{name} {argument}" for argument in promise.split()[1:])
    else:
        verb, _, names = name.rpartition(" ")
        what, is_given, default = promise.partition(" = ")
        parts = what.removeprefix("one of ").split(", ")
        choices = [part for part in parts if part not in _MARKS] if " of " in what else []
        end = "".join(f", {part}" for part in parts if part in _MARKS) + is_given + default
        for option in names.split("/"):
            yield f"{verb} {option}{end}"
            yield from (f"{verb} {option} {choice}" for choice in choices)


def _named(name: str, promise: str) -> str:
    if promise == "built-in":
        kind, _, own = name.rpartition(" ")
        return f"{kind}: {own}"
    return f"{'schema' if promise == 'format of a file' else 'entry points'}: {name}"


def _python(name: str, promise: str) -> Iterator[str]:
    kind, bracket, rest = promise.partition("(")
    if promise.startswith("field = "):
        yield name + promise.removeprefix("field")
    else:
        yield name
    if bracket and kind in {"", "class method ", "static method "}:
        node = ast.parse(f"def f({rest}: pass").body[0]
        assert isinstance(node, ast.FunctionDef)
        yield from (f"{name}({part})" for part in _parameters(node.args))


def _parameters(given: ast.arguments) -> Iterator[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    for part, default in zip([*plain, *given.kwonlyargs], defaults, strict=True):
        yield part.arg if default is None else f"{part.arg}={ast.unparse(default)}"
    if given.vararg:
        yield f"*{given.vararg.arg}"
    if given.kwarg:
        yield f"**{given.kwarg.arg}"


def _registered() -> Iterator[str]:
    for module in public_modules():
        for name in listed_in_all(module):
            if name.startswith("list_") and name not in _NO_REGISTRY:
                kind = name.removeprefix("list_").replace("_", " ")
                kind = f"{kind[:-3]}y" if kind.endswith("ies") else kind.removesuffix("s")
                for item in getattr(import_module(module), name)():
                    yield f"{kind}: {getattr(item, 'name', item)}"


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Constant | ast.JoinedStr) and (text := written(node)):
            yield " ".join(text.split())


if __name__ == "__main__":
    print("\n".join(sorted({*live().lines, *text_lines()})))
