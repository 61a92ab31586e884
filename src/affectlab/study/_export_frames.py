"""What pages of a study's own recorded: one row per trial of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from affectlab.study._export_tables import guard_csv, pseudonym, withdrawn
from affectlab.study._store import Store
from affectlab.study._tables import answers, sessions, trials

__all__ = ["WrittenTrials", "write_trials"]

_COLUMNS = (
    *("stimulus", "rater", "session", "batch", "trial", "trial_kind", "run_ms", "at", "step"),
)
"""Columns of the table, before what the page recorded."""
_DATA = "data."
"""Before the names that the page gave its values, so that they do not meet with ours."""


@dataclass(frozen=True)
class WrittenTrials:
    """Files of recorded trials."""

    files: tuple[Path, ...]
    n_trials: int
    n_rejected: int
    """Recorded trials of answers that do not count."""
    raters: set[str]


def write_trials(store: Store, folder: Path) -> WrittenTrials:
    """Write the recorded trials as JSON Lines, as they came, and as a table.

    ``jspsych.jsonl`` has one object per recorded trial, whose ``data`` is what the page recorded.
    ``jspsych.csv`` has the same rows, every value in a column ``data.NAME``, and what is no single
    value as JSON. Those of answers that do not count stand in ``rejected.jsonl`` and
    ``rejected.csv``. Without any, the files have no rows.
    """
    rows = list(_rows(store, valid=True))
    rejected = list(_rows(store, valid=False))
    files = [
        write(folder / f"{name}{suffix}", part)
        for name, part in (("jspsych", rows), ("rejected", rejected))
        for suffix, write in ((".jsonl", _lines), (".csv", _table))
    ]
    return WrittenTrials(tuple(files), len(rows), len(rejected), {row["rater"] for row in rows})


def _rows(store: Store, *, valid: bool) -> Iterator[dict[str, Any]]:
    wanted = (
        select(trials, sessions.c.batch, answers.c.value, answers.c.rt_ms, answers.c.submitted_at)
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(sessions, sessions.c.id == trials.c.session_id)
        .where(answers.c.valid.is_(valid), ~withdrawn())
        .order_by(trials.c.session_id, trials.c.position)
    )
    with store.database.read() as connection:
        for row in connection.execute(wanted).mappings():
            for place, recorded in enumerate(json.loads(row["value"])["trials"], start=1):
                yield {
                    "stimulus": store.content[row["stimulus_id"]]["name"],
                    "rater": pseudonym(store, row["participant_id"]),
                    "session": str(row["session_id"]),
                    "batch": row["batch"],
                    "trial": row["position"],
                    "trial_kind": row["kind"],
                    "run_ms": row["rt_ms"],
                    "at": datetime.fromtimestamp(row["submitted_at"] / 1000, UTC).isoformat(),
                    "step": place,
                    "data": recorded,
                }


def _lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _table(path: Path, rows: list[dict[str, Any]]) -> Path:
    import polars as pl

    if not rows:
        pl.DataFrame(schema=dict.fromkeys(_COLUMNS, pl.String)).write_csv(path)
        return path
    names = dict.fromkeys(name for row in rows for name in row["data"])
    flat = [
        {
            **{name: value for name, value in row.items() if name != "data"},
            **{f"{_DATA}{name}": _cell(row["data"].get(name)) for name in names},
        }
        for row in rows
    ]
    pl.DataFrame(flat, infer_schema_length=None, strict=False).write_csv(path)
    return guard_csv(path)


def _cell(value: object) -> str | None:
    """Give a value as the text of a cell; what is no single value as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
