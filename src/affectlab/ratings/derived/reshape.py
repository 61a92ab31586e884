"""Other shapes of a table of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.words import option
from affectlab.ratings.build import Body, check_columns
from affectlab.ratings.derived.holdings import RatingsBase, Table
from affectlab.ratings.derived.select import (
    answered_rows,
    in_time_order,
    question_of,
    rows_by_name,
)
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import (
    DeclaredScales,
    ScaleLike,
    format_by_label,
    guess_scales,
    one_scale,
)
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import Step, as_step, step

_AGGREGATES = ("mean", "median", "min", "max", "sum", "first", "len")
_AXES = ("stimulus", "rater", "label")


def _rows(ratings: RatingsBase, every_trial: bool) -> NDArray[np.bool_]:
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
    ratings: RatingsBase, label: str | None = None, *, every_trial: bool = False
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
        check_choice("label", label, ratings.label_names)
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
    ratings: RatingsBase,
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
    check_choices("axis", (index, columns), _AXES)
    if index == columns:
        raise InputError(f"index and columns are both {index!r}; expected two different axes")
    check_choice("aggregate", aggregate, _AGGREGATES)
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


def fill_absent(
    ratings: Table, value: float = 0.0, by: Literal["", "published", "asked"] = ""
) -> Table:
    """Add an answer for each label that a rater left out for a stimulus.

    Filled are the labels of each stimulus that the rater answered at least once in a main trial
    whose outcome is ok (of each session apart, where there are sessions). A label that was asked
    and got no usable answer is not absent, and stays as it is. Where labels are on different
    scales, those of numbers are filled whose scale holds `value`. The step says whether that was
    asked or published.

    Raises
    ------
    InputError
        When there are no labels, the scales are text, or `value` is off all declared scales.
    """
    if not ratings.has_labels:
        raise InputError("there are no labels, so none can be absent")
    scales = ratings.scales
    if not any(scale.numeric for scale in scales.values()):
        raise InputError("the answers are text, so none can be 0")
    fitting = _labels_holding(value, scales)
    body = ratings._body
    n_labels = ratings.n_labels
    asked = _rows_like(body, "trial_kind", "main")
    answered = asked & _rows_like(body, "outcome", "ok") & ~np.isnan(body.value)
    occasion, first = _occasions(body)
    seen = np.unique(occasion[answered])
    wanted = (seen[:, None] * n_labels + fitting).ravel()
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
    rescaled = _guessed_again(scales, filled)
    some = fitting if len(fitting) < n_labels else ()
    names = [ratings.label_names[code] for code in some]
    done = step(StepKind.FILLED, n=len(missing), value=float(value), by=by, labels=names)
    return ratings._derive(filled, scales=rescaled, steps=(done,))


def _labels_holding(value: float, scales: Mapping[str, Scale]) -> NDArray[np.intp]:
    """Give the codes of the labels that can be filled with a value.

    Among labels on different scales these are labels of numbers only, as a number would be the
    position of a category elsewhere.
    """
    wrong = [
        scale
        for scale in scales.values()
        if (scale.declared or scale.kind == "nominal") and not scale.contains([value])[0]
    ]
    shared = len(set(scales.values())) == 1
    fitting = [
        code
        for code, scale in enumerate(scales.values())
        if scale not in wrong and (shared or scale.kind not in ("nominal", "text"))
    ]
    if not fitting:
        raise InputError(
            f"fill value {value:g} is off the scale; expected "
            f"{format_by_label(scales) if not shared else wrong[0]}"
        )
    return np.array(fitting, dtype=np.intp)


def _guessed_again(scales: Mapping[str, Scale], body: Body) -> dict[str, Scale]:
    """Infer scales anew from changed answers, where they were inferred."""
    names = list(scales)
    open_ = [k for k, s in enumerate(scales.values()) if not s.declared and s.kind != "nominal"]
    label = np.zeros(body.n_rows, dtype=np.int32) if body.label is None else body.label.code
    guessed = guess_scales(label, body.value, open_, len(names))
    return {**scales, **{names[code]: scale for code, scale in guessed.items()}}


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
    check_choice("aggregate", how, _JOINING)
    mapping = taxonomy.group_to(level)
    targets = {name: mapping[name] for name in ratings.label_names}
    groups = _scales_of_groups(ratings, targets)
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
        scale=DeclaredScales(
            None,
            {
                name: after
                for name, scale in groups.items()
                if (after := _scale_after(scale, how)) is not None
            },
        ),
        taxonomy=mapping.target,
    )
    if how in ("max", "min"):
        checked = replace(checked, scales=groups)
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
        history=(*ratings.history, step(StepKind.LABELS_JOINED, level=level, how=how)),
        split=False,
    )


def _scales_of_groups(ratings: RatingsBase, targets: Mapping[str, str | None]) -> dict[str, Scale]:
    """Give the scale that the labels of each group share."""
    members: dict[str, dict[str, Scale]] = {}
    for name, scale in ratings.scales.items():
        if scale.kind in ("nominal", "text"):
            raise InputError(f"labels cannot be joined on scale {scale}; expected numbers")
        if (group := targets[name]) is not None:
            members.setdefault(group, {})[name] = scale
    return {group: one_scale(scales) for group, scales in members.items()}


def _trials_hold_labels(frame: pl.DataFrame, keys: list[str]) -> bool:
    """Whether some trial has several labels; else each label was a trial of its own."""
    per_trial = frame.group_by(keys).agg(pl.col("label").n_unique())
    return bool((per_trial["label"] > 1).any())


def _scale_after(scale: Scale, how: str) -> Scale | None:
    """Give the scale of joined answers; None: inferred from them."""
    if how == "mean" and scale.declared:
        return Scale("interval", scale.low, scale.high)
    return scale if how in ("max", "min") and scale.declared else None


def with_values(
    ratings: Table, values: ArrayLike, scale: ScaleLike | None, why: str | Step
) -> Table:
    """Replace the values of all rows; see :meth:`Ratings.with_values`."""
    names = ratings.label_names
    given = DeclaredScales.parse(scale).of(names, ratings.taxonomy, has_labels=ratings.has_labels)
    scales = {name: new or ratings.scales[name] for name, new in zip(names, given, strict=True)}
    value = np.array(values, dtype=np.float64)
    if value.shape != (ratings.n_rows,):
        raise InputError(
            f"values: shape is {value.shape}; expected one for each of {ratings.n_rows} rows"
        )
    for new in dict.fromkeys(scales.values()):
        labels = [code for code, name in enumerate(names) if scales[name] == new]
        of_scale = ~np.isnan(value)
        if len(labels) < len(names):
            of_scale &= np.isin(ratings.label_code, labels)
        if not new.numeric and (of_scale.any() or len(labels) == len(names)):
            raise InputError(f"scale {new}: values can be replaced on a scale of numbers only")
        wrong = of_scale & ~new.contains(value)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"values: row {row + 1} is {value[row]:g}, which is off {new}")
    value.setflags(write=False)
    return ratings._derive(
        replace(ratings._body, value=value), scales=scales, steps=(as_step(why),)
    )


def with_texts(
    ratings: Table, texts: Sequence[str | None], why: str | Step, *, column: str = "text"
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
    return ratings._derive(replace(ratings._body, extras=extras), steps=(as_step(why),))


def averaged(ratings: Table) -> Table:
    """Make one answer of several to the same question; see :meth:`Ratings.averaged`."""
    used = in_time_order(ratings._keep(answered_rows(ratings)))
    _, first, question = np.unique(question_of(used._body), return_index=True, return_inverse=True)
    if first.size == used.n_rows:
        return ratings
    unordered = [name for name, scale in used.scales.items() if scale.kind == "nominal"]
    if unordered:
        raise InputError(
            f"answers without an order have no mean ({', '.join(unordered)}); leave such labels "
            f"out: {option('select(labels=…)', cli='--keep-labels')}"
        )
    mean = np.bincount(question, used.value) / np.bincount(question)
    rows = np.sort(first)
    done = step(StepKind.AVERAGED, n=used.n_rows, to=first.size)
    scales = {
        name: scale
        if scale.kind == "interval"
        else Scale("interval", scale.low, scale.high, declared=scale.declared)
        for name, scale in used.scales.items()
    }
    body = replace(used._body.take(rows), value=mean[question[rows]])
    return used._derive(body, scales=scales, steps=(done,))
