"""Parquet files, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.stimuli.curation.input.columns import LINE, Columns, Parsed, staged_rows
from affectlab.stimuli.curation.input.compression import EndedEarly
from affectlab.stimuli.curation.input.lines import LONGEST
from affectlab.stimuli.curation.input.problems import Problems
from affectlab.stimuli.curation.input.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["open_parquet", "parquet_parts"]

_ROWS = 50_000
"""Rows that are read at once, where they are of the usual length."""
_BYTES = 16 * 2**20
"""Bytes that are read at once, and that rows become at once when they are written out."""
_NAMED = 5
"""Rows that were too long and are named."""


def open_parquet(source: Source) -> pq.ParquetFile:
    """Open a Parquet file, whose texts are read as the file holds them.

    A value that a file holds once, and names in each of its rows, is not written out: the memory
    that it would need is not told by the size of the file.

    Raises
    ------
    EndedEarly
        When it is none, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(source.system.open_input_file(source.path))
        return pq.ParquetFile(
            source.system.open_input_file(source.path),
            metadata=table.metadata,
            read_dictionary=_held_once(table),
            pre_buffer=True,
        )
    except (OSError, pa.ArrowException) as problem:
        raise EndedEarly("unreadable", _sentence(problem)) from None


def parquet_parts(table: pq.ParquetFile, columns: Columns, label: str) -> Iterator[Parsed]:
    """Read the rows of a Parquet file; values become text, and lines are numbers of rows.

    Rows whose values are above :data:`LONGEST` together are counted and left out.

    Raises
    ------
    EndedEarly
        Where the file is damaged, after what came before.
    """
    import pyarrow as pa

    names = table.schema_arrow.names
    needed = {part: name for part, name in columns.needed().items() if name in names}
    wanted = sorted(set(needed.values()))
    batches = table.iter_batches(_rows_at_once(table, wanted), columns=wanted)
    first = 1
    while True:
        try:
            batch = next(batches, None)
        except (OSError, pa.ArrowException) as problem:
            raise EndedEarly("unreadable", _sentence(problem)) from None
        if batch is None:
            return
        lines = np.arange(first, first + batch.num_rows)
        first += batch.num_rows
        length = _lengths(batch)
        for at in _pieces(np.where(length > LONGEST, 0, length)):
            problems = Problems()
            fits = length[at] <= LONGEST
            if not fits.all():
                long = lines[at][~fits]
                told = f"a row above {LONGEST // 2**20} MiB"
                problems.add_lines("too_long", long[:_NAMED].tolist(), told, long.size)
            piece = batch.slice(at.start, at.stop - at.start).filter(pa.array(fits))
            found = piece.schema.names
            series = {
                part: _as_text(_written_out(piece.column(found.index(name))), part)
                for part, name in needed.items()
            }
            rows = pl.DataFrame({**series, LINE: pl.Series(lines[at][fits], dtype=pl.Int64)})
            # Reading counts the rows that were too long on its own.
            yield Parsed(staged_rows(rows, columns, label, problems), rows.height, problems)


def _held_once(table: pq.ParquetFile) -> list[str]:
    """Columns of text of which some part of the file lists the values apart from the rows."""
    schema, told = table.schema_arrow, table.metadata
    found = []
    for at in range(len(table.schema)):
        path = table.schema.column(at).path
        # Names that come twice, and lists, cannot be read so.
        if path not in schema.names or schema.names.count(path) > 1:
            continue
        kind = schema.field(path).type
        groups = [told.row_group(number).column(at) for number in range(told.num_row_groups)]
        listed = any("DICTIONARY" in name for group in groups for name in group.encodings)
        if listed and _is_text(kind):
            found.append(path)
    return found


def _rows_at_once(table: pq.ParquetFile, wanted: list[str]) -> int:
    """Rows of which the file holds no more than :data:`_BYTES` on average."""
    told = table.metadata
    columns = [table.schema.column(at) for at in range(len(table.schema))]
    used = [
        at
        for at, column in enumerate(columns)
        if column.path in wanted or column.path.split(".")[0] in wanted
    ]
    # Values of one length say themselves how long they are.
    fixed = sum(max(0, columns[at].length or 0) for at in used)
    rows = _ROWS
    for number in range(told.num_row_groups):
        group = told.row_group(number)
        size = sum(group.column(at).total_uncompressed_size for at in used)
        average = max(1, fixed + size // max(1, group.num_rows))
        rows = min(rows, max(1, _BYTES // average))
    return rows


def _lengths(batch: pa.RecordBatch) -> np.ndarray:
    """Bytes of the texts of each row, by shape (rows,), once they are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    length = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        listed = isinstance(column, pa.DictionaryArray)
        values = column.dictionary if listed else column
        kind = values.type
        if kinds.is_string_view(kind) or kinds.is_binary_view(kind):
            values = values.cast(pa.large_binary())
        elif not _is_text(kind):
            continue
        each = pc.binary_length(values)
        if listed:
            each = each.take(column.indices)
        length += pc.fill_null(each, 0).to_numpy(zero_copy_only=False)
    return length


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    text = kinds.is_string(kind) or kinds.is_large_string(kind)
    return bool(text or kinds.is_binary(kind) or kinds.is_large_binary(kind))


def _pieces(length: np.ndarray) -> Iterator[slice]:
    """Cut rows where they fill :data:`_BYTES`."""
    if not length.size:
        return
    number = (np.cumsum(length) - length) // _BYTES
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), length.size]
    for start, stop in pairwise(cuts):
        yield slice(start, stop)


def _written_out(column: pa.Array) -> pl.Series:
    """Give each row its value."""
    import pyarrow as pa

    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    return pl.from_arrow(column)  # type: ignore[return-value]


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
