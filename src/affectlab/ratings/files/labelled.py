"""Files of SPSS and Stata: numbers, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError, unknown_name
from affectlab.ratings.files.frames import series_of
from affectlab.ratings.files.strict_json import is_numeric
from affectlab.ratings.schema import is_far_code

_NO_ANSWER = re.compile(
    r"missing|(?:no|without) (?:answer|response|data)|not (?:answered|applicable|asked|shown|seen)"
    r"|refused|skipped|n/?a|fehl(?:end|t|wert).*|keine (?:angabe|antwort|daten)|k\. ?a\.?"
    r"|nicht (?:beantwortet|gefragt|gestellt|gesehen|zutreffend)|verweigert|.*ausfall|filter"
    r"|(?:sin|no) (?:respuesta|contesta|responde)|n\.?s\.?/n\.?[cr]\.?|manquant.*"
    r"|(?:sans|non|pas de) r[ée]ponse|nessuna risposta|mancante|geen antwoord|ontbrekend"
    r"|brak (?:odpowiedzi|danych)|sem resposta|não resp.*|нет ответа"
    r"|缺失|未回答|无回答|無回答|欠損",
    re.IGNORECASE,
)
"""Names of values that say that there is no answer."""
_LARGEST_ANSWER = 60
_STATA_RELEASES = range(0x69, 0x74)
"""First bytes of files of Stata 4 to 12; later ones begin with a tag."""


@dataclass(frozen=True)
class Labelled:
    """Columns, and what the file says of them."""

    columns: dict[str, pl.Series]
    questions: Mapping[str, str]
    """Label of each variable that has one."""
    meanings: Mapping[str, Mapping[float, str]]
    """Names of values, by column."""
    named: frozenset[str]
    """Columns in which names stand in the place of values."""
    missing: Mapping[str, int]
    """Cells whose value stands for a missing answer, as the file says."""
    guessed: frozenset[str] = frozenset()
    """Columns that are `named` although the file does not call them nominal."""
    all_named: frozenset[str] = frozenset()
    """Columns with names for three values or more, each of which is named, and of which the file
    does not say that they have an order."""
    codes: Mapping[str, int] = field(default_factory=dict)
    """Cells whose value stands for a missing answer by its name alone, by column."""
    code_names: Mapping[float, str] = field(default_factory=dict)
    """What these values are called."""


def labelled_kind(head: bytes, suffix: str) -> str | None:
    """Name the program that wrote a file; None where it was another."""
    if head.startswith((b"$FL2", b"$FL3")):
        return "SPSS"
    old = suffix == ".dta" and len(head) > 3 and head[0] in _STATA_RELEASES and head[2] == 1
    return "Stata" if old or head.startswith(b"<stata_dta>") else None


def labelled_names(path: Path, kind: str) -> tuple[str, ...]:
    """Give the names of the columns; none where the file cannot be read."""
    try:
        return tuple(_read(path, kind, metadataonly=True)[1].column_names)
    except InputError:
        return ()


def value_names(path: Path, kind: str) -> dict[str, tuple[str, ...]]:
    """Give the names of the values of each column; none where the file cannot be read."""
    try:
        about = _read(path, kind, metadataonly=True)[1]
    except InputError:
        return {}
    return {name: tuple(own.values()) for name, own in _meanings(about).items()}


def read_labelled(
    path: Path,
    kind: str,
    categories: Collection[str] | None = None,
    perhaps: Collection[str] = (),
) -> Labelled:
    """Read a file of SPSS or Stata.

    Parameters
    ----------
    path, kind
        The file, and the program that wrote it.
    categories
        Columns in which names take the place of values; None: those that the file calls nominal and
        all of whose values have names.
    perhaps
        Columns in which they do so as well where all values have names.

    Raises
    ------
    InputError
        When it cannot be read, or there is no such column, or a value of it has no name.
    MissingDependencyError
        When the library is not installed.
    """
    raw, _ = _read(path, kind)
    with_missing, about = _read(path, kind, user_missing=True)
    columns = {name: _plain(name, values) for name, values in raw.items()}
    missing = {}
    for name, values in with_missing.items():
        count = columns[name].null_count() - _plain(name, values).null_count()
        if count > 0:
            missing[name] = count
    meanings = _meanings(about)
    codes: dict[str, int] = {}
    code_names: dict[float, str] = {}
    named, guessed = set(), set()
    for name, column in columns.items():
        asked = categories is not None and name in categories
        nominal = categories is None and about.variable_measure.get(name) == "nominal"
        own = meanings.get(name, {})
        if column.dtype.is_numeric() and not (asked or nominal):
            meanings[name], off = _without_codes(own)
            columns[name] = column.set(column.cast(pl.Float64).is_in(list(off)), None)
            if count := columns[name].null_count() - column.null_count():
                codes[name], column = count, columns[name]
            code_names |= off
        if not (asked or nominal or name in perhaps):
            continue
        names = _named(column, meanings.get(name, {}))
        if names is not None:
            columns[name] = names
            named.add(name)
            if not (asked or nominal):
                guessed.add(name)
        elif asked:
            raise InputError(f"{path}: not all values of column '{name}' have names")
    for name in categories or ():
        if name not in columns:
            raise unknown_name("column", name, list(columns), str(path))
    return Labelled(
        columns,
        {name: text for name, text in about.column_names_to_labels.items() if text},
        {name: own for name, own in meanings.items() if own},
        frozenset(named),
        missing,
        frozenset(guessed),
        frozenset(
            name
            for name, own in meanings.items()
            if len(own) > 2
            and about.variable_measure.get(name) != "ordinal"
            and _named(columns[name], own) is not None
        ),
        codes,
        code_names,
    )


def _meanings(about: Any) -> dict[str, dict[float, str]]:
    """Names of values, by column, without those that the file calls missing."""
    gone = about.missing_ranges
    return {
        name: {
            float(value): str(text)
            for value, text in labels.items()
            if is_numeric(value) and not any(_lies_in(value, one) for one in gone.get(name, ()))
        }
        for name, labels in about.variable_value_labels.items()
    }


def _without_codes(
    meanings: Mapping[float, str],
) -> tuple[dict[float, str], dict[float, str]]:
    """Take the values off whose names say that there is no answer, or which are codes far outside.

    Such values lie at the ends, and two others are left.
    """
    inside, off = dict(sorted(meanings.items())), {}
    for at in (0, -1):
        while len(inside) > 2:
            value = list(inside)[at]
            others = [one for one in inside if one != value]
            # A small number beside smaller ones, as 9 for "other", may be an answer.
            far = (value < 0 or value > _LARGEST_ANSWER) and is_far_code(value, others)
            if not (_NO_ANSWER.fullmatch(inside[value].strip()) or far):
                break
            off[value] = inside.pop(value)
    return inside, off


def _named(column: pl.Series, meanings: Mapping[float, str]) -> pl.Series | None:
    """Give names in the place of values; None where one has none."""
    if not column.dtype.is_numeric():
        return None
    values = column.to_list()
    if not meanings or any(one is not None and float(one) not in meanings for one in values):
        return None
    names = [None if one is None else meanings[float(one)] for one in values]
    return pl.Series(column.name, names, dtype=pl.String)


def _read(path: Path, kind: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    try:
        import pyreadstat
    except ImportError:
        raise MissingDependencyError(
            f"{path} is a file of {kind}, which needs the library pyreadstat: "
            f"{install_line('files')}, or save the table as CSV"
        ) from None
    read = pyreadstat.read_sav if kind == "SPSS" else pyreadstat.read_dta
    try:
        columns, about = read(str(path), output_format="dict", **options)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, ValueError, OSError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} cannot be read as a file of {kind}: {reason}") from None
    if not all(isinstance(name, str) for name in about.column_names):
        raise InputError(f"{path} cannot be read as a file of {kind}: a column has no name")
    return columns, about


def _lies_in(value: float, bounds: Mapping[str, Any]) -> bool:
    low, high = bounds["lo"], bounds["hi"]
    return is_numeric(low) and is_numeric(high) and bool(low <= value <= high)


def _plain(name: str, values: Any) -> pl.Series:
    """Make a column, with whole numbers as such and gaps where nothing is."""
    cells = [None if one is None or one != one or one == "" else one for one in list(values)]
    numbers = [one for one in cells if one is not None]
    if numbers and all(isinstance(one, float) and one.is_integer() for one in numbers):
        cells = [None if one is None else int(one) for one in cells]
    return series_of(name, cells)
