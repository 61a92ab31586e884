"""The texts that came with results at the base: statuses, notes and warnings, found in the source.

Nothing marks them there: they are what is given to, assigned to, added to or returned by what is
called a status, a note or a warning. Whether a text is there still is an easier question, which
``inventory.live`` answers from all strings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.public_api.source import all_modules, defined_in, module_tree

__all__ = ["text_lines", "written"]

_NOTE_WORDS = {"caution", "cautions", "note", "notes", "warning", "warnings"}
_WHY_WORDS = {"missing", "undefined", "why"}
_SHORTEST = {"status": 1, "status in words": 2, "note": 3, "warning": 3}
"""Words of a text; what is shorter joins others, or is a key."""
_FAR = 5
"""Steps over variables and functions back to where a text is written."""


def written(node: ast.expr) -> str:
    """Give a string as it is written, with ``{}`` for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def text_lines() -> Iterator[str]:
    """Give each text that becomes a status, a note or a warning, after its kind."""
    for module in all_modules():
        for kind, text in _Texts(module).found():
            yield f"{kind}: {' '.join(text.split())}"


@dataclass(frozen=True)
class _Texts:
    """Follows what becomes a text of a result back to where it is written."""

    module: str

    def found(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(module_tree(self.module)):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Warning"):
                yield "warning", node.name
            elif isinstance(node, ast.Constant | ast.JoinedStr):
                text = written(node)
                if text == "undefined" or text.startswith("undefined: "):
                    yield "status", text
            elif isinstance(node, ast.FunctionDef):
                yield from self._of_function(node)

    def _of_function(self, node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
        if kind := _kind(node.name):
            yield from self._all(kind, (part.value for part in _returns(node)), node)
        for part in ast.walk(node):
            if isinstance(part, ast.keyword) and part.arg:
                yield from self._all(_kind(part.arg), [part.value], node)
            elif isinstance(part, ast.Dict):
                for key, value in zip(part.keys, part.values, strict=True):
                    if isinstance(key, ast.Constant):
                        yield from self._all(_kind(str(key.value)), [value], node)
            elif isinstance(part, ast.Assign):
                for target in part.targets:
                    yield from self._all(_kind(_last(target)), [part.value], node)
            elif isinstance(part, ast.AnnAssign | ast.AugAssign) and part.value is not None:
                yield from self._all(_kind(_last(part.target)), [part.value], node)
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                if part.func.attr in {"append", "extend"}:
                    yield from self._all(_kind(_last(part.func.value)), part.args, node)
                elif ast.unparse(part.func) == "warnings.warn":
                    yield from self._all("warning", part.args[:1], node)

    def _all(
        self, kind: str, parts: Iterable[ast.expr | None], function: ast.FunctionDef
    ) -> Iterator[tuple[str, str]]:
        if kind:
            for part in parts:
                for text in self._of(part, function, _FAR):
                    if text != "ok" and len(re.findall(r"[A-Za-z]{2,}", text)) >= _SHORTEST[kind]:
                        yield kind.removesuffix(" in words"), text

    def _of(self, node: ast.expr | None, function: ast.FunctionDef, far: int) -> Iterator[str]:
        if isinstance(node, ast.Constant | ast.JoinedStr):
            if text := written(node):
                yield text
        elif isinstance(node, ast.Name) and far:
            for value in _given(node.id, function):
                yield from self._of(value, function, far - 1)
        elif isinstance(node, ast.Call):
            for text in (text for part in node.args for text in self._of(part, function, far)):
                # One word is the name of a column, not a text.
                if " " in text.strip():
                    yield text
            if isinstance(node.func, ast.Name) and far:
                yield from self._of_callee(node.func.id, far - 1)
        elif node is not None:
            for part in _inner(node):
                yield from self._of(part, function, far)

    def _of_callee(self, name: str, far: int) -> Iterator[str]:
        try:
            found = defined_in(self.module, name)
        except LookupError:
            # A function of Python itself, or one inside another.
            return
        if isinstance(found.node, ast.FunctionDef):
            for back in _returns(found.node):
                yield from _Texts(found.module)._of(back.value, found.node, far)


def _inner(node: ast.expr) -> Iterator[ast.expr]:
    """Give what a value is made of; not the conditions on which it depends."""
    match node:
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.BoolOp() | ast.Dict():
            yield from node.values
        case ast.BinOp():
            yield from (node.left, node.right)
        case ast.List() | ast.Tuple() | ast.Set():
            yield from node.elts
        case ast.ListComp() | ast.GeneratorExp():
            yield node.elt
        case ast.Starred() | ast.NamedExpr():
            yield node.value


def _kind(name: str) -> str:
    words = set(name.casefold().split("_"))
    if words & _NOTE_WORDS:
        return "note"
    return "status" if "status" in words else "status in words" if words & _WHY_WORDS else ""


def _last(node: ast.expr) -> str:
    """Give the name of what is assigned to: ``x``, ``self.x`` and ``row["x"]`` are x."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Return))


def _given(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Give what a variable is set to, and what is added to it."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=own)]) if own == name:
                yield node.value
            case ast.AugAssign(target=ast.Name(id=own)) if own == name:
                yield node.value
            case ast.AnnAssign(target=ast.Name(id=own)) if own == name and node.value:
                yield node.value
            case ast.Call(func=ast.Attribute(ast.Name(id=own), "append" | "extend")) if own == name:
                yield from node.args
