"""Files that tests read, and what was found in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.stimuli.curation.input.columns import Columns
from affectlab.stimuli.curation.input.problems import Problems
from affectlab.stimuli.curation.input.reading import Reading
from affectlab.stimuli.curation.input.sources import find_sources


def read(
    path: Path, strict: bool = False, threads: int = 1, **columns: Any
) -> tuple[pl.DataFrame, Reading]:
    """All rows of one file, and what was found."""
    (source,), _ = find_sources(path)
    problems = Problems(source.name, strict)
    reading = Reading(source, Columns(**columns), problems, threads)
    frames = list(reading.frames())
    empty = pl.DataFrame(schema={"id": pl.String, "text": pl.String, "group": pl.String})
    return pl.concat(frames) if frames else empty, reading


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def lines_of(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def places(reading: Reading, kind: str) -> list[int]:
    return sorted(found.line for found in reading.problems.first if found.kind == kind)
