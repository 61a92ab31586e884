"""What a user can say about a file of ratings, and tables that go with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from affectlab.core.errors import check_choice, unknown_name
from affectlab.core.files.columns import require_columns
from affectlab.ratings.files import (
    OnBad,
    Peek,
    as_frame,
    is_prolific,
    prolific_raters,
    read_columns,
    typed_column,
)
from affectlab.ratings.scales import DeclaredScales
from affectlab.taxonomy import Taxonomy

Wide = Literal[
    "auto",
    "raters",
    "labels",
    "stimuli",
    "votes",
    "stimuli,labels",
    "labels,stimuli",
    "raters,labels",
    "labels,raters",
    "sessions,labels",
    "labels,sessions",
]
"""What there is a column for each of; of two, what the two parts of a column's name are. Votes are
columns of categories that count how many chose each."""
EACH_ROW = "each-row"
"""In place of the name of a rater: each row is an answer of somebody else."""
Absent = Literal["zero", "missing"]
"""What it means that a rater of a stimulus left a label out."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`affectlab.ratings.read_ratings`, handed to the reader of a format."""

    scale: DeclaredScales = field(default_factory=DeclaredScales)
    taxonomy: Taxonomy | None = None
    columns: Mapping[str, str] | None = None
    wide: Wide | None = None
    attributes: tuple[str, ...] | None = None
    unused: tuple[str, ...] = ()
    """Columns to leave out."""
    missing_codes: tuple[str, ...] = ()
    """What stands for a missing answer, beside empty cells, ``NA`` and the like."""
    separator: str | None = None
    """What parts several chosen categories in a cell."""
    raters: pl.DataFrame | None = None
    stimuli: pl.DataFrame | None = None
    on_bad: OnBad = "raise"
    rater: str | None = None
    """Name of the one rater of a file that names none, or :data:`EACH_ROW`."""
    absent: Absent | None = None
    """What labels left out mean; a reader of a format gets what holds, by the user or by it."""


def check_choices(wide: str | None, on_bad: str, absent: str | None = None) -> None:
    """Refuse options that are none of those there are.

    Raises
    ------
    InputError
        When one is not known; the sentence names the nearest.
    """
    if wide is not None and wide not in get_args(Wide):
        raise unknown_name("wide", wide, get_args(Wide))
    check_choice("on_bad", on_bad, get_args(OnBad))
    if absent is not None and absent not in get_args(Absent):
        raise unknown_name("absent", absent, get_args(Absent))


def frame_of(given: Any, key: str) -> pl.DataFrame | None:
    """Read an attribute table given as a path, or take a data frame as it is."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        frame = as_frame(given, what=f"the {key} table")
        return prolific_raters(frame) if key == "rater" and is_prolific(frame) else frame
    return read_table(given, names=(key,))


def read_table(path: str | Path, *, names: Sequence[str] = ("stimulus",)) -> pl.DataFrame:
    """Read a table that goes with ratings: of raters, of stimuli, of expected answers.

    Parameters
    ----------
    path
        CSV, TSV, Parquet, Feather, JSON Lines, JSON, a workbook, SPSS or Stata. Of raters also
        Prolific's demographic export.
    names
        Columns that must be there and hold names: they stay text, exactly. A column ``label`` does
        so too; other columns become numbers where every entry is one.

    Raises
    ------
    InputError
        When the file cannot be read, or one of `names` is missing.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "golden.csv"
    >>> _ = file.write_text("stimulus,value\\n007,3\\n")
    >>> read_table(file).row(0)
    ('007', 3)
    """
    read = read_columns(Peek.open(path))
    text = {*names, "label"}
    frame = pl.DataFrame(
        [
            column if name in text or read.typed else typed_column(column).alias(name)
            for name, column in read.columns.items()
        ]
    )
    if "rater" in names and is_prolific(frame):
        frame = prolific_raters(frame)
    require_columns(frame, names, f"{path}: ")
    return frame
