"""GoEmotions as its raters gave it: one row per rater and comment, one column per label."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.build import parse_values
from affectlab.ratings.codes import Coded, encode
from affectlab.ratings.datasets.common import (
    Rejects,
    attributes,
    check_columns_there,
    refuse_layout,
    shown,
)
from affectlab.ratings.files import Columns, Peek, read_columns
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

__all__ = ["FORMAT"]

_NAME = "goemotions-raw"
_UNCLEAR = "example_very_unclear"
_NEEDED = ("id", "rater_id", _UNCLEAR)
_OF_COMMENT = ("text", "subreddit", "author", "link_id", "parent_id", "created_utc")
_BINARY = Scale.binary()


def _sniff(peek: Peek) -> bool:
    return set(_NEEDED) <= set(peek.columns)


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    labels = load_taxonomy("goemotions").labels
    expected = f"id, rater_id, {_UNCLEAR} and the {len(labels)} labels of GoEmotions"
    check_columns_there(peek, (*_NEEDED, *labels), expected)
    read = read_columns(
        peek, names=("rater_id", "subreddit", _UNCLEAR, *labels), on_bad=options.on_bad
    )
    rejects = Rejects(peek.path, options.on_bad)
    unclear = _zero_or_one(read, _UNCLEAR, rejects) == 1.0
    value = np.column_stack([_zero_or_one(read, label, rejects) for label in labels])
    stimulus, stated = _names(read, "id", "stimulus", rejects)
    rater, known = _names(read, "rater_id", "rater", rejects)
    # An unclear answer ticks nothing: its zeros are no statements about the labels.
    declined = unclear & ~(value == 1.0).any(axis=1)
    value[declined] = np.nan
    usable = (~np.isnan(value) | declined[:, None]) & (stated & known)[:, None]
    kept = np.flatnonzero(usable.ravel())
    if not len(kept):
        raise InputError(f"{peek.path}: no row can be used; expected 0 or 1 for each label")
    row, label = np.divmod(kept, len(labels))
    columns = {
        "stimulus": Coded(stimulus.names, stimulus.code[row]).to_series("stimulus"),
        "rater": Coded(rater.names, rater.code[row]).to_series("rater"),
        "label": Coded(pl.Series(labels), label.astype(np.int32)).to_series("label"),
        "value": pl.Series("value", value.ravel()[kept]),
        "unclear": pl.Series("unclear", unclear[row]),
    }
    if declined.any():
        columns["outcome"] = _outcome(declined[row])
    if "src" in read.columns:
        src = read.columns["src"].cast(pl.Categorical)
        columns["src"] = src.gather(row)
    of_comment = {name: read.columns[name] for name in _OF_COMMENT if name in read.columns}
    stimuli, steps = attributes("stimulus", stimulus, of_comment)
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda place: _place(read, int(kept[place]), labels),
        scale=_BINARY,
        taxonomy="goemotions",
        stimuli=stimuli,
        set_aside=(*read.set_aside, *rejects.set_aside),
        history=steps,
        split=False,
        unit="cell",
    )


def _place(read: Columns, cell: int, labels: tuple[str, ...]) -> str:
    row, label = divmod(cell, len(labels))
    return f"{read.locate(row)} (column '{labels[label]}')"


def _zero_or_one(read: Columns, name: str, rejects: Rejects) -> NDArray[np.float64]:
    """Numbers of a column of zeros and ones; ``nan`` where a cell is neither."""
    column = read.columns[name]
    parsed = parse_values(column, _BINARY)
    bad = np.flatnonzero(~_BINARY.contains(parsed.value))
    for row in bad:
        line = read.locate(int(row)).rpartition(", ")[2]
        text = column[int(row)] or ""
        rejects.reject(
            f"{line} (column '{name}')",
            f"{name} is not 0 or 1" if name == _UNCLEAR else "label not 0 or 1",
            f"{shown(text)} is not understood; expected 0 or 1",
            unit="cell",
        )
    parsed.value[bad] = np.nan
    return parsed.value


def _names(
    read: Columns, column: str, what: str, rejects: Rejects
) -> tuple[Coded, NDArray[np.bool_]]:
    """Code a column of names, and say which rows have one."""
    given = read.columns[column]
    if given.dtype == pl.String:
        given = given.set(given.str.strip_chars() == "", None)
    present = given.is_not_null().to_numpy()
    for row in np.flatnonzero(~present):
        line = read.locate(int(row)).rpartition(", ")[2]
        rejects.reject(line, f"{column} is empty", f"{column} is empty; expected a name")
    if not present.all():
        # The placeholder only keeps rows aligned; rows that have it are left out.
        given = given.cast(pl.String).fill_null("")
    return encode(given, what=what), present


def _outcome(declined: NDArray[np.bool_]) -> pl.Series:
    names = pl.Series(["ok", "refused"])
    return Coded(names, declined.astype(np.int32)).to_series("outcome").cast(pl.Categorical)


FORMAT = Format(
    name=_NAME,
    title="GoEmotions, the answers of each rater (CSV or Parquet with 28 label columns)",
    sniff=_sniff,
    read=_read,
)
