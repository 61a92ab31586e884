"""Other shapes of a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import Body, check_columns
from affectlab.ratings.holdings import Holdings, Table
from affectlab.ratings.scale import Scale
from affectlab.ratings.select import answered_rows, in_time_order, rows_by_name

__all__ = [
    "fill_absent",
    "group_labels",
    "matrix",
    "pivot",
    "with_texts",
    "with_values",
]

_AGGREGATES = ("mean", "median", "min", "max", "sum", "first", "len")
_AXES = ("stimulus", "rater", "label")


def _rows(ratings: Holdings, every_trial: bool) -> NDArray[np.bool_]:
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
    ratings: Holdings, label: str | None = None, *, every_trial: bool = False
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
    ratings = in_time_order(ratings)
    chosen = _rows(ratings, every_trial)
    if label is not None:
        chosen = chosen & (ratings.label_code == ratings.label_names.index(label))
    spread = np.full((ratings.n_raters, ratings.n_stimuli), np.nan)
    # Written backwards, so that the first of several answers is the one that stays.
    rows = np.flatnonzero(chosen)[::-1]
    spread[ratings.rater_code[rows], ratings.stimulus_code[rows]] = ratings.value[rows]
    return spread


def pivot(
    ratings: Holdings,
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
        ratings = ratings._keep(rows_by_name(ratings, labels=label))
    ratings = in_time_order(ratings)
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


# Steps that change what the labels of a table say: filling absent ones, joining them.


_JOINING = ("max", "min", "mean", "sum")


def fill_absent(ratings: Table, value: float = 0.0, why: str = "") -> Table:
    """Add an answer for each label that a rater left out for a stimulus.

    Filled are the labels of each stimulus that the rater answered at least once in a main trial
    whose outcome is ok (of each session apart, where there are sessions). A label that was asked
    and got no usable answer is not absent, and stays as it is. `why` goes into the history.

    Raises
    ------
    InputError
        When there are no labels, the scale is text, or `value` is off a declared scale.
    """
    if not ratings.has_labels:
        raise InputError("there are no labels, so none can be absent")
    scale = ratings.scale
    if not scale.numeric:
        raise InputError("the answers are text, so none can be 0")
    if (scale.declared or scale.kind == "nominal") and not scale.contains([value])[0]:
        raise InputError(f"fill value {value:g} is off the scale; expected {scale}")
    body = ratings._body
    n_labels = ratings.n_labels
    asked = _rows_like(body, "trial_kind", "main")
    answered = asked & _rows_like(body, "outcome", "ok") & ~np.isnan(body.value)
    occasion, first = _occasions(body)
    seen = np.unique(occasion[answered])
    wanted = (seen[:, None] * n_labels + np.arange(n_labels)).ravel()
    present = occasion[asked] * n_labels + ratings.label_code[asked]
    missing = np.setdiff1d(wanted, present)
    if len(missing) == 0:
        return ratings
    at, label = np.divmod(missing, n_labels)
    row = first[at]
    given = np.concatenate([body.value, np.full(len(missing), float(value))])
    given.setflags(write=False)
    filled = Body(
        body.stimulus.append(body.stimulus.code[row]),
        body.rater.append(body.rater.code[row]),
        None if body.label is None else body.label.append(label),
        given,
        {name: _longer(column, row) for name, column in body.extras.items()},
    )
    rescaled = scale if scale.declared or scale.kind == "nominal" else Scale.infer(given)
    noun = "rating" if len(missing) == 1 else "ratings"
    step = f"filled {len(missing):,} absent {noun} with {value:g}"
    return ratings._derive(filled, scale=rescaled, steps=(f"{why}: {step}" if why else step,))


def _rows_like(body: Body, name: str, word: str) -> np.ndarray:
    column = body.extras.get(name)
    if column is None:
        return np.ones(body.n_rows, dtype=bool)
    return (column == word).to_numpy()


def _occasions(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Number the (stimulus, rater, session) that occur, and give the first row of each."""
    packed = body.stimulus.code.astype(np.int64) * body.rater.n + body.rater.code
    if "session" in body.extras:
        session = body.extras["session"].rank("dense").fill_null(0).to_numpy().astype(np.int64)
        _, packed = np.unique(packed, return_inverse=True)
        packed = packed * (int(session.max()) + 1) + session
    _, first, occasion = np.unique(packed, return_index=True, return_inverse=True)
    return occasion, first


def _longer(column: pl.Series, row: np.ndarray) -> pl.Series:
    """Add rows to a column: the session of the occasion, main and ok, and no more."""
    if column.name == "session":
        added = column.gather(row)
    else:
        usual = {"trial_kind": "main", "outcome": "ok"}.get(column.name)
        added = pl.Series(column.name, [usual], dtype=column.dtype).new_from_index(0, len(row))
    return pl.concat([column, added])


def group_labels(ratings: Table, level: str, how: str = "max") -> Table:
    """Join labels into the groups of a taxonomy level, per stimulus, rater and occasion.

    Answers are joined within a session, and within a trial when a trial asks several labels. Only
    answers with outcome ok count; where a group has none, its first row stays, with its outcome.
    Labels without an answer are not taken as 0: use :meth:`Ratings.fill_absent` before when they
    are. A mean is on an interval scale with the same bounds, a sum on an inferred one.

    Raises
    ------
    InputError
        When there is no taxonomy or no such level, or the answers are no numbers to be joined.
    """
    taxonomy = ratings.taxonomy
    if taxonomy is None or not ratings.has_labels:
        raise InputError(
            f"the labels belong to no taxonomy; name one ({option('taxonomy', 'NAME')})"
        )
    if how not in _JOINING:
        raise unknown_name("aggregate", how, _JOINING)
    if ratings.scale.kind in ("nominal", "text"):
        raise InputError(f"labels cannot be joined on scale {ratings.scale}; expected numbers")
    mapping = taxonomy.group_to(level)
    targets = {name: mapping[name] for name in ratings.label_names}
    frame = ratings.to_frame()
    keys = [name for name in ("stimulus", "rater", "session", "trial_kind") if name in frame]
    if "trial" in frame.columns and _trials_hold_labels(frame, [*keys, "trial"]):
        keys.append("trial")
    frame = frame.with_columns(pl.col("label").replace_strict(targets, return_dtype=pl.String))
    keys.append("label")
    usable = pl.col("outcome") == "ok" if "outcome" in frame.columns else pl.lit(True)
    value = pl.col("value").filter(usable & pl.col("value").is_not_null())
    rest = [
        pl.col(name).filter(usable).first().fill_null(pl.col(name).first())
        for name in frame.columns
        if name not in (*keys, "value")
    ]
    # The sum of no answers would be 0, which is an answer.
    joined = frame.group_by(keys, maintain_order=True).agg(
        pl.when(value.len() > 0).then(getattr(value, how)()).alias("value"), *rest
    )
    checked = check_columns(
        {name: joined[name] for name in frame.columns},
        scale=_scale_after(ratings.scale, how),
        taxonomy=mapping.target,
    )
    if how in ("max", "min"):
        checked = replace(checked, scale=ratings.scale)
    return type(ratings)._from_checked(
        replace(
            checked.reordered(
                stimulus=list(ratings.stimulus_names),
                rater=list(ratings.rater_names),
                label=list(mapping.target.labels),
            ),
            set_aside=(*ratings.set_aside, *checked.set_aside),
        ),
        ratings.raters,
        ratings.stimuli,
        source=ratings.source,
        history=(*ratings.history, f"labels joined to level '{level}' by {how}"),
        split=False,
    )


def _trials_hold_labels(frame: pl.DataFrame, keys: list[str]) -> bool:
    """Whether some trial has several labels; else each label was a trial of its own."""
    per_trial = frame.group_by(keys).agg(pl.col("label").n_unique())
    return bool((per_trial["label"] > 1).any())


def _scale_after(scale: Scale, how: str) -> Scale | None:
    """Give the scale of joined answers; None: inferred from them."""
    if how == "mean" and scale.declared:
        return Scale("interval", scale.low, scale.high)
    return scale if how in ("max", "min") and scale.declared else None


def with_values(ratings: Table, values: ArrayLike, scale: str | Scale | None, step: str) -> Table:
    """Replace the values of all rows; see :meth:`Ratings.with_values`."""
    new_scale = ratings.scale if scale is None else Scale.parse(scale)
    if not new_scale.numeric:
        raise InputError(f"scale {new_scale}: values can be replaced on a scale of numbers only")
    value = np.array(values, dtype=np.float64)
    if value.shape != (ratings.n_rows,):
        raise InputError(
            f"values: shape is {value.shape}; expected one for each of {ratings.n_rows} rows"
        )
    wrong = ~np.isnan(value) & ~new_scale.contains(value)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"values: row {row + 1} is {value[row]:g}, which is off {new_scale}")
    value.setflags(write=False)
    return ratings._derive(replace(ratings._body, value=value), scale=new_scale, steps=(step,))


def with_texts(
    ratings: Table, texts: Sequence[str | None], step: str, *, column: str = "text"
) -> Table:
    """Replace a column of texts that belong to the rows, and note the step in the history.

    Raises
    ------
    InputError
        When there is no such column, or not one text per row.
    """
    if column not in ratings._body.extras:
        raise InputError(f"the ratings have no column {column!r} of texts")
    if len(texts) != ratings.n_rows:
        raise InputError(f"{len(texts)} texts for {ratings.n_rows} rows; expected one for each")
    extras = {**ratings._body.extras, column: pl.Series(column, list(texts), dtype=pl.String)}
    return ratings._derive(replace(ratings._body, extras=extras), steps=(step,))
