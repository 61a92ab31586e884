"""Who gets which task: claims are leases that expire, and counts never run ahead of work."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    select,
    update,
)

from affectlab.study.database import TASKS, drawn_order, hold, now_ms
from affectlab.study.delivery.batches import (
    any_bundle,
    first_release,
    give_up_place,
    is_bundled,
    take_bundle,
    take_place_again,
)
from affectlab.study.design import block_of
from affectlab.study.store import Store, log
from affectlab.study.tables import sessions, tasks, trials

__all__ = [
    "anything_left",
    "balanced_sides",
    "claim",
    "expire",
    "hold_tasks",
    "is_renewal_due",
    "lease_end",
    "left_over",
    "release",
    "renew",
    "retake",
    "withhold",
]

_LAID_OUT = insert(trials)
_LAID_OUT_AT_ONCE = _LAID_OUT.returning(trials.c.id)
"""What returns something is sent as one statement for all rows."""
_BEFORE = select(
    sessions.c.batch,
    select(func.coalesce(func.max(trials.c.position), 0))
    .where(trials.c.session_id == bindparam("session"))
    .scalar_subquery(),
).where(sessions.c.id == bindparam("session"))
"""The batch of a session, and the position of the last trial that it has."""
_LATE = (
    select(trials.c.id)
    .where(trials.c.state == "open", trials.c.lease_until < bindparam("now"))
    .limit(1)
)


def hold_tasks(connection: Connection) -> None:
    """Let nobody else wait for the counts of several tasks until this transaction ends.

    Whoever may have to wait for more than one task asks for this first, so that two never wait in a
    circle, and a claim never misses what another one is just giving back or leasing at the end of
    the work. An answer, which counts one task, goes on meanwhile; so does a claim that finds enough
    tasks which nobody is changing, and waits for none.
    """
    hold(connection, TASKS)


def expire(connection: Connection, now: int | None = None) -> int:
    """Take back tasks whose lease has run out; give how many.

    A session that is being answered in this moment is not idle, and keeps what it holds.
    """
    now = now_ms() if now is None else now
    # Nearly always nothing is late: who comes to claim tasks need not wait for others to know it.
    if connection.execute(_LATE, {"now": now}).first() is None:
        return 0
    hold_tasks(connection)
    late = update(trials).where(trials.c.state == "open", trials.c.lease_until < now)
    if connection.dialect.name == "postgresql":
        idle = (
            select(trials.c.id)
            .join(sessions, sessions.c.id == trials.c.session_id)
            .where(trials.c.state == "open", trials.c.lease_until < now)
            .with_for_update(skip_locked=True, of=sessions)
        )
        late = late.where(trials.c.id.in_(idle))
    late = late.values(state="expired").returning(trials.c.task_id, trials.c.session_id)
    rows = connection.execute(late).all()
    for session in sorted({row.session_id for row in rows}):
        give_up_place(connection, session)
    return _free(connection, [row.task_id for row in rows])


def claim(
    connection: Connection, store: Store, session: int, participant: int, seed: int
) -> list[int]:
    """Lease tasks to a session and lay out its trials; give their tasks, none when none is free.

    The tasks with the fewest answers go first, so that coverage is even whenever a study stops.
    Which of equally many answers go first is drawn for each session: people then share stimuli with
    many others, so that their ratings can be compared. The order within the session, and the places
    of golden and repeated trials, are drawn from the session's seed too, and stored.

    Where batches are kept whole, the tasks are those of one batch, and the batch with the fewest
    sessions goes first.
    """
    expire(connection)
    step = block_of(store.study.protocol)
    wanted = max(1, store.study.design.sessions.trials // step)
    batch, last = connection.execute(_BEFORE, {"session": session}).one()
    if is_bundled(store, batch):
        # Places are given out one after the other; answers go on meanwhile.
        hold_tasks(connection)
        found = take_bundle(connection, store, session, participant, seed)
    else:
        found = _found(connection, store, _free_tasks(batch, participant, seed, wanted), wanted)
    if not found:
        return []
    ids = [row.id for row in found]
    connection.execute(update(tasks).where(tasks.c.id.in_(ids)).values(leased=tasks.c.leased + 1))
    rows = _laid_out(store, found, seed)
    until = lease_end(store)
    connection.execute(
        _LAID_OUT if store.database.is_sqlite else _LAID_OUT_AT_ONCE,
        [
            {
                "session_id": session,
                "participant_id": participant,
                "position": last + number * step,
                "lease_until": until,
                **row,
            }
            for number, row in enumerate(rows, start=1)
        ],
    )
    log(connection, "claimed", participant=participant, session=session, body={"tasks": ids})
    return ids


def _free_tasks(batch: str, participant: int, seed: int, wanted: int) -> Select[Any]:
    """Select the tasks that a session could have, those first that have the fewest answers."""
    return (
        select(tasks.c.id, tasks.c.stimulus_id, tasks.c.label)
        .where(
            tasks.c.wanted > tasks.c.valid + tasks.c.leased,
            _of_batch(batch),
            ~_had(participant, trials),
        )
        .order_by(
            tasks.c.valid + tasks.c.leased,
            drawn_order(tasks.c.rank, f"{seed}:tasks"),
            tasks.c.rank,
        )
        .limit(wanted)
    )


def _found(
    connection: Connection, store: Store, free: Select[Any], wanted: int
) -> Sequence[Row[Any]]:
    """Find free tasks, and keep others from changing them until this transaction ends.

    On PostgreSQL a claim first passes over the tasks that others are changing in this moment: those
    who begin together then need not wait for each other. Each task it takes is looked at again as
    it is when nobody else can change it, so that none gets more leases than it wants. Only a claim
    that finds fewer than it should, as at the end of a study, lets go of them and waits in line,
    for answers that are being counted too, so that nobody gets too few for no reason.
    """
    if store.database.is_sqlite:
        return connection.execute(free).all()
    with connection.begin_nested() as attempt:
        found = connection.execute(
            free.with_for_update(of=tasks, key_share=True, skip_locked=True)
        ).all()
        if len(found) == wanted:
            return found
        # Whoever waits in line holds no task.
        attempt.rollback()
    hold_tasks(connection)
    return connection.execute(free.with_for_update(of=tasks, key_share=True)).all()


def lease_end(store: Store) -> int:
    """Time at which a lease that begins now runs out."""
    return now_ms() + round(store.study.design.sessions.lease_minutes * 60_000)


def renew(connection: Connection, store: Store, session: int, held_until: int | None) -> None:
    """Extend the leases of the trials that a session has still to answer.

    Only once a tenth of their time is gone, so that not every answer rewrites all that follow.

    Parameters
    ----------
    held_until
        When the lease of its next trial runs out.
    """
    if not is_renewal_due(store, held_until):
        return
    connection.execute(
        update(trials)
        .where(trials.c.session_id == session, trials.c.state == "open")
        .values(lease_until=lease_end(store))
    )


def is_renewal_due(store: Store, held_until: int | None) -> bool:
    """Whether so much of a lease is gone that it should begin anew."""
    if held_until is None:
        return True
    return lease_end(store) - held_until >= round(store.study.design.sessions.lease_minutes * 6_000)


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
    hold_tasks(connection)
    # A bundle is held as a whole, or not at all.
    whole = take_place_again(connection, session)
    back: list[int] = []
    dropped: list[int] = []
    for trial, task in gone:
        if task is None:
            back.append(trial)
            continue
        again = update(tasks).where(tasks.c.id == task).values(leased=tasks.c.leased + 1)
        if whole is None:
            again = again.where(tasks.c.wanted > tasks.c.valid + tasks.c.leased)
        taken = whole is not False and connection.execute(again).rowcount
        (back if taken else dropped).append(trial)
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
    hold_tasks(connection)
    gone = (
        update(trials)
        .where(trials.c.session_id == session, trials.c.state == "open")
        .values(state="expired")
        .returning(trials.c.task_id)
    )
    give_up_place(connection, session)
    return _free(connection, [row[0] for row in connection.execute(gone)])


def withhold(connection: Connection, trial: int) -> None:
    """Skip one trial that waits for its answer, and give its task back where it was held."""
    one = update(trials).where(trials.c.id == trial).values(state="skipped")
    held = one.where(trials.c.state == "open").returning(trials.c.task_id)
    _free(connection, [row[0] for row in connection.execute(held)])
    connection.execute(one.where(trials.c.state == "expired"))


def anything_left(
    connection: Connection, store: Store, batch: str, participant: int | None
) -> bool:
    """Say whether the main study, or the pilot, has anything for this participant.

    It may be free, or be held by somebody now.
    """
    if is_bundled(store, batch):
        return any_bundle(connection, participant)
    left = select(tasks.c.id).where(tasks.c.wanted > tasks.c.valid, _of_batch(batch)).limit(1)
    if participant is not None:
        left = left.where(~_had(participant, trials))
    return connection.execute(left).first() is not None


def _of_batch(batch: str) -> ColumnElement[bool]:
    """Tasks that sessions of a batch are given: those of the pilot, or all the others."""
    return tasks.c.batch == "pilot" if batch == "pilot" else tasks.c.batch != "pilot"


def _had(participant: int, theirs: FromClause) -> ColumnElement[bool]:
    """Tasks that the participant has had, or has had in the pilot."""
    return exists().where(
        theirs.c.participant_id == participant,
        theirs.c.stimulus_id == tasks.c.stimulus_id,
        theirs.c.label == tasks.c.label,
    )


def left_over(
    connection: Connection, store: Store, participant: int, batch: str = "main"
) -> tuple[int, int | None]:
    """Count what this participant could still get once others' leases end.

    Returns
    -------
    Tasks that others hold and that would be free for the participant, and the time at which the
    first of these leases runs out; bundles instead of tasks, where batches are kept whole.
    """
    if is_bundled(store, batch):
        return first_release(connection, participant)
    seen = _had(participant, trials.alias())
    row = connection.execute(
        select(func.count(func.distinct(tasks.c.id)), func.min(trials.c.lease_until))
        .select_from(tasks.join(trials, trials.c.task_id == tasks.c.id))
        .where(
            and_(trials.c.state == "open", tasks.c.wanted > tasks.c.valid),
            _of_batch(batch),
            ~seen,
        )
    ).one()
    return int(row[0]), None if row[1] is None else int(row[1])


def _free(connection: Connection, leased: list[int | None]) -> int:
    """Count leases down. Golden and repeated trials have no task."""
    held: dict[int, int] = {}
    for task in leased:
        if task is not None:
            held[task] = held.get(task, 0) + 1
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
    if store.study.protocol.staircase is not None:
        # Ends of blocks; what is compared is drawn when they are reached.
        drawn.shuffle(main)
        return [{**row, "layout": "{}"} for row in main]
    known = [
        (number, label)
        for number, content in store.content.items()
        if content["kind"] == "golden"
        for label in (content["expected"] if _one_label(store) else [""])
    ]
    golden = [
        {"kind": "golden", "task_id": None, "stimulus_id": number, "label": label}
        for number, label in drawn.sample(known, min(checks.golden or 0, len(known)))
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
        row["layout"] = "{}"
    if swap:
        counted = [row for row in rows if row["kind"] == "main"]
        others = [row for row in rows if row["kind"] != "main"]
        for some in (counted, others):
            for row, side in zip(some, balanced_sides(len(some), drawn), strict=True):
                row["layout"] = json.dumps({"swapped": side})
    return rows


def balanced_sides(n: int, drawn: random.Random) -> list[bool]:
    """Draw which of `n` trials show their sides swapped: half of them, in any order."""
    sides = [place % 2 == 0 for place in range(n)]
    if n % 2 and drawn.random() < 0.5:
        sides[-1] = False
    drawn.shuffle(sides)
    return sides


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
