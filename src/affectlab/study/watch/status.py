"""How far a study is, in numbers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, case, exists, func, select

from affectlab.study.delivery import BundleProgress, bundle_progress, expire
from affectlab.study.design import can_be_shown
from affectlab.study.store import Store
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

__all__ = ["StudyStatus", "study_status"]


@dataclass(frozen=True)
class StudyStatus:
    """Counts of a study."""

    name: str
    status: str
    """``open``, ``paused`` or ``closed``."""
    participants: int
    simulated: int
    """Of the participants, those that are simulated."""
    consented: int
    """Of the participants, those who agreed to the consent; all who began, where there is none."""
    sessions: dict[str, int]
    """Sessions by stage."""
    ended: dict[str, int]
    """Sessions that ended without completion, by why: ``declined``, ``full``, ``quiz``, …"""
    withdrawn: int
    """Sessions from which the participant withdrew, also after completion."""
    under_way: int
    """Sessions that are neither complete nor ended."""
    answers: int
    """Answers of all trials."""
    rejected: int
    """Of these, answers that do not count."""
    tasks: int
    tasks_done: int
    """Tasks with all the valid answers they want."""
    valid: int
    """Valid answers to tasks, those beyond what a task wants left out."""
    wanted: int
    """Valid answers that all tasks want, as far as is known now."""
    surplus: int
    """Valid answers beyond what their tasks want."""
    below: tuple[str, ...]
    """Stimuli that still lack valid answers."""
    unshown: tuple[str, ...]
    """Of these, stimuli whose pictures are not on this machine: nobody can be asked about them."""
    pilot_valid: int
    """Valid answers to tasks of the pilot, which count nowhere else here; without surplus."""
    pilot_wanted: int
    judged: int
    """Completed sessions that the policy has judged; 0 where nothing judges them."""
    unpaid: int
    """Of these, sessions that the policy would not pay."""
    rejected_sessions: int
    """Sessions whose answers do not count, whoever decided it."""
    reasons: dict[str, int]
    """Sessions by the rule of the policy that was held against them."""
    refused: int
    """Requests that were refused, such as forged, repeated or oversized ones; see the log of the
    dashboard."""
    leased: int
    """Tasks that somebody holds now."""
    skipped: int
    """Trials that participants left out because their pictures did not load."""
    seconds_per_trial: float | None
    """Median time of an answer, in seconds; None without answers."""
    batches: BundleProgress | None = None
    """Of a study that keeps batches whole."""


def study_status(store: Store) -> StudyStatus:
    """Count what a study holds; leases that have run out are given back first."""
    with store.database.write() as connection:
        expire(connection)
    with store.database.read() as connection:

        def number(query: object) -> int:
            return int(connection.execute(query).scalar_one() or 0)  # type: ignore[call-overload]

        study = connection.execute(select(studies)).mappings().one()
        by_stage = connection.execute(
            select(sessions.c.stage, func.count()).group_by(sessions.c.stage)
        ).all()
        n_timed = number(select(func.count(answers.c.rt_ms)))
        middle = connection.execute(
            select(answers.c.rt_ms)
            .where(answers.c.rt_ms.is_not(None))
            .order_by(answers.c.rt_ms)
            .offset(n_timed // 2)
            .limit(1)
        ).scalar_one_or_none()
        people = select(func.count()).select_from(participants)
        given = select(func.count()).select_from(answers)
        # The pilot's tasks are not the main study's.
        main, pilot = tasks.c.batch != "pilot", tasks.c.batch == "pilot"
        todo = select(func.count()).select_from(tasks).where(main)
        capped = case((tasks.c.valid < tasks.c.wanted, tasks.c.valid), else_=tasks.c.wanted)
        below = connection.execute(
            select(stimuli.c.name, stimuli.c.content)
            .where(
                exists().where(
                    main, tasks.c.stimulus_id == stimuli.c.id, tasks.c.valid < tasks.c.wanted
                )
            )
            .order_by(stimuli.c.id)
        ).all()
        return StudyStatus(
            name=study["name"],
            status=study["status"],
            participants=number(people),
            simulated=number(people.where(participants.c.kind == "simulated")),
            consented=_consented(connection, store),
            sessions={str(stage): int(n) for stage, n in by_stage},
            ended=_ended(connection),
            withdrawn=number(select(func.count()).where(sessions.c.verdict == "withdrawn")),
            under_way=sum(int(n) for stage, n in by_stage if stage not in ("complete", "ended")),
            answers=number(given),
            rejected=number(given.where(answers.c.valid.is_(False))),
            tasks=number(todo),
            tasks_done=number(todo.where(tasks.c.valid >= tasks.c.wanted)),
            valid=number(select(func.sum(capped)).where(main)),
            wanted=number(select(func.sum(tasks.c.wanted)).where(main)),
            surplus=number(select(func.sum(tasks.c.valid - capped)).where(main)),
            below=tuple(row.name for row in below),
            unshown=tuple(row.name for row in below if not can_be_shown(store.study, row.content)),
            pilot_valid=number(select(func.sum(capped)).where(pilot)),
            pilot_wanted=number(select(func.sum(tasks.c.wanted)).where(pilot)),
            judged=number(select(func.count()).where(sessions.c.pay != "")),
            unpaid=number(select(func.count()).where(sessions.c.pay == "no")),
            rejected_sessions=number(select(func.count()).where(sessions.c.verdict == "rejected")),
            reasons=_reasons(connection),
            refused=_refused(connection),
            leased=number(
                select(func.count()).where(trials.c.state == "open", trials.c.task_id.is_not(None))
            ),
            skipped=number(select(func.count()).where(events.c.kind == "skipped")),
            seconds_per_trial=None if middle is None else middle / 1000,
            batches=bundle_progress(connection),
        )


def _refused(connection: Connection) -> int:
    """Count refused requests, those among them that came too fast to be listed."""
    found = connection.execute(select(events.c.body).where(events.c.kind == "refused"))
    return sum(1 + int(json.loads(body).get("unlogged", 0)) for (body,) in found)


def _consented(connection: Connection, store: Store) -> int:
    """Count the participants who took part, as against those who only opened the page."""
    if store.study.design.consent is not None:
        chosen = select(func.count()).where(participants.c.consented_at.is_not(None))
    else:
        away = sessions.c.verdict.in_(("full", "ineligible"))
        chosen = select(func.count(func.distinct(sessions.c.participant_id))).where(~away)
    return int(connection.execute(chosen).scalar_one())


def _ended(connection: Connection) -> dict[str, int]:
    found = connection.execute(
        select(sessions.c.verdict, func.count())
        .where(sessions.c.stage == "ended")
        .group_by(sessions.c.verdict)
    )
    return {str(verdict): int(n) for verdict, n in sorted(found.all())}


def _reasons(connection: Connection) -> dict[str, int]:
    found = connection.execute(select(sessions.c.reasons).where(sessions.c.reasons != "[]"))
    rules = Counter(reason["rule"] for (one,) in found for reason in json.loads(one))
    return dict(rules.most_common())
