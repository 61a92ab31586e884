"""Tables of raters and of stimuli: what is known of them beside their answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.columns import require_columns, require_distinct, require_filled
from affectlab.ratings.codes import Coded, as_categories
from affectlab.ratings.files import plain_column
from affectlab.ratings.schema import BATCH_COLUMNS, RATER_KINDS, ROW_COLUMNS, StepKind
from affectlab.ratings.steps import History, step

PERSONAL = {
    *("age", "control", "country", "education", "ethnicity", "family", "gender", "language"),
    *("location", "model", "nationality", "of", "prompt", "rater_kind", "sex"),
}
"""Names that tell of a rater when a column could belong to the rater or to the stimulus."""

_IDENTIFYING = {
    *("fbclid", "gclid", "dclid", "msclkid", "ttclid", "twclid", "igshid", "wbraid", "gbraid"),
    *("ip", "ipaddr", "ipaddress", "remoteaddr", "latitude", "longitude", "geolocation", "gps"),
    *("locationlatitude", "locationlongitude", "phone", "phonenumber", "telephone"),
    *("email", "emailaddress", "mail", "recipientemail", "recipientfirstname"),
    *("recipientlastname", "firstname", "lastname", "fullname", "surname"),
}
"""Names of columns that tell who a person is, or that an advertisement led there."""


def identifying(names: Iterable[str]) -> list[str]:
    """Find the columns that say who somebody is or where, and nothing of what was answered.

    Examples
    --------
    >>> identifying(["age", "E-Mail", "ip_address", "utm_source"])
    ['E-Mail', 'ip_address', 'utm_source']
    """
    folded = {name: re.sub(r"[\s_.-]", "", name.casefold()) for name in names}
    return [
        name
        for name, plain in folded.items()
        if plain in _IDENTIFYING or name.casefold().startswith("utm_")
    ]


def attribute_table(key: str, coded: Coded, given: pl.DataFrame | None) -> pl.DataFrame:
    """Bring a table of attributes into the order of the codes, one row per name that answers.

    Parameters
    ----------
    key
        ``"rater"`` or ``"stimulus"``.
    coded
        The names that occur in the ratings.
    given
        A table with the column `key` and any attributes, or None.

    Raises
    ------
    InputError
        When the key column is missing, a name stands twice, or a rater kind is not known.
    """
    names = coded.names.alias(key)
    if given is None:
        table = pl.DataFrame([names])
    else:
        given = _plain_table(key, given)
        table = pl.DataFrame([names]).join(given, on=key, how="left", maintain_order="left")
        table = table.select(key, *(name for name in given.columns if name != key))
    return _with_kinds(table) if key == "rater" else table


def idle_step(key: str, coded: Coded, given: pl.DataFrame) -> History:
    """Say which rows of an attribute table belong to nobody who answered."""
    names = _plain_table(key, given)[key]
    idle = names.filter(~names.is_in(coded.names.implode())).to_list()
    if not idle:
        return ()
    return (step(StepKind.UNUSED_ATTRIBUTES, unit=key, names=idle),)


def _plain_table(key: str, given: pl.DataFrame) -> pl.DataFrame:
    where = f"the {key} table: "
    require_columns(given, [key], where)
    names = as_categories(given[key]).cast(pl.String)
    require_filled(names.to_frame(key), [key], where)
    require_distinct(names.to_frame(key), [key], where)
    columns = []
    for name in given.columns:
        column = names if name == key else plain_column(given[name])
        columns.append(column.cast(pl.String) if column.dtype == pl.Categorical else column)
    return pl.DataFrame(columns)


def _with_kinds(table: pl.DataFrame) -> pl.DataFrame:
    if "rater_kind" not in table.columns:
        table = table.with_columns(rater_kind=pl.lit("human"))
    kinds = table["rater_kind"].cast(pl.String).fill_null("human")
    for position, kind in enumerate(kinds):
        if kind not in RATER_KINDS:
            where = f"rater {table['rater'][position]!r}"
            raise unknown_name("rater_kind", kind, RATER_KINDS, where)
    table = table.with_columns(kinds.alias("rater_kind"))
    rest = [name for name in table.columns if name not in ("rater", "rater_kind")]
    return table.select("rater", "rater_kind", *rest)


def keep_kinds(given: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Fill in rater kinds that a new rater table leaves open, so that no model turns human."""
    given = _plain_table("rater", given)
    if "rater_kind" not in given.columns:
        given = given.with_columns(rater_kind=pl.lit(None, dtype=pl.String))
    absent = before.filter(~pl.col("rater").is_in(given["rater"].implode())).select("rater")
    kinds = before.select("rater", "rater_kind")
    return (
        pl.concat([given, absent], how="diagonal")
        .join(kinds, on="rater", how="left", suffix="_before", maintain_order="left")
        .with_columns(pl.coalesce("rater_kind", "rater_kind_before").alias("rater_kind"))
        .drop("rater_kind_before")
    )


def split_extras(
    extras: dict[str, pl.Series], rater: Coded, stimulus: Coded
) -> tuple[dict[str, pl.Series], pl.DataFrame | None, pl.DataFrame | None]:
    """Tell apart what belongs to an answer, to its rater and to its stimulus.

    A column that has one value per rater goes to the rater table, one that has one value per
    stimulus to the stimulus table. Where both hold, names such as ``age`` or ``gender`` go to the
    rater, others to the stimulus. Everything else stays with the answers.

    Returns
    -------
    tuple
        Columns of the answers, the rater table and the stimulus table (None when empty).
    """
    rows: dict[str, pl.Series] = {}
    of_rater: dict[str, pl.Series] = {}
    of_stimulus: dict[str, pl.Series] = {}
    for name, column in extras.items():
        if name in ROW_COLUMNS or name in BATCH_COLUMNS:
            # A rater may happen to have answered in one batch alone.
            rows[name] = column
            continue
        per_rater = _per_name(column, rater)
        personal = name in PERSONAL or name.startswith("rater_") or bool(identifying([name]))
        if name == "rater_kind" and per_rater is None:
            raise InputError("column 'rater_kind' differs within a rater; expected one kind each")
        if per_rater is not None and personal:
            of_rater[name] = per_rater
            continue
        per_stimulus = _per_name(column, stimulus)
        if per_stimulus is not None:
            of_stimulus[name] = per_stimulus
        elif per_rater is not None:
            of_rater[name] = per_rater
        else:
            rows[name] = column
    return rows, _table("rater", rater, of_rater), _table("stimulus", stimulus, of_stimulus)


def _per_name(column: pl.Series, coded: Coded) -> pl.Series | None:
    """Value of each name when it has only one, else None."""
    value = column.gather(coded.first_rows())
    same = column.eq_missing(value.gather(coded.code.astype(np.int64)))
    return value if same.all() else None


def _table(key: str, coded: Coded, columns: dict[str, pl.Series]) -> pl.DataFrame | None:
    if not columns:
        return None
    return pl.DataFrame(
        [coded.names.alias(key), *(column.alias(name) for name, column in columns.items())]
    )


def rated_texts(stimulus: pl.Series, text: pl.Series) -> pl.DataFrame | None:
    """Make a table of the texts that were rated; None when a stimulus comes with several."""
    names = as_categories(stimulus).cast(pl.String).alias("stimulus")
    table = pl.DataFrame([names, text.alias("text")]).drop_nulls("stimulus")
    table = table.unique(maintain_order=True)
    return None if table["stimulus"].is_duplicated().any() else table


def overlay(
    key: str, own: pl.DataFrame | None, given: pl.DataFrame | None
) -> tuple[pl.DataFrame | None, History]:
    """Join what the user says of raters or stimuli with what a file says of them.

    Parameters
    ----------
    key
        ``"rater"`` or ``"stimulus"``.
    own
        What the file says, or None.
    given
        What the user says, or None. It wins where both say something; a gap says nothing.

    Returns
    -------
    tuple
        The table, and a step for the history for each attribute on which the two differ.
    """
    if own is None or given is None:
        return (own if given is None else given), ()
    own, given = _plain_table(key, own), _plain_table(key, given)
    shared = [name for name in given.columns if name in own.columns and name != key]
    for name in shared:
        if own[name].dtype != given[name].dtype:
            kinds = (own[name].dtype, given[name].dtype)
            common = pl.Float64 if all(kind.is_numeric() for kind in kinds) else pl.String
            own = own.with_columns(pl.col(name).cast(common))
            given = given.with_columns(pl.col(name).cast(common))
    both = own.join(given, on=key, suffix="\0")
    steps = []
    for name in shared:
        count = int((both[name] != both[f"{name}\0"]).sum() or 0)
        if count:
            steps.append(step(StepKind.ATTRIBUTE_REPLACED, name=name, n=count, unit=key))
    stacked = pl.concat([given, own], how="diagonal")
    names = [name for name in dict.fromkeys([*own.columns, *given.columns]) if name != key]
    joined = stacked.group_by(key, maintain_order=True)
    return joined.agg(pl.col(names).drop_nulls().first()), tuple(steps)


def combine_tables(key: str, tables: Sequence[pl.DataFrame | None]) -> pl.DataFrame | None:
    """Put attribute tables of several sources together; a gap in one is filled from the others.

    One alone stays as it is, and where there is none, None is given.

    Raises
    ------
    InputError
        When two tables say different things of the same name.
    """
    known = [table for table in tables if table is not None]
    if len(known) < 2:
        return next(iter(known), None)
    parts = [_plain_table(key, table) for table in known]
    stacked = pl.concat(parts, how="diagonal_relaxed")
    attributes = [name for name in stacked.columns if name != key]
    grouped = stacked.group_by(key, maintain_order=True)
    kinds = grouped.agg(pl.col(attributes).drop_nulls().n_unique())
    for name in attributes:
        conflicts = kinds.filter(pl.col(name) > 1)
        if conflicts.height:
            who = conflicts[key][0]
            said = stacked.filter(pl.col(key) == who)[name].drop_nulls().unique(maintain_order=True)
            raise InputError(
                f"{key} {who!r}: {name} is {said[0]!r} in one table and {said[1]!r} in another; "
                "expected the same"
            )
    return grouped.agg(pl.col(attributes).drop_nulls().first())


def asked_of(texts: Mapping[str, str]) -> pl.DataFrame | None:
    """Make a table of what was asked of each stimulus; None unless each has words of its own."""
    if len(set(texts.values())) < len(texts) or not all(texts.values()) or len(texts) < 2:
        return None
    return pl.DataFrame({"stimulus": list(texts), "question": list(texts.values())})
