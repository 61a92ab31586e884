"""How much of a session was answered, and how much of it may be left out."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, case, func, select

from affectlab.study.design import files_of
from affectlab.study.errors import invalid
from affectlab.study.store import Store
from affectlab.study.tables import events, trials

__all__ = [
    "Completeness",
    "check_skip",
    "completeness",
    "enough",
    "left_out",
    "may_leave_out",
    "unshowable",
]

_AT_LEAST = 2
"""Trials that may always be left out: one picture can fail on any line."""


@dataclass(frozen=True)
class Completeness:
    """Main trials of one session."""

    answered: int
    of: int


def completeness(connection: Connection, *, session: int | None = None) -> dict[int, Completeness]:
    """Count the main trials of sessions, and those that were answered, by session.

    Parameters
    ----------
    session
        Only this one.
    """
    answered = func.sum(case((trials.c.state == "answered", 1), else_=0))
    wanted = (
        select(trials.c.session_id, answered, func.count())
        .where(trials.c.kind == "main")
        .group_by(trials.c.session_id)
    )
    if session is not None:
        wanted = wanted.where(trials.c.session_id == session)
    rows = connection.execute(wanted).all()
    return {int(number): Completeness(int(done), int(n)) for number, done, n in rows}


def enough(store: Store, found: Completeness | None) -> bool:
    """Whether a session answered so much that it may be paid without anybody looking at it."""
    if found is None:
        return False
    least = math.ceil(found.of * (1 - store.study.design.sessions.skips) - 1e-9)
    return found.answered >= max(1, least)


def check_skip(store: Store, trial: RowMapping) -> list[str]:
    """Check that a trial shows pictures, which alone can fail to load.

    Returns
    -------
    Those that this server itself does not have.

    Raises
    ------
    StudyError
        When the trial shows none.
    """
    shown = files_of(store.content[trial["stimulus_id"]])
    if not shown:
        raise invalid("This trial shows no picture that could fail to load; expected an answer.")
    folder = store.study.path.parent
    return [file for file in shown if not (folder / file).is_file()]


def unshowable(connection: Connection, session: int) -> set[int]:
    """Give the trials that a session left out because this server did not have their pictures."""
    found = connection.execute(
        select(events.c.trial_id, events.c.body).where(
            events.c.session_id == session, events.c.kind == "skipped"
        )
    )
    return {int(trial) for trial, body in found if json.loads(body).get("missing")}


def left_out(connection: Connection, session: int) -> int:
    """Count the trials that a session left out though this server had their pictures."""
    found = connection.execute(
        select(events.c.body).where(events.c.session_id == session, events.c.kind == "skipped")
    )
    return sum(not json.loads(body).get("missing") for (body,) in found)


def may_leave_out(connection: Connection, store: Store, session: int) -> int:
    """Say how many trials a session may leave out before it ends; of a staircase, sequences."""
    wanted = select(func.count()).where(trials.c.session_id == session)
    if store.study.protocol.staircase is not None:
        wanted = wanted.where(trials.c.task_id.is_not(None))
    n = int(connection.execute(wanted).scalar_one())
    return max(_AT_LEAST, math.floor(n * store.study.design.sessions.skips))
