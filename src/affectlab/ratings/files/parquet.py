"""Parquet and Feather files as they are, and as the Hugging Face hub writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files.peek import Peek

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars raises over a broken file; of some it finds out late, and panics."""
_MEDIA = {"bytes", "path"}
_FIRST = 50


def read_frame(peek: Peek) -> pl.DataFrame:
    """Read a Parquet or Feather file.

    Files of the hub hold a picture or a sound as its bytes and its name, of which the name is kept,
    and classes as numbers, which become the names that the file gives them.

    Raises
    ------
    InputError
        When it cannot be read as what it begins as.
    """
    try:
        frame = _scan(peek).collect()
    except UNREADABLE as error:
        raise InputError(
            f"{peek.path} cannot be read as {_kind(peek)}: {str(error).splitlines()[0]}"
        ) from None
    return with_class_names(frame, _features(peek), where=str(peek.path))


def first_rows(peek: Peek, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Give the first rows of some columns, classes by name; nothing where they cannot be read."""
    try:
        frame = _scan(peek).select(names).head(_FIRST).collect()
    except UNREADABLE:
        return []
    try:
        return with_class_names(frame, _features(peek), where="").rows()
    except InputError:
        return frame.rows()


def is_media(dtype: pl.DataType) -> bool:
    """Whether a column holds pictures or sounds, as the hub stores them."""
    return isinstance(dtype, pl.Struct) and {field.name for field in dtype.fields} == _MEDIA


def class_names(written: str | bytes) -> dict[str, list[str]]:
    """Names of classes by column, from what the hub writes beside the schema of a file."""
    try:
        features = json.loads(written).get("info", {}).get("features", {})
        return {
            name: [str(entry) for entry in feature["names"]]
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        # Other programs may write what they like under this key; numbers then stay numbers.
        return {}


def with_class_names(
    frame: pl.DataFrame, names: Mapping[str, Sequence[str]], *, where: str
) -> pl.DataFrame:
    """Put the names of classes in the place of their numbers.

    Raises
    ------
    InputError
        When a number has no name.
    """
    for column, known in names.items():
        if not known or column not in frame.columns or not frame[column].dtype.is_integer():
            continue
        given = frame[column].cast(pl.Int128)
        # The hub writes a class that is not told as -1.
        off = ((given < -1) | (given >= len(known))).fill_null(False)
        if off.any():
            raise InputError(
                f"{where}: column '{column}' holds class {given.filter(off)[0]}; expected 0 to "
                f"{len(known) - 1}, as the file says"
            )
        named = pl.Series(column, list(known), dtype=pl.String)
        frame = frame.with_columns(
            named.gather(given.set(given < 0, None).cast(pl.Int64)).alias(column)
        )
    return frame


def _kind(peek: Peek) -> str:
    return "Parquet" if peek.head.startswith(b"PAR1") else "Feather"


def _scan(peek: Peek) -> pl.LazyFrame:
    if peek.frame is not None:
        return peek.frame.lazy()
    if _kind(peek) == "Feather":
        return pl.scan_ipc(peek.path, glob=False)
    lazy = pl.scan_parquet(peek.path, glob=False)
    media = [name for name, dtype in lazy.collect_schema().items() if is_media(dtype)]
    return lazy.with_columns(pl.col(name).struct.field("path").alias(name) for name in media)


def _features(peek: Peek) -> dict[str, list[str]]:
    if peek.frame is not None or _kind(peek) == "Feather":
        return {}
    written = pl.read_parquet_metadata(peek.path).get("huggingface")
    return {} if written is None else class_names(written)
