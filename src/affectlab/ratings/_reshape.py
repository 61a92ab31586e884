"""Other shapes of a table of ratings."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.errors import InputError, unknown_name
from affectlab.ratings import _table
from affectlab.ratings._select import answered_rows

__all__ = ["matrix", "pivot"]

_AGGREGATES = ("mean", "median", "min", "max", "sum", "first", "len")
_AXES = ("stimulus", "rater", "label")


def _rows(ratings: _table.Ratings, every_trial: bool) -> NDArray[np.bool_]:
    """Say which rows are spread: answers of main trials, or any value when asked for."""
    if every_trial:
        return ~np.isnan(ratings.value)
    rows = answered_rows(ratings)
    if not rows.any():
        raise InputError(
            "no main trial has a value; expected at least one numeric answer, or every_trial=True"
        )
    return rows


def matrix(
    ratings: _table.Ratings, label: str | None = None, *, every_trial: bool = False
) -> NDArray[np.float64]:
    """Spread the answers over an array.

    Parameters
    ----------
    ratings
        Any table. Of several answers of a rater to the same question the first counts: by the
        time ``at``, then session, then trial number.
    label
        The label to take; not needed when there is only one.
    every_trial
        Take golden, repeated and training trials in, and values whose outcome is not ok. False:
        only what statistics use, as :meth:`Ratings.answers` does.

    Returns
    -------
    numpy.ndarray
        Shape (n_raters, n_stimuli), in the order of all raters and stimuli of the table, ``nan``
        where there is no answer.

    Raises
    ------
    InputError
        When there are several labels and none is named, or nothing was answered.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> matrix(Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2]}))
    array([[1., 2.]])
    """
    if label is not None:
        if label not in ratings.label_names:
            raise unknown_name("label", label, ratings.label_names)
    elif ratings.n_labels > 1:
        names = ", ".join(ratings.label_names[:5]) + (", …" if ratings.n_labels > 5 else "")
        raise InputError(f"there are {ratings.n_labels} labels; name one of them: {names}")
    ratings = ratings._in_time_order()
    chosen = _rows(ratings, every_trial)
    if label is not None:
        chosen = chosen & (ratings.label_code == ratings.label_names.index(label))
    spread = np.full((ratings.n_raters, ratings.n_stimuli), np.nan)
    # Written backwards, so that the first of several answers is the one that stays.
    rows = np.flatnonzero(chosen)[::-1]
    spread[ratings.rater_code[rows], ratings.stimulus_code[rows]] = ratings.value[rows]
    return spread


def pivot(
    ratings: _table.Ratings,
    index: str = "stimulus",
    columns: str = "rater",
    label: str | None = None,
    aggregate: str = "mean",
    *,
    every_trial: bool = False,
) -> pl.DataFrame:
    """Spread the answers over a wide data frame.

    Parameters
    ----------
    ratings
        Any table.
    index, columns
        Two of ``stimulus``, ``rater`` and ``label``.
    label
        Keep only this label.
    aggregate
        How several values in a cell become one: mean, median, min, max, sum, first or len.
    every_trial
        Take golden, repeated and training trials in, and values whose outcome is not ok. False:
        only what statistics use, as :meth:`Ratings.answers` does.

    Returns
    -------
    polars.DataFrame
        The column `index`, then one column per name of `columns`, in the order of the codes.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> r = Ratings({"stimulus": ["a", "a"], "rater": ["r1", "r2"], "value": [1, 2]})
    >>> pivot(r).row(0)
    ('a', 1.0, 2.0)
    """
    for axis in (index, columns):
        if axis not in _AXES:
            raise unknown_name("axis", axis, _AXES)
    if index == columns:
        raise InputError(f"index and columns are both {index!r}; expected two different axes")
    if aggregate not in _AGGREGATES:
        raise unknown_name("aggregate", aggregate, _AGGREGATES)
    if label is not None:
        ratings = ratings.select(labels=label)
    ratings = ratings._in_time_order()
    names = dict(
        zip(_AXES, (ratings.stimulus_names, ratings.rater_names, ratings.label_names), strict=True)
    )
    codes = dict(
        zip(_AXES, (ratings.stimulus_code, ratings.rater_code, ratings.label_code), strict=True)
    )
    rows = _rows(ratings, every_trial)
    long = pl.DataFrame(
        {"i": codes[index][rows], "c": codes[columns][rows], "v": ratings.value[rows]}
    )
    cells = long.group_by("i", "c", maintain_order=True).agg(getattr(pl.col("v"), aggregate)())
    if index in names[columns]:
        raise InputError(
            f"a {columns} is called {index!r}, as the first column; pivot the other way round"
        )
    wide = np.full((len(names[index]), len(names[columns])), np.nan)
    wide[cells["i"].to_numpy(), cells["c"].to_numpy()] = cells["v"].cast(pl.Float64).to_numpy()
    spread = pl.DataFrame(wide, schema=list(names[columns])).fill_nan(None)
    return spread.insert_column(0, pl.Series(index, names[index], dtype=pl.String))
