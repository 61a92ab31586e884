"""What is known of raters and of stimuli, and how their groups differ."""

from __future__ import annotations

import re

import polars as pl

from affectlab.core.tables import Count, Key, Table, Text
from affectlab.core.words import number, shown, some
from affectlab.report import wording
from affectlab.report.page import Section, Skipped, table_of
from affectlab.report.sections.raters import planted_columns
from affectlab.report.statistics import Study

_MOST_VALUES = 4
_YEARS = 10_000
_FILES = ("file", "image", "path", "url", "src", "filename")
_IDENTIFIER = re.compile(
    r"(?i:(^|[_\-. ])(u?u?id|identifier|code|coun|country|subj|subject)$|^code[_\-. ])"
    r"|[a-z](ID|Id|Code)$"
)
"""Names such as ``asset_id``, ``StimulusID``, ``country``, ``SUBJ`` and ``city_code``, below which
numbers stand for names."""
_TIME = re.compile(r"(?i:(^|[_\-. ])(utc|time|timestamp|date|created|updated|at)$)|[a-z](Time|At)$")
"""Names such as ``created_utc``, ``timestamp`` and ``updatedAt``."""
_SECONDS = (3e8, 4e9)
"""Seconds from 1970 to 1979, and to 2096: numbers between them under such a name are times."""


def times_of(column: pl.Series) -> pl.Series | None:
    """Give a column of times as such, also where they are seconds, or thousandths, since 1970."""
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("ms"))
    known = column.cast(pl.Float64).drop_nulls().drop_nans() if column.dtype.is_numeric() else None
    if known is None or known.is_empty() or not _TIME.search(column.name):
        return None
    for per_second in (1, 1000):
        seconds = known / per_second
        if seconds.is_between(*_SECONDS).all():
            return (seconds * 1000).cast(pl.Int64).cast(pl.Datetime("ms"))
    return None


def rater_attributes_section(study: Study) -> Section | Skipped:
    """Age, gender, location and other attributes of the raters."""
    if study.ratings.n_raters == 1:
        return Skipped("Who the raters are", study.one_rater)
    unsaid = ("rater", "rater_kind", "rater_known", *planted_columns(study.ratings))
    frame = study.ratings.raters.drop(*unsaid, strict=False)
    if study.controls is not None:
        frame = frame.drop("control", "of", strict=False)
    return _section("raters", "rater", "Who the raters are", frame)


def stimulus_attributes_section(study: Study) -> Section | Skipped:
    """Attributes of the stimuli."""
    frame = study.ratings.stimuli.drop("stimulus")
    return _section("stimuli", "stimulus", "What the stimuli are", frame)


def groups_section(study: Study) -> Section | Skipped:
    """Differences between groups of stimuli, and of raters; page one says the largest."""
    title = "Groups of stimuli and raters"
    if study.differences is None:
        return Skipped(title, wording.NO_GROUPS)
    table = table_of(study.differences, "differences", "group_differences")
    return Section("groups", title, (table,))


def _section(things: str, thing: str, title: str, frame: pl.DataFrame) -> Section | Skipped:
    rows = [
        {"attribute": column.name, **row}
        for column in frame.get_columns()
        if column.name.casefold() not in _FILES and (row := _row(column)) is not None
    ]
    if not rows:
        return Skipped(title, wording.no_attributes(things))
    columns = (Key("attribute"), Text("values"), Count("n_values", "different"), Count("n", things))
    caption = wording.attributes(frame.height, things)
    table = Table(f"{thing}_attributes", caption, pl.DataFrame(rows), columns)
    return Section(f"{thing}-attributes", title, (table,))


def _written(value: float, digits: int) -> str:
    """Write a number; four digits may be a year."""
    return f"{value:.0f}" if not digits and 0 <= value < _YEARS else number(value, digits)


def _row(column: pl.Series) -> dict[str, object] | None:
    """Sum an attribute up: its range, or its most frequent values; None where it has no values."""
    known = column.drop_nulls()
    known = known.drop_nans() if known.dtype.is_float() else known
    if known.is_empty() or known.dtype.is_nested():
        return None
    n_values = known.n_unique()
    counts_rows = known.dtype.is_integer() and known.len() == n_values > _MOST_VALUES
    if counts_rows and known.max() - known.min() + 1 == n_values:  # type: ignore[operator]
        return None
    if (times := times_of(known)) is not None:
        values = wording.from_to(*(f"{end:%Y-%m-%d}" for end in (times.min(), times.max())))  # type: ignore[str-bytes-safe]
    elif (
        known.dtype.is_numeric() and n_values > _MOST_VALUES and not _IDENTIFIER.search(known.name)
    ):
        digits = 0 if (known == known.round()).all() else 2
        ends = (_written(float(end), digits) for end in (known.min(), known.max(), known.median()))  # type: ignore[arg-type]
        values = wording.from_to(*ends)
    else:
        counts = (
            known.cast(pl.String)
            .value_counts(name="n")
            .sort(["n", known.name], descending=[True, False])
        )
        listed = [f"{shown(value, 40)} ({n})" for value, n in counts.iter_rows()]
        # Names of their own say nothing of all of them.
        values = shown(known[0], 40) if counts["n"][0] == 1 and n_values > _MOST_VALUES else ""
        values = wording.such_as(values) if values else some(listed, _MOST_VALUES)
    return {"values": values, "n_values": n_values, "n": known.len()}
