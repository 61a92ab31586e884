"""Tables of frames: those that a study is run on, read again as a source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.errors import InputError
from affectlab.stimuli._tables import read_table
from affectlab.stimuli.frames._folders import Names
from affectlab.stimuli.frames._pictures import PictureFiles, UnusableError, natural_key
from affectlab.stimuli.frames._transition import Found, LeftOut, Transition

__all__ = ["TABLES", "frames_table", "in_table"]

TABLES = frozenset({".csv", ".parquet"})


def in_table(path: Path, names: Names, fps: float | None = None) -> Found:
    """Read a table with one row per frame, such as the candidates of a staircase study.

    Parameters
    ----------
    path
        CSV or Parquet: ``file``, relative to the table, in whose folder it lies; ``stimulus``,
        the name of the sequence; where there are any, ``frame``, its number; ``actor`` and
        ``expression``, otherwise read from the name; ``time_ms``, ``fps``, ``source`` and
        ``source_frame``, where the frame comes from.

    Raises
    ------
    InputError
        When a column or a value is missing or makes no sense, or a file lies elsewhere.
    """
    table = read_table(path, "frames")
    given = set(table.columns)
    if "file" not in given or not ("stimulus" in given or {"actor", "expression"} <= given):
        raise InputError(
            f"{path}: expected the columns file and stimulus, or file, actor and expression; "
            f"found: {', '.join(table.columns) or 'none'}"
        )
    if not table.height:
        raise InputError(f"{path}: no frames: expected one row per frame")
    sequences: dict[str, list[Mapping[str, Any]]] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        known = {name: str(value).strip() for name, value in row.items() if value is not None}
        known = {name: value for name, value in known.items() if value} | {"_row": str(number)}
        needed = ("file", "stimulus") if "stimulus" in given else ("file", "actor", "expression")
        for name in needed:
            if name not in known:
                raise InputError(f"{path}, row {number}, {name}: nothing; expected a name")
        name = known.get("stimulus") or f"{known['actor']}_{known['expression']}"
        sequences.setdefault(name, []).append(known)
    found, left = [], []
    for name in sorted(sequences, key=natural_key):
        rows = sequences[name]
        actor, expression = _whose(rows[0], name, names)
        try:
            frames = _frames(rows, path, fps)
        except UnusableError as problem:
            left.append(LeftOut(name, actor, expression, str(problem)))
            continue
        found.append(Transition(name, actor, expression, frames))
    return Found(tuple(found), tuple(left))


def _whose(row: Mapping[str, Any], name: str, names: Names) -> tuple[str, str]:
    if names.pattern is None and "actor" in row and "expression" in row:
        return row["actor"], row["expression"]
    return names.of(name)


def _frames(rows: list[Mapping[str, Any]], path: Path, fps: float | None) -> PictureFiles:
    if any("frame" in row for row in rows):
        numbered = [(_number(row, "frame", path), row) for row in rows]
        ordered = sorted(numbered, key=lambda one: one[0])
        for (before, _), (after, row) in pairwise(ordered):
            if before == after:
                raise InputError(f"{path}, row {row['_row']}: frame {after:g} is there twice")
        rows = [row for _, row in ordered]
    files = tuple(path.parent / row["file"] for row in rows)
    inside = path.parent.resolve()
    for row, file in zip(rows, files, strict=True):
        if not file.resolve().is_relative_to(inside):
            raise InputError(
                f"{path}, row {row['_row']}: file {row['file']!r} lies outside {path.parent}"
            )
    if len(set(files)) < len(files):
        raise UnusableError("a file stands for two frames")
    missing = next(
        (row["file"] for row, file in zip(rows, files, strict=True) if not file.is_file()), None
    )
    if missing is not None:
        raise UnusableError(f"file {missing!r} is not in {path.parent}")
    if fps is None and "fps" in rows[0]:
        fps = _number(rows[0], "fps", path)
    times = None
    if all("time_ms" in row for row in rows):
        times = tuple(_number(row, "time_ms", path) for row in rows)
    origins = None
    if all("source" in row and "source_frame" in row for row in rows):
        origins = tuple((row["source"], int(_number(row, "source_frame", path))) for row in rows)
    return PictureFiles(files, fps, times, origins)


def _number(row: Mapping[str, Any], name: str, path: Path) -> float:
    try:
        value = float(row[name])
    except (KeyError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{path}, row {row['_row']}, {name}: {row.get(name, '')!r}; expected a number"
        )
    return value


def frames_table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Make a table of rows of frames, its columns the same whatever the rows leave open."""
    return pl.DataFrame(rows, schema_overrides={"time_ms": pl.Float64, "fps": pl.Float64})
