"""How far a study is, in numbers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, case, exists, func, select

from affectlab.core.words import count, percent, plural
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

_NAMED = 5
"""Stimuli of a kind that are named in words."""


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

    def rows(self) -> list[tuple[str, str]]:
        """Say all of it in words: name and text of each row."""
        share = self.valid / self.wanted if self.wanted else 0.0
        pace = "–" if self.seconds_per_trial is None else f"{self.seconds_per_trial:.1f} s"
        return [
            ("study", f"{self.name} ({self.status})"),
            (
                "visitors",
                f"{count(self.participants)}, of these {count(self.simulated)} simulated",
            ),
            ("took part", plural(self.consented, "person", "people")),
            ("sessions", ", ".join(f"{n} {stage}" for stage, n in sorted(self.sessions.items()))),
            ("ended, why", ", ".join(f"{n} {why}" for why, n in self.ended.items())),
            *([("withdrawn", plural(self.withdrawn, "session"))] if self.withdrawn else []),
            ("answers", f"{count(self.answers)}, of these {count(self.rejected)} rejected"),
            *([("trials left out", count(self.skipped))] if self.skipped else []),
            ("sessions rejected", _rejected(self)),
            ("valid", f"{count(self.valid)} of {count(self.wanted)} wanted ({percent(share)})"),
            *([("valid beyond these", count(self.surplus))] if self.surplus else []),
            *([("stimuli that lack some", _some(self.below))] if self.below else []),
            *([("of these, not on this machine", _some(self.unshown))] if self.unshown else []),
            ("tasks done", f"{count(self.tasks_done)} of {count(self.tasks)}"),
            *_batches(self),
            *(
                [("pilot", f"{count(self.pilot_valid)} of {count(self.pilot_wanted)} wanted")]
                if self.pilot_wanted
                else []
            ),
            ("tasks held now", count(self.leased)),
            ("time per trial", pace),
            *([("requests refused", count(self.refused))] if self.refused else []),
        ]


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


def _some(names: tuple[str, ...]) -> str:
    """Count stimuli, and name the first of them."""
    more = ", …" if len(names) > _NAMED else ""
    return f"{count(len(names))} ({', '.join(names[:_NAMED])}{more})"


def _batches(found: StudyStatus) -> list[tuple[str, str]]:
    """Say how far the batches are, where they are kept whole."""
    if found.batches is None:
        return []
    done = f"{count(found.batches.done)} of {count(found.batches.batches)}"
    sessions = f"{count(found.batches.sessions)} of {count(found.batches.wanted)}"
    return [("batches done", done), ("valid sessions", f"{sessions} wanted")]


def _rejected(found: StudyStatus) -> str:
    """Say how many sessions do not count, and what the policy held against them."""
    rules = ", ".join(f"{rule} {n}" for rule, n in found.reasons.items())
    text = f"{found.rejected_sessions}"
    if found.judged:
        text += f" of {found.judged} judged; not to be paid: {found.unpaid}"
    return f"{text} ({rules})" if rules else text
