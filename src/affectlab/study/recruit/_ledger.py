"""The ledger: what was sent to the platform, each under a key that goes out once.

A row is written before its request is sent (``sending``) and again after the reply (``done`` or
``refused``). A row that is still ``sending`` is one whose reply was lost, or one that another
process is sending at this moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, insert, select, update
from sqlalchemy.exc import IntegrityError

from affectlab.study._database import now_ms
from affectlab.study._store import Store, log
from affectlab.study._tables import ledger

__all__ = ["Entry", "TakenError", "entries", "note_sent", "settle"]


class TakenError(Exception):
    """Another process has taken up what was to be sent."""


@dataclass(frozen=True)
class Entry:
    """Something to send."""

    key: str
    action: str
    """``approve``, ``reject`` or ``bonus``."""
    session: int
    submission: str
    cents: int | None = None
    reason: str = ""


def entries(store: Store) -> dict[str, RowMapping]:
    """Give all rows of the ledger by key."""
    with store.database.read() as connection:
        return {row["key"]: row for row in connection.execute(select(ledger)).mappings()}


def note_sent(
    store: Store,
    wanted: list[Entry],
    known: Mapping[str, RowMapping],
    payment: str | None = None,
) -> None:
    """Write down that these are being sent, all of them or none.

    Parameters
    ----------
    known
        Rows as they were read. One that was changed since then belongs to another process.

    Raises
    ------
    TakenError
        When another process was faster with one of them; nothing is written.
    """
    try:
        with store.database.write() as connection:
            for one in wanted:
                _note(connection, one, known.get(one.key), payment)
    except IntegrityError:
        raise TakenError from None


def _note(
    connection: Connection, one: Entry, before: RowMapping | None, payment: str | None
) -> None:
    values = {
        "state": "sending",
        "payment": payment,
        "problem": "",
        "sent_at": now_ms(),
        "cents": one.cents,
        "reason": one.reason,
    }
    if before is None:
        connection.execute(
            insert(ledger).values(
                key=one.key,
                action=one.action,
                session_id=one.session,
                submission=one.submission,
                **values,
            )
        )
        return
    taken = connection.execute(
        update(ledger)
        .where(
            ledger.c.key == one.key,
            ledger.c.state == before["state"],
            ledger.c.sent_at == before["sent_at"],
        )
        .values(**values)
    )
    if taken.rowcount != 1:
        raise TakenError


def settle(store: Store, wanted: list[Entry], state: str, problem: str = "") -> None:
    """Write down what came of what was sent, also where nothing was sent by us."""
    with store.database.write() as connection:
        for one in wanted:
            done = now_ms() if state == "done" else None
            changed = connection.execute(
                update(ledger)
                .where(ledger.c.key == one.key)
                .values(state=state, problem=problem, done_at=done)
            )
            if not changed.rowcount:
                connection.execute(
                    insert(ledger).values(
                        key=one.key,
                        action=one.action,
                        session_id=one.session,
                        submission=one.submission,
                        cents=one.cents,
                        reason=one.reason,
                        state=state,
                        problem=problem,
                        sent_at=now_ms(),
                        done_at=done,
                    )
                )
            body = {"action": one.action, "state": state, "cents": one.cents, "problem": problem}
            log(connection, "payment", session=one.session, body=body)
