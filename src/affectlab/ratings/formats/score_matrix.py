"""Matrices of scores without names, as in VQEG files and ITU-T P.910 tools."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.build import MISSING
from affectlab.ratings.files import Peek, Place
from affectlab.ratings.formats.format import Contents, Format, Sure, file_format
from affectlab.ratings.formats.records import Rejects, numbered, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step

_MIN_RATERS = 4
_MAX_SCORE = 100.0


@file_format(
    "vqeg",
    "matrix of scores without header (VQEG, P.910: rows are stimuli, columns subjects)",
    wide=("auto", "raters", "stimuli"),
)
class ScoreMatrix(Format):
    """A matrix of scores that has no header and no names.

    Text with one row of numbers per line, parted by commas, semicolons, tabs or spaces; ``nan`` or
    an empty cell is a gap. Beside semicolons a comma is a decimal comma. Rows are stimuli and
    columns subjects, as in VQEG files and in the ITU-T P.910 tools; with ``wide="stimuli"`` it is
    the other way round. Stimuli ``stimulus-01``, … and raters ``subject-01``, … are numbered as
    they stand in the file. Gaps are counted as set aside.

    Notes
    -----
    Source: ITU-T P.910, Annex E, and the data of its reference implementation.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("5,4,nan\\n1,2,1\\n")
    >>> read_ratings(file, format="vqeg", scale="1-5").matrix().tolist()
    [[5.0, 1.0], [4.0, 2.0], [nan, 1.0]]
    """

    def recognise(self, head: Peek) -> Sure:
        """Expect nothing but numbers on one scale, and neither a header nor an index."""
        rows = head.rows
        if head.is_binary or len(rows) < 2 or len(rows[0]) < _MIN_RATERS:
            return Sure.NO
        if any(len(row) != len(rows[0]) for row in rows):
            return Sure.NO
        values = [[_number(cell, head) for cell in row] for row in rows]
        flat = [value for row in values for value in row]
        known = [value for value in flat if value is not None and not math.isnan(value)]
        scores = bool(known) and None not in flat and min(known) >= 0 and max(known) <= _MAX_SCORE
        first = [row[0] for row in values]
        counts = any(map(_is_count, (values[0], values[0][1:], first, first[1:])))
        return Sure.if_(scores and not counts)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Number rows and columns, and give each cell a row."""
        lines, values = _values(head, rejects)
        matrix = np.array(values, dtype=np.float64)
        if matrix.size == 0:
            raise InputError(f"{head.path} holds no score; expected a matrix of numbers")
        at = np.nonzero([[value is not None for value in row] for row in values])
        stimuli = ("stimulus", "stimulus", "stimuli")
        subjects = ("rater", "subject", "subjects")
        by_person = options.wide == "stimuli"
        axes = (subjects, stimuli) if by_person else (stimuli, subjects)
        columns = {
            role: pl.Series(numbered(word, size)).gather(position)
            for (role, word, _), size, position in zip(axes, matrix.shape, at, strict=True)
        }
        rows, columns_are = axes[0][2], axes[1][2]
        other = "raters" if by_person else "stimuli"
        return Contents(
            {**columns, "value": pl.Series(matrix[at])},
            lambda cell: Place(f"line {lines[at[0][cell]]} (column {at[1][cell] + 1})", head.path),
            history=(step(StepKind.NO_NAMES, rows=rows, columns=columns_are, other=other),),
            unit="cell",
        )


def _is_count(values: Sequence[float | None]) -> bool:
    """Whether numbers rise one by one, as names of columns or rows do and scores do not."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    return len(known) > 2 and all(after - before == 1 for before, after in pairwise(known))


def _number(cell: str, head: Peek) -> float | None:
    """Number of a cell, ``nan`` for a gap, None for anything else."""
    # Where semicolons part the columns, a comma is a decimal comma.
    text = (cell.replace(",", ".", 1) if head.separator == ";" else cell).strip().casefold()
    if text in MISSING:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _values(head: Peek, rejects: Rejects) -> tuple[list[int], list[list[float | None]]]:
    """Give the rows as numbers, with their lines; a delimiter at the end of all ends none."""
    lines: list[int] = []
    values: list[list[float | None]] = []
    open_ended = True
    for line, text in enumerate(head.decode().splitlines(), start=1):
        if not text:
            continue
        place = f"line {line}"
        try:
            row = next(csv.reader([text], delimiter=head.separator, skipinitialspace=True))
        except csv.Error as error:
            rejects.reject(place, "line not understood", f"not scores ({error})")
            continue
        if values and len(row) != len(values[0]):
            sentence = f"{len(row)} scores; expected {len(values[0])} as in line {lines[0]}"
            rejects.reject(place, f"not {len(values[0])} scores", sentence)
            continue
        lines.append(line)
        values.append([_number(cell, head) for cell in row])
        for position, (cell, value) in enumerate(zip(row, values[-1], strict=True), start=1):
            if value is None:
                rejects.reject(
                    f"{place} (column {position})",
                    "score not understood",
                    f"{shown(cell)} is no score; expected a number, or nan for a gap",
                    unit="cell",
                )
        open_ended = open_ended and not row[-1].strip()
    return lines, [row[:-1] for row in values] if open_ended else values
