"""Pairs whose difference is known, put beside those of a design: for golden and training trials."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.core.files.csv import read_table

__all__ = ["KNOWN", "read_known_pairs", "with_known_pairs"]

KNOWN = "known"
"""Kind of a pair whose difference is known; it belongs to no batch."""
_COLUMNS = ("stimulus", "file_a", "file_b", "value")


def read_known_pairs(path: str | Path) -> pl.DataFrame:
    """Read a table of pairs with a known difference: CSV or Parquet.

    The same table names the known answers of a study (``stimuli.golden``).

    Returns
    -------
    ``stimulus``, ``file_a``, ``file_b`` and ``value``, and whatever else the table holds.

    Raises
    ------
    InputError
        When the file is missing or no table, lacks a column or a value, has a pair twice, or a
        value is no number.
    """
    table = read_table(path, "pairs with a known difference")
    where = f"{path}: "
    require_columns(table, _COLUMNS, where)
    table = table.with_columns(pl.col(_COLUMNS).cast(pl.String).str.strip_chars())
    require_filled(table, _COLUMNS, where)
    require_distinct(table, ["stimulus"], where)
    numbers = table["value"].cast(pl.Float64, strict=False)
    wrong = numbers.is_null() | ~numbers.is_finite().fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{where}row {row + 1}: value {table['value'][row]!r}; expected a number")
    return table.with_columns(numbers)


def with_known_pairs(pairs: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Put pairs of known difference below those of a design, in no block and no batch.

    People see them as training, or as golden trials, in every session (FaceExpressions-70k, section
    3.4.3), so that they are part of no batch; how different they are stays in the table of known
    answers.

    Parameters
    ----------
    pairs
        Table of a :class:`~affectlab.stimuli.pairs.PairDesign`.
    known
        ``stimulus``, ``file_a``, ``file_b``.

    Raises
    ------
    InputError
        When a known pair has the name of one of the design.

    Examples
    --------
    >>> from affectlab.stimuli import example_sequences, pair_design
    >>> pairs = pair_design(example_sequences(actors=2, expressions=2)).to_frame()
    >>> known = pl.DataFrame({"stimulus": ["same"], "file_a": ["x.png"], "file_b": ["x.png"]})
    >>> with_known_pairs(pairs, known).tail(1).select("stimulus", "kind", "batch").rows()
    [('same', 'known', None)]
    """
    both = known.join(pairs, on="stimulus", how="semi")
    if both.height:
        raise InputError(
            f"known pair {both['stimulus'][0]!r} has the name of a pair of the design; expected "
            "another name"
        )
    told = known.select("stimulus", "file_a", "file_b", pl.lit(KNOWN).alias("kind"))
    return pl.concat([pairs, told], how="diagonal")
