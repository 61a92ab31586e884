"""From any file that holds a table to its columns."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.files.delimited import Columns, above_header, read_delimited
from affectlab.ratings.files.frames import series_of
from affectlab.ratings.files.labelled import read_labelled
from affectlab.ratings.files.ledger import Locate, OnBad, Place
from affectlab.ratings.files.nested import Rows, are_alike, names_rater, of_raters, rows_of
from affectlab.ratings.files.parquet import read_frame
from affectlab.ratings.files.peek import JSON_LINES, Peek
from affectlab.ratings.files.strict_json import BadJson, parse_json
from affectlab.ratings.schema import SetAside, StepKind
from affectlab.ratings.steps import Step, guess, step

_ZIP, _NPY = b"PK\x03\x04", b"\x93NUMPY"
_SHOWN = 5
_ANSWERS = re.compile(
    r"(rating|score|answer|response|judge?ment|vote|value|prediction|annotation|label)s",
    re.IGNORECASE,
)
"""Names of lists of answers."""
_ABOUT = "about."
"""What stands before names of lists and objects that lie beside those of answers."""
_SAID = re.compile(r"(annotation|label)s", re.IGNORECASE)
"""Those of which one is not called in the singular."""


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
        return _flat({name: frame[name] for name in _of(frame.columns, only)}, peek)
    if peek.is_workbook:
        book = peek.workbook
        history = above_header(book.title)
        return Columns(book.columns(), book.locate, typed=False, history=history)
    if peek.labelled is not None:
        labelled = read_labelled(peek.path, peek.labelled, peek.categories, peek.perhaps)
        return _flat(labelled.columns, peek)
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
        found = rows_of(content)
        if found is None:
            if content and not (lines and isinstance(content, dict)):
                raise InputError(
                    f"{peek.path}: expected a list of objects, one per answer, or an object that "
                    "holds one such list"
                )
            found = Rows([content] if content else [])
        read = _of_objects(found.rows, peek, only)
        return replace(read, history=(*found.steps, *read.history))
    read = read_delimited(peek, names=names, number=number, on_bad=on_bad)
    return _spread_lists(read)


def _flat(columns: dict[str, pl.Series], peek: Peek, locate: Locate | None = None) -> Columns:
    place = locate or (lambda row: Place(f"row {row + 1}", peek.path))

    found = _of_nobody(_by_place(_spread(columns, place)))
    spread = bool(found.history) or _height(found.columns) != _height(columns)
    columns = {}
    left: list[str] = []
    for name, column in found.columns.items():
        words = _lists_of_words(column)
        if words is not None or not _is_nested(column):
            columns[name] = column if words is None else words
        elif spread:
            left.append(name)
        else:
            raise InputError(f"{peek.path}: column '{name}' holds lists; expected single values")
    steps = (step(StepKind.LISTS_LEFT_OUT, columns=left),) if left else ()
    return replace(found, columns=columns, history=(*found.history, *steps))


def _height(columns: Mapping[str, pl.Series]) -> int:
    return len(next(iter(columns.values()), ()))


def _by_place(read: Columns) -> Columns:
    """Give lists of numbers that are all of one length a row for each place, as for labels."""
    lists = {name: _as_lists(one) for name, one in read.columns.items()}
    lists = {
        name: one
        for name, one in lists.items()
        if isinstance(one.dtype, pl.List) and one.dtype.inner.is_numeric()
    }
    lengths = {length for one in lists.values() for length in _lengths(one).unique()}
    if len(lists) < 2 or len(lengths) != 1 or max(lengths) < 2 or "label" in read.columns:
        return read
    (n,) = lengths
    height = _height(read.columns)
    index = np.repeat(np.arange(height), n)
    columns = {
        name: _entries(lists[name]) if name in lists else one.gather(index)
        for name, one in read.columns.items()
    }
    places = pl.Series("label", [f"label {place + 1}" for _ in range(height) for place in range(n)])
    done = guess(StepKind.LISTS_BY_PLACE, columns=lists, n=n)
    return Columns(
        {**columns, "label": places},
        lambda row: read.locate(int(index[row])),
        read.set_aside,
        history=(*read.history, done),
    )


def _of_nobody(read: Columns) -> Columns:
    """Give each entry of lists of answers a row, where nothing names who gave them.

    Numbers or words that come back in a list are answers of several; what is chosen together does
    not.
    """
    if any(names_rater([name, name.rpartition(".")[2]]) for name in read.columns):
        return read
    lists = {
        name: found
        for name, one in read.columns.items()
        if _called_after_answers(name)
        and _is_listed(found := _numbers_in_text(_as_lists(one)))
        and _come_back(found)
    }
    lengths = [_lengths(one) for one in lists.values()]
    if not lists or any(not one.equals(lengths[0]) for one in lengths):
        return read
    index = np.repeat(np.arange(len(lengths[0])), lengths[0].to_numpy())
    columns = {
        called: (_entries(lists[name]) if name in lists else one.gather(index)).alias(called)
        for name, one in read.columns.items()
        for called in (_of_one(name, read.columns) if name in lists else name,)
    }
    columns["rater"] = pl.Series("rater", [f"vote {row + 1}" for row in range(len(index))])
    done = guess(StepKind.LISTS_OF_UNKNOWN, columns=lists)
    return replace(
        read,
        columns=columns,
        locate=lambda row: read.locate(int(index[row])),
        history=(*read.history, done),
        anonymous=True,
    )


def _come_back(column: pl.Series) -> bool:
    """Whether entries come back inside the same list, in a third of those with several."""
    cells = pl.select(n=column.list.len(), different=column.list.n_unique())
    several = cells.filter(pl.col("n") > 1)
    twice = several.filter(pl.col("different") < pl.col("n")).height
    return several.height > 0 and 3 * twice >= several.height


def _numbers_in_text(column: pl.Series) -> pl.Series:
    """Part numbers that stand in a cell, such as ``4 2 3 1 5``."""
    if column.dtype != pl.String:
        return column
    text = column.str.strip_chars(" []()").str.replace_all(r"\s*[,;|\s]\s*", " ")
    if not text.drop_nulls().str.contains(r"^-?\d+(\.\d+)?( -?\d+(\.\d+)?)*$").all():
        return column
    return text.str.split(" ")


def _spread_lists(read: Columns) -> Columns:
    """Give the entries of cells that list raters and their answers a row each."""
    return _spread_in(read, read.columns) if _lists_by_rater(read.columns)[1] else read


def spread_cells(read: Columns, *, raters_known: bool) -> Columns:
    """Give fields of objects in cells of text a column, and answers listed in a cell a row each.

    That is of columns that are called after answers. Lists are spread where no raters are known.
    """
    columns = {
        name: _parsed(one) if _called_after_answers(name) else one
        for name, one in read.columns.items()
    }
    if any(map(_are_objects, columns.values())):
        return _spread_in(read, columns)
    return read if raters_known else _of_nobody(read)


def _called_after_answers(name: str) -> bool:
    last = name.rpartition(".")[2]
    return any(_ANSWERS.fullmatch(one) for one in (last, f"{last}s"))


def _spread_in(read: Columns, columns: dict[str, pl.Series]) -> Columns:
    found = _spread(columns, read.locate)
    aside, steps = (*read.set_aside, *found.set_aside), (*read.history, *found.history)
    return replace(found, typed=read.typed, set_aside=aside, history=steps)


def _spread(columns: dict[str, pl.Series], place: Locate) -> Columns:
    """Give each field of an object a column, and each object of a list a row.

    Lists of raters and of their answers are rows, too.
    """
    rows: NDArray[np.int_] | None = None
    empty: list[int] = []
    steps: list[Step] = []
    by_rater = False

    def locate(row: int) -> Place:
        return place(row if rows is None else int(rows[row]))

    while True:
        together: list[str] = []
        if not by_rater:
            columns, together = _lists_by_rater(columns)
        if together:
            _check_lengths(columns, together, locate)
            rater, *answers = together
            steps.append(guess(StepKind.LISTS_BY_RATER, rater=rater, columns=answers))
            called = {name: _of_one(name, columns) for name in together}
            columns = {
                called.get(name, name): one.alias(called.get(name, name))
                for name, one in columns.items()
            }
            together, by_rater = list(called.values()), True
        elif (lists := _lists_of_objects(columns)) is not None:
            together, left = lists
            if names_rater(_fields_in(columns[together[0]])):
                columns = _about(columns, together[0])
            if left:
                columns = {name: one for name, one in columns.items() if name not in left}
                steps.append(guess(StepKind.LISTS_WITH_RATERS, column=together[0], left=left))
        elif not by_rater and (keyed := _by_key(columns)):
            columns |= keyed
            steps.append(guess(StepKind.KEYS_ARE_ENTRIES, columns=keyed))
            continue
        elif objects := [name for name, one in columns.items() if _are_objects(one)]:
            # Beside lists of answers a short name could be taken for that of one.
            columns = _fields_of(columns, objects, short=not by_rater)
            continue
        else:
            break
        lengths = _lengths(columns[together[0]])
        entries = np.arange(len(lengths)) if rows is None else rows
        empty += entries[(lengths == 0).to_numpy()].tolist()
        index = np.repeat(np.arange(len(lengths)), lengths.to_numpy())
        rows = entries[index]
        columns = {
            name: _entries(one) if name in together else one.gather(index)
            for name, one in columns.items()
        }
    aside = (
        SetAside.of(
            "no answer (an empty list)",
            empty,
            lambda entry: place(entry).inside,
            kind="no_answer",
        ),
    )
    return Columns(columns, locate, aside if empty else (), history=tuple(steps))


def _lists_by_rater(
    columns: dict[str, pl.Series],
) -> tuple[dict[str, pl.Series], list[str]]:
    """Find the columns whose cells have an entry for each rater, whom the first of them names.

    These are all that have lists as long as those of the raters in each row, or objects with a
    field for each; where only one other column has lists, it is that one, of whatever length.
    Lists may stand in text, with commas. There are none where no column lists raters.
    """
    raters = next((name for name in columns if of_raters(name)), None)
    one = next((name for name in columns if of_raters(f"{name}s")), None)
    if one is not None:
        # Where a column names the one rater of each row, lists of people are something else.
        raters = one if _is_listed(_as_lists(columns[one])) else None
    if raters is None:
        return columns, []
    who = _as_lists(columns[raters], in_text=True)
    if not _is_listed(who):
        return columns, []
    names = who.to_list()
    listed = {
        name: _as_lists(_by_name(one, names), in_text=bool(_ANSWERS.fullmatch(name)))
        for name, one in columns.items()
        if name != raters
    }
    lists = [name for name, one in listed.items() if isinstance(one.dtype, pl.List)]
    others = [name for name in lists if _is_listed(listed[name])]
    lengths = _lengths(who)
    fits = [name for name in lists if _lengths(listed[name]).equals(lengths)]
    if not set(fits) & set(others):
        fits = []
    in_text = columns[raters].dtype == pl.String
    together = fits or (others if len(others) == 1 and not in_text else [])
    if not together:
        return columns, []
    found = {name: listed[name] if name in together else one for name, one in columns.items()}
    return {**found, raters: who}, [raters, *together]


def _by_name(column: pl.Series, names: Sequence[Sequence[str] | None]) -> pl.Series:
    """Make lists of objects with a field for each rater, in their order; others stay."""
    if not _are_objects(column):
        return column
    cells = column.to_list()
    given = [{k for k, v in (cell or {}).items() if v is not None} for cell in cells]
    if any(own != {*map(str, who or ())} for own, who in zip(given, names, strict=True)):
        return column
    lists = [
        [cell[str(name)] for name in who or ()] for cell, who in zip(cells, names, strict=True)
    ]
    return pl.Series(column.name, lists, dtype=pl.Object)


def _as_lists(column: pl.Series, *, in_text: bool = False) -> pl.Series:
    """Give lists of Python a type, where their entries have one; `in_text`: those in text, too."""
    if column.dtype == pl.Object:
        cells = column.to_list()
    elif column.dtype == pl.String and (in_text or _are_lists(column)) and _holds(column, ","):
        cells = [None if cell is None else _in_text(cell) for cell in column]
    else:
        return column
    if not cells or not all(cell is None or isinstance(cell, list | tuple) for cell in cells):
        return column
    try:
        return pl.Series(column.name, cells, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return column


def _are_lists(column: pl.Series) -> bool:
    """Whether all text is that of lists, as JSON and Python write them."""
    text = column.drop_nulls()
    return _begin_with(text, "[") and bool(text.str.contains(r"\]\s*$").all())


def _begin_with(column: pl.Series, sign: str) -> bool:
    """Whether all text begins with a sign; the first cell alone says that most does not."""
    text = column.drop_nulls()
    if not len(text) or not text[0].lstrip().startswith(sign):
        return False
    return bool(text.str.strip_chars_start().str.starts_with(sign).all())


def _holds(column: pl.Series, sign: str) -> bool:
    return bool(column.str.contains(sign, literal=True).any())


def _in_text(cell: str) -> list[str]:
    """Part a list that is written as text: with commas, and as JSON or Python have it."""
    inside = cell.strip().removeprefix("[").removesuffix("]")
    return [part.strip().strip("'\"").strip() for part in inside.split(",")]


def _of_one(name: str, columns: Mapping[str, pl.Series]) -> str:
    """Name what one entry of a list of raters or of answers is."""
    answers = _ANSWERS.fullmatch(name) and not _SAID.fullmatch(name)
    listed = of_raters(name) or answers
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
    if column.dtype == pl.Object:
        return pl.Series([len(cell or ()) for cell in column.to_list()], dtype=pl.UInt32)
    return column.list.len().fill_null(0)


def _are_objects(column: pl.Series) -> bool:
    """Whether cells are objects."""
    if column.dtype != pl.Object:
        return isinstance(column.dtype, pl.Struct)
    cells = [cell for cell in column.to_list() if cell is not None]
    return bool(cells) and all(isinstance(cell, dict) for cell in cells)


def _fields_of(
    columns: dict[str, pl.Series], objects: Sequence[str], *, short: bool
) -> dict[str, pl.Series]:
    """Give each field of objects a column, under its own name where that is `short` and free.

    A name that several objects have is free in none of them.
    """
    parts: dict[str, dict[str, pl.Series]] = {}
    for name in objects:
        column = columns[name]
        if isinstance(column.dtype, pl.Struct):
            parts[name] = {one.name: column.struct.field(one.name) for one in column.dtype.fields}
        else:
            cells = column.to_list()
            keys = dict.fromkeys(key for cell in cells if cell for key in cell)
            parts[name] = {
                key: series_of(key, [(cell or {}).get(key) for cell in cells]) for key in keys
            }
    times = Counter(key for one in parts.values() for key in one)
    made: dict[str, pl.Series] = {}
    for name, column in columns.items():
        if name not in parts:
            made[name] = column
        for key, part in parts.get(name, {}).items():
            own = key if short and key not in columns and times[key] == 1 else f"{name}.{key}"
            made[own] = _parsed(part).alias(own)
    return made


def _about(columns: dict[str, pl.Series], answers: str) -> dict[str, pl.Series]:
    """Call objects and lists beside the one of answers so that none is taken for an answer."""
    named = {
        name if name == answers or not _is_nested(one) else f"{_ABOUT}{name}": one
        for name, one in columns.items()
    }
    while objects := [name for name, one in named.items() if name != answers and _are_objects(one)]:
        named = _fields_of(named, objects, short=False)
    return {name: one.alias(name) for name, one in named.items()}


def _is_nested(column: pl.Series) -> bool:
    return column.dtype == pl.Object or column.dtype.is_nested()


def _by_key(columns: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    """Make lists of objects that hold alike objects under keys, which become a field of these."""
    found: dict[str, pl.Series] = {}
    for name, column in columns.items():
        if not _are_objects(column) or (
            isinstance(column.dtype, pl.Struct)
            and not all(isinstance(field.dtype, pl.Struct) for field in column.dtype.fields)
        ):
            continue
        cells = [
            {key: one for key, one in (cell or {}).items() if one is not None} for cell in column
        ]
        entries = [one for cell in cells for one in cell.values()]
        if max(map(len, cells)) > 1 and are_alike(entries):
            key = name[:-1] if of_raters(name) else f"{name}_key"
            lists = [[{key: own, **one} for own, one in cell.items()] for cell in cells]
            found[name] = pl.Series(name, lists, dtype=pl.Object)
    return found


def _parsed(column: pl.Series) -> pl.Series:
    """Read the objects of a column of JSON that stands inside JSON."""
    if column.dtype != pl.String or not _begin_with(column, "{"):
        return column
    try:
        cells = [None if cell is None else parse_json(cell) for cell in column]
    except BadJson:
        return column
    found = series_of(column.name, cells)
    return found if _are_objects(found) else column


def _lists_of_objects(columns: Mapping[str, pl.Series]) -> tuple[list[str], list[str]] | None:
    """Find the one column with lists of objects, or the one of several that names raters.

    Returns
    -------
    tuple
        The column, in a list, and the others; None where there is none.
    """
    fields = {name: found for name, one in columns.items() if (found := _fields_in(one))}
    named = [name for name, keys in fields.items() if names_rater(keys)]
    chosen = list(fields) if len(fields) == 1 else named
    return (chosen, [one for one in fields if one not in chosen]) if len(chosen) == 1 else None


def _fields_in(column: pl.Series) -> list[str]:
    """Name the fields of the objects of which a column holds lists."""
    if isinstance(column.dtype, pl.List):
        inner = column.dtype.inner
        return [field.name for field in inner.fields] if isinstance(inner, pl.Struct) else []
    if column.dtype != pl.Object:
        return []
    cells = [cell for cell in column.to_list() if cell is not None]
    if not cells or not all(isinstance(cell, list | tuple) for cell in cells):
        return []
    entries = [entry for cell in cells for entry in cell]
    if not all(isinstance(entry, dict) for entry in entries):
        return []
    return list(dict.fromkeys(key for entry in entries for key in entry))


def _entries(column: pl.Series) -> pl.Series:
    """Put the entries of lists one below the other."""
    if column.dtype == pl.Object:
        return series_of(column.name, [entry for cell in column.to_list() for entry in cell or ()])
    return column.filter(_lengths(column) > 0).explode()


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
                columns = {name: frame[name] for name in _of(frame.columns, only)}
                return _flat(columns, peek, _by_line(peek))
            except InputError:
                return _read_json_objects(peek, only)
    return _read_json_objects(peek, only)


def _by_line(peek: Peek) -> Locate:
    """Say where objects stand that fill a line each, and look for the lines only when asked."""
    lines: list[int] = []

    def locate(entry: int) -> Place:
        if not lines:
            text = peek.decode().split("\n")
            lines.extend(number for number, line in enumerate(text, 1) if line.strip())
        return Place(f"line {lines[entry]}", peek.path)

    return locate


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
    return _of_objects(rows, peek, only, lambda row: Place(f"line {numbers[row]}", peek.path))


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
    peek: Peek,
    only: Sequence[str] | None,
    locate: Locate | None = None,
) -> Columns:
    if not rows:
        raise InputError(f"{peek.path} holds no answer; expected at least one")
    names = _of(list(dict.fromkeys(name for row in rows for name in row)), only)
    columns = {name: series_of(name, [row.get(name) for row in rows]) for name in names}
    return _flat(columns, peek, locate)
