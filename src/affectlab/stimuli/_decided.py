"""Decisions of a review as they are read again, and the pictures that they are about."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab.errors import InputError
from affectlab.stimuli._tables import read_table

__all__ = ["DECISIONS", "DIGEST", "about", "read_decisions", "typed_decisions"]

DECISIONS = {
    "stimulus": pl.String,
    "keep": pl.Boolean,
    "reason": pl.String,
    "n_raters": pl.Int64,
    "votes": pl.String,
    "notes": pl.String,
}
"""Columns of decisions."""
DIGEST = "sha256"
"""Column that says which picture was looked at, where it is known."""
_KEEP = {"true": True, "false": False}


def read_decisions(path: str | Path) -> pl.DataFrame:
    """Read what a review decided: a CSV or Parquet file; see :func:`typed_decisions`.

    Raises
    ------
    InputError
        When there is no such file, or it has no decisions.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "decisions.csv"
    >>> _ = file.write_text("stimulus,keep\\na,TRUE\\nb,\\n")
    >>> read_decisions(file).rows()
    [('a', True), ('b', None)]
    """
    return typed_decisions(read_table(path, "decisions"), str(path))


def typed_decisions(table: pl.DataFrame, where: str = "decisions") -> pl.DataFrame:
    """Give the columns of decisions their types: ``keep`` is True, False, or null where undecided.

    Parameters
    ----------
    table
        ``stimulus``, ``keep`` (truth values, or ``true`` and ``false`` in any case, or nothing),
        and of the other columns of decisions, and ``sha256``, those that there are; others are left
        out.
    where
        What the sentence of an error calls the table.

    Raises
    ------
    InputError
        When a column is missing, a name is empty or stands twice, or a value is none of its column.

    Examples
    --------
    >>> typed_decisions(pl.DataFrame({"stimulus": ["a"], "keep": ["maybe"]}))
    Traceback (most recent call last):
    affectlab.errors.InputError: decisions, row 1: keep 'maybe': expected true, false or nothing
    """
    for name in ("stimulus", "keep"):
        if name not in table.columns:
            raise InputError(
                f"{where}: no column {name!r}; expected the decisions of a review, found: "
                f"{', '.join(table.columns)}"
            )
    table = table.select(name for name in (*DECISIONS, DIGEST) if name in table.columns)
    table = table.with_columns(
        _keep(table["keep"], where),
        *([_count(table["n_raters"], where)] if "n_raters" in table.columns else []),
        pl.col(name for name in table.columns if name not in ("keep", "n_raters"))
        .cast(pl.String)
        .fill_null(""),
    )
    empty = table["stimulus"].str.strip_chars() == ""
    if empty.any():
        raise InputError(f"{where}, row {int(empty.arg_max() or 0) + 1}: stimulus is empty")
    twice = table.filter(pl.col("stimulus").is_duplicated())
    if twice.height:
        raise InputError(f"{where}: {twice['stimulus'][0]!r} stands twice; expected once")
    return table


def about(decisions: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Give the decisions about items as they are now.

    A picture that was made again under its name is another one: where both tables have its
    ``sha256``, they are to be the same. An item without one goes by its name alone.

    Parameters
    ----------
    decisions
        As :func:`typed_decisions` gives them.
    items
        ``stimulus``, and ``sha256`` where there is one.

    Examples
    --------
    >>> items = pl.DataFrame({"stimulus": ["a", "b"], "sha256": ["1", "2"]})
    >>> about(items.with_columns(keep=True, sha256=pl.lit("1")), items)["stimulus"].to_list()
    ['a']
    """
    now = items.select(pl.col("stimulus").cast(pl.String), _digest(items).alias("now"))
    found = decisions.join(now, on="stimulus", how="inner", maintain_order="left")
    other = (_digest(found) != found["now"]) & (_digest(found) != "") & (found["now"] != "")
    return found.filter(~other).drop("now")


def _digest(table: pl.DataFrame) -> pl.Series:
    if DIGEST not in table.columns:
        return pl.Series(DIGEST, [""] * table.height, dtype=pl.String)
    return table[DIGEST].cast(pl.String).fill_null("")


def _keep(column: pl.Series, where: str) -> pl.Series:
    if column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Boolean)
    text = column.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    wrong = ~text.is_in([*_KEEP, ""])
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}: keep {str(column[row])!r}: expected true, false or nothing"
        )
    return text.replace_strict(_KEEP, default=None, return_dtype=pl.Boolean)


def _count(column: pl.Series, where: str) -> pl.Series:
    text = column.cast(pl.String).fill_null("").str.strip_chars()
    number = text.cast(pl.Int64, strict=False)
    wrong = (text != "") & (number.is_null() | (number < 0))
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, row {row + 1}: n_raters {str(column[row])!r}: expected a whole number of 0 "
            "or more"
        )
    return number
