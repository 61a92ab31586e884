"""Which rows a selection keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, check_choices, unknown_name
from affectlab.core.words import option
from affectlab.ratings.build import Body, in_seconds
from affectlab.ratings.derived.holdings import RatingsBase, Table
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import DEFAULTS, OUTCOMES, RATER_KINDS, TRIAL_KINDS

Names = Iterable[str] | str | None
Mask = NDArray[np.bool_]


def rows_by_name(
    ratings: RatingsBase,
    *,
    stimuli: Names = None,
    raters: Names = None,
    labels: Names = None,
    rater_kind: Names = None,
    trial_kind: Names = None,
    outcome: Names = None,
) -> Mask:
    """Say for each row whether all its names are among those wanted."""
    mask = np.ones(ratings.n_rows, dtype=bool)
    if stimuli is not None:
        mask &= _chosen("stimulus", stimuli, ratings.stimulus_names)[ratings.stimulus_code]
    if raters is not None:
        mask &= _chosen("rater", raters, ratings.rater_names)[ratings.rater_code]
    if labels is not None:
        mask &= _chosen("label", labels, ratings.label_names)[ratings.label_code]
    if rater_kind is not None:
        wanted = _words("rater_kind", rater_kind, RATER_KINDS)
        kinds = np.array([kind in wanted for kind in ratings.rater_kinds], dtype=bool)
        mask &= kinds[ratings.rater_code]
    for name, given, known in (
        ("trial_kind", trial_kind, TRIAL_KINDS),
        ("outcome", outcome, OUTCOMES),
    ):
        if given is not None:
            wanted = _words(name, given, known)
            column = ratings._body.extras.get(name)
            if column is not None:
                mask &= column.is_in(wanted).to_numpy()
            elif DEFAULTS[name] not in wanted:
                mask[:] = False
    return mask


def labels_on(ratings: Table, wanted: Callable[[Scale], bool]) -> Table | None:
    """Keep the labels on scales that are wanted; None where there are none with an answer."""
    labels = [name for name, scale in ratings.scales.items() if wanted(scale)]
    return ratings._keep(rows_by_name(ratings, labels=labels)) if labels else None


def _chosen(kind: str, wanted: Iterable[str] | str, names: tuple[str, ...]) -> Mask:
    position = {name: index for index, name in enumerate(names)}
    chosen = np.zeros(len(names), dtype=bool)
    for name in [wanted] if isinstance(wanted, str) else wanted:
        found = position.get(str(name))
        if found is None:
            raise unknown_name(kind, str(name), names)
        chosen[found] = True
    return chosen


def _words(name: str, wanted: Iterable[str] | str, known: tuple[str, ...]) -> list[str]:
    words = [wanted] if isinstance(wanted, str) else list(wanted)
    check_choices(name, words, known)
    return words


def rows_where(ratings: RatingsBase, predicate: pl.Expr | ArrayLike) -> Mask:
    """Say for each row whether an expression over its columns and its attributes is true."""
    if not isinstance(predicate, pl.Expr):
        given = np.asarray(
            predicate.fill_null(False) if isinstance(predicate, pl.Series) else predicate
        )
        if given.dtype != bool or given.shape != (ratings.n_rows,):
            raise InputError(
                f"where: got {given.dtype} of shape {given.shape}; expected a polars expression, "
                f"or true or false for each of {ratings.n_rows:,} rows"
            )
        return given
    frame, names = ratings.coded_frame, predicate.meta.root_names()
    if any(isinstance(frame.schema.get(name), pl.Enum | pl.Categorical) for name in names):
        frame = ratings.frame
    for table, code in (
        (ratings.raters, ratings.rater_code),
        (ratings.stimuli, ratings.stimulus_code),
    ):
        for name in names:
            if name in table.columns and name not in frame.columns:
                frame = frame.with_columns(table[name].gather(code.astype(np.int64)))
    known = dict.fromkeys([*frame.columns, *ratings.raters.columns, *ratings.stimuli.columns])
    for name in names:
        if name not in frame.columns:
            raise unknown_name("column", name, known, "where")
    try:
        kept = frame.with_columns(predicate.alias("\0"))["\0"]
    except pl.exceptions.PolarsError as error:
        raise InputError(f"where: {str(error).splitlines()[0]}") from None
    if kept.dtype != pl.Boolean:
        raise InputError(f"where: the expression gives {kept.dtype}; expected true or false")
    mask: Mask = kept.fill_null(False).to_numpy()
    return mask


def answered_rows(ratings: RatingsBase) -> Mask:
    """Say for each row whether it is a main trial whose outcome is ok and that has a value."""
    mask: Mask = ~np.isnan(ratings.value)
    return mask & _usual_rows(ratings)


def used_rows(ratings: RatingsBase) -> Mask:
    """Say for each row whether it is a main trial whose outcome is ok and that has an answer.

    An answer is a value, or text where the table has texts.
    """
    return ratings._answered & _usual_rows(ratings)


def _usual_rows(ratings: RatingsBase) -> Mask:
    mask = np.ones(ratings.n_rows, dtype=bool)
    for name, wanted in DEFAULTS.items():
        column = ratings._body.extras.get(name)
        if column is not None:
            mask &= (column == wanted).to_numpy()
    return mask


# Which of several answers of a rater to the same question is the first.


_ISO = r"^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(.*)$"
_MOST_GAPS = 4
_LEWIDI = "affectlab evaluate soft-labels --show lewidi"
"""Possible questions per row up to which counting all of them beats sorting."""

Rows = NDArray[np.intp]


def in_time_order(ratings: Table) -> Table:
    """Put the answers of a rater to the same question in the order in which they were given.

    The rows of one rater, stimulus and label change places among themselves; all others stay. What
    came first is said by the time ``at``, then the session, then the trial number. The check of a
    table lets a rater answer a question twice only where session, trial or seconds tell the two
    apart (or, of texts, the texts), so that the order of rows decides nothing.
    """
    body = ratings._body
    if not _may_repeat(body):
        return ratings
    rows = _repeated(body)
    if not rows.size:
        return ratings
    question = question_of(body)[rows]
    ordered = rows[np.lexsort((*reversed(moments(body, rows)), question))]
    place = rows[np.argsort(question, kind="stable")]
    if np.array_equal(ordered, place):
        return ratings
    source = np.arange(body.n_rows)
    source[place] = ordered
    return ratings._derive(body.take(source))


def has_traces(ratings: RatingsBase) -> bool:
    """Say whether raters answered a question again and again, as times in seconds tell."""
    body = ratings._body
    if "trial" in body.extras or not in_seconds(body.extras.get("at")):
        return False
    rows = _repeated(body)
    if not rows.size or "session" not in body.extras:
        return bool(rows.size)
    session = body.extras["session"].gather(rows).cast(pl.String).rank("dense").fill_null(0)
    pairs = np.column_stack([question_of(body)[rows], session.to_numpy()])
    return len(np.unique(pairs, axis=0)) < rows.size


def n_later(ratings: RatingsBase, rows: Mask) -> int:
    """Count the answers of raters to questions that they had answered before, of some rows."""
    if not _may_repeat(ratings._body):
        return 0
    question = question_of(ratings._body)[rows]
    return question.size - np.unique(question).size


def one_answer_each(ratings: Table) -> Table:
    """Keep the first answer of each rater to each question; rows stand in order of time.

    Raises
    ------
    InputError
        When the answers are traces, of which the first moment says little.
    """
    body = ratings._body
    if not _may_repeat(body):
        return ratings
    rows = _repeated(body)
    if not rows.size:
        return ratings
    if "answers_as" in body.extras:
        raise InputError(
            "a model answers the same question as several people (column 'answers_as'): "
            f"{option('disagreement_metrics', cli=_LEWIDI)} judges such answers"
        )
    if has_traces(ratings):
        raise InputError(
            "the answers are traces: raters answered the same question at several times (column "
            f"'at'). {option('traces', cli='affectlab reliability traces')} judges traces; "
            f"{option('ratings.averaged()', cli='--averaged')} takes each by its mean"
        )
    _, first = np.unique(question_of(body)[rows], return_index=True)
    later = np.delete(rows, first)
    return ratings._keep(~np.isin(np.arange(body.n_rows), later))


def _may_repeat(body: Body) -> bool:
    """The check of a table lets only these tell two answers to one question apart."""
    return bool({"session", "trial", "answers_as"} & body.extras.keys()) or in_seconds(
        body.extras.get("at")
    )


def question_of(body: Body) -> NDArray[np.int64]:
    """Code of the rater, stimulus and label of each row."""
    key = body.stimulus.code.astype(np.int64) * body.rater.n + body.rater.code
    return key if body.label is None else key * body.label.n + body.label.code


def _repeated(body: Body) -> Rows:
    """Rows that share rater, stimulus and label with another row."""
    question = question_of(body)
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


def with_label(frame: pl.DataFrame, ratings: RatingsBase) -> pl.DataFrame:
    """Give a frame of ratings its column of labels, where the only scale has none."""
    if "label" in frame.columns:
        return frame
    return frame.with_columns(label=pl.lit(ratings.label_names[0]))
