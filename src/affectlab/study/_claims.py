"""Who gets which task: claims are leases that expire, and counts never run ahead of work."""

from __future__ import annotations

import json
import random
from typing import Any

from sqlalchemy import Connection, and_, exists, func, insert, select, update

from affectlab.study._database import now_ms
from affectlab.study._store import Store, log
from affectlab.study._tables import tasks, trials

__all__ = ["claim", "expire", "left_over", "release", "renew", "retake", "withhold"]


def expire(connection: Connection, now: int | None = None) -> int:
    """Take back tasks whose lease has run out; give how many."""
    now = now_ms() if now is None else now
    late = (
        update(trials)
        .where(trials.c.state == "open", trials.c.lease_until < now)
        .values(state="expired")
        .returning(trials.c.task_id)
    )
    return _free(connection, [row[0] for row in connection.execute(late)])


def claim(
    connection: Connection, store: Store, session: int, participant: int, seed: int
) -> list[int]:
    """Lease tasks to a session and lay out its trials; give their tasks, none when none is free.

    The tasks with the fewest answers go first, so that coverage is even whenever a study stops.
    The order within the session, and the places of golden and repeated trials, are drawn from the
    session's seed and stored.
    """
    expire(connection)
    wanted = store.study.design.sessions.trials
    mine = exists().where(trials.c.task_id == tasks.c.id, trials.c.participant_id == participant)
    free = (
        select(tasks.c.id, tasks.c.stimulus_id, tasks.c.label)
        .where(tasks.c.wanted > tasks.c.valid + tasks.c.leased, ~mine)
        .order_by(tasks.c.valid + tasks.c.leased, tasks.c.rank)
        .limit(wanted)
    )
    if not store.database.is_sqlite:
        # Two servers that look at once get different tasks, and neither waits for the other.
        free = free.with_for_update(skip_locked=True, of=tasks)
    found = connection.execute(free).all()
    if not found:
        return []
    ids = [row.id for row in found]
    connection.execute(update(tasks).where(tasks.c.id.in_(ids)).values(leased=tasks.c.leased + 1))
    rows = _laid_out(store, found, seed)
    until = lease_end(store)
    first = 1 + int(
        connection.execute(
            select(func.coalesce(func.max(trials.c.position), 0)).where(
                trials.c.session_id == session
            )
        ).scalar_one()
    )
    connection.execute(
        insert(trials),
        [
            {
                "session_id": session,
                "participant_id": participant,
                "position": position,
                "lease_until": until,
                **row,
            }
            for position, row in enumerate(rows, start=first)
        ],
    )
    log(connection, "claimed", participant=participant, session=session, body={"tasks": ids})
    return ids


def lease_end(store: Store) -> int:
    """Time at which a lease that begins now runs out."""
    return now_ms() + round(store.study.design.sessions.lease_minutes * 60_000)


def renew(connection: Connection, store: Store, session: int) -> None:
    """Extend the leases of the trials that a session has still to answer.

    Only once a tenth of their time is gone, so that not every answer rewrites all that follow.
    """
    until = lease_end(store)
    late = until - round(store.study.design.sessions.lease_minutes * 6_000)
    connection.execute(
        update(trials)
        .where(
            trials.c.session_id == session,
            trials.c.state == "open",
            trials.c.lease_until < late,
        )
        .values(lease_until=until)
    )


def retake(connection: Connection, store: Store, session: int, participant: int) -> None:
    """Lease again what a session held too long, where it is still wanted; drop the rest.

    Someone who comes back late goes on with what nobody else has done meanwhile.
    """
    gone = connection.execute(
        select(trials.c.id, trials.c.task_id)
        .where(trials.c.session_id == session, trials.c.state == "expired")
        .order_by(trials.c.task_id)
    ).all()
    if not gone:
        return
    back: list[int] = []
    dropped: list[int] = []
    for trial, task in gone:
        if task is None:
            back.append(trial)
            continue
        taken = connection.execute(
            update(tasks)
            .where(tasks.c.id == task, tasks.c.wanted > tasks.c.valid + tasks.c.leased)
            .values(leased=tasks.c.leased + 1)
        )
        (back if taken.rowcount else dropped).append(trial)
    for found, state in ((back, "open"), (dropped, "skipped")):
        if found:
            connection.execute(
                update(trials)
                .where(trials.c.id.in_(found))
                .values(state=state, lease_until=lease_end(store))
            )
    body = {"again": len(back), "dropped": len(dropped)}
    log(connection, "retaken", participant=participant, session=session, body=body)


def release(connection: Connection, session: int) -> int:
    """Give back what a session has not answered; give how many tasks."""
    gone = (
        update(trials)
        .where(trials.c.session_id == session, trials.c.state == "open")
        .values(state="expired")
        .returning(trials.c.task_id)
    )
    return _free(connection, [row[0] for row in connection.execute(gone)])


def withhold(connection: Connection, trial: int, task: int | None) -> None:
    """Skip one trial, and give its task back."""
    connection.execute(update(trials).where(trials.c.id == trial).values(state="skipped"))
    if task is not None:
        _free(connection, [task])


def left_over(connection: Connection, participant: int) -> tuple[int, int | None]:
    """Count what this participant could still get once others' leases end.

    Returns
    -------
    Tasks that others hold and that would be free for the participant, and the time at which the
    first of these leases runs out.
    """
    mine = trials.alias()
    seen = exists().where(mine.c.task_id == tasks.c.id, mine.c.participant_id == participant)
    row = connection.execute(
        select(func.count(func.distinct(tasks.c.id)), func.min(trials.c.lease_until))
        .select_from(tasks.join(trials, trials.c.task_id == tasks.c.id))
        .where(and_(trials.c.state == "open", tasks.c.wanted > tasks.c.valid), ~seen)
    ).one()
    return int(row[0]), None if row[1] is None else int(row[1])


def _free(connection: Connection, leased: list[int | None]) -> int:
    """Count leases down. Golden and repeated trials have no task."""
    held: dict[int, int] = {}
    for task in leased:
        if task is not None:
            held[task] = held.get(task, 0) + 1
    # One order for all, so that two servers that count down at once never wait in a circle.
    for task, times in sorted(held.items()):
        connection.execute(
            update(tasks).where(tasks.c.id == task).values(leased=tasks.c.leased - times)
        )
    return len(held)


def _laid_out(store: Store, found: Any, seed: int) -> list[dict[str, Any]]:
    """Order the trials of a session: training first, then the rest mixed."""
    drawn = random.Random(seed)
    checks = store.study.protocol.checks
    main = [
        {"kind": "main", "task_id": row.id, "stimulus_id": row.stimulus_id, "label": row.label}
        for row in found
    ]
    known = [
        (number, label)
        for number, content in store.content.items()
        if content["kind"] == "golden"
        for label in (content["expected"] if _one_label(store) else [""])
    ]
    golden = [
        {"kind": "golden", "task_id": None, "stimulus_id": number, "label": label}
        for number, label in drawn.sample(known, min(checks.golden, len(known)))
    ]
    mixed = main + golden
    drawn.shuffle(mixed)
    _repeat(mixed, checks.repeats, drawn)
    training = [
        {"kind": "training", "task_id": None, "stimulus_id": number, "label": label}
        for number, content in store.content.items()
        if content["kind"] == "training"
        for label in (content["expected"] if _one_label(store) else [""])
    ]
    swap = store.study.protocol.input.swap_sides
    rows = training + mixed
    for row in rows:
        layout = {"swapped": drawn.random() < 0.5} if swap else {}
        row["layout"] = json.dumps(layout)
    return rows


def _one_label(store: Store) -> bool:
    return store.study.protocol.asks.per_trial == "one"


def _repeat(mixed: list[dict[str, Any]], repeats: int, drawn: random.Random) -> None:
    """Put some of the main trials in again, in the second half and never next to their first."""
    places = [place for place, row in enumerate(mixed) if row["kind"] == "main"]
    early = places[: max(1, len(places) // 2)] if len(places) > 2 else []
    again = [mixed[place] for place in drawn.sample(early, min(repeats, len(early)))]
    for row in again:
        first = mixed.index(row)
        place = drawn.randint(max(len(mixed) // 2, first + 2), len(mixed))
        mixed.insert(place, {**row, "kind": "repeat", "task_id": None})
