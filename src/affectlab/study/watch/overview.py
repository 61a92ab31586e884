"""How a study goes, in numbers that are cheap to ask for: progress, pace, coverage, cost."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, case, cast, func, select

from affectlab.study.database import now_ms
from affectlab.study.delivery import BundleProgress, bundle_progress
from affectlab.study.design import STAGES
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import (
    answers,
    events,
    participants,
    sessions,
    stimuli,
    studies,
    tasks,
    trials,
)

__all__ = [
    "Cost",
    "Overview",
    "Pace",
    "Progress",
    "last_event",
    "overview",
    "stimulus_coverage",
    "waits_for_decision",
]

_ACTIVE_MS = 5 * 60_000
_PACE_MS = 60 * 60_000
_BUCKETS = 48
_MOST_CELLS = 600
"""Stimuli above which coverage is told as a distribution."""
_NOTABLE = (
    "entered",
    "completed",
    "ended",
    "withdrawn",
    "accepted",
    "rejected",
    "study_status",
)
_MOST_ACTIVITY = 20
_MAIN = tasks.c.batch != "pilot"


@dataclass(frozen=True)
class Progress:
    """What is done of what is wanted."""

    tasks: int
    tasks_done: int
    wanted: int
    """Valid answers that all tasks want, as far as is known now."""
    counted: int
    """Valid answers, those beyond what a task wants left out."""
    answers: int
    """Answers of all trials, golden and repeated ones too."""
    rejected: int
    """Of these, answers that do not count."""
    skipped: int
    """Trials that were left out because their pictures did not load."""
    held: int
    """Tasks that somebody holds now."""
    pilot: tuple[int, int]
    """Valid answers to tasks of the pilot, and those wanted, which count nowhere else here."""
    batches: BundleProgress | None
    """Of a study that keeps batches whole."""


@dataclass(frozen=True)
class Pace:
    """How quickly answers come."""

    active: int
    """Unfinished sessions that were seen within five minutes."""
    per_hour: float
    """Valid answers to tasks in the last hour, or since the first one where that is less."""
    hours_left: float | None
    """Hours that are left at this pace; None without answers lately."""
    first_at: int | None
    """Time of the first answer, in milliseconds since 1970."""
    bucket_ms: int
    """Width of the parts of `buckets`."""
    buckets: tuple[int, ...]
    """Answers per part of the time since the first one."""


@dataclass(frozen=True)
class Cost:
    """What the study costs, platform fees not counted."""

    pay: float
    currency: str
    sessions: int
    """Completed sessions that are not rejected, or are paid though their answers do not count."""
    spent: float
    per_answer: float | None
    """Payment per valid answer; None before the first completed session."""
    projected_sessions: int
    """Sessions to be paid when all tasks are done, if those to come are like those before."""
    projected: float


@dataclass(frozen=True)
class Overview:
    """How a study goes."""

    event: int
    """Number of the last event that it knows of."""
    at: int
    """When it was made, in milliseconds since 1970."""
    name: str
    title: str
    status: str
    protocol: str
    platform: str
    humans: int
    simulated: int
    progress: Progress
    pace: Pace
    cost: Cost | None
    """None where the study file names no payment."""
    stages: tuple[tuple[str, int], ...]
    """Sessions by stage, in the order of the stages."""
    verdicts: dict[str, int]
    """Completed sessions by verdict: ``waiting``, ``accepted``, ``rejected``."""
    depth: tuple[tuple[int, int], ...]
    """Pairs of valid answers and the number of tasks that have so many."""
    coverage: tuple[float, ...]
    """Share that is done of every stimulus, in order; empty where there are too many of them."""
    activity: tuple[dict[str, Any], ...]
    """What happened lately, the latest first."""


def last_event(connection: Connection) -> int:
    """Give the number of the last event, which changes whenever anything does."""
    return int(connection.execute(select(func.coalesce(func.max(events.c.id), 0))).scalar_one())


def overview(store: Store) -> Overview:
    """Say how a study goes. Nothing is written, so that nobody who answers waits for it."""
    now = now_ms()
    design = store.study.design
    with store.database.read() as connection:
        event = last_event(connection)
        status = str(connection.execute(select(studies.c.status)).scalar_one())
        people = _counts(connection, participants.c.kind)
        progress = _progress(connection, now)
        stages, verdicts = _sessions(connection)
        pace = _pace(connection, now, progress)
        depth = connection.execute(
            select(tasks.c.valid, func.count())
            .where(_MAIN)
            .group_by(tasks.c.valid)
            .order_by(tasks.c.valid)
        ).all()
        return Overview(
            event=event,
            at=now,
            name=design.study.name,
            title=design.study.title,
            status=status,
            protocol=store.study.protocol.name,
            platform=design.recruitment.platform,
            humans=people.get("human", 0),
            simulated=people.get("simulated", 0),
            progress=progress,
            pace=pace,
            cost=_cost(connection, store, progress),
            stages=stages,
            verdicts=verdicts,
            depth=tuple((int(valid), int(n)) for valid, n in depth),
            coverage=_coverage(connection),
            activity=_activity(connection, store),
        )


def waits_for_decision() -> ColumnElement[bool]:
    """Tell completed sessions that nobody has decided on.

    Of those whose participant has withdrawn, it can still be decided whether they are paid.
    """
    withdrawn = (sessions.c.verdict == "withdrawn") & (sessions.c.pay == "")
    return (sessions.c.stage == "complete") & ((sessions.c.verdict == "") | withdrawn)


def stimulus_coverage(store: Store, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """Give the stimuli with the least done first: how many there are, and some of them."""
    done, wanted = _share_of(tasks)
    with store.database.read() as connection:
        n = select(func.count(func.distinct(tasks.c.stimulus_id))).where(_MAIN)
        total = int(connection.execute(n).scalar_one())
        rows = connection.execute(
            select(
                stimuli.c.name,
                done.label("done"),
                wanted.label("wanted"),
                func.sum(tasks.c.leased).label("held"),
            )
            .join(tasks, tasks.c.stimulus_id == stimuli.c.id)
            .where(_MAIN)
            .group_by(stimuli.c.id, stimuli.c.name)
            .order_by(done * 1.0 / wanted, stimuli.c.id)
            .offset(offset)
            .limit(limit)
        ).mappings()
        return total, [
            {"stimulus": row["name"], **{k: int(row[k]) for k in ("done", "wanted", "held")}}
            for row in rows
        ]


def _counts(connection: Connection, column: Any) -> dict[str, int]:
    rows = connection.execute(select(column, func.count()).group_by(column))
    return {str(value): int(n) for value, n in rows}


def _share_of(table: Any) -> tuple[Any, Any]:
    done = case((table.c.valid < table.c.wanted, table.c.valid), else_=table.c.wanted)
    return func.sum(done), func.sum(table.c.wanted)


def _progress(connection: Connection, now: int) -> Progress:
    done, wanted = _share_of(tasks)
    full = func.sum(case((tasks.c.valid >= tasks.c.wanted, 1), else_=0))
    counts = select(func.count(), full, wanted, done).select_from(tasks)
    row = connection.execute(counts.where(_MAIN)).one()
    pilot = connection.execute(counts.where(~_MAIN)).one()
    given = _counts(connection, answers.c.valid)
    held = connection.execute(
        select(func.count()).where(
            trials.c.state == "open", trials.c.task_id.is_not(None), trials.c.lease_until >= now
        )
    ).scalar_one()
    skipped = connection.execute(
        select(func.count()).select_from(events).where(events.c.kind == "skipped")
    ).scalar_one()
    n_tasks, n_done, n_wanted, n_counted = (int(value or 0) for value in row)
    return Progress(
        tasks=n_tasks,
        tasks_done=n_done,
        wanted=n_wanted,
        counted=n_counted,
        answers=sum(given.values()),
        rejected=given.get("False", 0),
        skipped=int(skipped),
        held=int(held),
        pilot=(int(pilot[3] or 0), int(pilot[2] or 0)),
        batches=bundle_progress(connection),
    )


def _sessions(connection: Connection) -> tuple[tuple[tuple[str, int], ...], dict[str, int]]:
    rows = connection.execute(
        select(sessions.c.stage, sessions.c.verdict, func.count()).group_by(
            sessions.c.stage, sessions.c.verdict
        )
    ).all()
    by_stage: dict[str, int] = {}
    verdicts = {"accepted": 0, "rejected": 0}
    for stage, verdict, n in rows:
        by_stage[stage] = by_stage.get(stage, 0) + int(n)
        if verdict in verdicts:
            verdicts[verdict] += int(n)
    waiting = connection.execute(select(func.count()).where(waits_for_decision())).scalar_one()
    verdicts["waiting"] = int(waiting)
    order = (*STAGES[:-1], "waiting", "complete", "ended")
    known = [(stage, by_stage.pop(stage)) for stage in order if stage in by_stage]
    return tuple(known + sorted(by_stage.items())), verdicts


def _pace(connection: Connection, now: int, progress: Progress) -> Pace:
    unfinished = sessions.c.stage.not_in(("complete", "ended"))
    active = connection.execute(
        select(func.count()).where(unfinished, sessions.c.last_seen_at > now - _ACTIVE_MS)
    ).scalar_one()
    first, last = connection.execute(
        select(func.min(answers.c.submitted_at), func.max(answers.c.submitted_at))
    ).one()
    if first is None:
        return Pace(int(active), 0.0, None, None, 1, ())
    since = max(int(first), now - _PACE_MS)
    lately = connection.execute(
        select(func.count())
        .select_from(answers.join(trials))
        .where(
            answers.c.submitted_at >= since,
            answers.c.valid.is_(True),
            trials.c.task_id.is_not(None),
        )
    ).scalar_one()
    # Of a study that began a moment ago, a minute is the least to tell a pace from.
    per_hour = int(lately) * 3_600_000 / max(60_000, now - since)
    left = progress.wanted - progress.counted
    width = max(1_000, math.ceil((int(last) - int(first) + 1) / _BUCKETS))
    place = cast((answers.c.submitted_at - int(first)) // width, Integer).label("place")
    counts = [0] * (1 + (int(last) - int(first)) // width)
    # Answers that come while this is read lie in the last part, or are told the next time.
    for part, n in connection.execute(select(place, func.count()).group_by("place")).all():
        counts[min(int(part), len(counts) - 1)] += int(n)
    hours = left / per_hour if per_hour else None
    return Pace(int(active), per_hour, hours if left else 0.0, int(first), width, tuple(counts))


def _cost(connection: Connection, store: Store, progress: Progress) -> Cost | None:
    recruitment = store.study.design.recruitment
    if recruitment.pay is None:
        return None
    # Paying and using are two things: work that does not count may be paid all the same.
    paid = (sessions.c.stage == "complete") & (
        (sessions.c.pay == "yes")
        | (sessions.c.verdict == "accepted")
        | ((sessions.c.verdict != "rejected") & (sessions.c.pay != "no"))
    )
    counts = select(sessions.c.batch, func.count()).where(paid).group_by(sessions.c.batch)
    by_batch = {str(batch): int(n) for batch, n in connection.execute(counts).all()}
    n = sum(by_batch.values())
    n_main = n - by_batch.get("pilot", 0)
    useful = int(
        connection.execute(
            select(func.count())
            .select_from(answers.join(trials).join(sessions, sessions.c.id == trials.c.session_id))
            .where(
                paid,
                sessions.c.batch != "pilot",
                answers.c.valid.is_(True),
                trials.c.task_id.is_not(None),
            )
        ).scalar_one()
    )
    spent = n * recruitment.pay
    left = progress.wanted - progress.counted
    per_session = useful / n_main if useful else float(store.study.design.sessions.trials)
    sessions_left = math.ceil(left / per_session)
    if progress.batches is not None:
        sessions_left = progress.batches.wanted - progress.batches.sessions
    return Cost(
        pay=recruitment.pay,
        currency=recruitment.currency,
        sessions=n,
        spent=spent,
        per_answer=n_main * recruitment.pay / useful if useful else None,
        projected_sessions=n + sessions_left,
        projected=spent + sessions_left * recruitment.pay,
    )


def _coverage(connection: Connection) -> tuple[float, ...]:
    done, wanted = _share_of(tasks)
    rows = connection.execute(
        select(done, wanted)
        .where(_MAIN)
        .group_by(tasks.c.stimulus_id)
        .order_by(tasks.c.stimulus_id)
        .limit(_MOST_CELLS + 1)
    ).all()
    if len(rows) > _MOST_CELLS:
        return ()
    return tuple(round(float(a) / float(b), 3) if b else 1.0 for a, b in rows)


def _activity(connection: Connection, store: Store) -> tuple[dict[str, Any], ...]:
    rows = connection.execute(
        select(events)
        .where(events.c.kind.in_(_NOTABLE))
        .order_by(events.c.id.desc())
        .limit(_MOST_ACTIVITY)
    ).mappings()
    found = []
    for row in rows:
        body = json.loads(row["body"])
        who = row["participant_id"]
        found.append(
            {
                "id": row["id"],
                "at": row["at"],
                "kind": row["kind"],
                "rater": None if who is None else pseudonym(store, who),
                "session": row["session_id"],
                "by": body.get("by"),
                "reason": body.get("reason"),
                "status": body.get("status"),
            }
        )
    return tuple(found)
