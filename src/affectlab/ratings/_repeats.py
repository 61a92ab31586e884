"""Which of several answers of a rater to the same question is the first."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings._build import Body

__all__ = ["by_time", "moments"]

_ISO = r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(.*)$"
_MOST_GAPS = 4
"""Possible questions per row up to which counting all of them beats sorting."""

Rows = NDArray[np.intp]


def by_time(body: Body) -> Body:
    """Put the answers of a rater to the same question in the order in which they were given.

    The rows of one rater, stimulus and label change places among themselves; all others stay. What
    came first is said by the time ``at``, then the session, then the trial number. The check of a
    table lets a rater answer a question twice only where session or trial tell the two apart (or,
    of texts, the texts), so that the order of rows decides nothing.
    """
    if not {"session", "trial"} & body.extras.keys():
        # The check of a table lets only these tell two answers to one question apart.
        return body
    rows = _repeated(body)
    if not rows.size:
        return body
    question = _question(body)[rows]
    ordered = rows[np.lexsort((*reversed(moments(body, rows)), question))]
    place = rows[np.argsort(question, kind="stable")]
    if np.array_equal(ordered, place):
        return body
    source = np.arange(body.n_rows)
    source[place] = ordered
    return body.take(source)


def _question(body: Body) -> NDArray[np.int64]:
    key = body.stimulus.code.astype(np.int64) * body.rater.n + body.rater.code
    return key if body.label is None else key * body.label.n + body.label.code


def _repeated(body: Body) -> Rows:
    """Rows that share rater, stimulus and label with another row."""
    question = _question(body)
    n_questions = body.stimulus.n * body.rater.n * (1 if body.label is None else body.label.n)
    if n_questions > _MOST_GAPS * question.size:
        ordered = np.sort(question)
        if not (ordered[1:] == ordered[:-1]).any():
            return np.zeros(0, dtype=np.intp)
        _, question = np.unique(question, return_inverse=True)
    elif int(np.bincount(question, minlength=1).max(initial=0)) <= 1:
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(np.bincount(question)[question] > 1)


def moments(body: Body, rows: Rows) -> tuple[NDArray[np.float64], ...]:
    """Keys that sort rows by when they were answered, the weightiest first; unknown comes last.

    Kind of trial and text say nothing of time; they tell rows apart that time does not.
    """
    keys = []
    for name in ("at", "session", "trial", "trial_kind", "text"):
        if name in body.extras:
            text = body.extras[name].gather(rows).cast(pl.String)
            keys += _clock(text) if name == "at" else _ranks(text)
    return tuple(keys)


def _ranks(text: pl.Series) -> list[NDArray[np.float64]]:
    """Numbers by size, names and equal numbers by the alphabet."""
    number = text.cast(pl.Float64, strict=False)
    keys = [text.rank("dense").cast(pl.Float64)]
    if number.null_count() == text.null_count():
        keys.insert(0, number)
    return [key.fill_null(np.inf).to_numpy() for key in keys]


def _clock(text: pl.Series) -> list[NDArray[np.float64]]:
    """Times to the second; nothing where they are not all numbers, or ISO 8601 in one zone."""
    if text.cast(pl.Float64, strict=False).null_count() == text.null_count():
        return _ranks(text)
    day, time, zone = text.str.extract_groups(_ISO).struct.unnest().get_columns()
    if day.null_count() > text.null_count() or zone.drop_nulls().n_unique() > 1:
        return []
    return _ranks(day + "T" + time)
