"""The types that public functions and classes are annotated with can be evaluated."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import get_type_hints

import matplotlib.figure
import polars as pl
import pytest
from tests.public_api.source import listed_in_all, public_modules

from affectlab.core import types as _types


def _annotated(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A function; or a class, what it is made with, its public methods and its properties."""
    if not inspect.isclass(value):
        if callable(value):
            yield name, value
        return
    yield name, value
    for part in dir(value):
        # What a dataclass is made with are its fields, which are the class's own hints.
        made = part == "__init__" and not dataclasses.is_dataclass(value)
        if part.startswith("_") and not made:
            continue
        member = inspect.getattr_static(value, part)
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if inspect.isfunction(member):
            yield f"{name}.{part}", member


@pytest.mark.parametrize("module", public_modules())
def test_annotations_can_be_evaluated(module: str) -> None:
    there = import_module(module)
    wrong = []
    for name in listed_in_all(module):
        for part, value in _annotated(name, getattr(there, name)):
            if not str(getattr(value, "__module__", "")).startswith("affectlab"):
                continue
            try:
                get_type_hints(value, include_extras=True)
            except (NameError, TypeError, AttributeError) as problem:
                wrong.append(f"{module}.{part}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_a_class_known_by_name_is_that_of_its_library() -> None:
    assert isinstance(matplotlib.figure.Figure(), _types.Figure)
    assert isinstance(pl.DataFrame(), _types.pl.DataFrame)
    assert not isinstance(pl.DataFrame(), _types.Figure)
    unloaded = _types.by_name("a_library_that_is_not_loaded", "DataFrame")
    assert not isinstance(pl.DataFrame(), unloaded)
