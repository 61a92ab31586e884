"""Matrices of scores without names, as in VQEG files and ITU-T P.910 tools."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import MISSING
from affectlab.ratings.datasets.common import Rejects, numbered, refuse_layout, shown
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions, Wide, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "score_matrix"]

_NAME = "vqeg"
_MIN_RATERS = 4
_MAX_SCORE = 100.0
_WIDE: tuple[Wide, ...] = ("auto", "raters", "stimuli")

Axis = Literal["rows", "columns"]


def _sniff(peek: Peek) -> bool:
    """Recognise a matrix of scores: nothing but numbers on one scale, and no header or index."""
    rows = peek.rows
    if peek.is_binary or len(rows) < 2 or len(rows[0]) < _MIN_RATERS:
        return False
    if any(len(row) != len(rows[0]) for row in rows):
        return False
    values = [[_number(_with_point(cell, peek)) for cell in row] for row in rows]
    flat = [value for row in values for value in row]
    if None in flat or all(value != value for value in flat):
        return False
    if any(
        not math.isnan(value) and not 0 <= value <= _MAX_SCORE
        for value in flat
        if value is not None
    ):
        return False
    return not (_is_count(values[0]) or _is_count([row[0] for row in values]))


def _is_count(values: Sequence[float | None]) -> bool:
    """Whether numbers rise one by one, as names of columns or rows do and scores do not."""
    known = [value for value in values if value is not None]
    return len(known) > 2 and all(after - before == 1 for before, after in pairwise(known))


def _number(cell: str) -> float | None:
    """Number of a cell, ``nan`` for a gap, None for anything else."""
    text = cell.strip().casefold()
    if text in MISSING:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME, wide=_WIDE)
    return _read_matrix(peek, options, stimuli="columns" if options.wide == "stimuli" else "rows")


def _read_matrix(peek: Peek, options: ReadOptions, *, stimuli: Axis) -> Ratings:
    rejects = Rejects(peek.path, options.on_bad)
    lines, values = _values(peek, rejects)
    matrix = np.array(values, dtype=np.float64)
    if matrix.size == 0:
        raise InputError(f"{peek.path} holds no score; expected a matrix of numbers")
    usable = np.array([[value is not None for value in row] for row in values])
    by_row, by_column = ("stimulus", "rater") if stimuli == "rows" else ("rater", "stimulus")
    word = {"stimulus": "stimulus", "rater": "subject"}
    row_names = pl.Series(numbered(word[by_row], matrix.shape[0]))
    column_names = pl.Series(numbered(word[by_column], matrix.shape[1]))
    at_row, at_column = np.nonzero(usable)
    plural = {"stimulus": "stimuli", "rater": "subjects"}
    other = option("wide", "stimuli" if stimuli == "rows" else "raters")
    return assemble(
        {
            by_row: row_names.gather(at_row),
            by_column: column_names.gather(at_column),
            "value": pl.Series(matrix[usable]),
        },
        options,
        source=str(peek.path),
        locate=lambda cell: (
            f"{peek.path}, line {lines[at_row[cell]]} (column {at_column[cell] + 1})"
        ),
        set_aside=rejects.set_aside,
        history=(
            f"the file holds no names: rows were taken as {plural[by_row]}, columns as "
            f"{plural[by_column]} (the other way round: {other})",
        ),
        unit="cell",
    )


def _values(peek: Peek, rejects: Rejects) -> tuple[list[int], list[list[float | None]]]:
    """Give the rows as numbers, with their lines; a delimiter at the end of all ends none."""
    lines: list[int] = []
    values: list[list[float | None]] = []
    open_ended = True
    for line, text in enumerate(peek.decode().splitlines(), start=1):
        if not text:
            continue
        try:
            row = next(csv.reader([text], delimiter=peek.separator, skipinitialspace=True))
        except csv.Error as error:
            rejects.reject(f"line {line}", "line not understood", f"not scores ({error})")
            continue
        if values and len(row) != len(values[0]):
            rejects.reject(
                f"line {line}",
                f"not {len(values[0])} scores",
                f"{len(row)} scores; expected {len(values[0])} as in line {lines[0]}",
            )
            continue
        lines.append(line)
        cells = [_with_point(cell, peek) for cell in row]
        values.append([_value(cell, line, at, rejects) for at, cell in enumerate(cells)])
        open_ended = open_ended and not row[-1].strip()
    return lines, [row[:-1] for row in values] if open_ended else values


def _with_point(cell: str, peek: Peek) -> str:
    """Write a decimal comma, which stands where semicolons part the columns, as a point."""
    return cell.replace(",", ".", 1) if peek.separator == ";" else cell


def _value(cell: str, line: int, position: int, rejects: Rejects) -> float | None:
    """Give the number, ``nan`` for a gap; None where it is neither."""
    number = _number(cell)
    if number is None:
        rejects.reject(
            f"line {line} (column {position + 1})",
            "score not understood",
            f"{shown(cell)} is no score; expected a number, or nan for a gap",
            unit="cell",
        )
    return number


def score_matrix(
    path: str | Path,
    *,
    scale: str | Scale | None = None,
    stimuli: Axis = "rows",
    delimiter: str | None = None,
    on_bad: OnBad = "raise",
) -> Ratings:
    """Read a matrix of scores that has no header and no names.

    Parameters
    ----------
    path
        Text with one row of numbers per line, parted by commas, semicolons, tabs or spaces; ``nan``
        or an empty cell is a gap. Beside semicolons a comma is a decimal comma.
    scale
        The declared scale, such as ``"1-5"``; inferred from the scores when not given.
    stimuli
        ``"rows"``: a row per stimulus and a column per subject, as in VQEG files and in the ITU-T
        P.910 tools, and as :func:`affectlab.ratings.read_ratings` takes such a file unless it is
        told ``wide="stimuli"``. ``"columns"``: the other way round.
    delimiter
        What separates the numbers; told by the first line when not given.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Stimuli ``stimulus-01``, … and raters ``subject-01``, …, numbered as they stand in the
        file. Gaps are counted as set aside.

    Raises
    ------
    InputError
        When a cell is no number, or a row has more or fewer numbers than the first.

    Notes
    -----
    Source: ITU-T P.910, Annex E, and the data of its reference implementation.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("5,4,nan\\n1,2,1\\n")
    >>> score_matrix(file, scale="1-5").matrix().tolist()
    [[5.0, 1.0], [4.0, 2.0], [nan, 1.0]]
    """
    if stimuli not in get_args(Axis):
        raise unknown_name("axis of the stimuli", stimuli, get_args(Axis))
    options = ReadOptions(scale=DeclaredScales.parse(scale), on_bad=on_bad)
    return _read_matrix(Peek.open(path, delimiter=delimiter), options, stimuli=stimuli)


FORMAT = Format(
    name=_NAME,
    title="matrix of scores without header (VQEG, P.910: rows are stimuli, columns subjects)",
    sniff=_sniff,
    read=_read,
    wide=_WIDE,
)
