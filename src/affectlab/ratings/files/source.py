"""From any file that holds a table to its columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zipfile import BadZipFile, ZipFile

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import quoted
from affectlab.ratings.files.delimited import Columns, above_header, read_delimited
from affectlab.ratings.files.frames import series_of
from affectlab.ratings.files.labelled import read_labelled
from affectlab.ratings.files.ledger import Locate, OnBad
from affectlab.ratings.files.parquet import read_frame
from affectlab.ratings.files.peek import JSON_LINES, Peek
from affectlab.ratings.files.strict_json import BadJson, parse_json
from affectlab.ratings.schema import GUESSED, SetAside

_ZIP, _NPY = b"PK\x03\x04", b"\x93NUMPY"
_SHOWN = 5
_RATERS = re.compile(
    r"(rater|annotator|worker|participant|subject|judge|coder|user|evaluator|observer|labell?er)"
    r"(_?id|_name)?s",
    re.IGNORECASE,
)
"""Names of a column of lists of raters."""
_ANSWERS = re.compile(
    r"(rating|score|answer|response|judge?ment|vote|value|prediction)s", re.IGNORECASE
)
"""Names of lists of answers, of which one is called in the singular."""


def read_columns(
    peek: Peek,
    *,
    names: Sequence[str] = (),
    number: str | None = None,
    on_bad: OnBad = "raise",
    only: Sequence[str] | None = None,
) -> Columns:
    """Read a table: CSV, TSV, Parquet, Feather, JSON Lines, JSON, a workbook, SPSS or Stata.

    Parameters
    ----------
    peek
        The file. What it is, is told by its content, and by its suffix where that leaves a choice.
    names, number, on_bad
        See :func:`affectlab.ratings.files.delimited.read_delimited`.
    only
        Columns that are used; others may hold what no table of ratings can. None: all.

    Raises
    ------
    InputError
        When the file is none of these or cannot be read as what it is.
    """
    if peek.is_table:
        frame = read_frame(peek)
        return _flat({name: frame[name] for name in _of(frame.columns, only)}, peek, "row")
    if peek.is_workbook:
        book = peek.workbook
        history = above_header(book.title)
        return Columns(book.columns(), book.locate, typed=False, history=history)
    if peek.labelled is not None:
        labelled = read_labelled(peek.path, peek.labelled, peek.categories, peek.perhaps)
        return _flat(labelled.columns, peek, "row")
    arrays = _numpy_arrays(peek)
    if arrays is not None:
        raise InputError(
            f"{peek.path} holds arrays of numpy{arrays}; expected a table with named columns: save "
            "them as the columns of a CSV or Parquet file, or give read_ratings a dict of columns"
        )
    if peek.looks_like is not None:
        raise InputError(f"{peek.path} is {peek.looks_like}")
    if peek.suffix in (".parquet", ".pq", ".feather", ".arrow", ".ipc"):
        raise InputError(f"{peek.path} is no {peek.suffix[1:]} file, though its name says so")
    if peek.suffix in JSON_LINES:
        return _read_json_lines(peek, only)
    lines = peek.is_json and peek.is_json_lines
    if lines and "\n" in peek.text.strip():
        return _read_json_lines(peek, only)
    if peek.is_json:
        content = peek.load_json()
        if isinstance(content, dict) and (found := _of_keys(content)):
            rows, step = found
            numbers = list(range(1, len(rows) + 1))
            return replace(_of_objects(rows, numbers, peek, "row", only), history=(step,))
        if lines and isinstance(content, dict):
            content = [content]
        if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
            raise InputError(f"{peek.path}: expected a list of objects, one per answer")
        return _of_objects(content, list(range(1, len(content) + 1)), peek, "row", only)
    return read_delimited(peek, names=names, number=number, on_bad=on_bad)


def _of_keys(content: dict[str, Any]) -> tuple[list[dict[str, Any]], str] | None:
    """Make rows of an object of objects, as data frames are written; None where it is none.

    Its keys name the rows, in a column without a name; or the columns, where those of each object
    in it only count.
    """
    inner = list(content.values())
    if len(inner) < 2 or not all(isinstance(one, dict) for one in inner):
        return None
    cells = [cell for one in inner for cell in one.values()]
    if not cells or any(isinstance(cell, dict | list) for cell in cells):
        return None
    counted = [str(number) for number in range(len(inner[0]))]
    if all(list(one) == counted for one in inner):
        rows = [{name: one[number] for name, one in content.items()} for number in counted]
        return rows, "the keys of the file are columns, those below them numbers of rows"
    step = f"{GUESSED}each key of the file names a row, those below it columns"
    named = "" if any("key" in one for one in inner) else "key"
    return [{named: key, **one} for key, one in content.items()], step


def _flat(
    columns: dict[str, pl.Series], peek: Peek, unit: str, numbers: Sequence[int] | None = None
) -> Columns:
    def place(entry: int) -> str:
        return f"{unit} {entry + 1 if numbers is None else numbers[entry]}"

    history: tuple[str, ...] = ()
    columns, together = _lists_by_rater(columns)
    if together:
        _check_lengths(columns, together, lambda entry: f"{peek.path}, {place(entry)}")
        history = (
            f"{GUESSED}lists in column '{together[0]}' name who gave the answers in the same place "
            f"of the lists in {quoted(together[1:])}",
        )
        called = {name: _of_one(name, columns) for name in together}
        names = (called.get(name, name) for name in columns)
        columns = {name: one.alias(name) for name, one in zip(names, columns.values(), strict=True)}
        together = list(called.values())
    columns, rows, empty = _spread(columns, together)
    for name, column in columns.items():
        words = _lists_of_words(column)
        if words is not None:
            columns = {**columns, name: words}
        elif column.dtype.is_nested() or column.dtype == pl.Object:
            raise InputError(f"{peek.path}: column '{name}' holds lists; expected single values")

    def locate(row: int) -> str:
        return f"{peek.path}, {place(row if rows is None else rows[row])}"

    aside: tuple[SetAside, ...] = ()
    if empty:
        aside = (SetAside.of("no answer (an empty list)", empty, place),)
    return Columns(columns, locate, aside, history=history)


def _lists_by_rater(
    columns: dict[str, pl.Series],
) -> tuple[dict[str, pl.Series], list[str]]:
    """Find the columns whose lists have an entry for each rater, whom the first of them names.

    These are all that have lists as long as those of the raters in each row; where only one other
    column has lists, it is that one, of whatever length. There are none where no column lists
    raters.
    """
    folded = {name: name.replace(" ", "_") for name in columns}
    raters = next((name for name, one in folded.items() if _RATERS.fullmatch(one)), None)
    # Where a column names the one rater of each row, lists of people are something else.
    if raters is None or any(_RATERS.fullmatch(f"{one}s") for one in folded.values()):
        return columns, []
    listed = {name: _as_lists(column) for name, column in columns.items()}
    others = [name for name, one in listed.items() if _is_listed(one) and name != raters]
    if not others or not _is_listed(listed[raters]):
        return columns, []
    lengths = _lengths(listed[raters])
    fits = [name for name in others if _lengths(listed[name]).equals(lengths)]
    together = fits or (others if len(others) == 1 else [])
    return (listed, [raters, *together]) if together else (columns, [])


def _as_lists(column: pl.Series) -> pl.Series:
    """Give lists of Python a type, where their entries have one."""
    cells = column.to_list() if column.dtype == pl.Object else []
    if not cells or not all(cell is None or isinstance(cell, list | tuple) for cell in cells):
        return column
    try:
        return pl.Series(column.name, cells, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return column


def _of_one(name: str, columns: Mapping[str, pl.Series]) -> str:
    """Name what one entry of a list of raters or of answers is."""
    listed = _RATERS.fullmatch(name.replace(" ", "_")) or _ANSWERS.fullmatch(name)
    return name[:-1] if listed and name[:-1] not in columns else name


def _check_lengths(
    columns: Mapping[str, pl.Series], together: Sequence[str], locate: Locate
) -> None:
    raters, *others = together
    n_raters = _lengths(columns[raters])
    for name in others:
        n_answers = _lengths(columns[name])
        wrong = (n_raters != n_answers).arg_true()
        if len(wrong):
            entry = int(wrong[0])
            raise InputError(
                f"{locate(entry)}: column '{raters}' lists {n_raters[entry]} and '{name}' "
                f"{n_answers[entry]}; expected an answer for each rater"
            )


def _is_listed(column: pl.Series) -> bool:
    """Whether cells are lists of words or numbers."""
    dtype = column.dtype
    return isinstance(dtype, pl.List) and not dtype.inner.is_nested() and dtype.inner != pl.Object


def _lengths(column: pl.Series) -> pl.Series:
    return column.list.len().fill_null(0)


def _spread(
    columns: dict[str, pl.Series], together: Sequence[str] = ()
) -> tuple[dict[str, pl.Series], list[int] | None, list[int]]:
    """Give each field of an object a column, and each object of a list a row.

    Entries of the lists of columns that belong `together` are rows, too.

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
    if together or len(lists) == 1:
        lists = list(together) or lists
        lengths = _lengths(columns[lists[0]])
        empty = [entry for entry, length in enumerate(lengths) if not length]
        frame = pl.DataFrame(list(columns.values())).with_row_index("\0")
        frame = frame.filter(lengths > 0).explode(lists)
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


def _numpy_arrays(peek: Peek) -> str | None:
    """Name the arrays of a file of numpy, ``.npy`` or ``.npz``; None where it is none."""
    if peek.head.startswith(_NPY):
        return ""
    if not peek.head.startswith(_ZIP):
        return None
    try:
        with ZipFile(peek.path) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError, ValueError):
        return None
    if not names or not all(name.endswith(".npy") for name in names):
        return None
    first = ", ".join(name.removesuffix(".npy") for name in names[:_SHOWN])
    return f" ({first}{', …' if len(names) > _SHOWN else ''})"


def _of(columns: Sequence[str], only: Sequence[str] | None) -> list[str]:
    """Name the columns that are used."""
    return [name for name in columns if only is None or name in only]


def _read_json_lines(peek: Peek, only: Sequence[str] | None) -> Columns:
    if peek.codec == "utf-8":
        try:
            frame = pl.read_ndjson(peek.path, infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
            # Read again line by line, to say which line is wrong.
            return _read_json_objects(peek, only)
        if frame.height and not _repeats_key(peek, frame):
            try:
                found = _flat({name: frame[name] for name in _of(frame.columns, only)}, peek, "row")
            except InputError:
                return _read_json_objects(peek, only)
            lines: list[int] = []

            def locate(row: int) -> str:
                if not lines:
                    text = peek.decode().split("\n")
                    lines.extend(number for number, line in enumerate(text, 1) if line.strip())
                entry = int(found.locate(row).rpartition(" ")[2])
                return f"{peek.path}, line {lines[entry - 1]}"

            return replace(found, locate=locate)
    return _read_json_objects(peek, only)


def _read_json_objects(peek: Peek, only: Sequence[str] | None) -> Columns:
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
    return _of_objects(rows, numbers, peek, "line", only)


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
    rows: Sequence[dict[str, Any]],
    numbers: Sequence[int],
    peek: Peek,
    unit: str,
    only: Sequence[str] | None,
) -> Columns:
    if not rows:
        raise InputError(f"{peek.path} holds no answer; expected at least one")
    names = _of(list(dict.fromkeys(name for row in rows for name in row)), only)
    columns = {name: series_of(name, [row.get(name) for row in rows]) for name in names}
    return _flat(columns, peek, unit, numbers)
