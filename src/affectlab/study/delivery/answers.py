"""Storing an answer: checked, counted once, and in the database before it is acknowledged."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select, text, true, update
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from affectlab.protocols import label_field
from affectlab.study.database import now_ms
from affectlab.study.delivery.claims import hold_tasks, is_renewal_due, renew, retake, withhold
from affectlab.study.delivery.completeness import check_skip, left_out, may_leave_out
from affectlab.study.delivery.movement import LONGEST_MS, check_movement
from affectlab.study.delivery.options import name_shown, stored_choice
from affectlab.study.delivery.session import end, find_session, finish_when_done, is_over
from affectlab.study.delivery.staircases import abandon, prepare_next, record
from affectlab.study.delivery.view import PRELOAD, Known, pending, view
from affectlab.study.errors import conflict, invalid, not_found, out_of_order
from affectlab.study.store import Store, hashed, log
from affectlab.study.tables import answers, participants, sessions, studies, tasks, trials

if TYPE_CHECKING:
    from affectlab.study.design import Study


__all__ = [
    "Saved",
    "Submission",
    "check_submission",
    "check_trials",
    "chosen_labels",
    "event_of",
    "feedback_to",
    "recount",
    "row_of",
    "save_answer",
    "save_quickly",
    "skip_trial",
]

_PARTS = {
    "ratings": "ratings",
    "value": "value",
    "choices": None,
    "entries": "entries",
    "trials": "trials",
}
"""Under which key an answer of each kind stands; that of choices is the whole object."""

# Statements that every answer needs are made once: making them costs more than running them.
_STORE = insert(answers)
_ANSWERED = (
    update(trials)
    .where(trials.c.id == bindparam("trial"), trials.c.state == bindparam("was"))
    .values(state="answered")
)
_COUNTED = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(valid=tasks.c.valid + 1, leased=tasks.c.leased + bindparam("held"))
)
_SEEN = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(last_seen_at=bindparam("now"))
)
_OF_KEY = (
    select(answers.c.trial_id, answers.c.value, trials.c.session_id)
    .join(trials, trials.c.id == answers.c.trial_id)
    .where(answers.c.key == bindparam("key"))
)
_AGAIN = select(sessions).where(sessions.c.id == bindparam("session"))


@dataclass(frozen=True)
class Submission:
    """One answer as a browser sends it."""

    trial: int
    answer: dict[str, Any]
    key: str
    """Drawn by the browser; the same for every attempt to send the same answer."""
    widget: str
    rt_ms: int | None = None
    movement: list[list[float]] | None = None
    """Places of a slider: pairs of milliseconds and value."""


@dataclass(frozen=True)
class Saved:
    """What follows from an answer."""

    session: RowMapping
    """The session as it then is."""
    feedback: dict[str, Any] | None
    """To a training trial."""
    ahead: list[RowMapping] | None = None
    """The trials that come next, where they are known; None: they have to be looked up."""


def save_answer(connection: Connection, store: Store, token: str, given: Submission) -> Saved:
    """Store an answer, and move the session on.

    The same submission may come again, when the reply got lost: it is stored once, and both times
    get the same reply.

    Raises
    ------
    StudyError
        When it is not the session's next trial, does not keep to the protocol, or contradicts what
        was stored under the same key. Nothing is stored then.
    """
    session = find_session(connection, store, token, for_update=True)
    ahead: list[RowMapping] = []
    if session["stage"] == "trials":
        ahead = pending(connection, session["id"], 2 + PRELOAD)
    if not ahead or ahead[0]["id"] != given.trial:
        # Not what comes next: either it came before, or it is out of order.
        replayed = _replayed(connection, store, session, given)
        if replayed is not None:
            trial, answer = replayed
            return Saved(session, feedback_to(store, trial, answer), ahead or None)
        if session["stage"] != "trials":
            raise out_of_order(f"This session is at stage {session['stage']}, not at its trials.")
        trial = _trial(connection, session, given.trial)
        raise out_of_order(
            f"Trial {given.trial} is not the next one; "
            + ("it is answered already." if trial["state"] == "answered" else "others come first.")
        )
    trial = ahead[0]
    late = any(one["state"] == "expired" for one in ahead)
    last = len(ahead) == 1 and session["bundle_id"] is not None
    if late or last:
        # Their tasks are leased again below, several at once; or the session is counted.
        hold_tasks(connection)
    given = replace(given, answer=_stored(store, trial, given.answer))
    check_submission(store, trial, given)
    try:
        connection.execute(_STORE, row_of(given, trial["id"]))
    except IntegrityError:
        raise conflict("Another answer was stored under this key already.") from None
    held = _answered(connection, trial["id"])
    if store.study.protocol.staircase is not None:
        record(connection, store, trial, given.answer)
    if trial["task_id"] is not None:
        _count(connection, store, trial["task_id"], held=-1 if held else 0)
    log(
        connection,
        "answered",
        participant=session["participant_id"],
        session=session["id"],
        trial=trial["id"],
        body=event_of(given),
    )
    session, rest = _moved_on(connection, store, session, ahead[1:])
    return Saved(session, feedback_to(store, trial, given.answer), rest)


def row_of(given: Submission, trial: int) -> dict[str, Any]:
    """Give the row of an answer that is stored now."""
    return {
        "trial_id": trial,
        "value": _text(given.answer),
        "valid": True,
        "widget": given.widget,
        "rt_ms": given.rt_ms,
        "movement": None if given.movement is None else json.dumps(given.movement),
        "key": given.key,
        "submitted_at": now_ms(),
    }


def event_of(given: Submission) -> dict[str, Any]:
    """Give what the log says of an answer."""
    return {"answer": given.answer, "widget": given.widget, "rt_ms": given.rt_ms}


def _answered(connection: Connection, trial: int) -> bool:
    """Take a trial as answered; say whether it was held until now, or its lease had run out.

    What was read before may have changed: another server may have taken the lease back since.
    """
    if connection.execute(_ANSWERED, {"trial": trial, "was": "open"}).rowcount:
        return True
    if not connection.execute(_ANSWERED, {"trial": trial, "was": "expired"}).rowcount:
        raise conflict(f"Trial {trial} was finished elsewhere meanwhile.")
    return False


def _count(connection: Connection, store: Store, task: int, *, held: int) -> None:
    """Count a new answer. What a task wants is looked at again where answers decide about it."""
    routing = store.study.protocol.routing
    if routing.confirmations is None and not routing.extra_raters:
        connection.execute(_COUNTED, {"task": task, "held": held})
    else:
        recount(connection, store, task, held=held)


def skip_trial(
    connection: Connection, store: Store, token: str, trial: int, reason: str
) -> RowMapping:
    """Leave out the session's next trial, because what it shows cannot be shown.

    Its task goes back to the others, and nothing is stored as an answer. A session that leaves out
    more trials than the study allows ends.

    Raises
    ------
    StudyError
        When it is not the session's next trial, or shows nothing that could fail.
    """
    session = find_session(connection, store, token, for_update=True)
    ahead = pending(connection, session["id"], 1) if session["stage"] == "trials" else []
    if not ahead or ahead[0]["id"] != trial:
        raise out_of_order(f"Trial {trial} is not the next one.")
    missing = check_skip(store, ahead[0])
    hold_tasks(connection)
    withhold(connection, trial)
    if store.study.protocol.staircase is not None:
        abandon(connection, ahead[0])
    log(
        connection,
        "skipped",
        participant=session["participant_id"],
        session=session["id"],
        trial=trial,
        body={"reason": reason, "missing": missing},
    )
    number = session["id"]
    if left_out(connection, number) > may_leave_out(connection, store, number):
        end(connection, session, "unshown")
        return connection.execute(_AGAIN, {"session": number}).mappings().one()
    return _moved_on(connection, store, session, [])[0]


def recount(connection: Connection, store: Store, task: int, *, held: int = 0) -> None:
    """Count the valid answers of a task, and how many it wants after them.

    Parameters
    ----------
    held
        Change of the number of leases.
    """
    locked = select(tasks).where(tasks.c.id == task)
    if not store.database.is_sqlite:
        locked = locked.with_for_update()
    row = connection.execute(locked).mappings().one()
    found = connection.execute(
        select(answers.c.value)
        .join(trials, trials.c.id == answers.c.trial_id)
        .where(trials.c.task_id == task, answers.c.valid.is_(True))
        .order_by(answers.c.submitted_at, answers.c.trial_id)
    ).all()
    routing = store.study.protocol.routing
    chosen = [chosen_labels(store, json.loads(one[0])) for one in found]
    wanted = 1 if row["batch"] == "contrast" else routing.wanted(chosen)
    if row["batch"] == "pilot":
        # A pilot is one size; its answers open and close nothing.
        wanted = row["wanted"]
    connection.execute(
        update(tasks)
        .where(tasks.c.id == task)
        .values(valid=len(found), leased=tasks.c.leased + held, wanted=wanted)
    )


def chosen_labels(store: Store, answer: dict[str, Any]) -> set[str]:
    """Labels that an answer says are there; empty for "no"."""
    if "chosen" in answer:
        return set(answer["chosen"]) - set(store.study.protocol.rules.options)
    if "ratings" in answer:
        return {label for label, value in answer["ratings"].items() if value}
    if "value" in answer:
        return {str(answer["value"])}
    if "entries" in answer:
        name = label_field(store.study.protocol).name
        return {str(entry.get(name, "")) for entry in answer["entries"]}
    return set()


def _stored(store: Store, trial: RowMapping, answer: dict[str, Any]) -> dict[str, Any]:
    """Give an answer as it is stored, which says nothing of where things stood on the page."""
    return stored_choice(store, trial, answer)


def _text(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, sort_keys=True, allow_nan=False)


def _replayed(
    connection: Connection, store: Store, session: RowMapping, given: Submission
) -> tuple[RowMapping, dict[str, Any]] | None:
    """Find the trial and the stored answer of a submission that comes again; None when it is new.

    Raises
    ------
    StudyError
        When something else was stored under its key.
    """
    found = connection.execute(_OF_KEY, {"key": given.key}).one_or_none()
    if found is None:
        return None
    if (found.trial_id, found.session_id) == (given.trial, session["id"]):
        trial = _trial(connection, session, given.trial)
        answer = _stored(store, trial, given.answer)
        if found.value == _text(answer):
            return trial, answer
    raise conflict("Another answer was stored under this key already.")


def _trial(connection: Connection, session: RowMapping, trial: int) -> RowMapping:
    found = connection.execute(
        select(trials).where(trials.c.id == trial, trials.c.session_id == session["id"])
    )
    row = found.mappings().one_or_none()
    if row is None:
        raise not_found(f"Trial {trial} is not one of this session.")
    return row


def check_submission(store: Store, trial: RowMapping, given: Submission) -> None:
    """Check that an answer keeps to the protocol, and that it came as our pages send it.

    Raises
    ------
    StudyError
        When it does not.
    """
    protocol = store.study.protocol
    part = _PARTS[protocol.answer]
    keys = {"chosen", "suggestion"} if part is None else {part}
    if not given.answer or not set(given.answer) <= keys:
        raise invalid(f"answer: expected {' and '.join(sorted(keys))}.")
    answer = given.answer if part is None else given.answer[part]
    problems = protocol.check(answer)
    if not problems and protocol.asks.per_trial == "one" and set(answer) != {trial["label"]}:
        problems = [f"this trial asks about {trial['label']!r} alone"]
    if problems:
        raise invalid(f"answer: {problems[0]}.")
    check_trials(store.study, given.answer.get("trials"))
    check_movement(protocol, given.answer.get("value"), given.movement)
    suggestion = given.answer.get("suggestion")
    if isinstance(suggestion, str) and len(suggestion) > 100:
        raise invalid("suggestion: expected at most 100 characters.")
    allowed = (protocol.input.widget, *protocol.input.alternatives)
    if given.widget not in allowed:
        raise invalid(f"widget: expected one of: {', '.join(allowed)}.")
    if given.rt_ms is not None and not 0 <= given.rt_ms <= LONGEST_MS:
        raise invalid(f"rt_ms: expected 0 to {LONGEST_MS}.")
    if not 8 <= len(given.key) <= 64:
        raise invalid("key: expected 8 to 64 characters.")


def _moved_on(
    connection: Connection, store: Store, session: RowMapping, rest: list[RowMapping]
) -> tuple[RowMapping, list[RowMapping] | None]:
    """Renew what the session holds, and finish it after its last trial.

    Parameters
    ----------
    rest
        The trials that come next, as they were read in this transaction.

    Returns
    -------
    The session, and the trials that come next; None for these when they have to be read again.
    """
    number = session["id"]
    connection.execute(_SEEN, {"session": number, "now": now_ms()})
    if rest and all(one["state"] == "open" for one in rest):
        # All trials of a session are leased together: one tells of all that follow.
        renew(connection, store, number, rest[0]["lease_until"])
        if store.study.protocol.staircase is None:
            return session, rest
    retake(connection, store, number, session["participant_id"])
    prepare_next(connection, store, session)
    finish_when_done(connection, store, session)
    return connection.execute(_AGAIN, {"session": number}).mappings().one(), None


def feedback_to(store: Store, trial: RowMapping, answer: dict[str, Any]) -> dict[str, Any] | None:
    """Say how a training answer compares with the known one."""
    if trial["kind"] != "training":
        return None
    expected = store.content[trial["stimulus_id"]]["expected"] or {}
    tolerance = store.study.protocol.checks.golden_tolerance or 0.0
    given = answer.get("ratings") or {}
    if "chosen" in answer:
        given = dict.fromkeys(answer["chosen"], 1)
    elif "value" in answer:
        given = {"": answer["value"]}
    lines = []
    for label, value in expected.items():
        mine = given.get(label)
        near = mine == value
        if isinstance(value, int | float) and not isinstance(mine, str):
            near = abs((mine or 0) - value) <= max(tolerance, _near(store))
        told = [name_shown(store, trial, one) for one in (value, mine)]
        lines.append({"label": label, "expected": told[0], "given": told[1], "right": near})
    return {"right": all(line["right"] for line in lines), "lines": lines}


def _near(store: Store) -> float:
    """How far an answer on a scale of levels may lie from the known one: a quarter of the scale."""
    scale = store.study.protocol.scale
    if scale.kind != "ordinal" or scale.low is None or scale.high is None:
        return 0.0
    return (scale.high - scale.low) / 4


# Storing an answer on PostgreSQL in two statements: one reads, one writes.
#
# Nearly every answer is one in the middle of a session that holds its tasks. All that such an
# answer changes is written by one statement, which is a transaction of its own, and which does
# nothing unless the session and its trial still are as they were when they were read. Everything
# else (a session's last answer, a lease that ran out or is to be renewed, an answer sent again,
# routing by answers, staircases) goes the long way of
# :func:`affectlab.study.delivery.answers.save_answer`, which gives the same rows.


_OF_SESSION = (
    *("id", "participant_id", "stage", "batch", "seed", "verdict"),
    *("quiz_attempts", "completion_code", "last_seen_at"),
)
_SEAT = "seat_"
"""Before the names of a session's columns, which stand beside those of its trials."""

_own = (
    select(
        trials,
        func.count().over().label("total"),
        func.count().filter(trials.c.state.in_(("answered", "skipped"))).over().label("done"),
    )
    .where(trials.c.session_id == sessions.c.id)
    .correlate(sessions)
    .subquery("own")
)
_ahead = (
    select(_own)
    .where(_own.c.state.in_(("open", "expired")))
    .order_by(_own.c.position)
    .limit(2 + PRELOAD)
    .lateral("ahead")
)
# The session, and beside it each of the trials that come next.
_LOOK = (
    select(
        _ahead,
        *(sessions.c[name].label(_SEAT + name) for name in _OF_SESSION),
        studies.c.status.label(f"{_SEAT}study_status"),
        participants.c.language.label(f"{_SEAT}language"),
    )
    .select_from(
        sessions.join(studies, true())
        .join(participants, participants.c.id == sessions.c.participant_id)
        .join(_ahead, true())
    )
    .where(sessions.c.token == bindparam("token"))
    .order_by(_ahead.c.position)
)

# Sessions are locked before trials, and trials before tasks, as everywhere. Who waited for a lock
# looks at its row again: of two who send the same trial one finds it answered, and writes nothing.
_WRITE = text("""
WITH seat AS (
    UPDATE sessions SET last_seen_at = :now
    WHERE id = :session AND token = :token AND stage = 'trials'
    RETURNING id
), finished AS (
    UPDATE trials SET state = 'answered' FROM seat
    WHERE trials.id = :trial AND trials.session_id = seat.id AND trials.state = 'open'
    RETURNING trials.id, trials.session_id, trials.participant_id, trials.task_id
), counted AS (
    UPDATE tasks SET valid = valid + 1, leased = leased - 1 FROM finished
    WHERE tasks.id = finished.task_id
), stored AS (
    INSERT INTO answers (trial_id, value, valid, widget, rt_ms, movement, key, submitted_at)
    SELECT id, :value, TRUE, :widget, CAST(:rt_ms AS integer), CAST(:movement AS text), :key,
        :submitted_at
    FROM finished
)
INSERT INTO events (at, kind, participant_id, session_id, trial_id, body)
SELECT :now, 'answered', participant_id, session_id, id, :body FROM finished
""")


@dataclass(frozen=True)
class _Seat:
    """Where a session stands."""

    session: dict[str, Any]
    ahead: list[RowMapping]


def save_quickly(store: Store, token: str, given: Submission) -> dict[str, Any] | None:
    """Store an answer where nothing but the usual follows from it.

    Returns
    -------
    What the participant is told, as :func:`affectlab.study.delivery.view.view` describes it. None:
    it has to go the long way, whatever became of it here; the answer's key keeps it from being
    stored twice.

    Raises
    ------
    StudyError
        When the answer does not keep to the protocol. Nothing is stored then.
    """
    routing = store.study.protocol.routing
    if (
        store.database.is_sqlite
        or store.study.protocol.staircase is not None
        or routing.confirmations is not None
        or routing.extra_raters
    ):
        return None
    try:
        return _save(store, token, given)
    except (IntegrityError, InterfaceError, OperationalError):
        # A key that was used before, or a connection that broke, perhaps after it was stored.
        return None


def _save(store: Store, token: str, given: Submission) -> dict[str, Any] | None:
    digest = hashed(token)
    with store.database.read() as connection:
        rows = list(connection.execute(_LOOK, {"token": digest}).mappings())
        seat = _seat(store, rows, given.trial)
        if seat is None:
            return None
        trial = seat.ahead[0]
        given = replace(given, answer=stored_choice(store, trial, given.answer))
        check_submission(store, trial, given)
        written = {
            **row_of(given, trial["id"]),
            "now": now_ms(),
            "session": seat.session["id"],
            "token": digest,
            "trial": trial["id"],
            "body": json.dumps(event_of(given), ensure_ascii=False),
        }
        del written["trial_id"], written["valid"]
        if connection.execute(_WRITE, written).rowcount != 1:
            return None
        known = Known(seat.session["language"] or "", int(trial["done"]) + 1, int(trial["total"]))
        state = view(connection, store, seat.session, seat.ahead[1:], known)
    return {**state, "feedback": feedback_to(store, trial, given.answer)}


def _seat(store: Store, rows: list[RowMapping], trial: int) -> _Seat | None:
    """Read where a session stands; None when anything about it is not the usual."""
    if len(rows) < 2 or rows[0]["id"] != trial or any(row["state"] != "open" for row in rows):
        return None
    names = (*_OF_SESSION, "study_status", "language")
    session = {name: rows[0][_SEAT + name] for name in names}
    if session["stage"] != "trials" or is_over(store, session):
        return None
    return None if is_renewal_due(store, rows[1]["lease_until"]) else _Seat(session, rows)


def check_trials(study: Study, trials: object) -> None:
    """Refuse recorded trials that take more room than the study allows.

    Raises
    ------
    StudyError
        When they do.
    """
    frame = study.design.frame
    if frame is None:
        return
    size = len(json.dumps(trials, ensure_ascii=False).encode())
    if size > frame.largest_kb * 1024:
        raise invalid(
            f"trials: {size / 1024:.0f} kB are more than this study stores; expected at most "
            f"{frame.largest_kb} kB."
        )
