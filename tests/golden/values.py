"""Any result as values, each at its place: a table, a row and a column.

What is taken is what users count on: numbers, how many entered, which rows and columns there are,
what is absent, and words that are one of several, such as a status, a target or a verdict.
Sentences are left out, wherever they stand: they may be put better at any time.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel

from affectlab.core.result import Result
from affectlab.core.tables import Table
from affectlab.ratings import Ratings, Scale

Value = float | str | None


class Place(NamedTuple):
    """Where a value stands: in which table of a case, and there in which row and column."""

    table: str
    row: str
    column: str

    def __str__(self) -> str:
        return " / ".join(part for part in self if part)


Values = dict[Place, Value | int]

_MOST = 300
"""Rows of a table, or numbers of an array, up to which each is a value; more are summed up."""
_WORDS = {"status", "target", "verdict", "verdicts"}
"""Columns of what is one of several, in however many words; of a status, up to a colon."""
_PROSE = {
    *("caption", "citation", "command", "definition", "evidence", "formula", "help", "licence"),
    *("method", "note", "notes", "provenance", "reason", "remark", "sentence", "sentences"),
    *("source", "test", "text", "title", "undefined", "why"),
}
"""Columns of sentences, even where one happens to be short."""
_DRAWS = {"figures", "jackknife", "joint", "keys", "replicates"}
"""Fields of what is no result that hold draws, or how a table is laid out."""
_NAME = re.compile(r"[^\s.,;:]+(?: [^\s.,;:]+){0,2}|")


def values(value: Any) -> Values:
    """Give what a case returns as values.

    Examples
    --------
    >>> frame = pl.DataFrame({"label": ["joy", "awe"], "value": [0.5, float("nan")]})
    >>> found = values({"alpha": frame, "notes": ["Few ratings."]})
    >>> found[Place("alpha", "joy", "value")], found[Place("alpha", "", "#rows")], len(found)
    (0.5, 2, 3)
    """
    return dict(_of(value, ()))


def _of(value: Any, path: tuple[str, ...]) -> Iterator[tuple[Place, Value | int]]:
    if path and path[-1] in _PROSE:
        return
    match value:
        case pl.DataFrame():
            yield from _of_frame(value, (), path)
        case Table():
            yield from _of_frame(value.frame, value.keys, path)
        case Result():
            parts: dict[str, Any] = {table.name: table for table in value.tables}
            if len(parts) == 1 and path:  # the name that the case gives says enough
                parts = {"": value.tables[0]}
            for name, part in {**parts, "settings": value.settings}.items():
                yield from _of(part, (*path, name) if name else path)
        case Ratings():
            yield from _of(value.frame, path)
            yield from _of(str(value.scale), (*path, "scale"))
        case np.ndarray():
            yield from _of_array(value, path)
        case pl.Series():
            yield from _of(value.to_list(), path)
        case Scale():
            yield from _of(str(value), path)
        case _ if is_dataclass(value) and not isinstance(value, type):
            for field in fields(value):
                part = getattr(value, field.name)
                if not field.name.startswith("_") and field.name not in _DRAWS:
                    yield from _of(part, (*path, field.name))
        case BaseModel():
            yield from _of({name: getattr(value, name) for name in type(value).model_fields}, path)
        case Mapping():
            for name, part in value.items():
                yield from _of(part, (*path, _name(name)))
        case set() | frozenset():
            yield from _of(sorted(value), path)
        case Sequence() if not isinstance(value, str):
            if value and all(isinstance(row, Mapping) for row in value):
                yield from _of_rows(value, (), path)
            else:
                for number, part in enumerate(value):
                    yield from _of(part, (*path, str(number)))
        case _ if callable(value):  # what belongs to a class, such as a formula
            return
        case _:
            *table, column = path or ("",)
            yield from _of_cell(value, Place("/".join(table), "", column))


def _of_frame(
    frame: pl.DataFrame, keys: Sequence[str], path: tuple[str, ...]
) -> Iterator[tuple[Place, Value | int]]:
    table = "/".join(path)
    yield Place(table, "", "#rows"), frame.height
    if frame.height <= _MOST:
        yield from _of_rows(frame.to_dicts(), keys, path)
        return
    for column in frame:
        if column.dtype.is_numeric():
            yield from _summed(column.to_numpy(), table, column.name)
        elif column.dtype in (pl.String, pl.Categorical, pl.Enum) and not _is_prose(
            column.name, column
        ):
            text = "\n".join(map(str, column))
            yield Place(table, "", f"#{column.name}"), str(zlib.crc32(text.encode()))


def _of_rows(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], path: tuple[str, ...]
) -> Iterator[tuple[Place, Value | int]]:
    table = "/".join(path)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    keys = _keys(rows, columns, keys)
    prose = {name for name in columns if _is_prose(name, (row.get(name) for row in rows))}
    seen: dict[str, int] = {}
    for row in rows:
        name = " | ".join(_name(row[key]) for key in keys)
        seen[name] = seen.get(name, 0) + 1
        named = name if seen[name] == 1 else f"{name} #{seen[name]}"
        if keys and set(keys) >= set(columns):
            yield Place(table, named, "#row"), 1
        for column in columns:
            if column in row and column not in prose and column not in keys:
                yield from _of_cell(row[column], Place(table, named, column))


def _keys(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], declared: Sequence[str]
) -> list[str]:
    """Give the columns that say what a row is about: those declared, then names until rows differ.

    Of a table that declares none, whole numbers may name rows as well, as long as no other column
    comes before them.
    """
    keys = [name for name in declared if name in columns]
    for column in columns:
        if keys and len({tuple(_name(row.get(key)) for key in keys) for row in rows}) == len(rows):
            break
        cells = [row.get(column) for row in rows]
        if not column.startswith("n_") and _are_names(column, cells, whole=not declared):
            keys += [column] if column not in keys else []
        elif not declared:
            break
    return keys


def _are_names(column: str, cells: Sequence[Any], *, whole: bool) -> bool:
    kinds = {type(cell) for cell in cells}
    return kinds <= ({str, int} if whole else {str}) and not _is_prose(column, cells)


def _of_cell(value: Any, place: Place) -> Iterator[tuple[Place, Value | int]]:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        yield place, None if value is None else str(value)
    elif isinstance(value, int | float):
        yield place, value
    elif isinstance(value, str | Path):
        text = value.name if isinstance(value, Path) else value
        if place.column == "status":
            text = text.partition(":")[0]
        if not _is_prose(place.column, [text]):
            yield place, text
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _of_cell(part, place._replace(column=f"{place.column}/{_name(name)}"))
    elif isinstance(value, Sequence | pl.Series | np.ndarray):
        for number, part in enumerate(value):
            yield from _of_cell(part, place._replace(column=f"{place.column}/{number}"))
    else:
        yield place, str(value)


def _of_array(
    array: np.ndarray[Any, Any], path: tuple[str, ...]
) -> Iterator[tuple[Place, Value | int]]:
    table = "/".join(path)
    yield Place(table, "", "#shape"), " x ".join(map(str, array.shape))
    if array.dtype.kind not in "biuf" or array.size <= _MOST:
        for at, value in np.ndenumerate(array):
            yield from _of_cell(value, Place(table, ",".join(map(str, at)), "value"))
    else:
        yield from _summed(array, table, "value")


def _summed(
    array: np.ndarray[Any, Any], table: str, column: str
) -> Iterator[tuple[Place, Value | int]]:
    """Sum up many numbers, with weights, so that an exchange of two of them is noticed."""
    numbers = array.ravel().astype(float)
    finite = np.isfinite(numbers)
    weights = np.cos(np.arange(len(numbers)))
    yield Place(table, "#finite", column), int(finite.sum())
    yield Place(table, "#mean", column), float(numbers[finite].mean()) if finite.any() else math.nan
    yield Place(table, "#weighted", column), float((weights * numbers)[finite].sum() / len(numbers))


def _is_prose(column: str, found: Iterable[Any]) -> bool:
    """Whether a column of texts holds sentences, which are not frozen."""
    if column in _WORDS:
        return False
    return column in _PROSE or any(
        isinstance(one, str) and not _NAME.fullmatch(one) for one in found
    )


def _name(key: Any) -> str:
    return " | ".join(map(str, key)) if isinstance(key, tuple) else str(key)
