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
    text = {name: column.cast(pl.String) for name, column in columns.items()}
    asked = pl.DataFrame([text[key].alias(key) for key in keys]).drop_nulls()
    if not asked.height or not asked.is_duplicated().any():
        return None
    for role, words in (("trial", _TRIALS), ("session", _SESSIONS)):
        for name in columns:
            if name in taken or not words & {*words_in(name)}:
                continue
            told = pl.DataFrame([text[key].alias(key) for key in (*keys, name)]).drop_nulls()
            few = 2 * told[name].n_unique() <= told.height
            if few and told.height == asked.height and not told.is_duplicated().any():
                said = (
                    f"{GUESSED}column '{name}' tells answers of a rater to the same question "
                    f"apart, so it is the {role}"
                )
                return role, name, said
    free = [name for name in columns if asked_in_rows and name not in taken]
    for name in free:
        told = pl.DataFrame([text[key].alias(key) for key in (*keys, name)]).drop_nulls()
        sets = told.group_by(keys).agg(pl.col(name).unique().sort().str.join("\0"), pl.len())
        few = 2 * told[name].n_unique() <= told.height and not is_nearly_number(told[name][0])
        if few and not told.is_duplicated().any() and sets[name].n_unique() == 1:
            said = (
                f"{GUESSED}raters have a row for each value of column '{name}', so it is the label"
            )
            return "label", name, said
    return None
