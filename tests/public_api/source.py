"""Finding where a public name is defined, by reading the source."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = [
    "REPOSITORY",
    "Found",
    "Import",
    "all_modules",
    "defined_in",
    "is_package",
    "listed_in_all",
    "module_tree",
    "public_modules",
]

REPOSITORY = Path(__file__).resolve().parents[2]
_SOURCE = REPOSITORY / "src"


@dataclass(frozen=True)
class Found:
    """A name where it is defined."""

    module: str
    node: ast.AST | None
    """None for a module, and for what comes from another package."""
    text: str
    """What it is where there is no node."""


@dataclass(frozen=True)
class Import:
    """A name that one module has from another."""

    module: str
    name: str | None
    """None when it is the module itself."""


@cache
def public_modules() -> tuple[str, ...]:
    """Modules whose ``__all__`` is public: ``affectlab``, and what the reference documents."""
    pages = sorted((REPOSITORY / "docs" / "reference").glob("*.md"))
    text = "\n".join(page.read_text("utf-8") for page in pages)
    return tuple(
        sorted({"affectlab", *re.findall(r"(?m)^\.\. automodule:: (affectlab\S*)$", text)})
    )


@cache
def all_modules() -> tuple[str, ...]:
    """Give every module of the package, public or not, sorted."""
    parts = (path.relative_to(_SOURCE).with_suffix("").parts for path in _SOURCE.rglob("*.py"))
    return tuple(sorted(".".join(part).removesuffix(".__init__") for part in parts))


def is_package(module: str) -> bool:
    """Say whether a module of ours is a package."""
    path = _path(module)
    return path is not None and path.name == "__init__.py"


@cache
def listed_in_all(module: str) -> tuple[str, ...]:
    """Give what ``__all__`` names, sorted."""
    value = _scope(module).get("__all__")
    if not isinstance(value, ast.Assign):
        raise LookupError(f"{module} is public, and has no list __all__")
    return tuple(sorted(ast.literal_eval(value.value)))


def defined_in(module: str, name: str) -> Found:
    """Follow a name through imports, those for type checkers among them, to its definition."""
    here = _scope(module).get(name)
    if isinstance(here, Import):
        if _is_module(here):
            whole = here.module if here.name is None else f"{here.module}.{here.name}"
            return Found(whole, None, f"module {whole}")
        if here.module.partition(".")[0] != "affectlab":
            return Found(here.module, None, f"{here.module}.{here.name}")
        return defined_in(here.module, here.name)
    if here is not None:
        return Found(module, here, "")
    if _path(f"{module}.{name}"):
        return Found(f"{module}.{name}", None, f"module {module}.{name}")
    raise LookupError(f"{module}.{name} is public, and is defined nowhere in the source")


def _is_module(import_: Import) -> bool:
    """Say whether it is a module; what a package hands out goes before a module of its name."""
    if import_.name is None:
        return True
    ours = _path(import_.module) is not None
    handed_out = _scope(import_.module).get(import_.name) if ours else None
    return handed_out in (None, import_) and _path(f"{import_.module}.{import_.name}") is not None


def _path(module: str) -> Path | None:
    place = _SOURCE.joinpath(*module.split("."))
    choices = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in choices if path.is_file()), None)


@cache
def module_tree(module: str) -> ast.Module:
    """Give the source of a module as a tree; it is read once."""
    path = _path(module)
    if path is None:
        raise LookupError(f"there is no module {module}")
    tree = ast.parse(path.read_text("utf-8"))
    # Trees stay; looking through them for garbage again and again takes longer than reading them.
    gc.freeze()
    return tree


@cache
def _scope(module: str) -> dict[str, ast.AST | Import]:
    return dict(_names(module_tree(module).body))


def _names(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST | Import]]:
    # Of overloads, the last one is the function itself.
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, Import(str(node.module), alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, Import(alias.name, None)
        elif isinstance(node, ast.If | ast.Try):
            yield from _names(node.body)
