"""Reword all templates to "x": what then fails reads sentences where it should read facts.

Run the tests with ``python -m pytest -p tests.reworded tests/reliability``. Tests whose purpose is
the words are marked ``wording`` and left out; all others must pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from string import Formatter
from types import FunctionType, ModuleType
from typing import Any

import pytest


def _fields(template: str) -> str:
    """Give the fields of a template, which say what facts it takes."""
    try:
        return "".join(f"{{{name}}}" for _, name, _, _ in Formatter().parse(template) if name)
    except ValueError:
        return ""


def reworded(thing: Any) -> Any:
    """Put "x" in the place of every text in a thing; of templates only the fields stay."""
    if isinstance(thing, str) and type(thing) is str:
        return "x" + _fields(thing)
    if isinstance(thing, Mapping):
        return {key: reworded(part) for key, part in thing.items()}
    if isinstance(thing, list | tuple) and type(thing) in (list, tuple):
        return type(thing)(map(reworded, thing))
    return thing


def _without_words(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        return reworded(function(*args, **given))

    return called


def reword(module: ModuleType) -> None:
    """Reword the templates that a module holds, and what its functions return."""
    for name, thing in list(vars(module).items()):
        if isinstance(thing, FunctionType) and thing.__module__ == module.__name__:
            setattr(module, name, _without_words(thing))
        elif not name.startswith("__") and reworded(thing) != thing:
            setattr(module, name, reworded(thing))


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        reword(module)


class _Finder(MetaPathFinder):
    """Reword a wording module when it is imported, before others take templates from it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not (fullname.startswith("affectlab.") and fullname.endswith(".wording")):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def pytest_load_initial_conftests() -> None:
    """Reword all wording modules that are imported from now on."""
    early = [name for name in sys.modules if name.endswith(".wording")]
    if early:
        raise RuntimeError(f"imported before it could be reworded: {early}")
    sys.meta_path.insert(0, _Finder())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of words."""
    of_words = [item for item in items if item.get_closest_marker("wording")]
    config.hook.pytest_deselected(items=of_words)
    items[:] = [item for item in items if item not in of_words]
