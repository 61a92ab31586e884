"""Tables that stand beside the ratings: sessions as they were judged, and staircases."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from affectlab.study.design import drops_on_withdrawal
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import (
    answers,
    bundles,
    events,
    participants,
    sessions,
    staircases,
    trials,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["guard_csv", "staircase_frame", "withdrawn", "write_sessions", "write_staircases"]

_SESSION = (
    *("session", "rater", "rater_kind", "batch", "batch_given", "started_at", "finished_at"),
    *("stage", "verdict", "use", "pay", "reasons", "consent_version", "quiz_attempts", "answers"),
    *("skipped", "broken_images", "image_retries", "blurs"),
)
"""Columns of the table of sessions."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet compute a cell."""


def withdrawn() -> ColumnElement[bool]:
    """Answers that their participant took back, which leave the study in no table."""
    return and_(sessions.c.verdict == "withdrawn", answers.c.valid.is_(False))


def guard_csv(path: Path) -> Path:
    """Put an apostrophe before the cells of a CSV that a spreadsheet would take for a formula.

    What people write is theirs to choose, and who opens the table should not run it. Numbers stay
    as they are.
    """
    # Pages of a study's own may record cells longer than the module takes by default.
    csv.field_size_limit(max(csv.field_size_limit(), path.stat().st_size))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    guarded = [[_guarded(cell) for cell in row] for row in rows]
    if guarded != rows:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(guarded)
    return path


def _guarded(cell: str) -> str:
    if not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def write_sessions(store: Store, folder: Path) -> Path:
    """Write one row per session: how it went, what was decided, and what went wrong.

    ``use`` says whether its answers count now, whoever decided; ``pay`` what the policy, or a
    person, says of paying it, empty before that; ``reasons`` what the policy holds against it.
    ``skipped`` counts trials that were not shown, ``broken_images`` those of them whose picture did
    not load, ``blurs`` how often the page was left. ``batch_given`` is there where the study keeps
    batches whole, and names the batch of the table that the session was given.
    """
    import polars as pl

    with store.database.read() as connection:
        found = connection.execute(
            select(sessions, participants.c.kind)
            .join(participants, participants.c.id == sessions.c.participant_id)
            .order_by(sessions.c.id)
        )
        rows = [dict(row) for row in found.mappings()]
        counts = _counts(connection)
        agreed = connection.execute(
            select(events.c.session_id, events.c.body).where(events.c.kind == "consented")
        )
        versions = {session: json.loads(body).get("version", "") for session, body in agreed}
        whole = {
            int(number): str(name)
            for number, name in connection.execute(select(bundles.c.id, bundles.c.name))
        }
    table = [
        {
            "session": str(row["id"]),
            "rater": pseudonym(store, row["participant_id"]),
            "rater_kind": row["kind"],
            "batch": row["batch"],
            **({"batch_given": whole.get(row["bundle_id"])} if whole else {}),
            "started_at": _time(row["started_at"]),
            "finished_at": _time(row["finished_at"]),
            "stage": row["stage"],
            "verdict": row["verdict"],
            "use": row["verdict"] not in ("rejected", "erased")
            and not (row["verdict"] == "withdrawn" and drops_on_withdrawal(store.study)),
            "pay": {"yes": True, "no": False}.get(row["pay"]),
            "reasons": "; ".join(
                f"{one['rule']}: {one['evidence']}" for one in json.loads(row["reasons"])
            ),
            "consent_version": versions.get(row["id"]),
            "quiz_attempts": row["quiz_attempts"],
            **{name: found.get(row["id"], 0) for name, found in counts.items()},
        }
        for row in rows
    ]
    columns = [name for name in _SESSION if name != "batch_given" or whole]
    path = folder / "sessions.csv"
    pl.DataFrame(
        table, schema=columns, schema_overrides={"pay": pl.Boolean}, infer_schema_length=None
    ).write_csv(path)
    return guard_csv(path)


def _counts(connection: Connection) -> dict[str, dict[int, int]]:
    """Count what happened in the sessions: by name, the number for each session that has any."""
    of_trial = select(trials.c.session_id, func.count()).group_by(trials.c.session_id)
    of_event = select(events.c.session_id, func.count()).group_by(events.c.session_id)
    queries = {
        "answers": of_trial.join(answers, answers.c.trial_id == trials.c.id),
        "skipped": of_trial.where(trials.c.state == "skipped"),
        "broken_images": of_event.where(events.c.kind == "skipped", events.c.body.like("%image%")),
        "image_retries": of_event.where(events.c.kind == "page_image_retry"),
        "blurs": of_event.where(events.c.kind == "page_blur"),
    }
    return {
        name: {session: int(n) for session, n in connection.execute(query)}
        for name, query in queries.items()
    }


def write_staircases(store: Store, folder: Path) -> list[Path]:
    """Write what the runs over sequences found, where there are any."""
    frame = staircase_frame(store)
    if frame is None:
        return []
    paths = [folder / "staircases.csv", folder / "staircases.parquet"]
    frame.write_csv(paths[0])
    frame.write_parquet(paths[1])
    return paths


def staircase_frame(store: Store) -> pl.DataFrame | None:
    """Give one row per run: the frame that is 1 JND away from its anchor, with its interval.

    Returns
    -------
    ``stimulus, anchor, rater, session, n_frames``; ``frame`` nearest to 1 JND, counted from 0;
    ``distance`` from the anchor in frames with its credible interval ``low`` to ``high``;
    ``sd_log10`` of the posterior; ``beyond`` and ``within``, the probabilities that 1 JND lies
    beyond the sequence or before its first step; counts of trials, of "different", of catch trials
    and false alarms; ``status`` (ok, unfinished, beyond, within or undefined) and ``reason``, why
    it is not ok; ``valid``, false where the answers do not count. None without any.
    """
    import polars as pl

    rows = list(_staircase_rows(store))
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _staircase_rows(store: Store) -> Iterator[dict[str, Any]]:
    if store.study.protocol.staircase is None:
        return
    from affectlab.analysis import FrameStaircase

    with store.database.read() as connection:
        refused = {
            row[0]
            for row in connection.execute(
                select(trials.c.session_id)
                .join(answers, answers.c.trial_id == trials.c.id)
                .where(answers.c.valid.is_(False))
                .distinct()
            )
        }
        found = (
            connection.execute(
                select(staircases)
                .join(sessions, sessions.c.id == staircases.c.session_id)
                .where(staircases.c.session_id.not_in(_taken_back()))
                .order_by(staircases.c.id)
            )
            .mappings()
            .all()
        )
    for row in found:
        run = FrameStaircase.from_dict(json.loads(row["state"]))
        result = run.result().to_dict()
        low, high = result.pop("frames")
        reason = result.pop("reason")
        yield {
            "stimulus": store.content[row["stimulus_id"]]["name"],
            "anchor": result.pop("anchor"),
            "rater": pseudonym(store, row["participant_id"]),
            "session": str(row["session_id"]),
            "n_frames": run.n_frames,
            "frame": result.pop("frame"),
            "frame_low": low,
            "frame_high": high,
            "distance": result.pop("distance"),
            "low": result.pop("low"),
            "high": result.pop("high"),
            "sd_log10": result.pop("sd"),
            **result,
            "reason": None if reason is None else reason["cause"],
            "valid": row["session_id"] not in refused,
        }


def _taken_back() -> Select[tuple[int]]:
    """Sessions whose answers their participant took back."""
    return (
        select(trials.c.session_id)
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(sessions, sessions.c.id == trials.c.session_id)
        .where(withdrawn())
    )


def _time(at: int | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at / 1000, UTC).isoformat()
