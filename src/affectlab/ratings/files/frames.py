"""Data frames of any library, taken in without guessing what their columns mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import polars as pl

from affectlab.core.errors import InputError

_NUMBER = r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?)?$"
"""A number whose text is the usual one: no leading zeros, no plus sign, no bare exponent."""


class NoTableError(InputError):
    """What was given is no table of any kind."""


def as_frame(given: Any, *, what: str) -> pl.DataFrame:
    """Take any data frame (polars, pandas, Arrow, …), columns or rows in as polars.

    That is a data frame of polars, pandas or another library, a table or a stream of Arrow and
    whatever offers one (``__arrow_c_stream__``), a relation of DuckDB, a ``Dataset`` of the Hugging
    Face library, a dict of columns, or a list of dicts.

    Raises
    ------
    InputError
        When it is none of these, its columns differ in length, or a column holds lists.
    """
    if isinstance(given, pl.DataFrame):
        return given
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    if isinstance(given, Mapping):
        return _of_columns(given, what)
    if isinstance(given, list | tuple) and given and all(isinstance(r, Mapping) for r in given):
        names = list(dict.fromkeys(name for row in given for name in row))
        return _of_columns({name: [row.get(name) for row in given] for name in names}, what)
    if hasattr(given, "features") and hasattr(given, "with_format"):
        return _of_hub(given)
    import narwhals as nw

    try:
        frame = nw.from_native(given, eager_only=True)
        columns = [frame.get_column(name) for name in frame.columns]
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{what}: {' '.join(str(error).split())}") from None
    except TypeError:
        return _of_stream(given, what)
    names = [str(name) for name in frame.columns]
    return pl.DataFrame(
        [_foreign(column, name) for column, name in zip(columns, names, strict=True)]
    )


def _of_hub(given: Any) -> pl.DataFrame:
    """Take a data set of the Hugging Face library in, classes by their names.

    Pictures and sounds stay out.
    """
    media = [name for name, kind in given.features.items() if hasattr(kind, "decode_example")]
    kept = [name for name in given.column_names if name not in media]
    columns: dict[str, pl.Series] = {}
    table = given.select_columns(kept).with_format("arrow")[:]
    for name, column in pl.DataFrame(table).to_dict().items():
        names = getattr(given.features[name], "names", None)
        if names and column.dtype.is_integer():
            known = pl.Series(name, list(names), dtype=pl.String)
            column = known.gather(column.set(column < 0, None))
        columns[name] = column
    return pl.DataFrame(columns)


def _of_stream(given: Any, what: str) -> pl.DataFrame:
    """Take in what offers a stream of Arrow, or gives itself as polars, as DuckDB does."""
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pl.DataFrame(given)
        if hasattr(given, "pl"):
            return pl.DataFrame(given.pl())
    except (pl.exceptions.PolarsError, ValueError, TypeError) as error:
        raise InputError(f"{what}: {' '.join(str(error).split())}") from None
    raise NoTableError(
        f"{what} is a {type(given).__name__}; expected a data frame (polars, pandas, Arrow, "
        "DuckDB, a Dataset of the hub), a dict of columns, or a list of dicts"
    )


def _of_columns(given: Mapping[Any, Any], what: str) -> pl.DataFrame:
    columns: list[pl.Series] = []
    for name, values in given.items():
        if isinstance(values, pl.Series):
            column = values.alias(str(name))
        elif isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(
                f"{what}: column '{name}' is a {type(values).__name__}; expected a list of values"
            )
        elif hasattr(values, "dtype") and hasattr(values, "tolist"):
            plain = getattr(values, "dtype", None)
            column = (
                series_of(str(name), values.tolist())
                if str(plain) == "object" or not hasattr(values, "__array__")
                else pl.Series(str(name), values.__array__())
            )
        else:
            column = series_of(str(name), list(values))
        if columns and len(column) != len(columns[0]):
            raise InputError(
                f"{what}: column '{name}' has {len(column):,} values and "
                f"'{columns[0].name}' {len(columns[0]):,}; expected equally many"
            )
        columns.append(column)
    return pl.DataFrame(columns)


def _foreign(column: Any, name: str) -> pl.Series:
    """Take in one narwhals column; a gap is null, whatever the library calls it."""
    import narwhals as nw

    dtype = column.dtype
    if dtype.is_float() or (
        (dtype.is_integer() or dtype == nw.Boolean) and not column.is_null().any()
    ):
        return pl.Series(name, column.to_numpy())
    gaps = column.is_null().to_list()
    values = column.to_list()
    return series_of(
        name, [None if gap else value for value, gap in zip(values, gaps, strict=True)]
    )


def series_of(name: str, values: Sequence[Any]) -> pl.Series:
    """Make a column of Python values; a column of mixed types becomes text, each cell as it looks.

    Examples
    --------
    >>> series_of("x", [7, "007", None, True]).to_list()
    ['7', '007', None, 'true']
    """
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pl.Series(name, [None] * len(values), dtype=pl.Null)
    if kinds == {str}:
        return pl.Series(name, values, dtype=pl.String)
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int}:
        try:
            return pl.Series(name, values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            return pl.Series(name, [_text(value) for value in values], dtype=pl.String)
    if kinds <= {int, float}:
        numbers = [None if value is None else float(value) for value in values]
        return pl.Series(name, numbers, dtype=pl.Float64)
    if len(kinds) == 1 and kinds <= {date, datetime, time, timedelta}:
        return pl.Series(name, values)
    if kinds & {list, dict, tuple, set}:
        return pl.Series(name, values, dtype=pl.Object)
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def plain_column(column: pl.Series) -> pl.Series:
    """Bring a column to one of four types: Int64, Float64, Boolean or String.

    Dates and times become ISO 8601 text, and a float that is not a number a gap. These four survive
    writing and reading in every format. Categories stay, as a compact form of text.

    Raises
    ------
    InputError
        When the column holds lists, objects or bytes.
    """
    dtype = column.dtype
    if dtype in (pl.String, pl.Boolean, pl.Int64):
        return column
    if dtype.is_integer():
        wide = column.cast(pl.Int64, strict=False)
        return wide if wide.null_count() == column.null_count() else column.cast(pl.String)
    if dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if isinstance(dtype, pl.Categorical):
        return column
    if isinstance(dtype, pl.Enum | pl.Null):
        return column.cast(pl.String)
    if dtype.is_temporal():
        return column.dt.to_string("iso")
    raise wrong_kind(column, "text or numbers")


def wrong_kind(column: pl.Series, expected: str) -> InputError:
    """Build the error for a column of a type that no table of ratings can hold."""
    dtype = column.dtype
    kind = (
        "lists or objects"
        if dtype.is_nested() or dtype == pl.Object
        else "dates or times"
        if dtype.is_temporal()
        else f"{dtype} values"
    )
    return InputError(f"column '{column.name}' holds {kind}; expected {expected}")


def typed_column(column: pl.Series) -> pl.Series:
    """Give a text column its numbers when no entry is told apart by its look alone.

    ``007``, ``1e5`` and ``+3`` are names rather than numbers, and so is a column that holds them.

    Examples
    --------
    >>> typed_column(pl.Series(["31", None])).to_list(), typed_column(pl.Series(["007"])).to_list()
    ([31, None], ['007'])
    """
    if column.dtype != pl.String:
        return column
    distinct = column.drop_nulls().unique()
    if len(distinct) == 0 or not distinct.str.contains(_NUMBER).all():
        return column
    for dtype in (pl.Int64, pl.Float64):
        numbers = distinct.cast(dtype, strict=False)
        if numbers.null_count() == 0 and numbers.n_unique() == len(distinct):
            return column.cast(dtype)
    return column
