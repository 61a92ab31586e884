"""What columns of a table show by their shape: which cross, which determine others, which vary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.files.media import media_kind
from affectlab.ratings.build import MISSING, is_number
from affectlab.ratings.formats.table.chosen import LIST, find_separator
from affectlab.ratings.formats.table.columns import (
    DIMENSIONS,
    find_one,
    is_no_label,
    words_in,
)
from affectlab.ratings.formats.table.crossed import crossings
from affectlab.ratings.formats.table.lexicon import meant
from affectlab.ratings.response_words import is_no_answer
from affectlab.taxonomy import Taxonomy, list_taxonomies, load_taxonomy

Kind = Literal["none", "numbers", "files", "mails", "texts", "words"]
_FIRST_ROWS = 20_000
_MOST_KEYS = 14
"""Columns that may name rows; more are looked at from the left only."""
_MAIL = re.compile(r"\S+@\S+\.\w+")
_LONG_TEXT = 3
"""Words of a cell, on average, from which on a column holds texts."""
_TRUTH = {"false": "0", "true": "1"}
_NUMBERED = re.compile(r"(?<=\w)(?:[ _.-]?\d+|[ _.-][a-zA-Z])$")


@dataclass(frozen=True)
class Column:
    """A column of a table, by what stands in its cells."""

    name: str
    kind: Kind
    distinct: int
    """Values that differ."""
    filled: int
    """Cells that hold something."""
    runs: bool
    """Whether each row has a higher number than the one before."""
    whole: bool
    """Whether all are whole numbers."""


class Evidence:
    """The columns of a table, of which each shape is measured once and when it is asked for."""

    def __init__(self, columns: Mapping[str, pl.Series]) -> None:
        self.names = tuple(name for name in columns if name.strip())
        self.rows = len(next(iter(columns.values()), ()))
        self.height = min(self.rows, _FIRST_ROWS)
        self.cells = {name: _texts(columns[name].head(_FIRST_ROWS)) for name in columns}
        self._read_truths()
        for name, joined in self._complements().items():
            self.cells[name] = joined
            self.names = (*self.names, name)
        self._columns: dict[str, Column] = {}
        self._codes: dict[str, pl.Series] = {}
        self._counts: dict[tuple[str, ...], int] = {}

    def _read_truths(self) -> None:
        """Take true and false as 1 and 0 where several columns of labels hold nothing else."""
        held = {name: self.cells[name].str.to_lowercase() for name in self.names}
        told = [name for name in self.names if {*held[name].drop_nulls().unique()} == {*_TRUTH}]
        if len(told) > 1 and (self.are_labels(told) or crossings(told)):
            self.cells |= {name: held[name].replace_strict(_TRUTH) for name in told}

    def _complements(self) -> dict[str, pl.Series]:
        """Join two columns called after who answered of which each row fills one."""
        called = [
            name for name in self.names if {"rater", "model"} & meant(name) and name != "rater_kind"
        ]
        empty = {name: self.cells[name].is_null() for name in called}
        return {
            f"{one}+{other}": self.cells[one].fill_null(self.cells[other])
            for one, other in combinations(called, 2)
            if empty[one].any() and empty[other].any() and (empty[one] ^ empty[other]).all()
        }

    def column(self, name: str) -> Column:
        """Say what a column holds."""
        if name not in self._columns:
            self._columns[name] = _column(name, self.cells[name])
        return self._columns[name]

    def code(self, name: str) -> pl.Series:
        """Number the values of a column."""
        if name not in self._codes:
            self._codes[name] = self.cells[name].rank("dense").alias(name)
        return self._codes[name]

    def count(self, *names: str) -> int:
        """Count the different rows of some columns, without those in which one is empty."""
        key = tuple(sorted(set(names)))
        if key not in self._counts:
            table = pl.DataFrame([self.code(name) for name in key]).drop_nulls()
            self._counts[key] = table.n_unique() if table.height else 0
        return self._counts[key]

    def determines(self, one: str, other: str) -> bool:
        """Whether each value of a column comes with one value of another."""
        return self.count(one, other) <= self.count(one)

    def twins(self, one: str, other: str) -> bool:
        """Whether two columns name the same things."""
        return self.determines(one, other) and self.determines(other, one)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Give a column of numbers; ``nan`` where there is none."""
        cells = self.cells[name].str.replace(",", ".", literal=True)
        return cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()

    def several(self, one: str, other: str) -> tuple[str, list[str]]:
        """Give a value of a column that comes with several of another, and these."""
        pairs = pl.DataFrame([self.cells[one].alias("one"), self.cells[other].alias("other")])
        table = pairs.drop_nulls().group_by("one", maintain_order=True)
        found = table.agg(pl.col("other").unique(maintain_order=True))
        name, values = found.filter(pl.col("other").list.len() > 1).row(0)
        return name, values

    def names_rows(self, *keys: str) -> bool:
        """Whether no two rows have the same keys."""
        filled = pl.DataFrame([self.code(name) for name in keys]).drop_nulls().height
        return filled > 0 and self.count(*keys) == filled

    def tells_apart(self, name: str, *keys: str) -> bool:
        """Whether rows with the same keys differ in a column, which may be empty elsewhere."""
        codes = [*(self.code(key) for key in keys), self.code(name).fill_null(0)]
        table = pl.DataFrame(codes).drop_nulls()
        return table.height > 0 and table.n_unique() == table.height

    def coverage(self, *keys: str) -> float:
        """Share of what could be combined that is."""
        most = 1
        for key in keys:
            most *= max(self.count(key), 1)
        return self.count(*keys) / most

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Columns whose values come back and may name who answered, what was shown, what was asked.

        A column that another one determines, and not the reverse, describes what that one names; of
        columns that name the same things the one counts that is called so, else the first of words.
        """
        found = [
            name
            for name in self.names
            if 1 < self.column(name).distinct <= self.height / 2
            and self.column(name).filled >= 0.98 * self.height
            and not {"person", "decided"} & meant(name)
            and {"moment", "session"} & meant(name) != {"moment"}
            and (self.column(name).kind != "numbers" or self.column(name).whole)
            and name not in self.spread
            and "@" not in name
        ][:_MOST_KEYS]
        found = [name for name in found if not self._numbers_pairs(name, found)]
        free = [
            name
            for name in found
            if not any(
                self.determines(other, name) and not self.determines(name, other)
                for other in found
                if other != name and (self._names(other) or not self._names(name))
            )
        ]
        chosen: list[str] = []
        for name in sorted(free, key=self._rank):
            if not any(self.twins(name, other) for other in chosen):
                chosen.append(name)
        return tuple(name for name in self.names if name in chosen)

    def _numbers_pairs(self, name: str, others: Sequence[str]) -> bool:
        """Whether a column of no known name has a value for each pair of what two others name."""
        if {"rater", "stimulus"} & meant(name):
            return False
        told = [one for one in others if one != name and self.determines(name, one)]
        return any(
            self.count(one, other) == self.count(name)
            and not self.determines(one, other)
            and not self.determines(other, one)
            and self.count(one) * self.count(other) <= 2 * self.count(name)
            and min(self.count(one), self.count(other)) > 2
            and {"rater", "stimulus", "label"} & (meant(one) | meant(other))
            for one, other in combinations(told, 2)
        )

    def _names(self, name: str) -> bool:
        """Whether a column is no plain number, which in small tables may tell others by chance."""
        known = {"rater", "stimulus", "label"} & meant(name)
        return bool(known) or self.column(name).kind != "numbers"

    @cached_property
    def spread(self) -> tuple[str, ...]:
        """Columns that are numbered alike, or whose names cross: each holds answers."""
        free = [
            name
            for name in self.names
            if "id" not in words_in(name)
            and not {"person", "moment", "trial", "session"} & meant(name)
        ]
        numbers = [name for name in free if self.column(name).kind == "numbers"]
        found = {name for one in crossings(numbers)[:1] for name in one.columns}
        alike: dict[tuple[str, Kind], list[str]] = {}
        for name in free:
            alike.setdefault((stem_of(name), self.column(name).kind), []).append(name)
        for (_, kind), names in alike.items():
            if (len(names) > 2 or _follow(names)) and (
                kind == "numbers" or (kind == "words" and self.shared_words(names))
            ):
                found.update(names)
        return tuple(name for name in self.names if name in found)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Columns called after who answered or what was shown, which no two rows share."""
        return tuple(
            name
            for name in self.names
            if {"rater", "stimulus"} & meant(name)
            and not {"trial", "moment", "session", "value"} & meant(name)
            and 1 < self.height == self.column(name).distinct
        )

    @cached_property
    def corner(self) -> str | None:
        """The first column where it has no name and gives each row a name of its own."""
        first = next(iter(self.cells), None)
        if first is None or first.strip() or self.column(first).kind in ("none", "numbers"):
            return None
        return first if self.column(first).distinct == self.height > 1 else None

    def _rank(self, name: str) -> tuple[bool | int, ...]:
        means = meant(name)
        return (
            self.column(name).kind == "texts",
            bool({"trial", "session", "moment"} & means),
            not {"rater", "stimulus", "label"} & means,
            not any(find_one(role, [name]) for role in ("rater", "stimulus", "label")),
            "id" not in words_in(name),
            self.column(name).kind == "numbers",
            self.names.index(name),
        )

    def varying(self, *keys: str) -> list[str]:
        """Columns that none of the keys determines alone and that do not count the rows."""
        return [
            name
            for name in self.names
            if name not in keys
            and self.column(name).distinct > 1
            and not self.column(name).runs
            and not any(self.determines(key, name) for key in keys)
        ]

    def answers_in_numbers(self, *keys: str) -> list[str]:
        """Columns of numbers that may be ratings: they vary within each key, or are called so.

        What is called after an emotion or a dimension is rated, also where all answers are 0.
        """
        varying = self.varying(*keys)
        return [
            name
            for name in self.names
            if name not in keys
            and (name in varying or self.are_labels([name]))
            and self.column(name).kind == "numbers"
            and not is_no_label(name)
            and not {"trial", "moment", "measure", "person", "decided"} & meant(name)
        ]

    def answers_in_words(self, *keys: str) -> list[str]:
        """Columns of words that may be what was chosen: a few that come back, or sets of these."""
        return [
            name
            for name in self.varying(*keys)
            if self.column(name).kind in ("words", "texts")
            and len({*_parts([self.cells[name].drop_nulls()])[0]}) <= min(50, self.height / 2)
            and not {"moment", "person", "decided"} & meant(name)
        ]

    def shared_words(self, names: Sequence[str]) -> bool:
        """Whether columns hold the same few words, or sets of these."""
        cells = [self.cells[name].drop_nulls() for name in names]
        sets = [{*one} for one in _parts(cells)]
        every = set[str]().union(*sets)
        few = 1 < len(every) <= min(50, sum(map(len, cells)) / 2)
        others = (set[str]().union(*sets[:k], *sets[k + 1 :]) for k in range(len(sets)))
        return few and all(one & other for one, other in zip(sets, others, strict=True))

    def are_labels(self, names: Sequence[str]) -> bool:
        """Whether most of some names are those of emotions or dimensions."""
        folded = [name.strip().casefold() for name in names]
        found = [
            name
            for name in folded
            if name in DIMENSIONS
            or "emotion" in meant(name)
            or any(name in taxonomy for taxonomy in self._taxonomies)
        ]
        return 2 * len(found) > len(folded)

    @cached_property
    def _taxonomies(self) -> list[Taxonomy]:
        return [load_taxonomy(name) for name in list_taxonomies()]


def stem_of(name: str) -> str:
    """Give a name without the number or the single letter behind it.

    Examples
    --------
    >>> stem_of("RA01"), stem_of("Annotator-2"), stem_of("rater_a"), stem_of("joy")
    ('RA', 'Annotator', 'rater', 'joy')
    """
    return _NUMBERED.sub("", name)


def _follow(names: Sequence[str]) -> bool:
    """Whether two names have numbers or letters behind them that follow one another."""
    if len(names) != 2:
        return False
    ends = [name.removeprefix(stem_of(name)).strip(" _.-") for name in names]
    if all(map(str.isdecimal, ends)):
        return abs(int(ends[0]) - int(ends[1])) == 1
    return all(len(end) == 1 for end in ends) and abs(ord(ends[0]) - ord(ends[1])) == 1


def _parts(columns: Sequence[pl.Series]) -> list[pl.Series]:
    """Give what stands in cells, or the parts of them where they hold sets."""
    unique = [one.unique() for one in columns]
    mark = find_separator(pl.concat(unique))
    if mark is None or mark == LIST:
        return unique
    return [one.str.split(mark).explode().str.strip_chars().unique() for one in unique]


def _texts(column: pl.Series) -> pl.Series:
    """Give what stands in cells as texts, and nothing where it stands for no answer."""
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return pl.Series([None] * len(column), dtype=pl.String)
    text = column.cast(pl.String).str.strip_chars()
    words = text.unique().drop_nulls().to_list()
    none = [one for one in words if one.lower() in MISSING or is_no_answer(one)]
    return text.set(text.is_in(none).fill_null(value=False), None)


def _column(name: str, cells: pl.Series) -> Column:
    values = cells.drop_nulls()
    words = values.unique(maintain_order=True).to_list()
    numbers = bool(words) and all(is_number(word.replace(",", ".")) for word in words)
    as_numbers = values.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    some = words[:200]
    kind: Kind = "words"
    if not words:
        kind = "none"
    elif numbers:
        kind = "numbers"
    elif sum(media_kind(word) is not None for word in some) > len(some) / 2:
        kind = "files"
    elif all(map(_MAIL.fullmatch, some)):
        kind = "mails"
    elif (
        sum(len(word.split()) for word in some) >= _LONG_TEXT * len(some)
        and find_separator(values) is None
    ):
        kind = "texts"
    return Column(
        name,
        kind,
        len(words),
        len(values),
        runs=numbers and len(words) > 1 and bool((as_numbers.diff().drop_nulls() > 0).all()),
        whole=numbers and bool((as_numbers == as_numbers.round()).all()),
    )


def odd_words(cells: pl.Series) -> list[str]:
    """Words among numbers that may say that there is no answer; none where they are no few.

    Examples
    --------
    >>> odd_words(pl.Series(["1", "4", "k.A.", "2", "5", "3"]))
    ['k.A.']
    """
    values = cells.drop_nulls()
    words = values.unique(maintain_order=True).to_list()
    odd = [word for word in words if not is_number(word)]
    n_odd = int(values.is_in(pl.Series(odd, dtype=pl.String).implode()).sum())
    said = all(any(map(str.isalpha, word)) and not any(map(str.isdigit, word)) for word in odd)
    return odd if said and 0 < len(odd) <= 4 and n_odd <= 0.3 * len(values) else []
