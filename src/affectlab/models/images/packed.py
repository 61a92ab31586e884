"""Files inside other files: shards of webdataset, Parquet with bytes, data sets that were saved.

A file inside another one has a path of its own, the two with ``::`` between them, such as
``shard-000.tar::0017.jpg`` or ``faces.parquet::17``. Reading it takes only its own part.
"""

from __future__ import annotations

import tarfile
from bisect import bisect_right
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any, Protocol

import polars as pl

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.words import joined, shown

__all__ = ["inside", "is_packed", "packed_files", "packed_texts", "read_packed"]

_BETWEEN = "::"
_LONGEST = 2**20
"""Bytes of a text."""
_SAVED, _SPLITS = "dataset_info.json", "dataset_dict.json"
"""In the folder of a data set that the library datasets has saved, and in one of several splits."""
_NAMES = ("stimulus", "__key__", "key", "id", "image_id", "file_name", "filename", "name")
"""Columns that name stimuli; the first one that is there and names each once."""
_SOUNDS = ("audio", "sound", "wav", "mp3", "flac")
_CONTENTS = (
    *("image", "img", "picture", "photo", "jpg", "jpeg", "png", "webp"),
    *(*_SOUNDS, "file", "content", "bytes"),
)
"""Columns of bytes; the first one that is there, where there are several."""


def inside(path: Path) -> tuple[Path, str] | None:
    """Take the path of a file inside another apart; None for an ordinary path.

    Examples
    --------
    >>> inside(Path("a.jpg"))
    """
    around, between, name = str(path).partition(_BETWEEN)
    return (Path(around), name) if between and Path(around).exists() else None


def is_packed(path: Path) -> bool:
    """Whether a file or folder holds other files, and is no ordinary table or folder.

    Raises
    ------
    InputError
        When it is a data set with splits, one of which is to be named.
    """
    if path.is_dir():
        if (path / _SPLITS).is_file():
            splits = sorted(part.parent.name for part in path.glob(f"*/{_SAVED}"))
            raise InputError(
                f"{shown(path)} holds the splits {joined(splits)}; expected one of them, such as "
                f"{shown(path / (splits or ['train'])[0])}"
            )
        return (path / _SAVED).is_file()
    suffix = path.suffix.lower()
    if suffix == ".tar":
        return path.is_file()
    return suffix == ".parquet" and bool(_of_bytes(_parquet_schema(path)))


def packed_files(path: Path, suffixes: Collection[str]) -> list[tuple[str, str]]:
    """Give the names of stimuli inside a file, and the paths of their files.

    Parameters
    ----------
    path
        A tar, whose members with these suffixes count, each named by its path without suffix; a
        Parquet file with a column of bytes, or a folder of ``datasets.Dataset.save_to_disk``, whose
        stimuli have the name in the column stimulus, key, id or file_name where that names each
        once, else ``row 0`` and so on.

    Raises
    ------
    InputError
        When it cannot be read, or several columns hold bytes and none is known by its name.
    MissingDependencyError
        When a library that reads it is not installed.
    """
    if _is_tar(path):
        members = [name for name in _members(path) if _suffix(name) in suffixes]
        names = [str(PurePosixPath(name).with_suffix("")) for name in members]
    else:
        table = _table(path)
        if (table.column.lower() in _SOUNDS) != (".wav" in suffixes):
            return []
        members = [str(row) for row in range(table.n_rows)]
        names = _row_names(table) or _numbered(table.n_rows)
    places = (f"{path}{_BETWEEN}{member}" for member in members)
    return list(zip(names, places, strict=True))


def packed_texts(path: Path) -> list[tuple[str, str]]:
    """Give the names of stimuli inside a file, and their texts.

    Parameters
    ----------
    path
        A tar, whose members ``.txt`` count; or a folder of ``datasets.Dataset.save_to_disk`` with a
        column text.

    Raises
    ------
    InputError
        When there are none, or one is not in UTF-8.
    """
    if _is_tar(path):
        found = []
        for name in (name for name in _members(path) if _suffix(name) == ".txt"):
            content = read_packed(path, name, _LONGEST)
            if content is None:
                raise InputError(f"{shown(path)}: {shown(name, 80)} is too long for a text")
            try:
                found.append((str(PurePosixPath(name).with_suffix("")), content.decode()))
            except UnicodeDecodeError:
                raise InputError(
                    f"{shown(path)}: {shown(name, 80)} is not in UTF-8; expected text"
                ) from None
        return found
    table = _table(path)
    if table.schema.get("text") != pl.String:
        raise InputError(
            f"{shown(path)}: columns {joined(list(table.schema))}; expected a column 'text'"
        )
    texts = table.values("text").fill_null("").to_list()
    return list(zip(_row_names(table) or _numbered(table.n_rows), texts, strict=True))


def read_packed(around: Path, name: str, limit: int) -> bytes | None:
    """Read a file inside another; None where it has more bytes than the limit.

    Raises
    ------
    InputError
        When it is not there.
    OSError
        When it cannot be read.
    MissingDependencyError
        When a library that reads it is not installed.
    """
    if _is_tar(around):
        start, size = _members(around).get(name, (0, -1))
        if size < 0:
            raise InputError(f"{shown(around)}: there is no file {shown(name, 80)!r} in it")
        if size > limit:
            return None
        with around.open("rb") as file:
            file.seek(start)
            return file.read(size)
    table = _table(around)
    if not name.isdecimal() or int(name) >= table.n_rows:
        raise InputError(f"{shown(around)}: there is no row {shown(name, 80)!r} in it")
    content = table.cell(int(name))
    if isinstance(content, Mapping):
        beside = around if around.is_dir() else around.parent
        held, file_name = content.get("bytes"), content.get("path")
        content = (beside / file_name).read_bytes() if held is None and file_name else held
    if not isinstance(content, bytes):
        raise InputError(f"{shown(around)}, row {name}: no bytes; expected those of a file")
    return content if len(content) <= limit else None


# Shards: plain tars, of which the places of all members are known after one look at their heads.


def _is_tar(path: Path) -> bool:
    return _suffix(path.name) == ".tar" and not path.is_dir()


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _members(path: Path) -> Mapping[str, tuple[int, int]]:
    """Where the members of a tar begin, and how long they are; links and folders are none."""
    known = path.stat()
    return _index(path, known.st_mtime_ns, known.st_size)


@lru_cache(maxsize=16)
def _index(path: Path, _changed: int, _size: int) -> Mapping[str, tuple[int, int]]:
    try:
        with tarfile.open(path, "r:") as file:
            return {
                one.name: (one.offset_data, one.size)
                for one in file
                if one.isreg() and not one.issparse()
            }
    except tarfile.TarError as error:
        raise InputError(
            f"{shown(path)} cannot be read as a tar without compression ({error}); expected a "
            "shard as webdataset writes it, or a folder of files"
        ) from None


# Tables with a column of bytes, or of a path and bytes as the library datasets writes them.


class _Table(Protocol):
    n_rows: int
    schema: Mapping[str, Any]

    @property
    def column(self) -> str:
        """The one of bytes."""
        ...

    def values(self, column: str) -> pl.Series: ...

    def cell(self, row: int) -> Any: ...


def _table(path: Path) -> _Table:
    known = path.stat()
    return _opened(path, known.st_mtime_ns)


@lru_cache(maxsize=4)
def _opened(path: Path, _changed: int) -> _Table:
    try:
        return _Saved(path) if path.is_dir() else _Parquet(path)
    except ImportError as missing:
        raise MissingDependencyError(
            f"{shown(path)} holds files, which the library {missing.name} reads: "
            f"{install_line('datasets')}"
        ) from None


def _row_names(table: _Table) -> list[str]:
    """Names of stimuli from a column that names each once; empty where there is none."""
    for column in (name for name in _NAMES if name in table.schema):
        if table.schema[column] == pl.String or table.schema[column].is_integer():
            names = table.values(column)
            if not names.null_count() and names.n_unique() == len(names):
                return names.cast(pl.String).to_list()
    return []


def _numbered(n: int) -> list[str]:
    return [f"row {row}" for row in range(n)]


def _of_bytes(schema: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name, kind in schema.items()
        if kind == pl.Binary
        or (isinstance(kind, pl.Struct) and pl.Field("bytes", pl.Binary) in kind.fields)
    ]


def _column(schema: Mapping[str, Any], path: Path) -> str:
    columns = _of_bytes(schema)
    known = {name.lower(): name for name in columns}
    found = columns if len(columns) == 1 else [known[name] for name in _CONTENTS if name in known]
    if not found:
        held = joined(columns) if columns else "none"
        raise InputError(
            f"{shown(path)}: columns of bytes: {held}; expected one, or one that is called image "
            "or audio"
        )
    return found[0]


def _parquet_schema(path: Path) -> Mapping[str, Any]:
    try:
        return pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError):
        return {}


class _Parquet:
    """A Parquet file, whose groups of rows are read whole."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self.schema = _parquet_schema(path)
        self._path = path
        self._file = parquet.ParquetFile(path)
        groups = range(self._file.metadata.num_row_groups)
        sizes = (self._file.metadata.row_group(group).num_rows for group in groups)
        self._ends = list(accumulate(sizes))
        self.n_rows = self._ends[-1] if self._ends else 0
        self._group: tuple[int, Any] = (-1, None)
        self._reading = Lock()

    @cached_property
    def column(self) -> str:
        return _column(self.schema, self._path)

    def values(self, column: str) -> pl.Series:
        return pl.read_parquet(self._path, columns=[column]).to_series()

    def cell(self, row: int) -> Any:
        group = bisect_right(self._ends, row)
        # Rows are asked for in their order: the group of one is mostly that of the next.
        with self._reading:
            if self._group[0] != group:
                self._group = (-1, None)
                held = self._file.read_row_group(group, columns=[self.column])
                self._group = (group, held.column(0))
            values = self._group[1]
        return values[row - self._ends[group] + len(values)].as_py()


class _Saved:
    """A folder that the library datasets has saved; its rows are mapped into memory."""

    def __init__(self, path: Path) -> None:
        import datasets

        try:
            self._rows = datasets.load_from_disk(str(path)).with_format("arrow")
        except (OSError, ValueError) as error:
            raise InputError(f"{shown(path)} cannot be read as a data set ({error})") from None
        empty = pl.from_arrow(self._rows.features.arrow_schema.empty_table())
        self.schema: Mapping[str, Any] = pl.DataFrame(empty).schema
        self.n_rows = len(self._rows)
        self._path = path

    @cached_property
    def column(self) -> str:
        return _column(self.schema, self._path)

    def values(self, column: str) -> pl.Series:
        held = self._rows.select_columns([column])[:]
        return pl.DataFrame(pl.from_arrow(held)).to_series()

    def cell(self, row: int) -> Any:
        return self._rows[row].column(self.column)[0].as_py()
