"""How far a study is, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from affectlab.study._claims import expire
from affectlab.study._store import Store
from affectlab.study._tables import answers, participants, sessions, studies, tasks, trials

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
    sessions: dict[str, int]
    """Sessions by stage."""
    answers: int
    """Answers of all trials."""
    rejected: int
    """Of these, answers that do not count."""
    tasks: int
    tasks_done: int
    """Tasks with all the valid answers they want."""
    valid: int
    """Valid answers to tasks."""
    wanted: int
    """Valid answers that all tasks want, as far as is known now."""
    leased: int
    """Tasks that somebody holds now."""
    seconds_per_trial: float | None
    """Median time of an answer, in seconds; None without answers."""


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
        todo = select(func.count()).select_from(tasks)
        return StudyStatus(
            name=study["name"],
            status=study["status"],
            participants=number(people),
            simulated=number(people.where(participants.c.kind == "simulated")),
            sessions={str(stage): int(n) for stage, n in by_stage},
            answers=number(given),
            rejected=number(given.where(answers.c.valid.is_(False))),
            tasks=number(todo),
            tasks_done=number(todo.where(tasks.c.valid >= tasks.c.wanted)),
            valid=number(select(func.sum(tasks.c.valid))),
            wanted=number(select(func.sum(tasks.c.wanted))),
            leased=number(
                select(func.count()).where(trials.c.state == "open", trials.c.task_id.is_not(None))
            ),
            seconds_per_trial=None if middle is None else middle / 1000,
        )
