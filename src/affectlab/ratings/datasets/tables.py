"""The tables in the Parquet files of the hub, without the pictures that stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.ratings.files import class_names, with_class_names
from affectlab.ratings.storage import METADATA_KEY


@dataclass(frozen=True)
class Wanted:
    """A split of a data set of the hub, and what must be in it."""

    repository: str
    configuration: str | None = None
    split: str | None = None
    revision: str = "main"
    columns: tuple[str, ...] = ()
    """Columns that must be there; lists are copied only of these."""
    otherwise: str = ""
    """What to do when the hub cannot be reached or the columns are others."""


def is_written_here(wanted: Wanted, file: str) -> bool:
    """Whether affectlab wrote a table, which then says what no column does, such as the scale."""
    import pyarrow.parquet as pq

    if wanted.columns:
        return False
    with _opened(wanted, file) as opened:
        return METADATA_KEY.encode() in (pq.ParquetFile(opened).metadata.metadata or {})


@contextmanager
def _opened(wanted: Wanted, file: str) -> Iterator[Any]:
    from huggingface_hub import HfFileSystem

    address = f"hf://datasets/{wanted.repository}@{wanted.revision}/{file}"
    # Without a cache of its own, the file is asked for exactly the parts that are read.
    with HfFileSystem().open(address, "rb", cache_type="none") as opened:
        fetch = opened.cache.fetcher

        def exactly(start: int, end: int) -> bytes:
            content: bytes = fetch(start, end)
            if len(content) != end - start:
                raise OSError(
                    f"{file}: {len(content):,} bytes came where {end - start:,} were asked for"
                )
            return content

        # A proxy may send all of a file, or half of a part.
        opened.cache.fetcher = exactly
        yield opened


def read_tables(wanted: Wanted, files: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read the columns that a table can hold, of all files; pictures stay where they are."""
    frames: list[pl.DataFrame] = []
    left_out: tuple[str, ...] = ()
    for file in files:
        with _opened(wanted, file) as opened:
            frame, left_out = _table(wanted, opened, file)
        if frames and frame.schema != frames[0].schema:
            raise InputError(
                f"{wanted.repository}: {file} has other columns than {files[0]}; expected the same"
            )
        frames.append(frame)
    return pl.concat(frames), left_out


def _table(wanted: Wanted, opened: Any, file: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = pq.ParquetFile(opened, pre_buffer=True)
    schema = source.schema_arrow
    where = f"{wanted.repository}, commit {wanted.revision[:12]}: "
    hint = "its layout is not the one that is read: name an older revision, or "
    require_columns(schema.names, wanted.columns, where, hint + wanted.otherwise)
    leaves, media, left_out = [], [], []
    for part in schema:
        if pa.types.is_struct(part.type) and {"bytes", "path"} == {f.name for f in part.type}:
            media.append(part.name)
            leaves.append(f"{part.name}.path")
        elif _is_list(part.type) and part.name in wanted.columns:
            leaves.append(part.name)
        elif pa.types.is_nested(part.type) or _is_unusable(part.type):
            left_out.append(part.name)
        else:
            leaves.append(part.name)
    read = source.read(columns=leaves)
    # What stands beside a schema may be no text, on which polars breaks off.
    frame = pl.DataFrame(read.replace_schema_metadata(None))
    frame = frame.with_columns(pl.col(name).struct.field("path").alias(name) for name in media)
    written = (source.metadata.metadata or {}).get(b"huggingface")
    names = {} if written is None else class_names(written)
    where = f"{wanted.repository}, {file}"
    return with_class_names(frame, names, where=where), tuple(left_out)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _is_unusable(kind: Any) -> bool:
    """Whether a column holds bytes, or numbers that are longer than a table can hold."""
    import pyarrow as pa

    return bool(
        pa.types.is_decimal256(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
