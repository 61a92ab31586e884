"""Letting participants in: who they are, and which session is theirs."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from affectlab.study._database import now_ms
from affectlab.study._errors import closed, forbidden, not_found
from affectlab.study._stages import first_stage
from affectlab.study._store import Store, log
from affectlab.study._tables import participants, sessions, studies

__all__ = ["Visitor", "enter", "hashed", "invite"]

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody confuses."""


@dataclass(frozen=True)
class Visitor:
    """Someone who opens the address of a study, and what the address says of them."""

    source: str = "open"
    """``open``, ``link``, ``prolific`` or ``connect``."""
    external_id: str | None = None
    """The platform's name for the person."""
    external_session: str | None = None
    """The platform's name for this piece of work."""
    invitation: str | None = None
    """Secret of a personal link."""
    code: str = ""
    """Word of an open link."""
    language: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    """What the platform tells of the person, for the eligibility rules."""


def hashed(secret: str) -> str:
    """Give the digest under which a secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def invite(
    store: Store, n: int, *, kind: str = "human", about: Sequence[Mapping[str, Any]] | None = None
) -> list[str]:
    """Make personal invitations; give their secrets, which are not stored and cannot be read back.

    Parameters
    ----------
    n
        How many.
    kind
        ``human``, or ``simulated`` for people who are not real; marked so in all data.
    about
        What is known of each person already, exported with the demographics.

    Raises
    ------
    ValueError
        When `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"n = {n}: expected at least 1")
    made = [secrets.token_urlsafe(18) for _ in range(n)]
    now = now_ms()
    with store.database.write() as connection:
        connection.execute(
            insert(participants),
            [
                {
                    "kind": kind,
                    "source": "link",
                    "invitation": hashed(one),
                    "demographics": json.dumps(known),
                    "created_at": now,
                }
                for one, known in zip(made, about or [{}] * n, strict=True)
            ],
        )
        log(connection, "invited", body={"n": n, "kind": kind})
    return made


def enter(store: Store, visitor: Visitor) -> str:
    """Begin a session, or take up one that was begun; give its secret token.

    A person who comes back, known by an invitation or a platform, gets the same session, and its
    token in an older browser ends.

    Raises
    ------
    StudyError
        When the study takes nobody now, or not this person.
    """
    token = secrets.token_urlsafe(32)
    with store.database.write() as connection:
        status = connection.execute(select(studies.c.status)).scalar_one()
        person = _find(connection, store, visitor)
        running = None if person is None else _last_session(connection, person["id"])
        if person is not None and person["blocked"]:
            log(connection, "refused", participant=person["id"], body={"reason": "blocked"})
            raise forbidden("You cannot take part in this study.")
        if running is not None and _may_go_on(connection, store, running):
            connection.execute(
                update(sessions)
                .where(sessions.c.id == running["id"])
                .values(token=hashed(token), last_seen_at=now_ms())
            )
            log(
                connection,
                "came_back",
                participant=running["participant_id"],
                session=running["id"],
            )
            return token
        if status != "open":
            raise closed(
                "This study is paused. Please come back later."
                if status == "paused"
                else "This study is closed. Thank you for your interest."
            )
        _begin(connection, store, visitor, person, token)
    return token


def _find(connection: Connection, store: Store, visitor: Visitor) -> RowMapping | None:
    """Find a known person; a person without an invitation must bring the code, where one is set."""
    if visitor.source == "link":
        found = connection.execute(
            select(participants).where(
                participants.c.invitation == hashed(visitor.invitation or "")
            )
        )
        person = found.mappings().one_or_none()
        if person is None:
            raise not_found("This invitation is not known. Please check the address.")
        return person
    recruitment = store.study.design.recruitment
    if recruitment.code and not hmac.compare_digest(
        recruitment.code.encode(), visitor.code.encode()
    ):
        raise forbidden("This address is not complete. Please use the link you were given.")
    if visitor.source == "open" and not recruitment.open:
        raise forbidden("This study can only be entered by invitation.")
    if visitor.external_id is None:
        return None
    found = connection.execute(
        select(participants).where(
            participants.c.source == visitor.source,
            participants.c.external_id == visitor.external_id,
        )
    )
    return found.mappings().one_or_none()


def _last_session(connection: Connection, participant: int) -> RowMapping | None:
    found = connection.execute(
        select(sessions)
        .where(sessions.c.participant_id == participant)
        .order_by(sessions.c.id.desc())
        .limit(1)
    )
    return found.mappings().one_or_none()


def _may_go_on(connection: Connection, store: Store, running: RowMapping) -> bool:
    """Whether the last session is the one to show; else the person may begin another.

    Raises
    ------
    StudyError
        When the person has had all sessions that one person may take.
    """
    finished = running["stage"] in ("complete", "ended")
    if not finished:
        return True
    count = len(
        connection.execute(
            select(sessions.c.id).where(sessions.c.participant_id == running["participant_id"])
        ).all()
    )
    # A finished session is shown again, so that a lost completion code can be read.
    return count >= store.study.design.sessions.most_per_rater or running["stage"] == "ended"


def _begin(
    connection: Connection,
    store: Store,
    visitor: Visitor,
    person: RowMapping | None,
    token: str,
) -> None:
    now = now_ms()
    languages = store.study.design.study.languages
    language = visitor.language if visitor.language in languages else languages[0]
    if person is None:
        made = connection.execute(
            insert(participants)
            .values(
                source=visitor.source,
                external_id=visitor.external_id,
                language=language,
                eligibility=json.dumps(visitor.attributes),
                created_at=now,
            )
            .returning(participants.c.id)
        )
        participant = int(made.scalar_one())
    else:
        participant = int(person["id"])
        connection.execute(
            update(participants)
            .where(participants.c.id == participant)
            .values(language=language, eligibility=json.dumps(visitor.attributes))
        )
    recruitment = store.study.design.recruitment
    session = connection.execute(
        insert(sessions)
        .values(
            participant_id=participant,
            token=hashed(token),
            stage=first_stage(store.study),
            seed=secrets.randbits(62),
            external_id=visitor.external_session,
            completion_code=recruitment.completion_code
            or "".join(secrets.choice(_ALPHABET) for _ in range(8)),
            started_at=now,
            last_seen_at=now,
        )
        .returning(sessions.c.id)
    ).scalar_one()
    log(connection, "entered", participant=participant, session=int(session))
