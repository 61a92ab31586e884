"""One wide table for SPSS, JASP, jamovi and R, with a codebook and what reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.files.csv import write_sheet_csv
from affectlab.ratings.derived import RatingsBase, with_label
from affectlab.ratings.exports.export import Export, ratings_export
from affectlab.ratings.exports.variables import Variable, sentence, tables_of, variables_of
from affectlab.ratings.mapping import beside, short_scale, to_toml
from affectlab.ratings.scale import Scale
from affectlab.ratings.storage import named_frame
from affectlab.ratings.wording import ABOUT

_KEYS = ("stimulus", "rater", "session", "trial_kind")
"""What one row is about; of repeated answers there are several rows."""
_LONGEST = 64
_HEAD = "What the columns of answers.csv hold; affectlab finds this file beside it."
_RESERVED = ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
"""Words that SPSS allows for no variable."""


@ratings_export("wide", "wide CSV with a codebook, for SPSS, JASP, jamovi and R")
class Wide(Export):
    """A table with a row per stimulus and rater, and a column per label.

    ``answers.csv`` has the attributes of raters and stimuli beside the answers, under names that
    statistics programs take; where a rater answered a question several times, ``repeat`` counts
    the rows. ``codebook.csv`` says what each variable is; ``read.R`` reads the table into R with
    factors in their order, ``read.sps`` into SPSS with labels, and ``answers.csv.mapping.toml``
    says what its columns are to affectlab. Answers whose outcome is not ok are
    empty; times of single answers are left out.

    Notes
    -----
    Source: rules of variable names of IBM SPSS Statistics; R's ``read.csv``.
    """

    def write(self, ratings: RatingsBase, path: Path) -> None:
        table, variables = _wide(ratings)
        names = dict(zip(table.columns, _legal(table.columns), strict=True))
        answers = path / "answers.csv"
        write_sheet_csv(table.rename(names), answers)
        told = to_toml(_mapping(ratings, variables, names), {}, _HEAD)
        beside(answers).write_text(told, encoding="utf-8", newline="\n")
        write_sheet_csv(_codebook(variables, names, table), path / "codebook.csv")
        for file, lines in (
            ("read.R", _r(variables, names)),
            ("read.sps", _spss(variables, names, table)),
        ):
            (path / file).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _wide(ratings: RatingsBase) -> tuple[pl.DataFrame, list[Variable]]:
    frame = with_label(named_frame(ratings), ratings)
    if "outcome" in frame.columns:
        ok = pl.col("outcome") == "ok"
        frame = frame.with_columns(pl.when(ok).then(pl.col("value")).alias("value"))
    texts = [name for name, scale in ratings.scales.items() if scale.kind == "text"]
    if texts:
        frame = frame.with_columns(
            pl.when(pl.col("label").is_in(texts))
            .then(pl.col("text"))
            .otherwise(pl.col("value").cast(pl.String))
            .alias("value")
        )
    keys = [name for name in _KEYS if name in frame.columns]
    frame = frame.with_columns(repeat=pl.int_range(1, pl.len() + 1).over([*keys, "label"]))
    wide = frame.pivot("label", index=[*keys, "repeat"], values="value", maintain_order=True)
    wide = wide.select(*keys, "repeat", *ratings.label_names)
    numeric = [
        name for name, scale in ratings.scales.items() if not scale.categories and name not in texts
    ]
    wide = wide.with_columns(_whole(wide[name].cast(pl.Float64)) for name in numeric)
    if (wide["repeat"] == 1).all():
        wide = wide.drop("repeat")
    variables = [
        Variable(name, about, wide.schema[name], ratings.scales.get(name))
        for name in wide.columns
        for about in [_about(name, ratings.scales)]
    ]
    tables = tables_of(ratings)
    for part, key in (("raters", "rater"), ("stimuli", "stimulus")):
        taken = {name: f"{key}_{name}" for name in tables[part].columns if name in wide.columns}
        taken.pop(key)
        about = tables[part].rename(taken)
        wide = wide.join(about, on=key, how="left", maintain_order="left")
        variables += [
            Variable(taken.get(one.name, one.name), one.about, one.type)
            for one in variables_of(ratings, part, tables[part])
            if one.name != key
        ]
    return wide, variables


def _mapping(
    ratings: RatingsBase, variables: Sequence[Variable], names: Mapping[str, str]
) -> dict[str, Any]:
    """Say how the table is read back."""
    labels = [one.name for one in variables if one.name in ratings.scales]
    roles = {role: names[role] for role in _KEYS if role in names}
    if "repeat" in names:
        roles["trial"] = names["repeat"]
    told: dict[str, Any] = {"format": "table"}
    if ratings.has_labels:
        others = (*labels, *roles, "repeat")
        told["wide"] = "labels"
        told["attributes"] = [names[one.name] for one in variables if one.name not in others]
    else:
        roles["value"] = names[labels[0]]
    scales = {names[name]: short_scale(ratings.scales[name]) for name in labels}
    written = {name: one for name, one in scales.items() if one is not None}
    if written:
        told["scale"] = written if ratings.has_labels else next(iter(written.values()))
    return {**told, "columns": roles}


def _whole(values: pl.Series) -> pl.Series:
    """Write 3 in place of 3.0 where all are whole."""
    return values.cast(pl.Int64) if bool((values.drop_nulls() % 1 == 0).all()) else values


def _about(name: str, scales: Mapping[str, Scale]) -> str:
    if name in scales:
        return sentence(f"answers about {name!r}, {scales[name]}")
    repeat = {"repeat": "number of the answer, where a rater gave several"}
    return sentence((ABOUT | repeat)[name])


def _legal(names: Iterable[str]) -> list[str]:
    """Give names that statistics programs take, all different, capitals aside."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"\W+", "_", name).strip("_")[: _LONGEST - 4] or "v"
        if not plain[0].isalpha() or plain.lower() in _RESERVED:
            plain = f"v_{plain}"
        taken = {one.lower() for one in found}
        unique, n = plain, 2
        while unique.lower() in taken:
            unique, n = f"{plain}_{n}", n + 1
        found.append(unique)
    return found


def _codebook(
    variables: list[Variable], names: Mapping[str, str], table: pl.DataFrame
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "variable": [names[one.name] for one in variables],
            "name": [one.name for one in variables],
            "about": [one.about for one in variables],
            "values": [
                "; ".join(one.categories) or ("number" if one.numeric else "text")
                for one in variables
            ],
            "n": [table[one.name].count() for one in variables],
            "missing": [table[one.name].null_count() for one in variables],
        }
    )


def _r(variables: list[Variable], names: Mapping[str, str]) -> Iterator[str]:
    yield '# Reads answers.csv, which lies beside this file: source("read.R", chdir = TRUE)'
    yield "answers <- read.csv("
    yield '  "answers.csv", encoding = "UTF-8", na.strings = "", check.names = FALSE'
    yield ")"
    for one in variables:
        column = f"answers${names[one.name]}"
        if one.categories:
            levels = ", ".join(map(_quoted, one.categories))
            ordered = ", ordered = TRUE" if one.scale and one.scale.kind == "ordinal" else ""
            yield f"{column} <- factor({column}, levels = c({levels}){ordered})"
        elif one.name in _KEYS:
            yield f"{column} <- factor({column})"
        yield f'attr({column}, "label") <- {_quoted(one.about)}'


def _quoted(text: str) -> str:
    """Write a text as R and Python have it between double quotes."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"\s", " ", plain) + '"'


def _spss(
    variables: list[Variable], names: Mapping[str, str], table: pl.DataFrame
) -> Iterator[str]:
    yield "* Reads answers.csv; say in FILE where it lies."
    yield "GET DATA /TYPE=TXT /FILE='answers.csv' /ENCODING='UTF8'"
    yield "  /ARRANGEMENT=DELIMITED /DELIMITERS=',' /QUALIFIER='\"' /FIRSTCASE=2"
    yield "  /VARIABLES="
    for one in variables:
        if one.numeric:
            kind = "F10.0" if table.schema[one.name].is_integer() else "F12.4"
        else:
            width = table[one.name].cast(pl.String).str.len_bytes().max()
            kind = f"A{max(int(str(width or 0)), 1)}"
        yield f"    {names[one.name]} {kind}"
    yield "  ."
    yield "VARIABLE LABELS"
    for one in variables:
        text = re.sub(r"\s", " ", one.about).replace("'", "''")[:250]
        yield f"  {names[one.name]} '{text}'"
    yield "  ."
    yield "EXECUTE."
