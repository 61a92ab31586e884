"""Any result as leaves with stable paths, by what is public of it.

Tables are what lasts: a data frame becomes ``table/key of the row/column``, where the key is the
shortest run of leading columns without decimals that tells the rows apart, so that a row keeps its
path when others come or go. The main table of a result (``to_frame()``) is ``table``; others go by
their name.
"""

from __future__ import annotations

import math
import os
import re
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel

Leaf = float | int | str | None
Leaves = dict[str, Leaf]

_MOST = 300
"""Rows of a table, or numbers of an array, up to which each is a leaf; more are summed up."""
_BESIDE = ("scale", "history", "warnings", "set_aside", "notes", "sentences", "taxonomy")
"""What an object that is no dataclass is asked for beside its table."""
_INSIDE = {"replicates", "joint", "keys", "figures", "settings", "provenance"}
"""Fields that hold the draws behind an interval, or how a table is laid out."""
_FOLDER = re.compile(r"(/[\w.+-]+)*/golden-\w+")


def leaves(
    value: Any, path: str = "", seen: set[str] | None = None, public: Container[str] = ()
) -> Leaves:
    """Flatten a value.

    Fields of a result that hold an object of a class that is not `public` are how it was computed,
    and are left out. `seen` collects the names of the classes that were met.
    """
    return dict(_Walk(set() if seen is None else seen, public).walk(value, path))


def rows(frame: pl.DataFrame, *keys: str) -> dict[str, dict[str, Any]]:
    """Give a frame by rows, under a key that is the same in both editions."""
    return _rows(list(frame.iter_rows(named=True)), list(keys))


def _rows(records: Sequence[Mapping[str, Any]], keys: list[str]) -> dict[str, dict[str, Any]]:
    listed = keys or _keys(records)
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(records):
        name = _name(tuple(row[key] for key in listed)) if listed else str(number)
        found[name] = {key: item for key, item in row.items() if key not in listed}
    if len(found) != len(records):
        raise ValueError(f"{', '.join(listed)} do not tell the rows apart")
    return found


class _Walk:
    def __init__(self, seen: set[str], public: Container[str]) -> None:
        self.seen, self.public = seen, public

    def walk(self, value: Any, path: str) -> Iterator[tuple[str, Leaf]]:
        self.seen.add(type(value).__name__)
        if value is None or isinstance(value, str | bool | int | float | np.generic):
            yield path, _leaf(value)
        elif isinstance(value, Path):
            yield path, value.name
        elif isinstance(value, pl.DataFrame):
            yield from self.table(value, path)
        elif isinstance(value, pl.Series):
            yield from self.walk(value.to_list(), path)
        elif isinstance(value, np.ndarray):
            yield from self.array(value, path)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield from self.walk(item, _join(path, _name(key)))
        elif isinstance(value, set | frozenset):
            yield from self.walk(sorted(value), path)
        elif _is_table(value):
            yield from self.walk(_rows(value, []), path)
        elif isinstance(value, Sequence):
            for number, item in enumerate(value):
                yield from self.walk(item, _join(path, str(number)))
        elif isinstance(value, BaseModel):
            given = {name: getattr(value, name) for name in type(value).model_fields}
            yield from self.walk(given, path)
        elif callable(value) and not is_dataclass(value):
            yield path, f"a {type(value).__name__}"
        else:
            yield from self.walk(self.parts(value), path)

    def parts(self, value: Any) -> dict[str, Any]:
        """Name what a result consists of: its tables, and everything else that is public."""
        parts: dict[str, Any] = {}
        beside: Sequence[str] = ("notes", "sentences")
        if isinstance(getattr(value, "tables", None), Mapping):
            # A result that declares its tables says all that is to be compared.
            parts |= {**value.tables, **(getattr(value, "settings", None) or {})}
        elif is_dataclass(value):
            parts |= {
                field.name: part
                for field in fields(value)
                if not field.name.startswith("_") and field.name not in _INSIDE
                if self.told(part := getattr(value, field.name))
            }
            if isinstance(parts.pop("tables", getattr(value, "tables", None)), tuple):
                # The first is what to_frame() gives.
                parts = {table.name: table.frame for table in value.tables[1:]} | parts
        else:
            beside = _BESIDE
        for name in dir(type(value)):
            if name != "to_frame" and (not name.endswith("_frame") or name.startswith("_")):
                continue
            method = getattr(value, name)
            if not callable(method) or any(
                wanted.default is wanted.empty for wanted in signature(method).parameters.values()
            ):
                continue  # it has to be told which
            table = method()
            parts = {key: part for key, part in parts.items() if not _same(part, table)}
            parts["table" if name == "to_frame" else name.removesuffix("_frame")] = table
        for name in beside:
            if name not in parts and hasattr(value, name):
                said = getattr(value, name)
                parts[name] = said() if callable(said) else said
        if not parts and not is_dataclass(value):
            raise TypeError(f"nothing public is known of {type(value)!r}; return its parts")
        return parts

    def told(self, part: Any) -> bool:
        """Whether a field of a result is part of what it says."""
        if isinstance(part, Mapping):
            return all(self.told(item) for item in part.values())
        if isinstance(part, list | tuple):
            return all(self.told(item) for item in part)
        return (
            not is_dataclass(part) or type(part).__name__ in self.public or hasattr(part, "tables")
        )

    def table(self, frame: pl.DataFrame, path: str) -> Iterator[tuple[str, Leaf]]:
        yield _join(path, "#rows"), frame.height
        if frame.height <= _MOST:
            yield from self.walk(rows(frame), path)
            return
        for column in frame:
            yield from _summed(column.to_numpy(), _join(path, f"#{column.name}"))

    def array(self, array: np.ndarray[Any, Any], path: str) -> Iterator[tuple[str, Leaf]]:
        yield _join(path, "#shape"), " x ".join(map(str, array.shape))
        if array.size <= _MOST:
            yield from self.walk(array.tolist(), path)
        else:
            yield from _summed(array, path)


def _is_table(value: Any) -> bool:
    """Whether a list holds records that have the same columns, as tables have in JSON."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(row, Mapping) and row.keys() == value[0].keys() for row in value)
    )


def _same(part: Any, table: Any) -> bool:
    frame = getattr(part, "frame", part)
    return isinstance(frame, pl.DataFrame) and frame is table


def _summed(array: np.ndarray[Any, Any], path: str) -> Iterator[tuple[str, Leaf]]:
    """Sum up many values, with weights, so that an exchange of two of them is noticed."""
    if array.dtype.kind not in "biuf":
        text = "\n".join(_name(item) for item in array.ravel().tolist())
        yield _join(path, "#text"), zlib.crc32(text.encode())
        return
    numbers = array.ravel().astype(float)
    finite = np.isfinite(numbers)
    weights = np.cos(np.arange(len(numbers)))
    yield _join(path, "#finite"), int(finite.sum())
    yield _join(path, "#mean"), _leaf(numbers[finite].mean() if finite.any() else math.nan)
    yield _join(path, "#weighted"), _leaf((weights * numbers)[finite].sum() / len(numbers))


def _keys(records: Sequence[Mapping[str, Any]]) -> list[str]:
    names: list[tuple[str, ...]] = [()] * len(records)
    listed: list[str] = []
    for column in records[0] if records else ():
        values = [row[column] for row in records]
        if any(not isinstance(value, str | int | None) for value in values):
            break
        listed.append(column)
        names = [(*name, _name(value)) for name, value in zip(names, values, strict=True)]
        if len(set(names)) == len(names):
            return listed
    return []


def _leaf(value: Any) -> Leaf:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, str):
        return _FOLDER.sub("FOLDER", value.replace(os.getcwd(), "FOLDER"))  # noqa: PTH109
    if isinstance(value, int | float):
        return value
    return str(value)


def _name(key: Any) -> str:
    text = " | ".join(map(str, key)) if isinstance(key, tuple) else str(key)
    return text.replace("/", "∕") or "''"


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
