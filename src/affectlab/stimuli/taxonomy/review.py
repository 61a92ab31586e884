"""A review: what is proposed for each label, in a table that a person edits, with reasons."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import cell_of_sheet, write_sheet_csv

__all__ = ["DECISIONS", "Review", "ReviewRow", "read_review"]

DECISIONS = ("keep", "add", "merge", "drop")
COLUMNS = (
    *("term", "decision", "label", "reason", "polarity", "definition", "groups", "evidence"),
    "example",
)
_NEEDED = ("term", "decision", "reason")


@dataclass(frozen=True)
class ReviewRow:
    """One decision.

    Raises
    ------
    InputError
        When the decision is not known, has no reason, or a merge names no label.
    """

    term: str
    """The label as it was, or the new term."""
    decision: str
    """``keep`` or ``add`` as a label, ``merge`` into one, ``drop``."""
    label: str = ""
    """Name of the label: of a kept one, its name from now on; of a merged one, where it goes."""
    reason: str = ""
    polarity: str = ""
    definition: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group at each level of the taxonomy, for what is added."""
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    example: str = ""

    def __post_init__(self) -> None:
        if not self.term.strip():
            raise InputError("the term is empty; expected a word")
        check_choice("decision", self.decision, DECISIONS, repr(self.term))
        if not self.reason.strip():
            raise InputError(f"{self.term!r}: {self.decision} has no reason; expected one sentence")
        if self.decision == "merge" and not self.label.strip():
            raise InputError(f"{self.term!r}: merge names no label; expected where it goes")
        for key, value in self.evidence.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(
                    f"{self.term!r}: evidence {key} = {value}; expected finite numbers"
                )

    @property
    def target(self) -> str:
        """Name of the label that the term is, or goes into; empty when it is dropped."""
        return "" if self.decision == "drop" else self.label.strip() or self.term


@dataclass(frozen=True)
class Review:
    """Decisions about terms, in the order that the labels will have.

    Raises
    ------
    InputError
        When a term stands twice, a merge goes to no kept label, or two labels have one name.
    """

    rows: tuple[ReviewRow, ...]
    where: str = "review"

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for row in self.rows:
            if row.term in seen:
                raise InputError(
                    f"{self.where}: {row.term!r} stands twice; expected each term once"
                )
            seen.add(row.term)
        kept: dict[str, str] = {}
        for row in self.rows:
            if row.decision in ("keep", "add"):
                other = kept.setdefault(row.target, row.term)
                if other != row.term:
                    raise InputError(
                        f"{self.where}: {other!r} and {row.term!r} both become {row.target!r}; "
                        "merge one into the other"
                    )
        for row in self.rows:
            if row.decision == "merge" and row.target not in kept:
                raise unknown_name(
                    "label", row.target, kept, f"{self.where}: {row.term!r} is merged into"
                )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ReviewRow]:
        return iter(self.rows)

    def counts(self) -> dict[str, int]:
        """Rows of each decision."""
        return {one: sum(row.decision == one for row in self.rows) for one in DECISIONS}

    def to_frame(self) -> pl.DataFrame:
        """Give the table that :meth:`write` writes, all columns as text."""
        return pl.DataFrame(
            [_cells(row) for row in self.rows], schema=dict.fromkeys(COLUMNS, pl.String)
        )

    def write(self, path: str | Path) -> Path:
        """Write the review as a CSV file for a spreadsheet or an editor; give its path.

        A cell that a spreadsheet would compute begins with an apostrophe, which
        :func:`read_review` takes off again.

        Raises
        ------
        InputError
            When the folder does not exist, or the path is one.
        """
        path = Path(path)
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(f"{path} cannot be written: expected a file in a folder that exists")
        write_sheet_csv(self.to_frame(), path)
        return path


def read_review(path: str | Path) -> Review:
    """Read a review that a person may have edited.

    Columns may stand in any order, and others are passed over; ``term``, ``decision`` and
    ``reason`` must be there.

    Raises
    ------
    InputError
        When the file or a row cannot be used; the sentence names the row, counted as a spreadsheet
        does, and what was expected.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.reader(file, strict=True)
            head = next(table, [])
            found = [(number, row) for number, row in enumerate(table, start=2) if any(row)]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (UnicodeDecodeError, csv.Error, IsADirectoryError) as problem:
        raise InputError(f"{path}: not a review as CSV in UTF-8 ({problem})") from None
    names = [name.strip() for name in head]
    require_columns(names, _NEEDED, f"{path}: ")
    rows = []
    for number, cells in found:
        if len(cells) != len(names):
            raise InputError(
                f"{path}, row {number}: {len(cells)} cells; expected {len(names)}, as in the header"
            )
        try:
            rows.append(_row(dict(zip(names, map(cell_of_sheet, cells), strict=True))))
        except InputError as problem:
            raise InputError(f"{path}, row {number}: {problem}") from None
    if not rows:
        raise InputError(f"{path}: the review has no rows")
    return Review(tuple(rows), str(path))


def _cells(row: ReviewRow) -> dict[str, str]:
    return {
        "term": row.term,
        "decision": row.decision,
        "label": row.label,
        "reason": row.reason,
        "polarity": row.polarity,
        "definition": row.definition,
        "groups": "; ".join(f"{level}={group}" for level, group in row.groups.items()),
        "evidence": "; ".join(f"{key}={_written(value)}" for key, value in row.evidence.items()),
        "example": row.example,
    }


def _row(cells: Mapping[str, str]) -> ReviewRow:
    return ReviewRow(
        term=cells["term"].strip(),
        decision=cells["decision"].strip().casefold(),
        label=cells.get("label", "").strip(),
        reason=" ".join(cells["reason"].split()),
        polarity=cells.get("polarity", "").strip().casefold(),
        definition=cells.get("definition", "").strip(),
        groups=_pairs(cells.get("groups", ""), "groups"),
        evidence={
            key: _number(value)
            for key, value in _pairs(cells.get("evidence", ""), "evidence").items()
        },
        example=cells.get("example", ""),
    )


def _pairs(text: str, column: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise InputError(
                f"{column}: {part!r} is not understood; expected name=value; name=value"
            )
        pairs[key] = value
    return pairs


def _written(value: float | int | str) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).replace(";", ",").replace("=", ":")


def _number(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            value = kind(text)
            finite = math.isfinite(value)
        except (ValueError, OverflowError):
            continue
        if finite:
            return value
    return text


def write_review(review: Review, path: Path, source: str) -> None:
    """Write a review and its note; one that a person may have edited is not overwritten.

    Raises
    ------
    InputError
        When there is another review at `path`, or it cannot be written.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: expected a file in a folder that exists")
    new = path.with_name(f".{path.name}.new")
    review.write(new)
    if path.exists() and path.read_bytes() != new.read_bytes():
        new.unlink()
        raise InputError(
            f"{path} is there already and differs, perhaps since it was edited; move it away, or "
            "give another --out"
        )
    new.replace(path)
    _note(path).write_text(f"{source}\n", encoding="utf-8", newline="\n")


def read_note(review: Path) -> str:
    """Give the note of a review; empty where there is none."""
    note = _note(review)
    return " ".join(note.read_text(encoding="utf-8").split()) if note.is_file() else ""


def _note(review: Path) -> Path:
    return review.with_suffix(".source.txt")
