"""Taking part no more: a participant withdraws, and what was answered counts no more."""

from __future__ import annotations

from sqlalchemy import Connection, RowMapping, select, update

from affectlab.study._review import let_count
from affectlab.study._session import end, find_session
from affectlab.study._stages import drops_on_withdrawal
from affectlab.study._store import Store, log
from affectlab.study._tables import sessions

__all__ = ["withdraw"]

_OVER = ("withdrawn", "declined", "erased")
"""Verdicts of sessions from which nothing can be taken back any more."""


def withdraw(connection: Connection, store: Store, token: str) -> RowMapping:
    """Withdraw a session as its participant wishes, under way or after its end.

    What becomes of the answers stands in the study file (``consent.on_withdrawal``): they count no
    more and their tasks are asked again of others, or they stay. A session that was complete stays
    complete, so that its code can still be read and its work be paid.

    Raises
    ------
    StudyError
        When no session has the token.
    """
    session = find_session(connection, store, token, for_update=True)
    if session["verdict"] not in _OVER:
        own = sessions.c.id == session["id"]
        if session["stage"] not in ("complete", "ended"):
            end(connection, session, "withdrawn")
        connection.execute(update(sessions).where(own).values(verdict="withdrawn"))
        drops = drops_on_withdrawal(store.study)
        dropped = let_count(connection, store, session["id"], valid=False) if drops else 0
        log(
            connection,
            "withdrawn",
            participant=session["participant_id"],
            session=session["id"],
            body={"from": session["stage"], "answers_dropped": dropped},
        )
    found = connection.execute(select(sessions).where(sessions.c.id == session["id"]))
    return found.mappings().one()
