"""Parquet files, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from affectlab.stimuli.curation._columns import Columns
from affectlab.stimuli.curation._compression import EndedEarly
from affectlab.stimuli.curation._parsed import LINE, Parsed, staged_rows
from affectlab.stimuli.curation._problems import Problems
from affectlab.stimuli.curation._sources import Source

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["open_parquet", "parquet_parts"]

_ROWS = 50_000


def open_parquet(source: Source) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises
    ------
    EndedEarly
        When it is none, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(source.system.open_input_file(source.path), pre_buffer=True)
    except (OSError, pa.ArrowException) as problem:
        raise EndedEarly("unreadable", _sentence(problem)) from None


def parquet_parts(table: pq.ParquetFile, columns: Columns, label: str) -> Iterator[Parsed]:
    """Read the rows of a Parquet file; values become text, and lines are numbers of rows.

    Raises
    ------
    EndedEarly
        Where the file is damaged, after what came before.
    """
    import pyarrow as pa

    names = table.schema_arrow.names
    needed = {part: name for part, name in columns.needed().items() if name in names}
    batches = table.iter_batches(_ROWS, columns=sorted(set(needed.values())))
    first = 1
    while True:
        try:
            batch = next(batches, None)
        except (OSError, pa.ArrowException) as problem:
            raise EndedEarly("unreadable", _sentence(problem)) from None
        if batch is None:
            return
        problems = Problems()
        found = batch.schema.names
        series = {
            part: _as_text(pl.from_arrow(batch.column(found.index(name))), part)  # type: ignore[arg-type]
            for part, name in needed.items()
        }
        lines = pl.int_range(first, first + batch.num_rows, eager=True)
        rows = pl.DataFrame({**series, LINE: lines})
        yield Parsed(staged_rows(rows, columns, label, problems), batch.num_rows, problems)
        first += batch.num_rows


def _as_text(values: pl.Series, part: str) -> pl.Series:
    if part == "emotions" and isinstance(values.dtype, pl.List):
        return values.cast(pl.List(pl.String))
    if isinstance(values.dtype, pl.List | pl.Array | pl.Struct):
        frame = values.alias("values").to_frame()
        return frame.select(pl.struct("values").struct.json_encode())["values"]
    if values.dtype == pl.Binary:
        return pl.Series(
            [None if value is None else value.decode("utf-8", "replace") for value in values],
            dtype=pl.String,
        )
    return values.cast(pl.String)


def _sentence(problem: Exception) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__
