"""What was decided about sessions that came through a platform."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select, update

from affectlab.core.errors import InputError, check_choice
from affectlab.study.delivery import completeness, enough
from affectlab.study.recruit.prolific import CATEGORIES, SHORTEST_MESSAGE
from affectlab.study.store import Store, log
from affectlab.study.tables import events, participants, sessions
from affectlab.study.verdicts import accept_session, reject_session

__all__ = ["Decision", "approve_sessions", "decisions", "message_of", "reject_sessions"]


@dataclass(frozen=True)
class Decision:
    """What is to become of one completed session of a platform."""

    session: int
    participant: str
    """The platform's name for the person."""
    submission: str
    """The platform's name for the piece of work."""
    action: Literal["approve", "reject", "undecided", "review"]
    """``review``: so little was answered that only a decision on this very session pays it."""
    message: str = ""
    """What a rejected participant is told."""
    category: str = ""
    answered: int = 0
    """Main trials that were answered."""
    of: int = 0
    """Main trials that the session was given."""


def decisions(store: Store) -> list[Decision]:
    """Say for every completed session that came through a platform what was decided.

    Paying and using are two things: where the policy of the study says that work is paid, it is
    approved even when its answers do not count. A session that left out more than the study allows
    is neither approved nor rejected until somebody decides about it.
    """
    with store.database.read() as connection:
        rows = connection.execute(
            select(
                sessions.c.id,
                sessions.c.verdict,
                sessions.c.pay,
                sessions.c.external_id,
                participants.c.external_id.label("person"),
            )
            .join(participants, participants.c.id == sessions.c.participant_id)
            .where(
                participants.c.source.in_(("prolific", "connect")), sessions.c.stage == "complete"
            )
            .order_by(sessions.c.id)
        ).all()
        reasons = connection.execute(
            select(events.c.session_id, events.c.body)
            .where(events.c.kind == "rejected", events.c.session_id.is_not(None))
            .order_by(events.c.id)
        ).all()
        shares = completeness(connection)
    last = {session: json.loads(body) for session, body in reasons}
    found = []
    for row in rows:
        common = (row.id, row.person or "", row.external_id or "")
        told = last.get(row.id, {})
        share = shares.get(row.id)
        answered, of = (0, 0) if share is None else (share.answered, share.of)
        if row.pay == "yes" or row.verdict == "accepted":
            found.append(Decision(*common, "approve", answered=answered, of=of))
        elif not enough(store, share) and (
            row.verdict != "rejected" or str(told.get("by", "")).startswith("policy ")
        ):
            found.append(Decision(*common, "review", answered=answered, of=of))
        elif row.verdict == "rejected":
            message = message_of(store, str(told.get("reason", "")))
            category = str(told.get("category") or "OTHER")
            found.append(Decision(*common, "reject", message, category, answered, of))
        else:
            found.append(Decision(*common, "undecided", answered=answered, of=of))
    return found


def message_of(store: Store, reason: str) -> str:
    """Word what a rejected participant reads; never shorter than platforms want."""
    study = store.study.design.study
    contact = study.contact or "the researcher through the platform"
    return (
        f"Your submission to the study “{study.title}” was not approved, for this reason: "
        f"{reason.strip() or 'it did not meet the requirements that the instructions name'}"
        f"{'' if reason.strip().endswith(('.', '!', '?')) else '.'} "
        f"If you think that this is a mistake, please write to {contact}; we will look at it again."
    )


def approve_sessions(store: Store, wanted: list[int], *, everyone: bool = False) -> list[int]:
    """Decide that sessions are to be paid, and that their answers count; give which.

    Parameters
    ----------
    wanted
        Numbers of sessions.
    everyone
        All completed sessions about which nothing was decided, but not those that answered so
        little that each needs a look.

    Raises
    ------
    StudyError
        When there is no such session.
    """
    if everyone:
        undecided = [one.session for one in decisions(store) if one.action == "undecided"]
        wanted = [*wanted, *undecided]
    for session in wanted:
        accept_session(store, session)
        _set_pay(store, session, "yes")
    return wanted


def reject_sessions(
    store: Store, wanted: list[int], reason: str, *, category: str = "OTHER", pay: bool = False
) -> list[int]:
    """Decide that the answers of sessions do not count, and whether they are paid all the same.

    Raises
    ------
    InputError
        When participants who are not paid are given no reason, or the category is not known;
        nothing is changed.
    StudyError
        When there is no such session.
    """
    check_choice("category", category, CATEGORIES)
    if not pay and len(reason.split()) < 3:
        raise InputError(
            f"reason {reason!r}: participants read it; expected a sentence that says what was "
            f"wrong (with the words around it, platforms want {SHORTEST_MESSAGE} characters)"
        )
    for session in wanted:
        reject_session(store, session, reason, category=category)
        _set_pay(store, session, "yes" if pay else "no")
    return wanted


def _set_pay(store: Store, session: int, pay: str) -> None:
    with store.database.write() as connection:
        connection.execute(update(sessions).where(sessions.c.id == session).values(pay=pay))
        log(connection, "pay_decided", session=session, body={"pay": pay})
