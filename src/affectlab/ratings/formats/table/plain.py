"""Tables of ratings in no particular layout: long and wide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast, get_args

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.attributes import combine_tables, rated_texts
from affectlab.ratings.build import is_number
from affectlab.ratings.codes import as_categories
from affectlab.ratings.files import Columns, Peek, commas_step, read_columns, with_points
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table.columns import find_columns, find_one, names_models
from affectlab.ratings.formats.table.wide import describe_wide, unpivot
from affectlab.ratings.options import ReadOptions, Wide

_NUMBERS = ("value", "rt_ms")
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

    takes = ("columns", "attributes")

    def recognise(self, head: Peek) -> Sure:  # noqa: ARG002
        return Sure.POSSIBLE

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        """Say what each column is taken for, by its name, its values or what the user says."""
        options = options or ReadOptions()
        if options.wide is not None:
            return describe_wide(read_columns(head).columns, options, str(head.path))
        return Layout(find_columns(head.columns, options.columns, where=str(head.path)))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Find what each column is, by name or as the user says."""
        source = str(head.path)
        given = read_columns(head, **_column_hints(head, options), on_bad=options.on_bad)
        if options.rater is not None:
            given = _with_rater(given, options, source)
        # Where semicolons part the columns, a comma between digits is a decimal comma.
        commas = not given.typed and head.separator == ";" and not options.scale.categories
        if options.wide is not None:
            long = unpivot(given, options, source, decimal_commas=commas)
            contents, rater_column = cast("Contents", long), long.rater_column
        else:
            columns, rater_column = _renamed(given.columns, options, source, head.delimiter)
            texts, steps = _rated_texts(columns, options)
            if commas:
                steps += _read_commas(columns)
            contents = Contents(columns, given.locate, stimuli=texts, history=steps)
        if rater_column is not None and names_models(rater_column):
            contents.raters, step = _models(contents, rater_column, options)
            contents.history += step
        contents.set_aside, contents.typed = given.set_aside, given.typed
        return contents


def _with_rater(given: Columns, options: ReadOptions, source: str) -> Columns:
    """Add the column of the one rater that the user names."""
    column = (options.columns or {}).get("rater") or find_one("rater", list(given.columns))
    if column is not None:
        raise InputError(
            f"{source}: column '{column}' names the raters, so no one rater {options.rater!r} gave "
            "all answers; leave the name out"
        )
    height = len(next(iter(given.columns.values()), ()))
    everybody = pl.Series("rater", [options.rater], dtype=pl.String).new_from_index(0, height)
    return replace(given, columns={**given.columns, "rater": everybody})


def _rated_texts(
    columns: dict[str, pl.Series], options: ReadOptions
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Take texts out of the columns when they are what was rated and not what was answered.

    They are when there are values, and all answers about a stimulus come with the same text.
    """
    if not {"text", "value"} <= columns.keys() or "text" in (options.columns or {}):
        return None, ()
    texts = rated_texts(columns["stimulus"], columns["text"])
    if texts is None or texts.height == len(columns["stimulus"]):
        return None, ()
    del columns["text"]
    step = "column 'text' has one text per stimulus: it was taken as what was rated"
    return texts, (step,)


def _read_commas(columns: dict[str, pl.Series]) -> tuple[str, ...]:
    """Put points in the place of decimal commas, and say where."""
    found = {name: with_points(columns[name]) for name in _NUMBERS if name in columns}
    pointed = {name: column for name, column in found.items() if column is not None}
    columns |= pointed
    return commas_step(list(pointed))


def _models(
    contents: Contents, rater_column: str, options: ReadOptions
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Take raters that stand in a column called ``model`` as models, unless a kind is said.

    Their names become a table of raters with a kind; what the user says of a rater goes first.
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
    if len(names) == 0:
        return raters, ()
    table = pl.DataFrame([names.alias("rater")]).with_columns(rater_kind=pl.lit("model"))
    table = table if raters is None else combine_tables("rater", [table, raters])
    return table, (f"raters are models, since they stand in column '{rater_column}'",)


def _renamed(
    columns: dict[str, pl.Series], options: ReadOptions, source: str, delimiter: str | None
) -> tuple[dict[str, pl.Series], str]:
    """Give the columns the names of their roles; and the name that the column of raters had."""
    header = list(columns)
    try:
        found = find_columns(header, options.columns, where=source, delimiter=delimiter)
    except InputError as error:
        maybe_wide = len(header) > 2 and not options.columns and not find_one("value", header)
        # What most likely helps comes first: a file may have a hundred columns to list.
        what, found_word, columns_found = str(error).partition("; found:")
        hint = _wide_hint() if maybe_wide else ""
        raise InputError(f"{what}{hint}{found_word}{columns_found}") from None
    if "text" in found and "value" not in found and _asks_for_values(options):
        # Without values a column of texts is taken as the answers; here it cannot be.
        raise InputError(
            f"{source}: no column for the value{_wide_hint()}; found: {', '.join(header)}; "
            f"expected 'value', or its name ({option('columns', {'value': 'NAME'})})"
        )
    roles = {column: role for role, column in found.items()}
    renamed: dict[str, pl.Series] = {}
    for name, column in columns.items():
        # Data frames are often written with a nameless column of row numbers in front.
        target = roles.get(name, name if name.strip() else "index")
        if target in renamed or (name not in roles and target in found):
            other = found.get(target, target)
            raise InputError(
                f"{source}: column '{name}' would stand beside '{other}' as '{target}'; "
                "rename one of them"
            )
        renamed[target] = column.alias(target)
    return renamed, found["rater"]


def _asks_for_values(options: ReadOptions) -> bool:
    """Whether a scale is declared that texts cannot be on."""
    return any(scale.kind != "text" for scale in options.scale.all)


def _wide_hint() -> str:
    ways = option("wide", "raters", "labels", "stimuli")
    return f"; if there is one column per rater, label or stimulus, say so ({ways})"


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
