"""What a user can say about a file of ratings, and how columns become a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings.attributes import combine_tables, overlay, split_extras
from affectlab.ratings.build import Checked, check_columns
from affectlab.ratings.files import Locate, OnBad, Peek, as_frame, read_columns, typed_column
from affectlab.ratings.scales import DeclaredScales, ScaleLike
from affectlab.ratings.schema import SetAside, Unit
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy

Wide = Literal["auto", "raters", "labels", "stimuli"]
Absent = Literal["zero", "missing"]
"""What it means that a rater of a stimulus left a label out."""
_TEXT = ("stimulus", "rater", "label", "value", "text", "session", "at", "trial_kind", "outcome")
"""Columns that stay as they are read: names, free text, and what has a check of its own."""


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`affectlab.ratings.read_ratings`, handed to the reader of a format."""

    scale: DeclaredScales = field(default_factory=DeclaredScales)
    taxonomy: Taxonomy | None = None
    columns: Mapping[str, str] | None = None
    wide: Wide | None = None
    attributes: tuple[str, ...] | None = None
    raters: pl.DataFrame | None = None
    stimuli: pl.DataFrame | None = None
    on_bad: OnBad = "raise"
    rater: str | None = None
    """Name of the one rater of a file that names none."""
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
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
    if absent is not None and absent not in get_args(Absent):
        raise unknown_name("absent", absent, get_args(Absent))


def assemble(
    columns: Mapping[str, pl.Series],
    options: ReadOptions,
    *,
    source: str,
    locate: Locate | None = None,
    scale: ScaleLike | None = None,
    taxonomy: str | Taxonomy | None = None,
    raters: pl.DataFrame | None = None,
    stimuli: pl.DataFrame | None = None,
    set_aside: tuple[SetAside, ...] = (),
    history: tuple[str, ...] = (),
    typed: bool = False,
    split: bool = True,
    unit: Unit = "row",
) -> Ratings:
    """Check columns read from a file and make the table; what the user said goes first.

    Parameters
    ----------
    columns
        Columns under the names of a table of ratings.
    options
        What the user said.
    source
        The file, for reports and errors.
    locate
        Says where a row stands; rows are counted when not given.
    scale, taxonomy
        What the format knows, used where the user said nothing.
    raters, stimuli
        What the format knows of raters and stimuli; joined with what the user says of them.
    set_aside
        Rows that the reader has already set aside.
    history
        Steps of the reader that changed answers.
    typed
        Columns have the types that the file says. False: it says none, so that a column of text
        that holds numbers only becomes one of numbers, unless it holds names or free text.
    split
        Columns that have one value per rater or stimulus become attributes. False: `raters` and
        `stimuli` hold all attributes, and the columns are those of single answers.
    unit
        What each answer was in the file: a row of its own, or a cell.
    """
    if not typed:
        columns = {
            name: column if name in _TEXT else typed_column(column)
            for name, column in columns.items()
        }
    known_taxonomy = load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy
    place = locate or (lambda row: f"{source}, row {row + 1}")
    try:
        checked = check_columns(
            columns,
            scale=options.scale.over(DeclaredScales.parse(scale)),
            taxonomy=options.taxonomy or known_taxonomy,
            on_bad=options.on_bad,
            locate=place,
            empty=f"{source} has a header but no rows; expected at least one answer",
            unit=unit,
        )
        checked = replace(checked, set_aside=(*set_aside, *checked.set_aside))
        if split:
            checked, raters, stimuli = _split(checked, raters, stimuli)
        raters, of_raters = overlay("rater", raters, options.raters)
        stimuli, of_stimuli = overlay("stimulus", stimuli, options.stimuli)
        return Ratings._from_checked(
            checked,
            raters,
            stimuli,
            source=source,
            history=(*history, *of_raters, *of_stimuli),
            split=False,
        )
    except InputError as error:
        if str(error).startswith(source):
            raise
        raise InputError(f"{source}: {error}") from None


def _split(
    checked: Checked, raters: pl.DataFrame | None, stimuli: pl.DataFrame | None
) -> tuple[Checked, pl.DataFrame | None, pl.DataFrame | None]:
    """Move columns with one value per rater or stimulus into what the format knows of them."""
    body = checked.body
    rows, *found = split_extras(body.extras, body.rater, body.stimulus)
    known = []
    for key, parts in (("rater", (raters, found[0])), ("stimulus", (stimuli, found[1]))):
        tables = [part for part in parts if part is not None]
        known.append(combine_tables(key, tables) if len(tables) > 1 else next(iter(tables), None))
    return replace(checked, body=replace(body, extras=rows)), known[0], known[1]


def frame_of(given: Any, key: str) -> pl.DataFrame | None:
    """Read an attribute table given as a path, or take a data frame as it is."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        return as_frame(given, what=f"the {key} table")
    return read_table(given, names=(key,))


def read_table(path: str | Path, *, names: Sequence[str] = ("stimulus",)) -> pl.DataFrame:
    """Read a table that goes with ratings: of raters, of stimuli, of expected answers.

    Parameters
    ----------
    path
        CSV, TSV, Parquet, Feather, JSON Lines or JSON.
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
    for name in names:
        if name not in frame.columns:
            raise InputError(f"{path}: no column '{name}'; found: {', '.join(frame.columns)}")
    return frame
