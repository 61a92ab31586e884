"""The people of a study, under their pseudonyms: whom to decide on, and what one of them did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, func, select

from affectlab.study.errors import not_found
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, events, participants, sessions, trials
from affectlab.study.watch.overview import waits_for_decision

__all__ = ["Queue", "answer_words", "person", "picture", "queue", "session_state"]

Queue = Literal["waiting", "decided", "under_way"]

_MOST_TRIALS = 2000
_QUIET = ("answered", "claimed")
"""Events that the trials tell already."""


def queue(store: Store, which: Queue, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Give sessions: how many there are, and some of them.

    Parameters
    ----------
    which
        ``waiting``: completed, nobody has decided yet, those that wait longest first. ``decided``:
        by a person or the policy, the latest first. ``under_way``: not finished, the latest seen
        first.
    """
    waits = waits_for_decision()
    over = sessions.c.stage.in_(("complete", "ended"))
    judged = sessions.c.verdict.in_(("accepted", "rejected"))
    chosen, order = {
        "waiting": (waits, sessions.c.finished_at),
        "decided": (
            judged | (over & (sessions.c.pay != "") & ~waits),
            sessions.c.finished_at.desc(),
        ),
        "under_way": (~over, sessions.c.last_seen_at.desc()),
    }[which]
    with store.database.read() as connection:
        total = int(connection.execute(select(func.count()).where(chosen)).scalar_one())
        rows = connection.execute(
            select(sessions, participants.c.kind)
            .join(participants, participants.c.id == sessions.c.participant_id)
            .where(chosen)
            .order_by(order, sessions.c.id)
            .offset(offset)
            .limit(limit)
        )
        found = [_session(store, row) for row in rows.mappings()]
        _add_work(connection, found)
        _add_decisions(connection, found)
    return total, found


def session_state(store: Store, session: int) -> tuple[str, str, int]:
    """Give the stage and the verdict of a session, and its number of answers.

    Raises
    ------
    StudyError
        When there is no such session.
    """
    n = (
        select(func.count())
        .select_from(answers.join(trials))
        .where(trials.c.session_id == session)
        .scalar_subquery()
    )
    with store.database.read() as connection:
        row = connection.execute(
            select(sessions.c.stage, sessions.c.verdict, n).where(sessions.c.id == session)
        ).one_or_none()
    if row is None:
        raise not_found(f"There is no session {session}.")
    return str(row[0]), str(row[1]), int(row[2])


def person(store: Store, name: str) -> dict[str, Any]:
    """Tell what one person did.

    What people said about themselves is left out: it should not bear on whether work is accepted.

    Parameters
    ----------
    name
        The pseudonym.

    Raises
    ------
    StudyError
        When nobody has this pseudonym.
    """
    with store.database.read() as connection:
        ids = connection.execute(select(participants.c.id)).scalars()
        who = next((one for one in ids if pseudonym(store, one) == name), None)
        if who is None:
            raise not_found("Nobody in this study has this pseudonym.")
        about = connection.execute(
            select(
                participants.c.kind,
                participants.c.source,
                participants.c.language,
                participants.c.created_at,
            ).where(participants.c.id == who)
        )
        rows = connection.execute(
            select(sessions, participants.c.kind)
            .join(participants, participants.c.id == sessions.c.participant_id)
            .where(sessions.c.participant_id == who)
            .order_by(sessions.c.id)
        )
        found = [_session(store, row) for row in rows.mappings()]
        _add_work(connection, found)
        _add_decisions(connection, found)
        return {
            "rater": name,
            **about.mappings().one(),
            "sessions": found,
            "trials": list(_trials(connection, store, who)),
            "events": list(_events(connection, who)),
        }


def picture(store: Store, stimulus: int, place: int) -> Path:
    """Find a picture of a stimulus.

    Raises
    ------
    StudyError
        When there is no such picture.
    """
    files = store.content.get(stimulus, {}).get("files", [])
    if not 0 <= place < len(files):
        raise not_found("There is no such picture.")
    return store.study.place(files[place])


def answer_words(answer: Mapping[str, Any]) -> str:
    """Put an answer into a few words.

    Examples
    --------
    >>> answer_words({"ratings": {"awe": 5, "fear": 0, "joy": None}})
    'awe 5, fear 0; 1 not rated'
    >>> answer_words({"chosen": ["joy", "pride"]})
    'joy, pride'
    """
    if isinstance(answer.get("ratings"), dict):
        ratings = answer["ratings"]
        rated = {label: value for label, value in ratings.items() if value is not None}
        # The strongest first: with forty labels most are 0.
        ranked = sorted(rated.items(), key=lambda one: (-float(one[1]), one[0]))
        words = ", ".join(f"{label} {value:g}" for label, value in ranked)
        left = len(ratings) - len(rated)
        return words + (f"; {left} not rated" if left else "")
    if isinstance(answer.get("chosen"), list):
        words = ", ".join(str(label) for label in answer["chosen"]) or "none"
        suggestion = answer.get("suggestion")
        return f"{words}; suggests {suggestion!r}" if suggestion else words
    if isinstance(answer.get("entries"), list):
        pairs = (" – ".join(str(value) for value in one.values()) for one in answer["entries"])
        return "; ".join(pairs)
    if set(answer) == {"value"}:
        value = answer["value"]
        return f"{value:g}" if isinstance(value, int | float) else str(value)
    return json.dumps(answer, ensure_ascii=False)


def _session(store: Store, row: RowMapping) -> dict[str, Any]:
    finished = row["finished_at"]
    return {
        "id": row["id"],
        "rater": pseudonym(store, row["participant_id"]),
        "kind": row["kind"],
        "stage": row["stage"],
        "verdict": row["verdict"],
        "started_at": row["started_at"],
        "last_seen_at": row["last_seen_at"],
        "finished_at": finished,
        "minutes": None if finished is None else round((finished - row["started_at"]) / 60_000, 1),
        "quiz_attempts": row["quiz_attempts"],
        "batch": row["batch"],
        # What the policy, or a person, says of paying; kept apart from whether answers count.
        "pay": row["pay"],
        "reasons": json.loads(row["reasons"]),
    }


def _add_work(connection: Connection, found: list[dict[str, Any]]) -> None:
    """Add what was answered in each of some sessions."""
    rows = connection.execute(
        select(trials.c.session_id, answers.c.rt_ms, answers.c.valid)
        .join(answers, answers.c.trial_id == trials.c.id)
        .where(trials.c.session_id.in_([one["id"] for one in found]))
    ).all()
    for one in found:
        own = [row for row in rows if row.session_id == one["id"]]
        times = [row.rt_ms / 1000 for row in own if row.rt_ms is not None]
        one["answers"] = len(own)
        one["valid"] = sum(bool(row.valid) for row in own)
        one["median_s"] = round(median(times), 2) if times else None


def _add_decisions(connection: Connection, found: list[dict[str, Any]]) -> None:
    """Add who decided on each of some sessions, when and why."""
    rows = connection.execute(
        select(events.c.session_id, events.c.at, events.c.body)
        .where(
            events.c.session_id.in_([one["id"] for one in found]),
            events.c.kind.in_(("accepted", "rejected")),
        )
        .order_by(events.c.id)
    ).all()
    last = {row.session_id: (row.at, json.loads(row.body)) for row in rows}
    for one in found:
        at, body = last.get(one["id"], (None, {}))
        one["decision"] = (
            None if at is None else {"at": at, "by": body.get("by"), "reason": body.get("reason")}
        )


def _trials(connection: Connection, store: Store, who: int) -> Iterator[dict[str, Any]]:
    rows = connection.execute(
        select(
            trials.c.session_id,
            trials.c.position,
            trials.c.kind,
            trials.c.label,
            trials.c.state,
            trials.c.stimulus_id,
            answers.c.value,
            answers.c.valid,
            answers.c.rt_ms,
            answers.c.submitted_at,
        )
        .outerjoin(answers, answers.c.trial_id == trials.c.id)
        .where(trials.c.participant_id == who)
        .order_by(trials.c.session_id, trials.c.position)
        .limit(_MOST_TRIALS)
    )
    for row in rows.mappings():
        content = store.content[row["stimulus_id"]]
        yield {
            "session": row["session_id"],
            "position": row["position"],
            "kind": row["kind"],
            "stimulus": content["name"],
            "pictures": [f"{row['stimulus_id']}/{place}" for place in range(len(content["files"]))],
            "texts": content["texts"],
            "label": row["label"],
            "state": row["state"],
            "answer": None if row["value"] is None else answer_words(json.loads(row["value"])),
            "valid": row["valid"],
            "seconds": None if row["rt_ms"] is None else round(row["rt_ms"] / 1000, 1),
            "at": row["submitted_at"],
        }


def _events(connection: Connection, who: int) -> Iterator[dict[str, Any]]:
    rows = connection.execute(
        select(events.c.id, events.c.at, events.c.kind, events.c.session_id, events.c.body)
        .where(events.c.participant_id == who, events.c.kind.not_in(_QUIET))
        .order_by(events.c.id)
    )
    for row in rows.mappings():
        body = json.loads(row["body"])
        told = {key: body[key] for key in ("by", "reason", "attempt") if key in body}
        yield {
            **{key: row[key] for key in ("id", "at", "kind")},
            "session": row["session_id"],
        } | told
