"""What was wrong with an input: counted, and the first few of each kind named by file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from affectlab.core.errors import InputError

__all__ = ["KINDS", "LEFT_OUT", "Problem", "Problems"]

KINDS = {
    "broken_line": "a line that cannot be read; it is left out",
    "not_an_object": "a line of JSON that is no object; it is left out",
    "too_long": "a line or row above 16 MiB; it is left out",
    "encoding": "a line that is not UTF-8; it is read as Windows-1252, and what is undefined there "
    "becomes U+FFFD",
    "empty_text": "a row without a text; it is kept with an empty one",
    "unknown_label": "a row with a label that the taxonomy does not have; the label counts as none",
    "absent_id": "a row without an id; it is named by file and line",
    "absent_column": "a column that a file does not have",
    "duplicate_column": "a column that a file has twice; the first one is read",
    "empty_file": "a file without rows",
    "truncated": "a file that ends in the middle; what came before is kept",
    "unreadable": "a file, or its rest, that cannot be read; what came before is kept",
    "unknown_file": "a file in a folder whose kind is not known; it is left out",
}
"""The kinds of problems and what becomes of them."""
LEFT_OUT = ("broken_line", "not_an_object", "too_long")
"""Kinds for which a line or row is left out."""

_FIRST = 5
"""Problems of one kind that are named in each file."""
_SHOWN = 160


@dataclass(frozen=True)
class Problem:
    """One problem: where it is and what was found there."""

    kind: str
    """One of :data:`KINDS`."""
    line: int
    """Line of the file, from 1; row of a Parquet file; 0 for the file as a whole."""
    detail: str
    """What was found, in words."""


@dataclass
class Problems:
    """The problems of one file, or of a part of it."""

    file: str = ""
    """Name of the file."""
    strict: bool = False
    """Whether the first problem ends the reading."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of problems of each kind."""
    first: list[Problem] = field(default_factory=list)
    """The first few of each kind, in the order of the file."""

    def add(self, kind: str, line: int, detail: str, number: int = 1) -> None:
        """Count `number` problems of a kind, of which the first one is named.

        Raises
        ------
        InputError
            When reading is strict.
        """
        shown = detail if len(detail) <= _SHOWN else f"{detail[: _SHOWN - 1]}…"
        if self.strict:
            place = f"{self.file}:{line}" if line else self.file
            raise InputError(f"{place}: {kind.replace('_', ' ')}: {shown}")
        if sum(known.kind == kind for known in self.first) < _FIRST:
            self.first.append(Problem(kind, line, shown))
        self.counts[kind] = self.counts.get(kind, 0) + number

    def add_lines(self, kind: str, lines: Iterable[int], detail: str, number: int) -> None:
        """Count `number` problems alike, of which `lines` names the first few."""
        named = list(lines)
        for line in named:
            self.add(kind, line, detail)
        if number > len(named):
            self.counts[kind] = self.counts.get(kind, 0) + number - len(named)

    def merge(self, later: Problems) -> None:
        """Add the problems of a later part of the same file."""
        named: dict[str, int] = {}
        for problem in later.first:
            named[problem.kind] = named.get(problem.kind, 0) + 1
            self.add(problem.kind, problem.line, problem.detail)
        for kind, number in later.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number - named.get(kind, 0)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, which :meth:`from_dict` reads."""
        first = [[problem.kind, problem.line, problem.detail] for problem in self.first]
        return {"file": self.file, "counts": self.counts, "first": first}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Problems:
        """Read what :meth:`to_dict` gave."""
        first = [Problem(kind, line, detail) for kind, line, detail in values["first"]]
        return cls(values["file"], counts=values["counts"], first=first)
