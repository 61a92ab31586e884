"""From any file that holds a table to its columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files.delimited import Columns, above_header, read_delimited
from affectlab.ratings.files.frames import series_of
from affectlab.ratings.files.labelled import read_labelled
from affectlab.ratings.files.ledger import OnBad
from affectlab.ratings.files.parquet import read_frame
from affectlab.ratings.files.peek import DELIMITED, JSON_LINES, Peek
from affectlab.ratings.files.strict_json import BadJson, parse_json
from affectlab.ratings.schema import SetAside


def read_columns(
    peek: Peek,
    *,
    names: Sequence[str] = (),
    number: str | None = None,
    on_bad: OnBad = "raise",
) -> Columns:
    """Read a table: CSV, TSV, Parquet, Feather, JSON Lines, JSON, a workbook, SPSS or Stata.

    Parameters
    ----------
    peek
        The file. What it is, is told by its content, and by its suffix where that leaves a choice.
    names, number, on_bad
        See :func:`affectlab.ratings.files.delimited.read_delimited`.

    Raises
    ------
    InputError
        When the file is none of these or cannot be read as what it is.
    """
    if peek.is_table:
        frame = read_frame(peek)
        return _flat({name: frame[name] for name in frame.columns}, peek, "row")
    if peek.is_workbook:
        book = peek.workbook
        history = above_header(book.title)
        return Columns(book.columns(), book.locate, typed=False, history=history)
    if peek.labelled is not None:
        labelled = read_labelled(peek.path, peek.labelled, peek.categories)
        return _flat(labelled.columns, peek, "row")
    if peek.looks_like is not None:
        raise InputError(f"{peek.path} is {peek.looks_like}")
    if peek.suffix in (".parquet", ".pq", ".feather", ".arrow", ".ipc"):
        raise InputError(f"{peek.path} is no {peek.suffix[1:]} file, though its name says so")
    if peek.suffix in JSON_LINES:
        return _read_json_lines(peek)
    if peek.suffix not in DELIMITED and peek.is_json_lines:
        return _read_json_lines(peek)
    if peek.suffix not in DELIMITED and peek.starts_with_json():
        content = peek.load_json()
        if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
            raise InputError(f"{peek.path}: expected a list of objects, one per answer")
        return _of_objects(content, list(range(1, len(content) + 1)), peek, "row")
    return read_delimited(peek, names=names, number=number, on_bad=on_bad)


def _flat(
    columns: dict[str, pl.Series], peek: Peek, unit: str, numbers: Sequence[int] | None = None
) -> Columns:
    columns, rows, empty = _spread(columns)
    for name, column in columns.items():
        words = _lists_of_words(column)
        if words is not None:
            columns = {**columns, name: words}
        elif column.dtype.is_nested() or column.dtype == pl.Object:
            raise InputError(f"{peek.path}: column '{name}' holds lists; expected single values")

    def place(entry: int) -> str:
        return f"{unit} {entry + 1 if numbers is None else numbers[entry]}"

    def locate(row: int) -> str:
        return f"{peek.path}, {place(row if rows is None else rows[row])}"

    aside: tuple[SetAside, ...] = ()
    if empty:
        aside = (SetAside.of("no answer (an empty list)", empty, place),)
    return Columns(columns, locate, aside)


def _spread(
    columns: dict[str, pl.Series],
) -> tuple[dict[str, pl.Series], list[int] | None, list[int]]:
    """Give each field of an object a column, and each object of a list a row.

    Returns
    -------
    tuple
        The columns, the entry of each row where it is not that of its number, and the entries
        without any object.
    """
    columns = {name: _structured(column) for name, column in columns.items()}
    lists = [name for name, one in columns.items() if _fields(one.dtype, of_list=True)]
    rows: list[int] | None = None
    empty: list[int] = []
    if len(lists) == 1:
        lengths = columns[lists[0]].list.len().fill_null(0)
        empty = [entry for entry, length in enumerate(lengths) if not length]
        frame = pl.DataFrame(list(columns.values())).with_row_index("\0")
        frame = frame.filter(lengths > 0).explode(lists[0])
        rows = frame["\0"].to_list()
        columns = {name: frame[name] for name in columns}
    while objects := [name for name, one in columns.items() if _fields(one.dtype)]:
        made: dict[str, pl.Series] = {}
        for name, column in columns.items():
            if name not in objects:
                made[name] = column
                continue
            for field in _fields(column.dtype):
                own = field if field not in columns and field not in made else f"{name}.{field}"
                made[own] = column.struct.field(field).alias(own)
        columns = made
    return columns, rows, empty


def _fields(dtype: pl.DataType, *, of_list: bool = False) -> tuple[str, ...]:
    """Name the fields of the objects that a column holds, or lists of which it holds."""
    if of_list:
        dtype = dtype.inner if isinstance(dtype, pl.List) else pl.Null()  # type: ignore[assignment]
    return tuple(field.name for field in dtype.fields) if isinstance(dtype, pl.Struct) else ()


def _structured(column: pl.Series) -> pl.Series:
    """Give objects of Python their fields, where each field has values of one kind."""
    if column.dtype != pl.Object:
        return column
    cells = column.to_list()
    objects = [
        one
        for cell in cells
        if cell is not None
        for one in (cell if isinstance(cell, list | tuple) else [cell])
    ]
    if not objects or not all(isinstance(one, dict) for one in objects):
        return column
    try:
        return pl.Series(column.name, cells, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return column


def _lists_of_words(column: pl.Series) -> pl.Series | None:
    """Write lists of words, such as chosen categories, as text; None where there are none."""
    dtype = column.dtype
    if isinstance(dtype, pl.List):
        if dtype.inner != pl.Null and not isinstance(dtype.inner, pl.String | pl.Categorical):
            return None
    elif dtype != pl.Object:
        return None
    lists = column.to_list()
    if not all(cell is None or _is_list_of_words(cell) for cell in lists):
        return None
    texts = [None if cell is None else json.dumps(list(cell), ensure_ascii=False) for cell in lists]
    return pl.Series(column.name, texts, dtype=pl.String)


def _is_list_of_words(cell: Any) -> bool:
    return isinstance(cell, list | tuple) and all(isinstance(word, str) for word in cell)


def _read_json_lines(peek: Peek) -> Columns:
    if peek.codec == "utf-8":
        try:
            frame = pl.read_ndjson(peek.path, infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
            # Read again line by line, to say which line is wrong.
            return _read_json_objects(peek)
        if frame.height and not _repeats_key(peek, frame):
            found = _flat({name: frame[name] for name in frame.columns}, peek, "row")
            lines: list[int] = []

            def locate(row: int) -> str:
                if not lines:
                    text = peek.decode().split("\n")
                    lines.extend(number for number, line in enumerate(text, 1) if line.strip())
                entry = int(found.locate(row).rpartition(" ")[2])
                return f"{peek.path}, line {lines[entry - 1]}"

            return replace(found, locate=locate)
    return _read_json_objects(peek)


def _read_json_objects(peek: Peek) -> Columns:
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(peek.decode().split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except BadJson as error:
            raise InputError(f"{peek.path}, line {number}: {error}") from None
        if not isinstance(row, dict):
            raise InputError(f"{peek.path}, line {number}: expected an object, one per answer")
        rows.append(row)
        numbers.append(number)
    return _of_objects(rows, numbers, peek, "line")


def _repeats_key(peek: Peek, frame: pl.DataFrame) -> bool:
    """Whether an object has a key twice, of which polars keeps the last without a word.

    A line that holds as many keys as values, none of them null, repeats none. Only lines that do
    not add up, such as those with a colon after a quote inside a text, are parsed to make sure.
    """
    n_values = frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    content = peek.path.read_bytes()
    spaced = b'" ' in content or b'"\t' in content
    if not spaced and content.count(b'":') == int(n_values.sum()):
        return False
    lines = pl.Series("line", content.decode(errors="replace").split("\n"), dtype=pl.String)
    lines = lines.filter(lines.str.strip_chars() != "")
    if len(lines) != frame.height:
        return True
    n_keys = lines.str.count_matches(r'"\s*:').cast(pl.Int64)
    n_nulls = lines.str.count_matches(r":\s*null").cast(pl.Int64)
    unsure = lines.filter((n_keys - n_nulls != n_values) | (n_keys > frame.width))
    for line in unsure:
        try:
            parse_json(line)
        except BadJson:
            return True
    return False


def _of_objects(
    rows: Sequence[dict[str, Any]], numbers: Sequence[int], peek: Peek, unit: str
) -> Columns:
    if not rows:
        raise InputError(f"{peek.path} holds no answer; expected at least one")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: series_of(name, [row.get(name) for row in rows]) for name in names}
    return _flat(columns, peek, unit, numbers)
