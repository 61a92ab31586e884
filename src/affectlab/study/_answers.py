"""Storing an answer: checked, counted once, and in the database before it is acknowledged."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from affectlab.study._claims import hold_tasks, renew, retake, withhold
from affectlab.study._completeness import check_skip, left_out, may_leave_out
from affectlab.study._database import now_ms
from affectlab.study._entries import label_field
from affectlab.study._errors import conflict, invalid, not_found, out_of_order
from affectlab.study._frames import check_trials
from affectlab.study._movement import LONGEST_MS, check_movement
from affectlab.study._options_of import name_shown, stored_choice
from affectlab.study._session import end, find_session, finish_when_done
from affectlab.study._staircases import abandon, prepare_next, record
from affectlab.study._store import Store, log
from affectlab.study._tables import answers, sessions, tasks, trials
from affectlab.study._view import PRELOAD, pending

__all__ = [
    "Saved",
    "Submission",
    "check_submission",
    "chosen_labels",
    "event_of",
    "feedback_to",
    "recount",
    "row_of",
    "save_answer",
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
