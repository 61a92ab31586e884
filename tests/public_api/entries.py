"""What is public about a function, a class or a constant, as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.public_api.source import (
    Found,
    all_modules,
    defined_in,
    listed_in_all,
    module_tree,
    public_modules,
)

__all__ = ["Function", "key_entries", "module_entries", "parameters"]

Function = ast.FunctionDef | ast.AsyncFunctionDef

_LONGEST = 300
"""Characters of a constant that are shown; a table of data is data."""
_BY_SYNTAX = (
    *("__init__", "__call__", "__len__", "__iter__", "__next__"),
    *("__getitem__", "__contains__", "__enter__", "__exit__"),
)


def module_entries(module: str) -> dict[str, str]:
    """Give what a module makes public: each name, and what is promised about it."""
    entries: dict[str, str] = {}
    for name in listed_in_all(module):
        found = defined_in(module, name)
        owner = _owner(name, found, module)
        if owner != module:
            entries[name] = f"is {owner}.{name}"
        elif isinstance(found.node, ast.ClassDef):
            entries |= _class(name, found.node, found.module)
        elif isinstance(found.node, Function):
            entries[name] = parameters(found.node, found.module)
        elif isinstance(found.node, ast.Assign | ast.AnnAssign):
            # Every release has a version of its own.
            entries[name] = "constant" if name == "__version__" else _constant(found)
        else:
            entries[name] = found.text
    return entries


def key_entries() -> dict[str, str]:
    """Give the keys of files that users write or exchange: fields that pydantic checks.

    What browsers send to the server of a study is no file, and not public; the files of other
    tools, which formats read, are theirs.
    """
    entries = {}
    for module in all_modules():
        if module.startswith(("affectlab.study.server", "affectlab.ratings.formats.")):
            continue
        for node in module_tree(module).body:
            if isinstance(node, ast.ClassDef) and _is_checked(node, module):
                entries |= {
                    f"{node.name.removeprefix('_')}.{name}": text
                    for name, text in _members(node, module)
                    if text.startswith("field")
                }
    return dict(sorted(entries.items()))


def _is_checked(node: ast.ClassDef, module: str) -> bool:
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0]
        if name in {"BaseModel", "pydantic.BaseModel"}:
            return True
        found = _base(base, module)
        if found is not None and _is_checked(*found):
            return True
    return False


def _owner(name: str, found: Found, module: str) -> str:
    """Give the innermost public module that has the same thing under the same name."""
    if found.node is None:
        return module
    inner = [
        other
        for other in public_modules()
        if other.startswith(f"{module}.")
        and name in listed_in_all(other)
        and defined_in(other, name) == found
    ]
    return max(inner, key=len, default=module)


def parameters(node: Function, module: str, *, skip: int = 0) -> str:
    """Give the parameters of a function with their kinds and defaults, without annotations."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    parts = [
        _parameter(part, value, module)
        for part, value in zip(plain[skip:], defaults[skip:], strict=True)
    ]
    if len(given.posonlyargs) > skip:
        parts.insert(len(given.posonlyargs) - skip, "/")
    if given.vararg:
        parts.append(f"*{given.vararg.arg}")
    elif given.kwonlyargs:
        parts.append("*")
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    parts += [_parameter(part, value, module) for part, value in pairs]
    if given.kwarg:
        parts.append(f"**{given.kwarg.arg}")
    return f"({', '.join(parts)})"


def _parameter(part: ast.arg, default: ast.expr | None, module: str) -> str:
    return part.arg if default is None else f"{part.arg}={_value(default, module)}"


def _value(node: ast.expr, module: str) -> str:
    """Give a default as it is written; the value of a constant, because the value is promised."""
    if isinstance(node, ast.Name):
        try:
            found = defined_in(module, node.id)
        except LookupError:
            return node.id
        if isinstance(found.node, ast.Assign | ast.AnnAssign) and found.node.value is not None:
            return _value(found.node.value, found.module)
    return ast.unparse(node)


def _constant(found: Found) -> str:
    assert isinstance(found.node, ast.Assign | ast.AnnAssign)
    text = "" if found.node.value is None else _value(found.node.value, found.module)
    return f"= {text}" if 0 < len(text) <= _LONGEST else "constant"


def _class(name: str, node: ast.ClassDef, module: str) -> dict[str, str]:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    kinds = [text for text in map(ast.unparse, node.decorator_list) if "dataclass" in text]
    members = dict(_members(node, module))
    head = "; ".join(["class" + (f" of {bases}" if bases else ""), *kinds])
    return {name: head} | {f"{name}.{member}": text for member, text in members.items()}


def _members(node: ast.ClassDef, module: str) -> Iterator[tuple[str, str]]:
    """Give public members, those of bases first, which a class may replace."""
    for base in reversed(node.bases):
        name = base.value if isinstance(base, ast.Subscript) else base
        found = _base(name, module)
        if found is not None:
            parent, place = found
            yield from _members(parent, place)
    for part in node.body:
        if isinstance(part, Function):
            if not part.name.startswith("_") or part.name in _BY_SYNTAX:
                yield part.name, _method(part, module)
            if part.name == "__init__":
                yield from _set_on_self(part)
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            if not part.target.id.startswith("_"):
                yield part.target.id, _field(part, module)
        elif isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    yield target.id, f"= {ast.unparse(part.value)}"


def _base(node: ast.expr, module: str) -> tuple[ast.ClassDef, str] | None:
    if not isinstance(node, ast.Name):
        return None
    try:
        found = defined_in(module, node.id)
    except LookupError:
        # A class of Python itself, such as ValueError.
        return None
    return (found.node, found.module) if isinstance(found.node, ast.ClassDef) else None


def _method(node: Function, module: str) -> str:
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    if marks & {"property", "cached_property", "functools.cached_property"}:
        return "property"
    if "staticmethod" in marks:
        return f"static method {parameters(node, module)}"
    kind = "class method " if "classmethod" in marks else ""
    return kind + parameters(node, module, skip=1)


def _field(node: ast.AnnAssign, module: str) -> str:
    if node.value is None:
        return "field"
    call = node.value
    if isinstance(call, ast.Call) and ast.unparse(call.func) in {"field", "Field"}:
        # What else a call of Field says is wording, or a rule that files are checked by.
        given = {word.arg: word.value for word in call.keywords}
        value = given.get("default", call.args[0] if call.args else None)
        if value is None and "default_factory" in given:
            made = given["default_factory"]
            text = (
                ast.unparse(made.body) if isinstance(made, ast.Lambda) else f"{ast.unparse(made)}()"
            )
            return f"field = {text}"
        if value is None or ast.unparse(value) == "...":
            return "field"
        return f"field = {_value(value, module)}"
    return f"field = {_value(call, module)}"


def _set_on_self(node: Function) -> Iterator[tuple[str, str]]:
    own = node.args.args[0].arg
    for part in ast.walk(node):
        if isinstance(part, ast.Assign | ast.AnnAssign):
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == own
                    and not target.attr.startswith("_")
                ):
                    yield target.attr, "attribute"
