"""Tables of ratings in no particular layout: long and wide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.ratings.attributes import combine_tables
from affectlab.ratings.build import is_number
from affectlab.ratings.codes import as_categories
from affectlab.ratings.files import Columns, Peek, read_columns, spread_cells
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table.columns import ROLES, find_columns, find_one, names_models
from affectlab.ratings.formats.table.lexicon import find_rater
from affectlab.ratings.formats.table.long import (
    LongLayout,
    blanked,
    describe_long,
    guess_wide,
    read_long,
)
from affectlab.ratings.formats.table.totals import without_totals
from affectlab.ratings.formats.table.wide import (
    WideLayout,
    describe_wide,
    unpivot,
    with_decimal_points,
)
from affectlab.ratings.options import EACH_ROW, ReadOptions, Wide
from affectlab.ratings.schema import RATER_KNOWN, StepKind
from affectlab.ratings.steps import History, guess, step

_LANGUAGE_MODEL = (
    r"(?i)^(?:chat)?gpt-?[345]\S*$"
    r"|^(?:claude|command|deepseek|gemini|gemma|grok|llama|mistral|mixtral|phi|qwen)-\S*\d\S*$"
)
"""Names of language models with their version, such as ``gpt-4o`` and ``claude-3-5-sonnet``."""
_FEW_NAMES = ("stimulus", "rater", "label", "trial_kind", "outcome")


@file_format(
    "table",
    "any table: one row per answer, or one column per rater, label or stimulus",
    wide=get_args(Wide),
)
class PlainTable(Format):
    """A long or wide table from CSV, TSV, Parquet, Feather, JSON Lines or JSON.

    It is what a file is read as that has no other format, or with ``format="table"``.
    """

    roles = ROLES
    takes = ("attributes", "unused", "missing_codes", "separator")

    def recognise(self, head: Peek) -> Sure:  # noqa: ARG002
        return Sure.POSSIBLE

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say what each column is taken for, by its name, its values or what the user says."""
        return understood(head, options or ReadOptions()).layout

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Find what each column is, by name or as the user says."""
        source = str(head.path)
        table = understood(head, options)
        given, options, layout = table.given, table.options, table.layout
        if isinstance(layout, WideLayout):
            long = unpivot(given, layout, options, source, decimal_commas=table.commas)
            contents, rater_column = cast("Contents", long), long.rater_column
            contents.columns = blanked(contents.columns, ("value",), options.missing_codes)
            contents.history = (*table.guess, *contents.history)
            contents.scale = contents.scale or options.scale
        else:
            contents = read_long(given, layout, options, source, decimal_commas=table.commas)
            rater_column = layout.roles["rater"]
        if rater_column is not None:
            contents.raters, models = _models(contents, rater_column, options)
            contents.history += models
        counted = isinstance(layout, WideLayout) and layout.across == "category"
        if counted or given.anonymous or options.rater == EACH_ROW:
            names = as_categories(contents.columns["rater"]).unique(maintain_order=True)
            unknown = pl.DataFrame([names.cast(pl.String).alias("rater")])
            unknown = unknown.with_columns(pl.lit(value=False).alias(RATER_KNOWN))
            contents.raters = combine_tables("rater", [unknown, contents.raters])
        contents.set_aside = (*given.set_aside, *contents.set_aside)
        contents.history = (*given.history, *contents.history)
        contents.typed = given.typed
        return contents


@dataclass(frozen=True)
class Understood:
    """The columns of a table, and what each is taken for."""

    asked: ReadOptions
    """What the user said."""
    given: Columns
    options: ReadOptions
    """The same with what was guessed."""
    guess: History
    layout: LongLayout | WideLayout
    commas: bool
    """Whether a comma between digits is a decimal comma."""


def understood(head: Peek, options: ReadOptions) -> Understood:
    """Say what each column of a table is taken for, once for each table and what is said of it.

    Raises
    ------
    InputError
        When a column that is needed is not found, or cannot be read.
    """
    known: Understood | None = head.kept.get("table")
    if known is not None and known.asked is options:
        return known
    given = table_columns(head, options)
    source = str(head.path)
    told, guess = _told(given.columns, options)
    commas = _has_commas(given, head, told)
    layout: LongLayout | WideLayout
    if told.wide is not None:
        columns = given.columns | (with_decimal_points(given.columns) if commas else {})
        layout = describe_wide(columns, told, source, guessed=bool(guess))
    else:
        layout = describe_long(given.columns, told, source, head.delimiter)
    head.kept["table"] = Understood(options, given, told, guess, layout, commas)
    return understood(head, options)


def table_columns(head: Peek, options: ReadOptions) -> Columns:
    """Read the columns of a table, once for each table and what is said of it.

    Raises
    ------
    InputError
        When the table cannot be read.
    """
    known = head.kept.get("columns")
    if known is None or known[0] is not options:
        head.kept["columns"] = known = (options, _given(head, options))
    columns: Columns = known[1]
    return columns


def _given(head: Peek, options: ReadOptions) -> Columns:
    """Read the columns that are used, and add the one of the rater whom the user names."""
    given = read_columns(head, **_column_hints(head, options), on_bad=options.on_bad)
    given = with_answers_spread(given, options)
    check_choices("column", options.unused, given.columns, str(head.path))
    if options.unused:
        columns = {k: one for k, one in given.columns.items() if k not in options.unused}
        given = replace(given, columns=columns)
    given = without_totals(_joined(given, options.columns or {}))
    return given if options.rater is None else _with_rater(given, options, str(head.path))


def with_answers_spread(given: Columns, options: ReadOptions) -> Columns:
    """Spread answers that stand in cells of text, which a file with types holds otherwise."""
    if given.typed:
        return given
    named = (options.columns or {}).get("rater")
    told = named in given.columns or options.rater is not None or options.wide is not None
    known = told or find_rater([*given.columns]) is not None
    return spread_cells(given, raters_known=known)


def _joined(given: Columns, named: Mapping[str, str]) -> Columns:
    """Add columns that the user names as several: ``block+participant``, without empty cells."""
    made: dict[str, pl.Series] = {}
    used = set[str]()
    for name in named.values():
        parts = name.split("+")
        if name not in given.columns and len(parts) > 1 and {*parts} <= given.columns.keys():
            cells = [given.columns[part].cast(pl.String).str.strip_chars() for part in parts]
            text = pl.select(pl.concat_str(cells, separator=" ", ignore_nulls=True)).to_series()
            made[name] = text.set(text == "", None).alias(name)
            kinds = [pl.lit("model" if names_models(part) else "human") for part in parts]
            if len({*map(names_models, parts)}) > 1 and "rater_kind" not in given.columns:
                # Whoever stands in a column of models is one.
                filled = [cell.fill_null("") != "" for cell in cells]
                chosen = pl.coalesce(
                    pl.when(one).then(kind) for one, kind in zip(filled, kinds, strict=True)
                )
                made["rater_kind"] = pl.select(chosen.alias("rater_kind")).to_series()
            used |= {*parts} - {*named.values()}
    rest = {name: column for name, column in given.columns.items() if name not in used}
    return replace(given, columns={**made, **rest}) if made else given


def _has_commas(given: Columns, head: Peek, options: ReadOptions) -> bool:
    """Whether a comma between digits is a decimal comma: where semicolons part the columns."""
    return not given.typed and head.separator == ";" and not options.scale.categories


def _told(columns: dict[str, pl.Series], options: ReadOptions) -> tuple[ReadOptions, History]:
    """Say of a table that it is wide where that is plain and nobody said it."""
    if options.wide is not None:
        return options, ()
    guessed = guess_wide(columns, options)
    return (options, ()) if guessed is None else (guessed[0], (guessed[1],))


def _with_rater(given: Columns, options: ReadOptions, source: str) -> Columns:
    """Add the column of the one rater that the user names."""
    column = (options.columns or {}).get("rater") or find_one("rater", list(given.columns))
    if column is not None:
        raise InputError(
            f"{source}: column '{column}' names the raters, so no one rater {options.rater!r} gave "
            "all answers; leave the name out"
        )
    height = len(next(iter(given.columns.values()), ()))
    if options.rater == EACH_ROW:
        raters = pl.Series("rater", [f"row {k + 1}" for k in range(height)], dtype=pl.String)
    else:
        raters = pl.Series("rater", [options.rater], dtype=pl.String).new_from_index(0, height)
    return replace(given, columns={**given.columns, "rater": raters})


def _models(
    contents: Contents, rater_column: str, options: ReadOptions
) -> tuple[pl.DataFrame | None, History]:
    """Take raters as models that stand in a column called ``model``, or are called after one.

    That is unless a kind is said. Their names become a table of raters with a kind; what the user
    says of a rater goes first.
    """
    columns, raters = contents.columns, contents.raters
    if "rater_kind" in columns or (raters is not None and "rater_kind" in raters.columns):
        return raters, ()
    names = as_categories(columns["rater"]).unique(maintain_order=True).cast(pl.String)
    names = names.drop_nulls().filter(names.drop_nulls().str.strip_chars() != "")
    given = options.raters
    if given is not None and {"rater", "rater_kind"} <= set(given.columns):
        told = given.filter(pl.col("rater_kind").is_not_null())["rater"].cast(pl.String)
        names = names.filter(~names.is_in(told.implode()))
    done = step(StepKind.MODELS_BY_COLUMN, column=rater_column)
    if not names_models(rater_column):
        names = names.filter(names.str.contains(_LANGUAGE_MODEL))
        done = guess(StepKind.MODELS_BY_NAME, names=names.head(3))
    if len(names) == 0:
        return raters, ()
    table = pl.DataFrame([names.alias("rater")]).with_columns(rater_kind=pl.lit("model"))
    every = combine_tables("rater", [table, raters])
    return every, (done,)


def _column_hints(peek: Peek, options: ReadOptions) -> dict[str, Any]:
    """Say which columns repeat few names and which is a number, to read them fast."""
    if options.wide is not None:
        return {}
    try:
        found = find_columns(peek.header, options.columns, where="")
    except InputError:
        return {}
    names = [found[role] for role in _FEW_NAMES if role in found]
    if "value" in found:
        if _all_numbers(peek.rows[1:], peek.header.index(found["value"])):
            return {"names": names, "number": found["value"]}
        names.append(found["value"])
    return {"names": names}


def _all_numbers(rows: Sequence[tuple[str, ...]], position: int) -> bool:
    cells = [row[position] for row in rows if position < len(row)]
    return bool(cells) and all(is_number(cell.strip()) or not cell for cell in cells)
