"""One session: finding it by its token, and moving it on from stage to stage."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, func, select, true, update

from affectlab.study.database import now_ms
from affectlab.study.delivery.batches import weigh
from affectlab.study.delivery.claims import anything_left, claim, hold_tasks, release, retake
from affectlab.study.delivery.completeness import completeness, left_out
from affectlab.study.delivery.staircases import prepare_next
from affectlab.study.design import live_policy, stage_after
from affectlab.study.errors import conflict, invalid, out_of_order, unknown_session
from affectlab.study.store import Store, hashed, log
from affectlab.study.tables import participants, sessions, studies, trials

__all__ = [
    "advance",
    "count_trials",
    "end",
    "find_session",
    "finish_when_done",
    "forget",
    "go_to",
    "is_over",
    "refresh",
    "states",
    "unjudged",
]

# Statements that every answer needs are made once: making them costs more than running them.
_FOUND = (
    select(sessions, studies.c.status.label("study_status"))
    .select_from(sessions.join(studies, true()))
    .where(sessions.c.token == bindparam("token"))
)
_LOCKED = _FOUND.with_for_update(of=sessions)
_STATES = (
    select(trials.c.state, func.count())
    .where(trials.c.session_id == bindparam("session"))
    .group_by(trials.c.state)
)


def find_session(
    connection: Connection, store: Store, token: str, *, for_update: bool = False
) -> RowMapping:
    """Find the session that a token opens.

    Raises
    ------
    StudyError
        When no session has it.
    """
    locked = for_update and not store.database.is_sqlite
    found = connection.execute(_LOCKED if locked else _FOUND, {"token": hashed(token)})
    session = found.mappings().one_or_none()
    if session is None:
        raise unknown_session()
    if for_update and session["stage"] not in ("complete", "ended"):
        over = is_over(store, session)
        if over:
            end(connection, session, over)
            return _again(connection, session)
    return session


def is_over(store: Store, session: Mapping[Any, Any]) -> str:
    """Say why a session found by its token cannot go on: ``closed``, ``late``, or empty."""
    if session["stage"] in ("complete", "ended"):
        return ""
    if session["study_status"] == "closed":
        return "closed"
    silent = now_ms() - int(session["last_seen_at"])
    return "late" if silent > store.study.design.sessions.resume_hours * 3_600_000 else ""


def refresh(connection: Connection, store: Store, token: str) -> RowMapping:
    """Bring a session up to date when its participant comes back: end it, or lease again."""
    session = find_session(connection, store, token, for_update=True)
    if session["stage"] == "trials":
        retake(connection, store, session["id"], session["participant_id"])
        prepare_next(connection, store, session)
        finish_when_done(connection, store, session)
    return _again(connection, session)


def finish_when_done(connection: Connection, store: Store, session: RowMapping) -> bool:
    """Finish a session that has nothing left to answer; say whether it had not.

    One that answered no main trial is not complete: it ends, because its pictures did not load or
    because others did all of its tasks while it lay still.
    """
    found = states(connection, session["id"])
    if found.get("open", 0) or found.get("expired", 0):
        return False
    main = completeness(connection, session=session["id"]).get(session["id"])
    if main is None or not main.answered:
        skipped = left_out(connection, session["id"])
        end(connection, session, "unshown" if skipped else "full")
        return True
    go_to(connection, store, session, "complete")
    if session["bundle_id"] is not None:
        hold_tasks(connection)
        weigh(connection, store, session["id"])
    log(
        connection,
        "completed",
        participant=session["participant_id"],
        session=session["id"],
        body={"answered": main.answered, "of": main.of},
    )
    return True


def advance(connection: Connection, store: Store, token: str, stage: str, data: Any) -> RowMapping:
    """Finish a stage other than the trials; give the session as it then is.

    Parameters
    ----------
    stage
        The stage that is finished, which must be the session's own.
    data
        ``{"agreed": bool}`` of the consent, with what was shown of it (``version``, ``text`` and
        ``on_withdrawal``) as its state had it; ``{"answers": {name: value or None}}`` of the
        demographics; ``{}`` of the instructions, and to look for tasks again while waiting;
        ``{"answers": [choice, …]}`` of the quiz.

    Raises
    ------
    StudyError
        When the session is at another stage, or `data` is not what the stage needs.
    """
    session = find_session(connection, store, token, for_update=True)
    if session["stage"] != stage:
        raise out_of_order(f"This session is at stage {session['stage']}, not {stage}.")
    if not isinstance(data, dict):
        raise invalid("data: expected an object.")
    step = {
        "consent": _consent,
        "demographics": _demographics,
        "instructions": _instructions,
        "quiz": _quiz,
        "waiting": _begin_trials,
    }.get(stage)
    if step is None:
        raise out_of_order(f"Stage {stage} is not finished by advancing.")
    step(connection, store, session, data)
    connection.execute(
        update(sessions).where(sessions.c.id == session["id"]).values(last_seen_at=now_ms())
    )
    return _again(connection, session)


def go_to(connection: Connection, store: Store, session: RowMapping, stage: str) -> None:
    """Bring a session to a stage; at the trials it claims its tasks."""
    if stage == "trials":
        _begin_trials(connection, store, session, {})
        return
    finished = {"finished_at": now_ms()} if stage == "complete" else {}
    _set(connection, session, stage=stage, **finished)


def end(connection: Connection, session: RowMapping, reason: str) -> None:
    """End a session without completion, and give back what it holds."""
    release(connection, session["id"])
    _set(connection, session, stage="ended", verdict=reason, finished_at=now_ms())
    log(
        connection,
        "ended",
        participant=session["participant_id"],
        session=session["id"],
        body={"reason": reason},
    )


def _consent(
    connection: Connection, store: Store, session: RowMapping, data: dict[str, Any]
) -> None:
    agreed = data.get("agreed")
    if not isinstance(agreed, bool):
        raise invalid("agreed: expected true or false.")
    if not agreed:
        end(connection, session, "declined")
        forget(connection, store, session["participant_id"])
        return
    consent = store.study.design.consent
    agreed_to = {} if consent is None else consent.agreed_to
    # A page may have been open while the study was served again with another text.
    if any(data.get(name, value) != value for name, value in agreed_to.items()):
        raise conflict("The text was changed meanwhile. Please read it again before you agree.")
    connection.execute(
        update(participants)
        .where(participants.c.id == session["participant_id"])
        .values(consented_at=now_ms())
    )
    log(
        connection,
        "consented",
        participant=session["participant_id"],
        session=session["id"],
        body=agreed_to,
    )
    go_to(connection, store, session, stage_after(store.study, "consent"))


def _demographics(
    connection: Connection, store: Store, session: RowMapping, data: dict[str, Any]
) -> None:
    given = data.get("answers")
    if not isinstance(given, dict):
        raise invalid("answers: expected an object of answers by name, null where declined.")
    questions = {one.name: one for one in store.study.design.demographics.questions}
    unknown = next((name for name in given if name not in questions), None)
    if unknown is not None:
        raise invalid("answers: there is a question that was not asked.")
    kept: dict[str, Any] = {}
    for name, question in questions.items():
        value = given.get(name)
        if value is None or value == "":
            continue
        if question.kind == "choice" and value not in question.choices:
            raise invalid(f"{name}: expected one of the choices, or null to decline.")
        if question.kind == "text" and not (isinstance(value, str) and len(value) <= 200):
            raise invalid(f"{name}: expected a text of up to 200 characters.")
        if question.kind == "number":
            low = -math.inf if question.low is None else question.low
            high = math.inf if question.high is None else question.high
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and math.isfinite(value) and low <= value <= high):
                raise invalid(f"{name}: expected a number from {low:g} to {high:g}, or null.")
        kept[name] = value
    person = participants.c.id == session["participant_id"]
    # What an invitation said of the person stays beside what the person says.
    before = connection.execute(select(participants.c.demographics).where(person)).scalar_one()
    told = json.dumps({**json.loads(before), **kept}, ensure_ascii=False)
    connection.execute(update(participants).where(person).values(demographics=told))
    go_to(connection, store, session, stage_after(store.study, "demographics"))


def _instructions(
    connection: Connection, store: Store, session: RowMapping, _data: dict[str, Any]
) -> None:
    go_to(connection, store, session, stage_after(store.study, "instructions"))


def _quiz(connection: Connection, store: Store, session: RowMapping, data: dict[str, Any]) -> None:
    quiz = store.study.design.quiz
    given = data.get("answers")
    if not isinstance(given, list) or len(given) != len(quiz.questions):
        raise invalid(f"answers: expected a list of {len(quiz.questions)} choices.")
    wrong = [
        number
        for number, (question, choice) in enumerate(zip(quiz.questions, given, strict=True))
        if choice != question.answer
    ]
    attempts = session["quiz_attempts"] + 1
    _set(connection, session, quiz_attempts=attempts)
    log(
        connection,
        "quiz",
        participant=session["participant_id"],
        session=session["id"],
        body={"attempt": attempts, "wrong": wrong},
    )
    if not wrong:
        go_to(connection, store, session, stage_after(store.study, "quiz"))
    elif attempts >= quiz.attempts:
        end(connection, session, "quiz")


def _begin_trials(
    connection: Connection, store: Store, session: RowMapping, _data: dict[str, Any]
) -> None:
    """Claim tasks; wait where others hold all of them, and end where nothing is left to do."""
    claimed = claim(connection, store, session["id"], session["participant_id"], session["seed"])
    if claimed:
        _set(connection, session, stage="trials")
        prepare_next(connection, store, session)
        return
    left = anything_left(connection, store, session["batch"], session["participant_id"])
    if left or (unjudged(connection) and live_policy(store.study) is not None):
        _set(connection, session, stage="waiting")
    else:
        end(connection, session, "full")


def unjudged(connection: Connection) -> bool:
    """Whether a session is complete of which it is not known yet whether its answers count."""
    waiting = select(sessions.c.id).where(sessions.c.stage == "complete", sessions.c.pay == "")
    return connection.execute(waiting.limit(1)).first() is not None


def _set(connection: Connection, session: RowMapping, **values: Any) -> None:
    connection.execute(update(sessions).where(sessions.c.id == session["id"]).values(**values))


def _again(connection: Connection, session: RowMapping) -> RowMapping:
    found = connection.execute(select(sessions).where(sessions.c.id == session["id"]))
    return found.mappings().one()


def states(connection: Connection, session: int) -> dict[str, int]:
    """Count the trials of a session by their state."""
    rows = connection.execute(_STATES, {"session": session}).all()
    return {str(state): int(n) for state, n in rows}


def count_trials(connection: Connection, session: int) -> tuple[int, int]:
    """Count the trials of a session that are done, and all of them."""
    counts = states(connection, session)
    return counts.get("answered", 0) + counts.get("skipped", 0), sum(counts.values())


_FORGOTTEN = "forgotten:"

"""Before the digest that stands for a name which was dropped."""


def forget(connection: Connection, store: Store, participant: int) -> None:
    """Drop what a platform and an invitation said of a participant.

    Of the platform's name stays a digest under the study's key, by which the same person is known
    again, so that nobody who declined is asked twice, and nobody who was erased takes part twice.
    """
    own = participants.c.id == participant
    row = connection.execute(
        select(participants.c.source, participants.c.external_id).where(own)
    ).one()
    name = row.external_id
    if name is not None and not name.startswith(_FORGOTTEN):
        name = forgotten_name(store, row.source, name)
    connection.execute(
        update(participants)
        .where(own)
        .values(external_id=name, demographics="{}", eligibility="{}")
    )
    connection.execute(
        update(sessions).where(sessions.c.participant_id == participant).values(external_id=None)
    )


def forgotten_name(store: Store, source: str, name: str) -> str:
    return _FORGOTTEN + store.digest("forgotten", f"{source}\0{name}")
