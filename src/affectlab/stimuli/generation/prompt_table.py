"""Tables of prompts as lists of pictures that are wanted."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.files.csv import read_table
from affectlab.stimuli.generation.generator import ImagePrompt
from affectlab.stimuli.prompts import FacePrompts

__all__ = ["OWN_COLUMNS", "PROMPT_COLUMNS", "Prompts", "prompt_of", "prompt_table", "read_prompts"]

Prompts = FacePrompts | pl.DataFrame | str | Path
"""Prompts as :func:`affectlab.stimuli.face_prompts` makes them, or a table of such."""

PROMPT_COLUMNS = {
    "stimulus": pl.String,
    "prompt": pl.String,
    "label": pl.String,
    "words": pl.String,
    "gender": pl.String,
    "age": pl.Int64,
    "ethnicity": pl.String,
    "template": pl.String,
    "seed": pl.Int64,
}
"""Columns that a generator is told, and their types."""
_NEEDED = ("stimulus", "prompt", "label", "seed")
OWN_COLUMNS = (
    *("file", "generator", "generator_version", "settings", "drawn", "note"),
    *("sha256", "width", "height", "bytes", "outcome", "problem"),
)
"""Columns that the manifest makes; a table of prompts that has them is a manifest itself."""


def read_prompts(path: str | Path) -> pl.DataFrame:
    """Read a table of prompts: CSV or Parquet.

    Parameters
    ----------
    path
        Table with ``stimulus``, ``prompt``, ``label`` and ``seed``; of the columns ``words``,
        ``gender``, ``age``, ``ethnicity`` and ``template`` those that there are. A manifest will
        do: what it says of pictures is left out. Other columns are kept.

    Raises
    ------
    InputError
        When the file is missing or no table, a column is missing, a name is empty or stands twice,
        or an age or a seed is no whole number.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "prompts.csv"
    >>> _ = file.write_text("stimulus,prompt,label,seed\\na,A glad face.,Elation,7\\n")
    >>> read_prompts(file).rows()
    [('a', 'A glad face.', 'Elation', 7)]
    """
    return prompt_table(path)


def prompt_table(given: Prompts) -> pl.DataFrame:
    """Give prompts as a table whose columns have their types; see :func:`read_prompts`."""
    if isinstance(given, FacePrompts):
        table, where = given.to_frame(), "prompts"
    elif isinstance(given, pl.DataFrame):
        table, where = given, "prompts"
    else:
        table, where = read_table(given, "prompts"), str(given)
    require_columns(table, _NEEDED, f"{where}: ")
    table = table.drop(OWN_COLUMNS, strict=False)
    typed = [
        _typed(table, name, kind, where)
        for name, kind in PROMPT_COLUMNS.items()
        if name in table.columns
    ]
    table = table.with_columns(typed)
    require_filled(table, ("stimulus", "prompt", "seed"), f"{where}: ")
    require_distinct(table, ["stimulus"], f"{where}: ")
    return table


def _typed(table: pl.DataFrame, name: str, kind: type[pl.DataType], where: str) -> pl.Series:
    column = table[name]
    if kind != pl.Int64:
        return column.cast(pl.String).fill_null("")
    if column.dtype == pl.String:
        column = column.str.strip_chars().replace("", None)
    number = column.cast(pl.Int64, strict=False)
    wrong = number.is_null() & column.is_not_null() | (number < 0)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}: {name} {column[row]!r}: expected a whole number of 0 or more"
        )
    return number


def prompt_of(row: dict[str, object]) -> ImagePrompt:
    """Give a row of a table as a picture that is wanted."""
    return ImagePrompt(**{name: row[name] for name in PROMPT_COLUMNS if name in row})  # type: ignore[arg-type]
