"""Storing an answer on PostgreSQL in two statements: one reads, one writes.

Nearly every answer is one in the middle of a session that holds its tasks. All that such an answer
changes is written by one statement, which is a transaction of its own, and which does nothing
unless the session and its trial still are as they were when they were read. Everything else (a
session's last answer, a lease that ran out or is to be renewed, an answer sent again, routing by
answers, staircases) goes the long way of :func:`affectlab.study._answers.save_answer`, which gives
the same rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import RowMapping, bindparam, func, select, text, true
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from affectlab.study._answers import (
    Submission,
    check_submission,
    event_of,
    feedback_to,
    row_of,
)
from affectlab.study._claims import is_renewal_due
from affectlab.study._database import now_ms
from affectlab.study._entry import hashed
from affectlab.study._options_of import stored_choice
from affectlab.study._session import is_over
from affectlab.study._store import Store
from affectlab.study._tables import participants, sessions, studies, trials
from affectlab.study._view import PRELOAD, Known, view

__all__ = ["save_quickly"]

_OF_SESSION = (
    *("id", "participant_id", "stage", "batch", "seed", "verdict"),
    *("quiz_attempts", "completion_code", "last_seen_at"),
)
_SEAT = "seat_"
"""Before the names of a session's columns, which stand beside those of its trials."""

_own = (
    select(
        trials,
        func.count().over().label("total"),
        func.count().filter(trials.c.state.in_(("answered", "skipped"))).over().label("done"),
    )
    .where(trials.c.session_id == sessions.c.id)
    .correlate(sessions)
    .subquery("own")
)
_ahead = (
    select(_own)
    .where(_own.c.state.in_(("open", "expired")))
    .order_by(_own.c.position)
    .limit(2 + PRELOAD)
    .lateral("ahead")
)
# The session, and beside it each of the trials that come next.
_LOOK = (
    select(
        _ahead,
        *(sessions.c[name].label(_SEAT + name) for name in _OF_SESSION),
        studies.c.status.label(f"{_SEAT}study_status"),
        participants.c.language.label(f"{_SEAT}language"),
    )
    .select_from(
        sessions.join(studies, true())
        .join(participants, participants.c.id == sessions.c.participant_id)
        .join(_ahead, true())
    )
    .where(sessions.c.token == bindparam("token"))
    .order_by(_ahead.c.position)
)

# Sessions are locked before trials, and trials before tasks, as everywhere. Who waited for a lock
# looks at its row again: of two who send the same trial one finds it answered, and writes nothing.
_WRITE = text("""
WITH seat AS (
    UPDATE sessions SET last_seen_at = :now
    WHERE id = :session AND token = :token AND stage = 'trials'
    RETURNING id
), finished AS (
    UPDATE trials SET state = 'answered' FROM seat
    WHERE trials.id = :trial AND trials.session_id = seat.id AND trials.state = 'open'
    RETURNING trials.id, trials.session_id, trials.participant_id, trials.task_id
), counted AS (
    UPDATE tasks SET valid = valid + 1, leased = leased - 1 FROM finished
    WHERE tasks.id = finished.task_id
), stored AS (
    INSERT INTO answers (trial_id, value, valid, widget, rt_ms, movement, key, submitted_at)
    SELECT id, :value, TRUE, :widget, CAST(:rt_ms AS integer), CAST(:movement AS text), :key,
        :submitted_at
    FROM finished
)
INSERT INTO events (at, kind, participant_id, session_id, trial_id, body)
SELECT :now, 'answered', participant_id, session_id, id, :body FROM finished
""")


@dataclass(frozen=True)
class _Seat:
    """Where a session stands."""

    session: dict[str, Any]
    ahead: list[RowMapping]


def save_quickly(store: Store, token: str, given: Submission) -> dict[str, Any] | None:
    """Store an answer where nothing but the usual follows from it.

    Returns
    -------
    What the participant is told, as :func:`affectlab.study._view.view` describes it. None: it has
    to go the long way, whatever became of it here; the answer's key keeps it from being stored
    twice.

    Raises
    ------
    StudyError
        When the answer does not keep to the protocol. Nothing is stored then.
    """
    routing = store.study.protocol.routing
    if (
        store.database.is_sqlite
        or store.study.protocol.staircase is not None
        or routing.confirmations is not None
        or routing.extra_raters
    ):
        return None
    try:
        return _save(store, token, given)
    except (IntegrityError, InterfaceError, OperationalError):
        # A key that was used before, or a connection that broke, perhaps after it was stored.
        return None


def _save(store: Store, token: str, given: Submission) -> dict[str, Any] | None:
    digest = hashed(token)
    with store.database.read() as connection:
        rows = list(connection.execute(_LOOK, {"token": digest}).mappings())
        seat = _seat(store, rows, given.trial)
        if seat is None:
            return None
        trial = seat.ahead[0]
        given = replace(given, answer=stored_choice(store, trial, given.answer))
        check_submission(store, trial, given)
        written = {
            **row_of(given, trial["id"]),
            "now": now_ms(),
            "session": seat.session["id"],
            "token": digest,
            "trial": trial["id"],
            "body": json.dumps(event_of(given), ensure_ascii=False),
        }
        del written["trial_id"], written["valid"]
        if connection.execute(_WRITE, written).rowcount != 1:
            return None
        known = Known(seat.session["language"] or "", int(trial["done"]) + 1, int(trial["total"]))
        state = view(connection, store, seat.session, seat.ahead[1:], known)
    return {**state, "feedback": feedback_to(store, trial, given.answer)}


def _seat(store: Store, rows: list[RowMapping], trial: int) -> _Seat | None:
    """Read where a session stands; None when anything about it is not the usual."""
    if len(rows) < 2 or rows[0]["id"] != trial or any(row["state"] != "open" for row in rows):
        return None
    names = (*_OF_SESSION, "study_status", "language")
    session = {name: rows[0][_SEAT + name] for name in names}
    if session["stage"] != "trials" or is_over(store, session):
        return None
    return None if is_renewal_due(store, rows[1]["lease_until"]) else _Seat(session, rows)
