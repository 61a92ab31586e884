"""The frozen values, those that the cases give now, and how the two differ."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

import polars as pl
from tests.committed import ROOT, at_commit
from tests.golden.case import Case
from tests.golden.values import Place, Value, values

import affectlab as al

FILE = ROOT / "tests" / "data" / "golden.parquet"
SCHEMA = {
    "case": pl.String,
    "table": pl.String,
    "row": pl.String,
    "column": pl.String,
    "number": pl.Float64,
    "word": pl.String,
    "tolerance": pl.Float64,
}
"""A row is a value: a number with its tolerance, 0 where it is a count, or a word; neither where
something is absent."""
_FLOOR = 1e-3
"""Numbers below this are compared as if they were as large: what cancels leaves rounding."""
_PASSING = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings about libraries and their versions, not about results."""


class Frozen(NamedTuple):
    """A value, and how far it may be off."""

    value: Value
    tolerance: float | None

    @classmethod
    def of(cls, value: Value | int, tolerance: float) -> Frozen:
        if isinstance(value, int):
            return cls(float(value), 0.0)
        return cls(value, tolerance if isinstance(value, float) else None)

    def allows(self, now: Value) -> bool:
        was = self.value
        if isinstance(was, float) and isinstance(now, float):
            if not (math.isfinite(was) and math.isfinite(now)):
                return was == now or (math.isnan(was) and math.isnan(now))
            return abs(now - was) <= (self.tolerance or 0.0) * max(abs(was), _FLOOR)
        return was == now


Cases = dict[str, dict[Place, Frozen]]


@dataclass(frozen=True)
class Difference:
    """A value that is not what was frozen."""

    case: str
    place: Place
    kind: Literal["changed", "new", "gone"]
    was: Value = None
    now: Value = None

    @property
    def step(self) -> float:
        """How far a number is off, relative to what it was; infinite where there is no number."""
        if isinstance(self.was, float) and isinstance(self.now, float):
            step = abs(self.now - self.was) / max(abs(self.was), _FLOOR)
            return step if math.isfinite(step) else math.inf
        return math.inf


@cache
def cases() -> dict[str, tuple[Case, str | None]]:
    """Name every case and the table it runs on: ``file.function@table``."""
    folder = Path(__file__).with_name("cases")
    stems = sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")
    return {
        f"{stem}.{name}" + (f"@{table}" if table else ""): (found, table)
        for stem in stems
        for name, found in vars(import_module(f"tests.golden.cases.{stem}")).items()
        if isinstance(found, Case)
        for table in found.tables or (None,)
    }


def compute(name: str) -> Any:
    """Run a case in an empty folder.

    What a case returns may hold calls, so that an error of one of them does not hide the others;
    an error that the package raises on purpose is a value, too.
    """
    found, table = cases()[name]
    tables = import_module("tests.golden.cases.tables")
    with _empty_folder(), warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        given = () if table is None else (tables.make(al, table),)
        try:
            made = _outcome(lambda: found.run(al, *given))
        except Exception as error:
            error.add_note(f"in the case {name}")
            raise
    kinds = {one.category.__name__ for one in noted if not issubclass(one.category, _PASSING)}
    return {"": made, "warnings": sorted(kinds)} if kinds else made


def _outcome(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _outcome(part) for key, part in value.items()}
    if not callable(value) or isinstance(value, type):
        return value
    try:
        return _outcome(value())
    except al.AffectlabError as error:
        return {"error": type(error).__name__}


@contextmanager
def _empty_folder() -> Iterator[None]:
    before = Path.cwd()
    settled = {"COLUMNS": "100", "HF_HUB_OFFLINE": "1", "MPLBACKEND": "Agg", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory(prefix="golden-") as folder, patch.dict(os.environ, settled):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def now(name: str, made: Any) -> dict[Place, Frozen]:
    """Give what a case made as values with the tolerance of the case."""
    tolerance = cases()[name][0].tolerance
    return {place: Frozen.of(value, tolerance) for place, value in values(made).items()}


def differences(was: Cases, now: Cases) -> list[Difference]:
    """List what is not as it was, within the tolerances that were frozen."""
    found = []
    for name in sorted(was.keys() | now.keys()):
        before, after = was.get(name, {}), now.get(name, {})
        for place in [*before, *(place for place in after if place not in before)]:
            if place not in after:
                found.append(Difference(name, place, "gone", was=before[place].value))
            elif place not in before:
                found.append(Difference(name, place, "new", now=after[place].value))
            elif not before[place].allows(after[place].value):
                one, other = before[place].value, after[place].value
                found.append(Difference(name, place, "changed", one, other))
    return found


def told(found: list[Difference], most: int = 3) -> str:
    """Say what differs: a line for each column, and the rows that differ most."""
    groups: dict[tuple[str, str, str, str], list[Difference]] = defaultdict(list)
    for one in found:
        groups[one.case, one.place.table, one.kind, one.place.column].append(one)
    lines: list[str] = []
    before = ("", "")
    for (name, table, kind, column), parts in groups.items():
        if (name, table) != before:
            lines.append(f"{name}: {table}" if table else name)
            before = (name, table)
        lines.append(f"  {kind} {column}" + (f" ({len(parts)} rows)" if len(parts) > 1 else ""))
        largest = sorted(parts, key=lambda one: -one.step)[:most]
        for one in largest:
            ends = {"new": one.now, "gone": one.was}
            shown = (
                f"{_shown(one.was)} -> {_shown(one.now)}"
                if kind == "changed"
                else _shown(ends[kind])
            )
            lines.append("    " + (f"{one.place.row}: " if one.place.row else "") + shown)
        if len(parts) > most:
            lines.append(f"    and {len(parts) - most} more")
    return "\n".join(lines)


def _shown(value: Value) -> str:
    if value is None:
        return "nothing"
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


def read(commit: str | None = None) -> Cases:
    """Read what was frozen, in the working tree or at a commit."""
    found: Cases = {}
    for name, *place, number, word, tolerance in pl.read_parquet(
        at_commit(FILE, commit)
    ).iter_rows():
        value = word if number is None else number
        found.setdefault(name, {})[Place(*place)] = Frozen(value, tolerance)
    return found


def write(frozen: Cases) -> None:
    """Freeze values."""
    rows = [
        (
            name,
            *place,
            one.value if isinstance(one.value, float) else None,
            one.value if isinstance(one.value, str) else None,
            one.tolerance,
        )
        for name in sorted(frozen)
        for place, one in frozen[name].items()
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    frame.write_parquet(FILE, compression="zstd", compression_level=19, statistics=False)
