"""From what stands in a value column to numbers on a scale."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings._codes import as_categories
from affectlab.ratings._frames import wrong_kind
from affectlab.ratings._scale import Scale

__all__ = ["MISSING", "ParsedValues", "is_number", "parse_values"]

_TRUE = {"true", "yes", "t", "y"}
_FALSE = {"false", "no", "f", "n"}
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", ".", "-"}
_MAX_INFERRED_CATEGORIES = 50
_SHOWN = 5
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NEARLY_NUMBER = re.compile(
    r"[-+]?(?:[0-9.,][0-9.,_' ]*(?:[eE][-+]?[0-9]+)?%?|inf|infinity)", re.IGNORECASE
)
"""What is a number to a human eye, and so no name of a category: ``3,5``, ``1e400``, ``40%``."""

Numbers = NDArray[np.float64]


class _Names:
    """Values of the categories of a scale by name."""

    def __init__(self, scale: Scale | None = None) -> None:
        low, categories = (0.0, ()) if scale is None else (scale.low or 0.0, scale.categories)
        self.exact = {name.strip(): low + code for code, name in enumerate(categories)}
        alike: dict[str, list[float]] = {}
        for name, value in self.exact.items():
            alike.setdefault(self._folded(name), []).append(value)
        self._by_folded = {name: found[0] for name, found in alike.items() if len(found) == 1}
        self.are_numbers = bool(self.exact) and all(map(is_number, self.exact))

    def __bool__(self) -> bool:
        return bool(self.exact)

    def find(self, word: str) -> float | None:
        """Value of the category that a word names; case counts only where it tells two apart."""
        found = self.exact.get(word)
        return self._by_folded.get(self._folded(word)) if found is None else found

    @staticmethod
    def _folded(word: str) -> str:
        return " ".join(word.casefold().split())


@dataclass(frozen=True)
class ParsedValues:
    """Numbers, and the rows whose text was not one."""

    value: Numbers
    """``nan`` where there is no answer."""
    bad: NDArray[np.intp]
    """Rows whose text is neither a value nor a sign for a missing one, in rising order."""
    bad_text: dict[int, str] = field(default_factory=dict)
    """What stands in the first of those rows."""
    categories: tuple[str, ...] = ()
    """Categories found when the values are words."""
    missing: tuple[str, ...] = ()
    """Words that were taken as a missing answer."""
    free_text: bool = False
    """Whether the values are many different words, as in free answers."""
    positions: bool = False
    """Whether numbers were taken as positions of categories that were declared by name."""


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number, with a point, in ASCII digits."""
    return _NUMBER.fullmatch(text) is not None and np.isfinite(float(text))


def parse_values(column: pl.Series, scale: Scale | None, *, coded: bool = False) -> ParsedValues:
    """Read a value column of any type.

    Parameters
    ----------
    column
        Numbers and booleans are taken as they are. Of text, empty cells, ``NA``, ``null`` and the
        like become missing; ``true``/``yes`` and ``false``/``no`` become 1 and 0 where the other
        answers are binary. When no cell is a number, the words are the categories of a nominal
        scale.
    scale
        The declared scale, or None. Where it has categories, a value is the name of one; case and
        spaces count only where they tell two categories apart. Numbers are positions (from 0 on a
        nominal scale, from 1 on an ordinal one) unless the categories are called by numbers or,
        on a nominal scale, other answers are names.
    coded
        Values are already on the scale: a number is always a position.

    Raises
    ------
    InputError
        When the column holds dates, lists or the like.
    """
    dtype = column.dtype
    categories = _Names(None if coded else scale)
    if dtype == pl.Null:
        return ParsedValues(np.full(len(column), np.nan), np.zeros(0, dtype=np.intp))
    if dtype.is_numeric() or (dtype == pl.Boolean and not categories):
        return _from_numbers(column, categories)
    if dtype == pl.Boolean:
        column = column.cast(pl.String)
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise wrong_kind(column, "numbers or words")
    return _from_words(as_categories(column), scale, categories)


def _from_numbers(column: pl.Series, categories: _Names) -> ParsedValues:
    given = column.cast(pl.Float64).to_numpy()
    value: Numbers = np.array(given, dtype=np.float64, copy=True)
    bad = np.flatnonzero(np.isinf(value))
    if categories.are_numbers:
        names = np.array([float(name) for name in categories.exact])
        codes = np.array(list(categories.exact.values()))
        order = np.argsort(names)
        found = order[np.minimum(np.searchsorted(names, given, sorter=order), len(names) - 1)]
        known = names[found] == given
        bad = np.flatnonzero(~known & ~np.isnan(given))
        value = np.where(known, codes[found], np.nan).astype(np.float64)
    elif categories:
        # A number stands for the place of a category; what lies between two names none.
        bad = np.flatnonzero(~np.isnan(value) & (value != np.floor(value)))
    value[bad] = np.nan
    texts = {int(row): f"{given[row]:g}" for row in bad[:_SHOWN]}
    positions = bool(categories) and not categories.are_numbers
    return ParsedValues(value, bad, texts, positions=positions)


def _from_words(column: pl.Series, scale: Scale | None, categories: _Names) -> ParsedValues:
    distinct = column.drop_nulls().unique(maintain_order=True)
    words = [word.strip() for word in distinct.cast(pl.String).to_list()]
    meanings = {word: _meaning(word, categories) for word in words}
    positions = _positions(words, scale, categories, meanings)
    unread = [word for word, meaning in meanings.items() if meaning is None]
    numbers = {m for m in meanings.values() if m is not None and not np.isnan(m)}
    truths = {word: _truth(word) for word in unread}
    inferred: tuple[str, ...] = ()
    free_text = False
    words_only = not numbers and not any(map(_NEARLY_NUMBER.fullmatch, unread))
    if scale is None and words_only and None in truths.values():
        if len(unread) <= _MAX_INFERRED_CATEGORIES:
            inferred = tuple(unread)
            meanings |= {word: float(code) for code, word in enumerate(unread)}
        else:
            free_text = True
    elif not categories and (scale.kind == "binary" if scale else numbers <= {0.0, 1.0}):
        meanings |= truths
    value, bad = _look_up(column, distinct, [meanings[word] for word in words])
    texts = {int(row): str(column[int(row)]) for row in bad[:_SHOWN]}
    gone = tuple(word for word in words if word and _is_nan(meanings[word]))
    return ParsedValues(value, bad, texts, inferred, gone, free_text, positions)


def _positions(
    words: list[str],
    scale: Scale | None,
    categories: _Names,
    meanings: dict[str, float | None],
) -> bool:
    """Whether numbers are positions of categories; where they cannot be, they mean nothing."""
    if scale is None or not categories:
        return False
    named = {word for word in words if categories.find(word) is not None}
    bare = [word for word in words if word not in named and is_number(word)]
    if categories.are_numbers or (named and scale.kind == "nominal"):
        meanings |= dict.fromkeys(bare)
        return False
    return bool(bare)


def _look_up(
    column: pl.Series, distinct: pl.Series, meanings: list[float | None]
) -> tuple[Numbers, NDArray[np.intp]]:
    """Give each row the meaning of its word, and the rows whose word has none."""
    positions = distinct.to_physical().cast(pl.Int64).to_numpy()
    gap = int(positions.max(initial=-1)) + 1
    physical = column.to_physical().cast(pl.Int64).fill_null(gap).to_numpy()
    lookup = np.full(gap + 1, np.nan)
    lookup[positions] = [np.inf if meaning is None else meaning for meaning in meanings]
    value: Numbers = lookup[physical]
    bad = np.flatnonzero(np.isinf(value))
    value[bad] = np.nan
    return value, bad


def _meaning(word: str, categories: _Names) -> float | None:
    """Value of one word; nan when it stands for a missing answer, None when it says nothing."""
    named = categories.find(word)
    if named is not None:
        return named
    if word.casefold() in MISSING:
        return float("nan")
    return float(word) if is_number(word) else None


def _truth(word: str) -> float | None:
    folded = word.casefold()
    return 1.0 if folded in _TRUE else 0.0 if folded in _FALSE else None


def _is_nan(meaning: float | None) -> bool:
    return meaning is not None and bool(np.isnan(meaning))
