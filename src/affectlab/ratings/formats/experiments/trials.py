"""What programs for experiments share: rows are trials, some of which ask for an answer."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import words_of
from affectlab.ratings.files import Peek, Place, typed_column
from affectlab.ratings.formats.format import Contents, Format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.shown import find_stimulus, of_files
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step

PRACTICE = re.compile(r"practi[cs]e|training|warm.?up|example", re.IGNORECASE)
"""Names of loops and screens whose answers train the rater."""
GO_ON = {"space", " ", "return", "enter", "escape", "continue", "next"}
"""Keys and buttons that lead to the next screen."""
_LISTED = 8


@dataclass
class Answer:
    """One answer in a trial."""

    place: str
    rater: str
    stimulus: str
    label: str | None
    value: str
    rt_ms: float | None = None
    is_training: bool = False
    beside: Mapping[str, str | None] = field(default_factory=dict)
    """What else the row of the trial says, such as its condition."""
    person: Mapping[str, str | None] = field(default_factory=dict)
    """What is known of the rater."""


@dataclass(frozen=True, kw_only=True)
class Trials(Format, ABC):
    """The trials of an experiment, of which those with an answer to a stimulus are ratings.

    Parameters
    ----------
    stimulus
        Column that names what was shown; by default the one that holds names of files, or is called
        like one.
    answers
        Names of what holds answers; by default all that do.
    """

    stimulus: str | None = None
    answers: tuple[str, ...] | None = None

    @abstractmethod
    def trials(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Iterator[Answer]:
        """Give the answers; what is none is rejected, or left out and counted."""

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each answer a row; an answer to the same question again is another trial."""
        given = list(self.trials(head, options, rejects))
        if self.answers is not None:
            known = {one.label for one in given if one.label is not None}
            for name in self.answers:
                if name not in known:
                    raise unknown_name("answer", name, sorted(known), str(head.path))
            given = [one for one in given if one.label in self.answers]
        if not given:
            raise InputError(f"{head.path}: no trial has an answer to a stimulus; expected some")
        columns = {
            "stimulus": _texts([one.stimulus for one in given]),
            "rater": _texts([one.rater for one in given]),
            "value": _texts([one.value for one in given]),
        }
        if any(one.label for one in given):
            columns["label"] = _texts([one.label or "answer" for one in given])
        if any(one.rt_ms is not None for one in given):
            columns["rt_ms"] = pl.Series([one.rt_ms for one in given], dtype=pl.Float64)
        if any(one.is_training for one in given):
            kinds = ["training" if one.is_training else "main" for one in given]
            columns["trial_kind"] = _texts(kinds)
        steps = []
        seen: Counter[tuple[str, str, str | None]] = Counter()
        number = []
        for one in given:
            seen[one.rater, one.stimulus, one.label] += 1
            number.append(seen[one.rater, one.stimulus, one.label])
        if max(number) > 1:
            columns["trial"] = pl.Series(number)
            again = sum(one > 1 for one in number)
            steps.append(step(StepKind.ASKED_BEFORE, n=again))
        names = dict.fromkeys(name for one in given for name in one.beside)
        for name in names:
            if name not in columns and name.strip():
                columns[name] = _texts([one.beside.get(name) for one in given])
        places = [one.place for one in given]
        people: dict[str, dict[str, str | None]] = {}
        for one in given:
            people.setdefault(one.rater, {}).update(one.person)
        return Contents(
            columns,
            lambda at: Place(places[at], head.path),
            scale=self.scale,
            raters=_people(people),
            history=tuple(steps),
        )

    def shown_column(self, columns: Mapping[str, pl.Series], head: Peek) -> str:
        """Find the column of what was shown, among those that may be it.

        Raises
        ------
        InputError
            When none is, or the one that was named does not exist.
        """
        if self.stimulus is not None:
            if self.stimulus not in columns:
                raise unknown_name("column", self.stimulus, list(columns), str(head.path))
            return self.stimulus
        best = find_stimulus(columns)
        if best is None:
            listed = ", ".join(list(columns)[:_LISTED]) or "none"
            raise InputError(
                f"{head.path}: no column says what was shown; name it "
                f"({option('format', f'{self.name},stimulus=NAME')}); columns: {listed}"
            )
        return best

    def pointing_column(self, columns: Mapping[str, pl.Series]) -> str | None:
        """Find a column whose cells are names of columns of files: it says which was shown."""
        files = of_files(columns)
        if self.stimulus is not None or len(files) < 2:
            return None
        said = {
            name: set(words_of(column)) for name, column in columns.items() if name not in files
        }
        return next((n for n, words in said.items() if len(words) > 1 and words <= {*files}), None)


Cells = Mapping[str, Sequence[Any]]
"""Columns as lists, of which single cells are taken faster than of columns."""


def cells_of(columns: Mapping[str, pl.Series]) -> Cells:
    """Give columns as lists."""
    return {name: column.to_list() for name, column in columns.items()}


def cell(columns: Cells, name: str, row: int) -> str:
    """Give a cell as text; empty where there is none, or no such column."""
    value = columns[name][row] if name in columns else None
    return "" if value is None else str(value).strip()


def milliseconds(text: str, *, seconds: bool = False) -> float | None:
    """Read a time; None where there is none."""
    try:
        time = float(text) * (1000 if seconds else 1)
    except ValueError:
        return None
    return round(time, 1) if 0 <= time < 1e12 else None


def _people(people: Mapping[str, Mapping[str, str | None]]) -> pl.DataFrame | None:
    """Make a table of what is known of raters."""
    names = dict.fromkeys(name for known in people.values() for name in known if name.strip())
    told = [name for name in names if name not in ("rater", "rater_kind")]
    if not told:
        return None
    described = [
        typed_column(_texts([known.get(name) for known in people.values()])).alias(name)
        for name in told
    ]
    return pl.DataFrame([_texts(list(people)).alias("rater"), *described])


def _texts(values: Sequence[str | None]) -> pl.Series:
    return pl.Series(values, dtype=pl.String)
