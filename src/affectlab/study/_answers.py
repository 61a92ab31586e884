"""Storing an answer: checked, counted once, and in the database before it is acknowledged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select, update

from affectlab.study._claims import renew, retake, withhold
from affectlab.study._database import now_ms
from affectlab.study._errors import conflict, invalid, not_found, out_of_order
from affectlab.study._session import find_session, finish_when_done
from affectlab.study._store import Store, log
from affectlab.study._tables import answers, sessions, tasks, trials
from affectlab.study._view import pending

__all__ = ["Submission", "chosen_labels", "recount", "save_answer", "skip_trial"]

_PARTS = {"ratings": "ratings", "value": "value", "choices": None, "entries": "entries"}
"""Under which key an answer of each kind stands; that of choices is the whole object."""
_LONGEST_MS = 86_400_000


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


def save_answer(
    connection: Connection, store: Store, token: str, given: Submission
) -> tuple[RowMapping, dict[str, Any] | None]:
    """Store an answer; give the session as it then is, and the feedback of a training trial.

    The same submission may come again, when the reply got lost: it is stored once, and both times
    get the same reply.

    Raises
    ------
    StudyError
        When it is not the session's next trial, does not keep to the protocol, or contradicts what
        was stored under the same key. Nothing is stored then.
    """
    session = find_session(connection, store, token, for_update=True)
    value = json.dumps(given.answer, ensure_ascii=False, sort_keys=True, allow_nan=False)
    if _is_replay(connection, session, given, value):
        trial = _trial(connection, session, given.trial)
        return session, _feedback(store, trial, given.answer)
    if session["stage"] != "trials":
        raise out_of_order(f"This session is at stage {session['stage']}, not at its trials.")
    ahead = pending(connection, session["id"], 1)
    trial = _trial(connection, session, given.trial)
    if not ahead or ahead[0]["id"] != trial["id"]:
        raise out_of_order(
            f"Trial {given.trial} is not the next one; "
            + ("it is answered already." if trial["state"] == "answered" else "others come first.")
        )
    _check(store, trial, given)
    connection.execute(
        insert(answers).values(
            trial_id=trial["id"],
            value=value,
            valid=True,
            widget=given.widget,
            rt_ms=given.rt_ms,
            movement=None if given.movement is None else json.dumps(given.movement),
            key=given.key,
            submitted_at=now_ms(),
        )
    )
    connection.execute(update(trials).where(trials.c.id == trial["id"]).values(state="answered"))
    if trial["task_id"] is not None:
        recount(connection, store, trial["task_id"], held=-1 if trial["state"] == "open" else 0)
    log(
        connection,
        "answered",
        participant=session["participant_id"],
        session=session["id"],
        trial=trial["id"],
        body={"answer": given.answer, "widget": given.widget, "rt_ms": given.rt_ms},
    )
    return _moved_on(connection, store, session), _feedback(store, trial, given.answer)


def skip_trial(
    connection: Connection, store: Store, token: str, trial: int, reason: str
) -> RowMapping:
    """Leave out the session's next trial, because what it shows cannot be shown.

    Its task goes back to the others, and nothing is stored as an answer.
    """
    session = find_session(connection, store, token, for_update=True)
    ahead = pending(connection, session["id"], 1) if session["stage"] == "trials" else []
    if not ahead or ahead[0]["id"] != trial:
        raise out_of_order(f"Trial {trial} is not the next one.")
    held = ahead[0]["task_id"] if ahead[0]["state"] == "open" else None
    withhold(connection, trial, held)
    log(
        connection,
        "skipped",
        participant=session["participant_id"],
        session=session["id"],
        trial=trial,
        body={"reason": reason},
    )
    return _moved_on(connection, store, session)


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
    return {str(entry.get("emotion", "")) for entry in answer.get("entries", ())}


def _is_replay(connection: Connection, session: RowMapping, given: Submission, value: str) -> bool:
    found = connection.execute(
        select(answers.c.trial_id, answers.c.value, trials.c.session_id)
        .join(trials, trials.c.id == answers.c.trial_id)
        .where(answers.c.key == given.key)
    ).one_or_none()
    if found is None:
        return False
    if (found.trial_id, found.value, found.session_id) != (given.trial, value, session["id"]):
        raise conflict("Another answer was stored under this key already.")
    return True


def _trial(connection: Connection, session: RowMapping, trial: int) -> RowMapping:
    found = connection.execute(
        select(trials).where(trials.c.id == trial, trials.c.session_id == session["id"])
    )
    row = found.mappings().one_or_none()
    if row is None:
        raise not_found(f"Trial {trial} is not one of this session.")
    return row


def _check(store: Store, trial: RowMapping, given: Submission) -> None:
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
    suggestion = given.answer.get("suggestion")
    if isinstance(suggestion, str) and len(suggestion) > 100:
        raise invalid("suggestion: expected at most 100 characters.")
    allowed = (protocol.input.widget, *protocol.input.alternatives)
    if given.widget not in allowed:
        raise invalid(f"widget: expected one of: {', '.join(allowed)}.")
    if given.rt_ms is not None and not 0 <= given.rt_ms <= _LONGEST_MS:
        raise invalid(f"rt_ms: expected 0 to {_LONGEST_MS}.")
    if not 8 <= len(given.key) <= 64:
        raise invalid("key: expected 8 to 64 characters.")


def _moved_on(connection: Connection, store: Store, session: RowMapping) -> RowMapping:
    """Renew what the session holds, and finish it after its last trial."""
    renew(connection, store, session["id"])
    connection.execute(
        update(sessions).where(sessions.c.id == session["id"]).values(last_seen_at=now_ms())
    )
    retake(connection, store, session["id"], session["participant_id"])
    finish_when_done(connection, store, session)
    found = connection.execute(select(sessions).where(sessions.c.id == session["id"]))
    return found.mappings().one()


def _feedback(store: Store, trial: RowMapping, answer: dict[str, Any]) -> dict[str, Any] | None:
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
        lines.append({"label": label, "expected": value, "given": mine, "right": near})
    return {"right": all(line["right"] for line in lines), "lines": lines}


def _near(store: Store) -> float:
    """How far an answer on a scale of levels may lie from the known one: a quarter of the scale."""
    scale = store.study.protocol.scale
    if scale.kind != "ordinal" or scale.low is None or scale.high is None:
        return 0.0
    return (scale.high - scale.low) / 4
