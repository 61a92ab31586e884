"""Reading the tables that stimuli are made from."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from affectlab.errors import InputError

__all__ = ["read_table"]


def read_table(path: str | Path, what: str) -> pl.DataFrame:
    """Read a CSV file, all columns as text, or a Parquet file.

    Raises
    ------
    InputError
        When the file is missing or is no such table; the sentence says `what` was expected.
    """
    place = Path(path)
    try:
        if place.suffix == ".parquet":
            return pl.read_parquet(place)
        return pl.read_csv(place, infer_schema=False)
    except FileNotFoundError:
        raise InputError(f"{place}: there is no such file") from None
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise InputError(f"{place}: not a table of {what} ({problem})") from None
