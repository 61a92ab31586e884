"""Reword all templates to "x": what then fails reads sentences where it should read facts.

Run the tests with ``python -m pytest -p tests.reworded tests/reliability``. Only tests of the
wording modules themselves (``test_wording.py``) are about words.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import affectlab

ROOT = Path(affectlab.__file__).parent


def reworded(thing: Any) -> Any:
    """Put "x" in the place of every text in a thing."""
    if isinstance(thing, str) and type(thing) is str:
        return "x"
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


def pytest_load_initial_conftests() -> None:
    """Reword before anything takes templates by name."""
    for path in sorted(ROOT.rglob("wording.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        reword(importlib.import_module(".".join(parts)))
