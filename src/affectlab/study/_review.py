"""Rejecting a session, or taking it back: what counts changes, what was answered stays."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from affectlab.study._answers import recount
from affectlab.study._errors import not_found
from affectlab.study._store import Store, log
from affectlab.study._tables import answers, sessions, trials

__all__ = ["accept_session", "reject_session"]


def reject_session(store: Store, session: int, reason: str) -> int:
    """Let the answers of a session not count, so that its tasks are asked again; give how many.

    Raises
    ------
    StudyError
        When there is no such session.
    """
    return _judge(store, session, valid=False, verdict="rejected", reason=reason)


def accept_session(store: Store, session: int, reason: str = "") -> int:
    """Let the answers of a session count again; give how many."""
    return _judge(store, session, valid=True, verdict="accepted", reason=reason)


def _judge(store: Store, session: int, *, valid: bool, verdict: str, reason: str) -> int:
    with store.database.write() as connection:
        known = connection.execute(select(sessions.c.id).where(sessions.c.id == session))
        if known.one_or_none() is None:
            raise not_found(f"There is no session {session}.")
        own = select(trials.c.id).where(trials.c.session_id == session)
        changed = connection.execute(
            update(answers)
            .where(answers.c.trial_id.in_(own), answers.c.valid.is_(not valid))
            .values(valid=valid)
            .returning(answers.c.trial_id)
        ).all()
        _recount_all(connection, store, session)
        connection.execute(update(sessions).where(sessions.c.id == session).values(verdict=verdict))
        log(connection, verdict, session=session, body={"reason": reason, "answers": len(changed)})
    return len(changed)


def _recount_all(connection: Connection, store: Store, session: int) -> None:
    touched = connection.execute(
        select(trials.c.task_id)
        .where(trials.c.session_id == session, trials.c.task_id.is_not(None))
        .order_by(trials.c.task_id)
    )
    for (task,) in touched.all():
        recount(connection, store, task)
