"""Where ratings come from: a file, a folder, an address, standard input, or a table in memory."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.files import NoTableError, OnBad, Peek, as_frame
from affectlab.ratings.formats import find_format, is_stored
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.mapping import beside
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step
from affectlab.taxonomy import are_labels

STANDARD_INPUT = "-"
_IN_MEMORY = "the table"
_ADDRESS = re.compile(r"(?:https?|hf)://", re.IGNORECASE)
_HUB_FILE = re.compile(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?/(.+\.\w+)", re.IGNORECASE)
_FOLDER = (
    *(".csv", ".tsv", ".tab", ".parquet", ".pq", ".feather", ".arrow", ".jsonl", ".ndjson"),
    *(".xlsx", ".xls", ".ods", ".sav", ".dta"),
)
_FROM_FILE = "from_file"
"""Column that says from which file of a folder a row is, where the name of a file is no role."""
_TIMEOUT_S = 60
_BLOCK = 1 << 20


def is_address(source: Any) -> bool:
    """Whether a source is an address of the web or the hub."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def is_hub_set(source: Any) -> bool:
    """Whether a source is a data set of the hub, as against one of its files."""
    return (
        is_address(source)
        and str(source).lower().startswith("hf://")
        and not _HUB_FILE.fullmatch(source)
    )


@contextmanager
def opened(
    source: Any, *, encoding: str | None, delimiter: str | None, on_bad: OnBad = "raise"
) -> Iterator[Peek]:
    """Open whatever holds ratings, to look at it and to read it.

    Raises
    ------
    InputError
        When it is nothing that holds ratings, or cannot be opened.
    """
    if isinstance(source, RatingsBase):
        raise InputError("these are ratings already; expected a file, or a table to read them from")
    if source == STANDARD_INPUT if isinstance(source, str) else False:
        with _spooled("standard input", "standard-input") as file:
            file.write_bytes(sys.stdin.buffer.read())
            yield Peek.open(file, encoding=encoding, delimiter=delimiter).with_encoding()
    elif is_address(source):
        address = _web_address(source)
        name = PurePosixPath(unquote(urlsplit(address).path)).name or "ratings"
        with _spooled(source, name) as file:
            _download(address, file, source)
            yield Peek.open(file, encoding=encoding, delimiter=delimiter).with_encoding()
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        if not str(source):
            raise InputError("the path is empty; expected that of a file of ratings")
        if path.is_dir():
            frame, steps = _of_folder(path, encoding, delimiter, on_bad)
            yield Peek.of_frame(frame, str(path), steps)
        else:
            yield Peek.open(path, encoding=encoding, delimiter=delimiter).with_encoding()
    else:
        yield Peek.of_frame(_of_memory(source), _IN_MEMORY)


def _of_memory(source: Any) -> pl.DataFrame:
    try:
        if isinstance(source, Mapping) and any(hasattr(v, "column_names") for v in source.values()):
            raise InputError(
                f"{_IN_MEMORY} has several splits ({', '.join(map(str, source))}); expected one of "
                "them"
            )
        return as_frame(source, what=_IN_MEMORY)
    except NoTableError:
        raise InputError(
            f"expected the path of a file, an address, a data frame, a dict of columns or a "
            f"list of dicts; found an object of type {type(source).__name__}"
        ) from None


@contextmanager
def _spooled(name: str, file_name: str) -> Iterator[Path]:
    """Give a file for what comes from elsewhere, which sentences call by its own name."""
    with TemporaryDirectory(prefix="affectlab-") as folder:
        file = Path(folder) / file_name
        try:
            yield file
        except InputError as error:
            raise InputError(str(error).replace(str(file), name)) from None


def _web_address(source: str) -> str:
    """Give the address of a file of the hub on the web; others stay."""
    found = _HUB_FILE.fullmatch(source)
    if found is None:
        return source
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    revision = quote(found[2] or "main", safe="")
    return f"{hub}/datasets/{found[1]}/resolve/{revision}/{quote(found[3])}"


def _download(address: str, file: Path, source: str) -> None:
    from affectlab._version import __version__

    request = Request(address, headers={"User-Agent": f"affectlab/{__version__}"})
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as answer, file.open("wb") as kept:
            while block := answer.read(_BLOCK):
                kept.write(block)
    except URLError as error:
        reason = getattr(error, "code", None) or error.reason
        raise InputError(f"{source} cannot be fetched: {reason}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source} cannot be fetched: {error}") from None


def _shown_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "~$")))


def _tables_in(folder: Path) -> list[Path]:
    return [path for path in _shown_in(folder) if path.suffix.lower() in _FOLDER]


def table_in(folder: Path) -> Path | None:
    """Give the one table of a folder, or of data/ in it, that says what it holds; else None.

    That is one that affectlab wrote, or that has a mapping beside it.
    """
    for place in (folder, folder / "data"):
        tables = (
            [path for path in _tables_in(place) if path.stat().st_size] if place.is_dir() else []
        )
        told = [one for one in tables if beside(one).is_file() or is_stored(Peek.open(one))]
        if told:
            return told[0] if len(told) == 1 else None
    return None


def _of_folder(
    folder: Path, encoding: str | None, delimiter: str | None, on_bad: OnBad
) -> tuple[pl.DataFrame, History]:
    """Put the tables of a folder one below the other, and say what was decided.

    The name of a file is the label where all are called after emotions, else the rater, where no
    column names these.
    """
    files = _tables_in(folder)
    # Beside tables, JSON describes these.
    files = files or [path for path in _shown_in(folder) if path.suffix.lower() == ".json"]
    if not files:
        if (folder / "report.html").is_file():
            raise InputError(
                f"{folder} holds a report and no answers; expected the file that the report is of"
            )
        raise InputError(
            f"{folder} is a folder without a table ({', '.join(_FOLDER)}, .json); expected a file "
            "of ratings, or a folder of tables with the same columns"
        )
    heads = [
        Peek.open(path, encoding=encoding, delimiter=delimiter).with_encoding() for path in files
    ]
    formats = [find_format(head) for head in heads]
    read = [one.columns(head, on_bad) for one, head in zip(formats, heads, strict=True)]
    partial = _partial(files, [one.columns for one in read], {one.name for one in formats})
    labels = are_labels(path.stem for path in files)
    tables: list[pl.DataFrame] = []
    for path, one in zip(files, read, strict=True):
        header = [name for name in one.columns if name not in partial]
        roles = (*(["label"] if labels else []), "rater")
        named = next((role for role in roles if find_one(role, header) is None), _FROM_FILE)
        table = pl.DataFrame(list(one.columns.values()))
        if named not in header:
            table = table.with_columns(pl.lit(path.stem).alias(named))
        tables.append(table)
    steps = dict.fromkeys(one for head in heads for one in head.steps)
    if partial:
        steps[step(StepKind.IN_SOME_FILES, columns=partial)] = None
    order: list[str] = []
    for table in tables:
        at = 0
        for name in table.columns:
            # A column that only later files have stands where it stands there.
            if name not in order:
                order.insert(at, name)
            at = order.index(name) + 1
    return pl.concat(tables, how="diagonal_relaxed").select(order), tuple(steps)


def _partial(
    files: Sequence[Path], headers: Sequence[Collection[str]], formats: Collection[str]
) -> list[str]:
    """Name the columns that only some files have.

    Raises
    ------
    InputError
        When files that no program writes as its own differ in more than further columns.
    """
    if all(set(header) == set(headers[0]) for header in headers):
        return []
    names = dict.fromkeys(name for header in headers for name in header)
    shared = [name for name in names if all(name in header for header in headers)]
    known = len(formats) == 1 and "table" not in formats
    core = {find_one(role, shared) for role in ("stimulus", "value")}
    nested = len(shared) == min(map(len, headers)) and None not in core
    if not known and not nested:
        alike = [sum(len({*own} & {*other}) for other in headers) for own in headers]
        odd = min(range(len(files)), key=lambda at: alike[at])
        path, header = files[odd], headers[odd]
        other = next(one for one in files if one != path)
        raise InputError(
            f"{path} has other columns than {other.name} ({', '.join(header)}); "
            "expected a folder of tables with the same columns"
        )
    return [name for name in names if name not in shared]
