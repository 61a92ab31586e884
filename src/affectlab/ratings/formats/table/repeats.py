"""Several answers of a rater to one question: which column tells them apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from affectlab.ratings.build import is_nearly_number
from affectlab.ratings.formats.table.columns import find_one, find_shown, folded_name, words_in
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import Step, guess

_TRIALS = {
    *("attempt", "completion", "draw", "generation", "iteration", "rep", "repeat", "repetition"),
    *("replicate", "run", "sample", "seed"),
}
"""Words in names of columns that number answers to the same question."""
_SESSIONS = {
    *("date", "day", "measurement", "occasion", "session", "time", "timepoint", "visit", "wave"),
    *("sheet", "week"),
}
"""Words in names of columns that say on which occasion an answer was given."""

_MOMENTS = {"time", "second", "seconds", "sec", "secs", "timestamp", "frametime", "t"}
"""Words in names of columns that say when an answer came, in seconds of what was shown."""
_MANY = 5
"""Answers of a rater to a question, on average, from which on times are those of a trace."""

_NUMBERS_TRIALS = {"item", "item_id", "task", "task_id", "file", "file_name", "filename"}
"""Names of a column of stimuli that may also number trials, say what was asked, or name a log."""


def find_stimulus(columns: Mapping[str, pl.Series], taken: Collection[str] = ()) -> str | None:
    """Find the column of stimuli: by its name, and by what each rater has once.

    A column such as ``item`` gives way to one that names what was shown, if raters have several
    rows and none has a value of that twice.
    """
    header = list(columns)
    found = find_one("stimulus", header, taken=taken)
    shown = find_shown(header, taken={*taken, found or ""})
    rater = find_one("rater", header, taken={*taken, found or "", shown or ""})
    if found is None or folded_name(found) not in _NUMBERS_TRIALS or None in (shown, rater):
        return found
    pairs = pl.DataFrame([columns[name].alias(name) for name in (rater, shown) if name])
    several = pairs[str(rater)].n_unique() < pairs.height
    return shown if several and not pairs.is_duplicated().any() else found


def find_repeats(
    columns: Mapping[str, pl.Series],
    keys: Sequence[str],
    taken: Collection[str],
    *,
    asked_in_rows: bool = False,
    sessions: bool = True,
) -> tuple[str, str, Step] | None:
    """Find the column that tells answers of a rater to one question apart where some are repeated.

    Parameters
    ----------
    columns
        The columns of the table.
    keys
        Columns that say which question an answer belongs to, and who gave it.
    taken
        Columns with a role.
    asked_in_rows
        Whether a column of words, of which every question has all values, may say what was asked.
    sessions
        Whether answers of one occasion are sure to stand in one row.

    Returns
    -------
    Its role, its name, and the step of the guess; None where no answer is repeated, or no column
    tells them apart by few values and a name that says so.
    """
    free = [name for name in columns if name not in taken and name.strip()]
    called = [
        (role, name)
        for role, words in (
            ("at", _MOMENTS if sessions else set()),
            ("trial", _TRIALS),
            ("session", _SESSIONS if sessions else set()),
        )
        for name in free
        if words & {*words_in(name)}
    ]
    if not called and not (asked_in_rows and free):
        return None
    keys = list(dict.fromkeys(keys))
    asked = pl.DataFrame([columns[key].cast(pl.String).alias(key) for key in keys])
    if not asked.drop_nulls().is_duplicated().any():
        return None
    for role, name in (*called, *(("label", name) for name in free if asked_in_rows)):
        told = asked.with_columns(columns[name].cast(pl.String).alias(name)).drop_nulls()
        if not told.height or told.is_duplicated().any():
            continue
        if role == "at":
            if not _are_moments(told, keys, name):
                continue
            return role, name, guess(StepKind.TIMES_COLUMN, column=name)
        if 2 * told[name].n_unique() > told.height:
            continue
        if role != "label":
            return role, name, guess(StepKind.OCCASION_COLUMN, column=name, role=role)
        sets = told.group_by(keys).agg(pl.col(name).sort().str.join("\0"))[name]
        if sets.n_unique() == 1 and not is_nearly_number(told[name][0]):
            return role, name, guess(StepKind.LABEL_COLUMN, column=name)
    return None


def _are_moments(told: pl.DataFrame, keys: list[str], name: str) -> bool:
    """Whether a column holds seconds at which each rater answered each question many times."""
    seconds = told[name].cast(pl.Float64, strict=False)
    many = told.height >= _MANY * told.select(keys).n_unique()
    return many and not seconds.null_count()
