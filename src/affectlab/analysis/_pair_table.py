"""Tables of pairs with scores: what each column must hold."""

from __future__ import annotations

import polars as pl

from affectlab._hints import option
from affectlab._words import joined, plural
from affectlab.errors import InputError

__all__ = ["COLUMNS", "KINDS", "checked_pairs", "with_attributes"]

KINDS = ("intra", "inter")
"""Two frames of one transition, and frames of two expressions of one actor."""
_NAMES = ("actor", "expression_a", "role_a", "expression_b", "role_b")
_NUMBERS = ("value", "se", "sd", "se_stimulus")
COLUMNS = ("stimulus", "kind", *_NAMES, *_NUMBERS)
"""Columns of a checked table, in order."""


def _hint() -> str:
    given = option("pairs", "pairs.csv", cli="--stimuli pairs.csv")
    return f"give the table of pairs ({given})"


def with_attributes(table: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Put the attributes of pairs beside scores, by stimulus; what the scores say stays.

    Raises
    ------
    InputError
        When a table has no column ``stimulus``, or the pairs name one twice.
    """
    for what, one in (("the scores", table), ("the table of pairs", pairs)):
        if "stimulus" not in one.columns:
            raise InputError(
                f"{what}: column 'stimulus' is missing; expected one, found "
                f"{joined(one.columns) if one.columns else 'none'}"
            )
    told = pairs.select("stimulus", *(name for name in ("kind", *_NAMES) if name in pairs.columns))
    told = told.with_columns(pl.all().cast(pl.String))
    twice = told.filter(pl.col("stimulus").is_duplicated())
    if twice.height:
        raise InputError(
            f"the table of pairs: stimulus {twice['stimulus'][0]!r} stands twice; expected once"
        )
    own = table.with_columns(pl.col("stimulus").cast(pl.String))
    new = [name for name in told.columns if name == "stimulus" or name not in own.columns]
    return own.join(told.select(new), on="stimulus", how="left", maintain_order="left")


def checked_pairs(table: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bring a table of pairs with scores into :data:`COLUMNS`, and say what was left out.

    Without a column ``stimulus`` rows are numbered; without ``kind`` a pair within one expression
    is intra, and any other inter; ``se``, ``sd`` and ``se_stimulus`` are ``nan`` where they are not
    given. Pairs of another kind, such as those of known difference, and pairs without a score are
    left out.

    Raises
    ------
    InputError
        When a column is missing, a cell is empty or no number, a stimulus stands twice, a kind
        does not fit its expressions, or no pair has a score.
    """
    missing = [name for name in (*_NAMES, "value") if name not in table.columns]
    if missing:
        found = joined(table.columns) if table.columns else "none"
        raise InputError(
            f"column {missing[0]!r} is missing; expected {joined((*_NAMES, 'value'))}, found "
            f"{found}; {_hint()}"
        )
    if not table.height:
        raise InputError("there are no pairs; expected one row per pair")
    found_names = _text(table)
    notes = []
    known = found_names["kind"].is_in(KINDS)
    other = found_names.filter(~known.fill_null(True))
    if other.height:
        kinds = joined(repr(kind) for kind in other["kind"].unique().sort())
        notes.append(f"{plural(other.height, 'pair')} of kind {kinds} left out")
    kept = known.fill_null(True)
    _check_names(found_names.filter(kept))
    numbers = [_number(table, name) for name in _NUMBERS]
    whole = found_names.with_columns(numbers).filter(kept)
    _check_numbers(whole)
    unscored = whole.filter(pl.col("value").is_nan())
    if unscored.height:
        notes.append(f"{plural(unscored.height, 'pair')} without a score left out")
    whole = whole.filter(pl.col("value").is_not_nan()).select(COLUMNS)
    if not whole.height:
        raise InputError("no pair of kind intra or inter has a score; expected at least one")
    return whole, tuple(notes)


def _text(table: pl.DataFrame) -> pl.DataFrame:
    """Give the names of a table as stripped text, with a stimulus and a kind for every row."""
    rows = pl.int_range(1, pl.len() + 1)
    stimulus = (
        pl.col("stimulus").cast(pl.String).str.strip_chars()
        if "stimulus" in table.columns
        else pl.format("pair {}", rows)
    )
    names = table.select(stimulus.alias("stimulus"), *(_stripped(name) for name in _NAMES))
    if "kind" in table.columns:
        given = table.select(_stripped("kind"))["kind"].str.to_lowercase()
        return names.with_columns(given)
    same = pl.col("expression_a") == pl.col("expression_b")
    kind = pl.when(same).then(pl.lit("intra")).otherwise(pl.lit("inter"))
    return names.with_columns(kind.alias("kind"))


def _stripped(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).str.strip_chars()


def _check_names(names: pl.DataFrame) -> None:
    for name in ("stimulus", "kind", *_NAMES):
        empty = names[name].is_null() | (names[name] == "")
        if empty.any():
            row = int(empty.arg_max() or 0)
            raise InputError(
                f"pair {names['stimulus'][row]!r}: {name} is empty; expected a name; {_hint()}"
            )
    twice = names.filter(pl.col("stimulus").is_duplicated())
    if twice.height:
        raise InputError(
            f"stimulus {twice['stimulus'][0]!r} stands {_times(twice)} times; expected one score "
            "for each pair"
        )
    one_expression = pl.col("expression_a") == pl.col("expression_b")
    wrong = names.filter(one_expression != (pl.col("kind") == "intra"))
    if wrong.height:
        one = wrong.row(0, named=True)
        raise InputError(
            f"pair {one['stimulus']!r} is {one['kind']} with the expressions "
            f"{one['expression_a']!r} and {one['expression_b']!r}; expected one expression for "
            "intra, two for inter"
        )


def _times(twice: pl.DataFrame) -> int:
    return int((twice["stimulus"] == twice["stimulus"][0]).sum())


def _number(table: pl.DataFrame, name: str) -> pl.Series:
    """Read a column of numbers, ``nan`` where it says nothing."""
    if name not in table.columns:
        return pl.Series(name, [float("nan")] * table.height, dtype=pl.Float64)
    given = table[name]
    if given.dtype == pl.String:
        given = given.str.strip_chars().replace("", None)
    elif not (given.dtype.is_numeric() or given.dtype == pl.Null):
        raise InputError(f"column {name!r} holds {given.dtype} values; expected numbers")
    numbers = given.cast(pl.Float64, strict=False)
    lost = numbers.is_null() & given.is_not_null()
    if lost.any():
        row = int(lost.arg_max() or 0)
        raise InputError(f"row {row + 1}, {name}: {given[row]!r}; expected a number")
    return numbers.fill_null(float("nan")).alias(name)


def _check_numbers(table: pl.DataFrame) -> None:
    for name in _NUMBERS:
        wrong = table[name].is_infinite()
        if name != "value":
            wrong |= (table[name] < 0).fill_null(False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            wanted = "a finite number" if name == "value" else "a number from 0"
            raise InputError(
                f"pair {table['stimulus'][row]!r}, {name}: {table[name][row]:g}; expected {wanted}"
            )
