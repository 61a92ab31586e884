"""Rejecting a session, or taking it back: what counts changes, what was answered stays."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select, update

from affectlab.study._answers import recount
from affectlab.study._bundle_places import weigh
from affectlab.study._claims import hold_tasks
from affectlab.study._errors import conflict, not_found
from affectlab.study._session import end
from affectlab.study._store import Store, log
from affectlab.study._tables import answers, sessions, trials

__all__ = ["accept_session", "give_verdict", "let_count", "reject_session"]

_LEFT = ("withdrawn", "erased")
"""Verdicts that are the participant's own, which nobody else can take back."""


def reject_session(
    store: Store,
    session: int,
    reason: str,
    *,
    by: str = "command line",
    expected: str | None = None,
    category: str = "OTHER",
    pay: bool | None = None,
) -> int:
    """Let the answers of a session not count, so that its tasks are asked again; give how many.

    A session that is still going on ends: nobody works on for answers that do not count.

    Parameters
    ----------
    category
        Kind of reason, as Prolific names it; see :data:`affectlab.study.recruit.CATEGORIES`.
    by
        Who decides, for the log.
    expected
        The verdict that was seen; another one, made meanwhile by somebody else, is then kept.
    pay
        Whether the session is paid all the same; None leaves it at what was said before.

    Raises
    ------
    StudyError
        When there is no such session, or its verdict is not the expected one.
    """
    return _judge(store, session, "rejected", reason, by, expected, category, pay)


def accept_session(
    store: Store,
    session: int,
    reason: str = "",
    *,
    by: str = "command line",
    expected: str | None = None,
    pay: bool | None = None,
) -> int:
    """Let the answers of a session count again; give how many. Arguments as for rejecting."""
    return _judge(store, session, "accepted", reason, by, expected, pay=pay)


def _judge(
    store: Store,
    session: int,
    verdict: str,
    reason: str,
    by: str,
    expected: str | None,
    category: str = "",
    pay: bool | None = None,
) -> int:
    with store.database.write() as connection:
        known = select(sessions).where(sessions.c.id == session)
        if not store.database.is_sqlite:
            known = known.with_for_update()
        row = connection.execute(known).one_or_none()
        if row is None:
            raise not_found(f"There is no session {session}.")
        if expected is not None and row.verdict != expected:
            raise conflict(f"Somebody else decided on this session meanwhile: {row.verdict}.")
        body: dict[str, Any] = {"by": by, "reason": reason}
        body |= {"category": category} if category else {}
        if pay is not None:
            body["pay"] = pay
            decided = update(sessions).where(sessions.c.id == session)
            connection.execute(decided.values(pay="yes" if pay else "no"))
        if verdict == "rejected" and row.stage not in ("complete", "ended"):
            end(connection, row._mapping, "rejected")
        return give_verdict(connection, store, session, row.participant_id, verdict, body)


def give_verdict(
    connection: Connection,
    store: Store,
    session: int,
    participant: int,
    verdict: str,
    body: dict[str, Any],
) -> int:
    """Let the answers of a session count, or not, in a transaction of the caller; give how many.

    Where the participant has withdrawn, it is logged alone: whether the work is paid can still be
    decided, whether the answers count cannot.

    Parameters
    ----------
    verdict
        ``accepted`` or ``rejected``.
    body
        What the log says beside how many answers changed: who decided, and why.
    """
    own = sessions.c.id == session
    before = connection.execute(select(sessions.c.verdict).where(own)).scalar_one()
    changed = 0
    if before not in _LEFT:
        changed = let_count(connection, store, session, valid=verdict == "accepted")
        connection.execute(update(sessions).where(own).values(verdict=verdict))
    body = {**body, "answers": changed}
    log(connection, verdict, participant=participant, session=session, body=body)
    return changed


def let_count(connection: Connection, store: Store, session: int, *, valid: bool) -> int:
    """Let all answers of a session count, or none; give how many that changed."""
    hold_tasks(connection)
    own = select(trials.c.id).where(trials.c.session_id == session)
    changed = connection.execute(
        update(answers)
        .where(answers.c.trial_id.in_(own), answers.c.valid.is_(not valid))
        .values(valid=valid)
        .returning(answers.c.trial_id)
    ).all()
    _recount_all(connection, store, session)
    weigh(connection, store, session)
    return len(changed)


def _recount_all(connection: Connection, store: Store, session: int) -> None:
    touched = connection.execute(
        select(trials.c.task_id)
        .where(trials.c.session_id == session, trials.c.task_id.is_not(None))
        .order_by(trials.c.task_id)
    )
    for (task,) in touched.all():
        recount(connection, store, task)
