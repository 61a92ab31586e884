"""What is said below a table of estimates, and in place of a value that is not defined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.core.facts import IntervalFact, Reason, reason_of
from affectlab.core.tables import Table
from affectlab.core.wording import coverage_text, no_interval_text, status_text, target_text

if TYPE_CHECKING:
    import polars as pl

_FEW_NAMES = 4
"""Rows up to which a note names them."""


def row_status_text(row: Mapping[str, Any]) -> str:
    """Say why the value of a row is not defined, or not to be relied on; empty where it is."""
    status = row.get("status") or "ok"
    if status == "ok":
        return ""
    why = row.get("reason")
    reason = Reason.of_row(why) if isinstance(why, Mapping) else reason_of(why)
    return status_text(status, reason)


def _rows(names: Sequence[str]) -> str:
    return "; ".join(names) if len(names) <= _FEW_NAMES else f"{len(names):,} rows"


def interval_notes(frame: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Say what the intervals of a table are about, and why some rows have none."""
    import polars as pl

    with_interval = frame.filter(pl.col("low").is_not_nan() & pl.col("low").is_not_null())
    about = with_interval["target"].unique().sort().to_list()
    names = pl.concat_str(keys, separator=", ")
    notes = []
    for target in about if about != ["none"] else ():
        alike = with_interval.filter(pl.col("target") == target)
        others = with_interval.filter(pl.col("target") != target)[keys[0]].unique()
        whole = alike[keys[0]].unique(maintain_order=True)
        # A label whose rows are all alike stands for them.
        apart = not whole.is_in(others.implode()).any()
        named = whole.to_list() if apart else alike.select(rows=names)["rows"].to_list()
        whose = f" of {_rows(named)}" if len(about) > 1 else ""
        what = target_text(target, IntervalFact.of_row(alike["interval"][0]))
        if what:
            notes.append(f"intervals{whose} are about {what}")
        elif target != "none":
            notes.append(f"intervals{whose} are about other {target}")
        else:
            notes.append(f"intervals{whose} follow from a formula")
    told: dict[str, list[str]] = {}
    held = pl.col("interval").struct.field("coverage").is_not_null()
    telling = frame.filter(pl.col("reason").is_not_null() | held)
    rows = telling.select(names.alias("name"), "status", "interval", "reason", "low")
    for name, status, made, why, low in rows.iter_rows():
        interval, reason = IntervalFact.of_row(made), Reason.of_row(why)
        if status == "ok" and reason is not None and (low is None or low != low):
            told.setdefault(no_interval_text(reason), []).append(name)
        elif interval is not None and interval.coverage is not None:
            told.setdefault(coverage_text(interval), []).append(name)
    return [*notes, *(f"{_rows(names)}: {text}" for text, names in told.items())]


def notes_of(table: Table) -> list[str]:
    """Give the notes of a table, and what its intervals are about where it holds estimates."""
    estimates = any(column.kind == "value" for column in table.columns)
    estimates = estimates and "interval" in table.frame.columns
    return [*table.notes, *(interval_notes(table.frame, table.keys) if estimates else [])]
