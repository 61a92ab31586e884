"""Letting participants in: who they are, and which session is theirs."""

from __future__ import annotations

import hmac
import json
import secrets

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from affectlab.study.database import hold, now_ms
from affectlab.study.delivery import anything_left, forgotten_name
from affectlab.study.design import first_stage
from affectlab.study.errors import closed, forbidden, not_found
from affectlab.study.recruit import Check, Visitor, check_eligibility, passes
from affectlab.study.store import Store, hashed, log
from affectlab.study.tables import participants, sessions, studies

__all__ = ["enter"]

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody confuses."""
_TELLS_NOTHING = ("declined", "erased", "full", "ineligible", "quiz")
"""Ends of sessions whose page shows neither an answer nor a code."""


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
        # One at a time for one person, however often the address is opened at once.
        if visitor.invitation or visitor.external_id:
            who = json.dumps([visitor.source, visitor.invitation, visitor.external_id])
            hold(connection, f"person:{who}")
        person = _find(connection, store, visitor)
        running = None if person is None else _last_session(connection, person["id"])
        if person is not None and person["blocked"]:
            log(connection, "refused", participant=person["id"], body={"reason": "blocked"})
            raise forbidden("You cannot take part in this study.")
        if running is not None and _may_go_on(connection, store, visitor, running):
            _check_visit(connection, visitor, running)
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
        checks = check_eligibility(
            store.study.design.eligibility,
            visitor.told,
            platform=store.study.design.recruitment.platform,
        )
        away = ""
        if not passes(checks):
            away = "ineligible"
        elif not anything_left(
            connection, store, visitor.batch, None if person is None else person["id"]
        ):
            # Told before the consent, not after somebody has passed the quiz.
            away = "full"
        _begin(connection, store, visitor, person, token, checks, away)
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
    if recruitment.study_id and visitor.study_id != recruitment.study_id:
        raise forbidden("This address belongs to another study. Please open yours again.")
    if visitor.external_id is None:
        return _of_browser(connection, visitor)
    names = (visitor.external_id, forgotten_name(store, visitor.source, visitor.external_id))
    found = connection.execute(
        select(participants).where(
            participants.c.source == visitor.source, participants.c.external_id.in_(names)
        )
    )
    return found.mappings().one_or_none()


def _of_browser(connection: Connection, visitor: Visitor) -> RowMapping | None:
    """Find who took part through the open link with this browser before."""
    if visitor.source != "open" or not visitor.token:
        return None
    found = connection.execute(
        select(participants)
        .join(sessions, sessions.c.participant_id == participants.c.id)
        .where(sessions.c.token == hashed(visitor.token), participants.c.source == "open")
    )
    return found.mappings().one_or_none()


def _check_visit(connection: Connection, visitor: Visitor, running: RowMapping) -> None:
    """Let someone whom a platform sends go on with a session only if it is the same piece of work.

    Names of people on a platform are no secret: who knows one alone must not see its session, nor
    its code. Where the platform itself says whose the new piece of work is, it is taken up.

    Raises
    ------
    StudyError
        When the address names another piece of work.
    """
    if visitor.source not in ("prolific", "connect") or running["verdict"] in _TELLS_NOTHING:
        return
    if running["external_id"] == visitor.external_session:
        return
    if visitor.verified != "yes":
        raise forbidden(
            "This address does not belong to the visit that was begun with it. "
            "Please open the study from your platform again."
        )
    connection.execute(
        update(sessions)
        .where(sessions.c.id == running["id"])
        .values(external_id=visitor.external_session)
    )


def _last_session(connection: Connection, participant: int) -> RowMapping | None:
    found = connection.execute(
        select(sessions)
        .where(sessions.c.participant_id == participant)
        .order_by(sessions.c.id.desc())
        .limit(1)
    )
    return found.mappings().one_or_none()


def _may_go_on(connection: Connection, store: Store, visitor: Visitor, running: RowMapping) -> bool:
    """Whether the last session is the one to show; else the person may begin another.

    Raises
    ------
    StudyError
        When the person has had all sessions that one person may take.
    """
    finished = running["stage"] in ("complete", "ended")
    if not finished:
        return True
    person = running["participant_id"]
    if running["verdict"] == "full" and anything_left(connection, store, visitor.batch, person):
        return False
    count = connection.execute(
        select(func.count()).where(
            sessions.c.participant_id == person, sessions.c.verdict != "full"
        )
    ).scalar_one()
    # A finished session is shown again, so that a lost completion code can be read.
    return count >= store.study.design.sessions.most_per_rater or running["stage"] == "ended"


def _seed(connection: Connection, store: Store, participant: int) -> int:
    """Draw what a session is laid out by; for a simulated person, so that it can be repeated."""
    person = select(participants.c.kind).where(participants.c.id == participant)
    if connection.execute(person).scalar_one() != "simulated":
        return secrets.randbits(62)
    before = select(func.count()).where(sessions.c.participant_id == participant)
    number = connection.execute(before).scalar_one()
    of = f"{store.study.design.study.seed}:simulated:{participant}:{number}"
    return int(hashed(of)[:15], 16)


def _begin(
    connection: Connection,
    store: Store,
    visitor: Visitor,
    person: RowMapping | None,
    token: str,
    checks: tuple[Check, ...],
    away: str,
) -> None:
    """Begin a session; for a visitor who is turned away, one that has ended, and says why."""
    now = now_ms()
    eligibility = json.dumps(
        {"checks": [one.as_dict() for one in checks], "verified": visitor.verified},
        ensure_ascii=False,
    )
    languages = store.study.design.study.languages
    language = visitor.language if visitor.language in languages else languages[0]
    if person is None:
        made = connection.execute(
            insert(participants)
            .values(
                source=visitor.source,
                external_id=visitor.external_id,
                language=language,
                eligibility=eligibility,
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
            .values(language=language, eligibility=eligibility)
        )
    recruitment = store.study.design.recruitment
    session = connection.execute(
        insert(sessions)
        .values(
            participant_id=participant,
            token=hashed(token),
            stage="ended" if away else first_stage(store.study),
            verdict=away,
            finished_at=now if away else None,
            batch=visitor.batch,
            seed=_seed(connection, store, participant),
            external_id=visitor.external_session,
            completion_code=recruitment.completion_code
            or "".join(secrets.choice(_ALPHABET) for _ in range(8)),
            started_at=now,
            last_seen_at=now,
        )
        .returning(sessions.c.id)
    ).scalar_one()
    log(
        connection,
        "turned_away" if away else "entered",
        participant=participant,
        session=int(session),
        body={"reason": away} if away else None,
    )
