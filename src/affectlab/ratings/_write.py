"""Writing a table of ratings so that reading gives the same table again."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from affectlab.errors import InputError
from affectlab.ratings._meta import METADATA_KEY, SCHEMA
from affectlab.ratings._stored import sidecar
from affectlab.ratings._table import Ratings

__all__ = ["check_ratings_path", "named_frame", "write_ratings"]

_SUFFIXES = (".csv", ".parquet", ".jsonl")
_FILE = re.compile(r"[/\\][^/\\]*\.[A-Za-z]\w*$")
"""The end of a path that leads to a file, as against a slash in the words of a source."""


def write_ratings(ratings: Ratings, path: str | Path) -> Path:
    """Write a table of ratings.

    Parameters
    ----------
    ratings
        The table.
    path
        File name; the suffix ``.csv``, ``.parquet`` or ``.jsonl`` says the format. Scale, taxonomy,
        raters and stimuli are stored inside a Parquet file, and beside the others in a file of the
        same name with ``.meta.json`` added. Of the source only the file name is stored, never its
        folder. Values of a scale with categories are written by name.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    InputError
        When the suffix is not known, or the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings, read_ratings
    >>> r = Ratings({"stimulus": ["007"], "rater": ["NA"], "value": [3]}, scale="0-7")
    >>> file = write_ratings(r, Path(tempfile.mkdtemp()) / "ratings.csv")
    >>> read_ratings(file).equals(r)
    True
    """
    path = check_ratings_path(path)
    suffix = path.suffix.lower()
    frame = named_frame(ratings)
    meta = json.dumps(_meta(ratings, frame), ensure_ascii=False)
    try:
        if suffix == ".parquet":
            with _complete(path) as part:
                frame.write_parquet(part, metadata={METADATA_KEY: meta})
            return path
        plain = _whole_numbers(frame)
        with _complete(sidecar(path)) as beside, _complete(path) as part:
            if suffix == ".csv":
                plain.write_csv(part)
            else:
                _with_infinity(plain).write_ndjson(part)
            beside.write_text(meta + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


@contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """Give a file that takes the place of another when it is complete; until then nothing changes.

    What is no plain file (``/dev/stdout``, a pipe) is written to directly.
    """
    path = path.resolve()
    there = path.exists()
    if there and (not path.is_file() or not os.access(path, os.W_OK)):
        yield path
        return
    with TemporaryDirectory(dir=path.parent, prefix=".new-") as folder:
        part = Path(folder) / "part"
        yield part
        if there:
            shutil.copymode(path, part)
        part.replace(path)


def check_ratings_path(path: str | Path) -> Path:
    """Say, before hours of work, whether ratings could be written to a file.

    Raises
    ------
    InputError
        When the suffix is not known, the folder does not exist, or the path is a folder.

    Examples
    --------
    >>> check_ratings_path("ratings.parquet").name
    'ratings.parquet'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(f"{path}: suffix {suffix!r}; expected one of {', '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    return path


def named_frame(ratings: Ratings) -> pl.DataFrame:
    """Give all rows with plain text names, and categories by name where every value is one."""
    frame = ratings.to_frame()
    scale, value = ratings.scale, ratings.value
    present = ~np.isnan(value)
    if not scale.categories or not scale.contains(value[present]).all():
        return frame
    names = np.full(len(value), None, dtype=object)
    position = np.rint(value[present] - (scale.low or 0.0)).astype(np.intp)
    names[present] = np.array(scale.categories, dtype=object)[position]
    return frame.with_columns(value=pl.Series(names.tolist(), dtype=pl.String))


def _with_infinity(frame: pl.DataFrame) -> pl.DataFrame:
    """Write infinite attributes as text, since JSON has no infinity."""
    endless = [
        name
        for name, dtype in frame.schema.items()
        if dtype == pl.Float64 and frame[name].is_infinite().any()
    ]
    return frame.with_columns(pl.col(endless).cast(pl.String))


def _whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Write 3 instead of 3.0 where every value is a whole number."""
    value = frame["value"]
    if value.dtype == pl.Float64 and bool((value.is_null() | (value == value.round())).all()):
        biggest = value.abs().max()
        if biggest is None or float(str(biggest)) < 2**53:
            return frame.with_columns(pl.col("value").cast(pl.Int64))
    return frame


def _meta(ratings: Ratings, frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "scale": ratings.scale.to_dict(),
        "taxonomy": None if ratings.taxonomy is None else ratings.taxonomy.to_toml(),
        "labels": list(ratings.label_names) if ratings.has_labels else None,
        "columns": frame.columns,
        "types": {name: str(dtype) for name, dtype in frame.schema.items()},
        "raters": _columns(ratings.raters),
        "stimuli": _columns(ratings.stimuli),
        "source": "; ".join(map(_without_folder, ratings.source.split("; "))),
        "history": list(ratings.history),
        "set_aside": [
            {
                "reason": part.reason,
                "count": part.count,
                "places": list(part.places),
                "unit": part.unit,
            }
            for part in ratings.set_aside
        ],
    }


def _without_folder(source: str) -> str:
    """Give the name of a file, since where it lay on one computer is nobody else's business."""
    rooted = PurePosixPath(source).is_absolute() or PureWindowsPath(source).is_absolute()
    return PureWindowsPath(source).name if rooted or _FILE.search(source) else source


def _columns(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        name: {"type": str(table.schema[name]), "values": [_plain(v) for v in table[name]]}
        for name in table.columns
    }


def _plain(value: Any) -> Any:
    """Give a value that JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
