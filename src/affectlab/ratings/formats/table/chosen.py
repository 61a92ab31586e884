"""Categories that raters chose: one in a cell, several in a cell, or each in a row of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.build import MISSING, is_nearly_number, joined_step, words_of
from affectlab.ratings.files import Locate, OnBad
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.schema import AsideKind, SetAside, StepKind
from affectlab.ratings.steps import History, Step, guess

ROWS = "row"
"""In place of a separator: each chosen category stands in a row of its own."""
LIST = "list"
"""In place of a separator: cells are lists, as JSON and Python write them."""
_SEPARATORS = (";", "|", ",", "/", "+")
_MOST_CATEGORIES = 50
_LONGEST = 40
_FEW_NONE = 2
_SEVERAL = 0.1
"""Share of questions with several rows from which on raters are taken to have chosen several."""


@dataclass(frozen=True)
class Chosen:
    """One row per answer and category, with 1 where it was chosen and 0 where not."""

    columns: dict[str, pl.Series]
    locate: Locate
    set_aside: tuple[SetAside, ...]
    history: History


def find_separator(column: pl.Series) -> str | None:
    """Tell what parts several chosen categories in a cell; None where cells hold one each.

    A mark is one where the parts of cells are fewer than the cells that differ, since categories
    come back in other company; a comma may belong to a name.

    Examples
    --------
    >>> find_separator(pl.Series(["joy;fear", "joy", "fear", "fear;anger", "anger"]))
    ';'
    >>> find_separator(pl.Series(["yes, a lot", "no, never", "yes, a lot"])) is None
    True
    >>> find_separator(pl.Series(["['joy', 'fear']", "[]", "['joy']"]))
    'list'
    """
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return None
    words = words_of(column.unique()).to_list()
    if not words or any(map(is_nearly_number, words)):
        return None
    if all(word.startswith("[") and word.endswith("]") for word in words):
        return LIST
    for mark in _SEPARATORS:
        parts = [_parts(word, mark) for word in words]
        several = [part for cell in parts if len(cell) > 1 for part in cell]
        names = {folded(part) for cell in parts for part in cell}
        if (
            several
            and len(names) <= _MOST_CATEGORIES
            and max(map(len, names)) <= _LONGEST
            and not any(map(is_nearly_number, several))
            and (len(names) < len(words) or (mark in ";|" and len(names) <= len(words)))
        ):
            return mark
    return None


def none_chosen(column: pl.Series) -> tuple[Scale, Step] | None:
    """Tell that ``none`` is what was chosen, and not that there is no answer.

    It is where it is written small, as no program writes a missing value, among other words.

    Returns
    -------
    The categories as a scale that nobody declared, and what to say of the guess.

    Examples
    --------
    >>> scale, _ = none_chosen(pl.Series(["joy", "none", "fear", "none", "joy"]))
    >>> scale.categories
    ('joy', 'none', 'fear')
    >>> none_chosen(pl.Series(["joy", "None", "fear", "joy"])) is None
    True
    """
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return None
    words = column.unique().cast(pl.String).str.strip_chars()
    if not (words == "none").any():
        return None
    cells = column.cast(pl.String).str.strip_chars()
    count = int((cells == "none").sum())
    others = words_of(words).to_list()
    if count < _FEW_NONE or len(others) < 2 or any(map(is_nearly_number, others)):
        return None
    kept = cells.filter((cells == "none") | ~cells.str.to_lowercase().is_in([*MISSING]))
    order = kept.unique(maintain_order=True)
    if len(order) > _MOST_CATEGORIES:
        return None
    scale = replace(Scale.nominal(tuple(order)), declared=False)
    return scale, guess(StepKind.NONE_IS_CATEGORY, n=count)


def several_rows(columns: Mapping[str, pl.Series], value: str, keys: Sequence[str]) -> bool:
    """Whether raters chose several categories for a stimulus, each in a row of its own."""
    table = pl.DataFrame([columns[name].cast(pl.String) for name in dict.fromkeys([*keys, value])])
    counts = table.drop_nulls().group_by(keys).agg(pl.col(value).n_unique().alias("\0n"))["\0n"]
    return bool(len(counts)) and int((counts > 1).sum()) >= _SEVERAL * len(counts)


def choices(
    columns: Mapping[str, pl.Series],
    separator: str,
    keys: Sequence[str],
    locate: Locate,
    on_bad: OnBad,
) -> Chosen:
    """Turn chosen categories into one row per answer and category, with 1 or 0.

    Parameters
    ----------
    columns
        Columns under the names of their roles; ``value`` holds what was chosen.
    separator
        What parts the categories of a cell; :data:`LIST` or :data:`ROWS` in its place.
    keys
        Columns that say which rows belong to one answer, for :data:`ROWS`.
    locate, on_bad
        Where a row stands, and what happens with rows that cannot be used.

    Raises
    ------
    InputError
        When a rater chose the same category twice, or no category was chosen.
    """
    given = columns["value"].cast(pl.String)
    cells = [None if _is_missing(cell) else _cell(cell, separator) for cell in given.to_list()]
    aside: list[SetAside] = []
    if separator == ROWS:
        cells, repeats = _joined_rows(columns, keys, cells)
        if repeats and on_bad == "raise":
            raise InputError(
                f"{locate(repeats[0])}: a second answer for the same question; expected each "
                f"category once, or such rows left out "
                f"({option('on_bad', 'set_aside', cli='--set-aside')})"
            )
        aside += _aside("second answer for the same question (the first is kept)", repeats, locate)
        no_answer = [row for row, cell in enumerate(given.to_list()) if _is_missing(cell)]
    else:
        no_answer = [row for row, cell in enumerate(cells) if cell is None]
    aside += _aside("no answer (an empty cell)", no_answer, locate, "no_answer")
    rows = np.array([row for row, cell in enumerate(cells) if cell is not None], dtype=np.intp)
    position: dict[str, int] = {}
    names: list[str] = []
    joined: dict[str, str] = {}
    for row in rows:
        for part in cells[row] or ():
            if position.setdefault(folded(part), len(names)) == len(names):
                names.append(part)
            if (own := names[position[folded(part)]]) != part:
                joined[part] = own
    if not names:
        raise InputError("no category was chosen in any row; expected names of categories")
    value = np.zeros((len(rows), len(names)))
    for place, row in enumerate(rows):
        value[place, [position[folded(part)] for part in cells[row] or ()]] = 1.0
    repeated = np.repeat(rows, len(names))
    made = {name: column.gather(repeated) for name, column in columns.items() if name != "value"}
    made["label"] = pl.Series("label", names * len(rows), dtype=pl.Enum(names))
    made["value"] = pl.Series("value", value.ravel())
    return Chosen(made, _of(locate, repeated), tuple(aside), joined_step(joined))


def _of(locate: Locate, rows: NDArray[np.intp]) -> Callable[[int], str]:
    return lambda row: locate(int(rows[row]))


def _joined_rows(
    columns: Mapping[str, pl.Series], keys: Sequence[str], cells: list[list[str] | None]
) -> tuple[list[list[str] | None], list[int]]:
    """Put the categories of one answer into its first row; give the rows that repeat one."""
    key = pl.DataFrame([columns[name].cast(pl.String) for name in keys])
    first: dict[tuple[object, ...], int] = {}
    joined: list[list[str] | None] = [None] * len(cells)
    seen: dict[int, set[str]] = {}
    repeats = []
    for row, (one, cell) in enumerate(zip(key.iter_rows(), cells, strict=True)):
        if cell is None:
            continue
        at = first.setdefault(one, row)
        known, name = seen.setdefault(at, set()), folded(cell[0])
        if name in known:
            repeats.append(row)
            continue
        known.add(name)
        joined[at] = [*(joined[at] or []), *cell]
    return joined, repeats


def _aside(
    reason: str, rows: list[int], locate: Locate, kind: AsideKind = "unusable"
) -> list[SetAside]:
    found = SetAside.of(reason, rows, lambda row: locate(row).inside, kind=kind)
    return [found] if rows else []


def _is_missing(cell: str | None) -> bool:
    return cell is None or cell.strip().casefold() in MISSING


def _cell(cell: str, separator: str) -> list[str]:
    if separator == ROWS:
        return [cell.strip()]
    return _parts(cell.strip(), separator)


def _parts(cell: str, separator: str) -> list[str]:
    """Give the categories of a cell, each once."""
    parts = _listed(cell) if separator == LIST else cell.split(separator)
    alike = {folded(part): part.strip() for part in reversed(parts) if part.strip()}
    return list(reversed(alike.values()))


def _listed(cell: str) -> list[str]:
    """Read a list as JSON, Python or numpy write it."""
    try:
        read = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return [part.strip(" '\"") for part in cell.strip("[] ").split(",")]
    return [str(part) for part in read] if isinstance(read, list | tuple) else [str(read)]
