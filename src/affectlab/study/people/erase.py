"""Forgetting a person: what was answered and said, and who it was, in one audited step."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, or_, select, update

from affectlab.core.errors import InputError
from affectlab.study.database import now_ms
from affectlab.study.delivery import forget, recount, release
from affectlab.study.design import set_wanted
from affectlab.study.store import Store, hashed, log, pseudonym
from affectlab.study.tables import (
    answers,
    erasures,
    events,
    ledger,
    participants,
    sessions,
    staircases,
    trials,
)

__all__ = ["Erased", "erase_person"]


@dataclass(frozen=True)
class Erased:
    """What was erased of a person."""

    rater: str
    """Pseudonym, which names nobody any more."""
    sessions: int
    answers: int
    events: int
    """Entries of the log whose content was emptied."""
    unpaid: int
    """Complete sessions of a platform for which no payment is in the ledger."""


def erase_person(store: Store, person: str, *, by: str = "command line") -> Erased:
    """Erase what a study holds of a person: answers, what was said about them, names, log entries.

    All of it happens in one transaction, or nothing. What was erased is asked again of others.
    There stay, without content: that somebody came, when, and which stimuli were shown; payments,
    without the platform's names; and a digest of the platform's name under the study's key, so that
    the same person does not take part again. The log keeps that a person was erased, and by whom.

    Parameters
    ----------
    person
        Pseudonym as exports give it, or the platform's name of the person or of the submission.
    by
        Who asked for it, for the log.

    Raises
    ------
    InputError
        When nobody has this name, several people have it, or a payment to them is under way.
    """
    with store.database.write() as connection:
        if store.database.is_sqlite:
            # What is deleted is written over in the file.
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        who = _find(connection, store, person)
        own = _sessions_of(connection, store, who)
        _refuse_open_payments(connection, store, own, person)
        unpaid = _unpaid(connection, own, who)
        given = _answers(connection, store, who, own)
        body = {"by": by, "answers": given, "sessions": len(own)}
        if connection.execute(select(erasures).where(erasures.c.participant_id == who)).first():
            connection.execute(
                update(erasures).where(erasures.c.participant_id == who).values(at=now_ms())
            )
        else:
            connection.execute(insert(erasures).values(participant_id=who, at=now_ms()))
        log(connection, "erased", participant=who, body=body)
        emptied = _names(connection, store, who, own)
    if store.database.is_sqlite:
        # Else the journal beside the file would keep what is gone until it is written over.
        raw = store.database.engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            raw.close()
    return Erased(pseudonym(store, who), len(own), given, emptied, unpaid)


def _find(connection: Connection, store: Store, person: str) -> int:
    found = {
        int(one)
        for one in connection.execute(select(participants.c.id)).scalars()
        if pseudonym(store, one) == person
    }
    if not found:
        named = (
            select(participants.c.id)
            .outerjoin(sessions, sessions.c.participant_id == participants.c.id)
            .where(or_(participants.c.external_id == person, sessions.c.external_id == person))
        )
        found = {int(one) for one in connection.execute(named.distinct()).scalars()}
    if len(found) != 1:
        raise InputError(
            f"{store.study.path}: {person!r}: "
            + ("several people have this name" if found else "nobody in this study has this name")
            + "; expected a pseudonym of the export, or the platform's name of one person"
        )
    return found.pop()


def _sessions_of(connection: Connection, store: Store, who: int) -> list[int]:
    """Give a person's sessions, which nobody else then changes until this transaction ends."""
    theirs = select(sessions.c.id).where(sessions.c.participant_id == who).order_by(sessions.c.id)
    if not store.database.is_sqlite:
        # Sessions are locked before anything waits for the tasks, as everywhere.
        theirs = theirs.with_for_update()
    return [int(one) for one in connection.execute(theirs).scalars()]


def _refuse_open_payments(
    connection: Connection, store: Store, own: list[int], person: str
) -> None:
    sending = connection.execute(
        select(ledger.c.id).where(ledger.c.session_id.in_(own), ledger.c.state == "sending")
    ).first()
    if sending is not None:
        raise InputError(
            f"{store.study.path}: {person!r}: a payment is under way; run `affectlab study pay`, "
            "with and without --bonus, until nothing is open, then erase"
        )


def _unpaid(connection: Connection, own: list[int], who: int) -> int:
    source = connection.execute(
        select(participants.c.source).where(participants.c.id == who)
    ).scalar_one()
    if source not in ("prolific", "connect"):
        return 0
    paid = select(ledger.c.session_id).where(ledger.c.state == "done")
    left = select(sessions.c.id).where(
        sessions.c.id.in_(own), sessions.c.stage == "complete", sessions.c.id.not_in(paid)
    )
    return len(connection.execute(left).all())


def _answers(connection: Connection, store: Store, who: int, own: list[int]) -> int:
    """Delete the answers; what they counted for is asked again of others."""
    for session in own:
        release(connection, session)
    mine = select(trials.c.id).where(trials.c.participant_id == who)
    gone = connection.execute(delete(answers).where(answers.c.trial_id.in_(mine)))
    connection.execute(delete(staircases).where(staircases.c.participant_id == who))
    tasks = connection.execute(
        select(trials.c.task_id)
        .where(trials.c.participant_id == who, trials.c.task_id.is_not(None))
        .order_by(trials.c.task_id)
    ).scalars()
    for task in tasks.all():
        recount(connection, store, task)
    given = select(sessions.c.bundle_id).where(
        sessions.c.id.in_(own), sessions.c.bundle_id.is_not(None)
    )
    for bundle in connection.execute(given.order_by(sessions.c.bundle_id)).scalars().all():
        set_wanted(connection, store.study, bundle)
    connection.execute(
        update(trials).where(trials.c.participant_id == who).values(state="skipped", layout="{}")
    )
    return int(gone.rowcount)


def _names(connection: Connection, store: Store, who: int, own: list[int]) -> int:
    """Drop all names, and empty what the log says of the person; give how many entries."""
    forget(connection, store, who)
    connection.execute(update(participants).where(participants.c.id == who).values(language=None))
    for session in own:
        connection.execute(
            update(sessions)
            .where(sessions.c.id == session)
            .values(
                token=hashed(secrets.token_urlsafe(32)),
                stage="ended",
                verdict="erased",
                reasons="[]",
                completion_code="",
            )
        )
    connection.execute(
        update(ledger).where(ledger.c.session_id.in_(own)).values(submission="", reason="")
    )
    emptied = connection.execute(
        update(events)
        .where(
            or_(events.c.participant_id == who, events.c.session_id.in_(own)),
            events.c.kind != "erased",
            events.c.body != "{}",
        )
        .values(body="{}")
    )
    return int(emptied.rowcount)
