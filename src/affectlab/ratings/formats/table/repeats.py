"""Several answers of a rater to one question: which column tells them apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from affectlab.ratings.build import is_nearly_number
from affectlab.ratings.formats.table.columns import words_in
from affectlab.ratings.schema import GUESSED

_TRIALS = {
    *("attempt", "completion", "draw", "generation", "iteration", "rep", "repeat", "repetition"),
    *("replicate", "run", "sample", "seed"),
}
"""Words in names of columns that number answers to the same question."""
_SESSIONS = {
    *("date", "day", "measurement", "occasion", "session", "time", "timepoint", "visit", "wave"),
    "week",
}
"""Words in names of columns that say on which occasion an answer was given."""


def find_repeats(
    columns: Mapping[str, pl.Series],
    keys: Sequence[str],
    taken: Collection[str],
    *,
    asked_in_rows: bool = False,
) -> tuple[str, str, str] | None:
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

    Returns
    -------
    Its role, its name, and what to say of the guess; None where no answer is repeated, or no column
    tells them apart by few values and a name that says so.
    """
    free = [name for name in columns if name not in taken]
    called = [
        (role, name)
        for role, words in (("trial", _TRIALS), ("session", _SESSIONS))
        for name in free
        if words & {*words_in(name)}
    ]
    if not called and not (asked_in_rows and free):
        return None
    asked = pl.DataFrame([columns[key].cast(pl.String).alias(key) for key in keys])
    if not asked.drop_nulls().is_duplicated().any():
        return None
    for role, name in (*called, *(("label", name) for name in free if asked_in_rows)):
        told = asked.with_columns(columns[name].cast(pl.String).alias(name)).drop_nulls()
        if not told.height or 2 * told[name].n_unique() > told.height:
            continue
        if told.is_duplicated().any():
            continue
        if role != "label":
            said = f"column '{name}' tells answers of a rater to the same question apart"
            return role, name, f"{GUESSED}{said}, so it is the {role}"
        sets = told.group_by(keys).agg(pl.col(name).sort().str.join("\0"))[name]
        if sets.n_unique() == 1 and not is_nearly_number(told[name][0]):
            said = f"raters have a row for each value of column '{name}'"
            return role, name, f"{GUESSED}{said}, so it is the label"
    return None
