"""Staircases of a session: every comparison is drawn when the one before it has been answered.

A task is a sequence of frames, judged by one person in one run per anchor. Its trials take a block
of positions in the session. The last of the block is laid out with the claim and carries the task,
so that leases, and the count of valid answers, are those of whole sequences; the trials before it
appear one by one. Which run a position belongs to is drawn and stored when the block begins.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from affectlab.study.delivery.claims import balanced_sides, lease_end, withhold
from affectlab.study.design import block_of
from affectlab.study.store import Store
from affectlab.study.tables import staircases, trials

if TYPE_CHECKING:
    from affectlab.analysis import FrameStaircase

__all__ = ["abandon", "planned", "prepare_next", "record", "upcoming"]

_AHEAD = ("open", "expired")
_SIDES = 4
"""Trials of a run of which half are shown with their sides swapped."""


def prepare_next(connection: Connection, store: Store, session: RowMapping) -> None:
    """Make sure that the next trial of a session is there: draw it from the answers so far.

    A trial that was drawn stays as it is, however often this is called.
    """
    if store.study.protocol.staircase is None:
        return
    _leave_dropped(connection, session["id"])
    ahead = _first_ahead(connection, session["id"])
    if ahead is None or "frames" in json.loads(ahead["layout"]):
        return
    # What lies ahead is the end of a block: the trials before it are drawn until it is reached.
    first = ahead["position"] - block_of(store.study.protocol) + 1
    done = connection.execute(
        select(func.max(trials.c.position)).where(
            trials.c.session_id == session["id"],
            trials.c.position >= first,
            trials.c.state == "answered",
        )
    ).scalar_one()
    position = first if done is None else done + 1
    runs = _runs_of(connection, session["id"], ahead["task_id"])
    if not runs:
        _begin(connection, store, session, ahead, first)
        runs = _runs_of(connection, session["id"], ahead["task_id"])
    run = next(run for run in runs if position in run.plan)
    catch = run.plan[position]
    frame = run.state.anchor_frame if catch else run.state.next_frame()
    layout = {
        "staircase": run.id,
        "anchor": run.anchor,
        "frames": [run.state.anchor_frame, frame],
        "swapped": _swapped(store, session["seed"], run.task_id, run.anchor, run.plan, position),
    }
    drawn = {"layout": json.dumps(layout), "kind": "golden" if catch else "main"}
    if position == ahead["position"]:
        connection.execute(update(trials).where(trials.c.id == ahead["id"]).values(**drawn))
        return
    connection.execute(
        insert(trials).values(
            session_id=session["id"],
            participant_id=session["participant_id"],
            position=position,
            stimulus_id=ahead["stimulus_id"],
            lease_until=lease_end(store),
            **drawn,
        )
    )


def record(connection: Connection, store: Store, trial: RowMapping, answer: dict[str, Any]) -> None:
    """Bring the run of a trial up to date with its answer."""
    run = _run_of(connection, trial)
    seen = answer["value"] == store.study.protocol.scale.categories[0]
    frame = json.loads(trial["layout"])["frames"][1]
    state = run.state.update(frame, seen)
    connection.execute(
        update(staircases)
        .where(staircases.c.id == run.id)
        .values(state=json.dumps(state.to_dict()))
    )


def abandon(connection: Connection, trial: RowMapping) -> None:
    """Leave the sequence of a trial that cannot be shown, and give its task back."""
    if trial["task_id"] is not None:
        return
    task = _run_of(connection, trial).task_id
    end = _end_of(connection, trial["session_id"], trial["position"])
    if end is not None and end["task_id"] == task:
        withhold(connection, end["id"])


def planned(connection: Connection, session: int) -> tuple[int, int]:
    """Count the trials of a session that are behind, and all that it will have."""
    ahead = _first_ahead(connection, session)
    total = connection.execute(
        select(func.coalesce(func.max(trials.c.position), 0)).where(
            trials.c.session_id == session, trials.c.state != "skipped"
        )
    ).scalar_one()
    return (int(total) if ahead is None else ahead["position"] - 1), int(total)


def upcoming(
    connection: Connection, store: Store, seed: int, trial: RowMapping
) -> list[tuple[int, int, str]]:
    """Give the pictures that the next trial may show, whatever the answer to this one is.

    Parameters
    ----------
    seed
        That of the session.

    Returns
    -------
    Position of the next trial, place on its page and picture. Comparisons of the anchor with
    itself name as many as others do, so that their number gives none of them away.
    """
    run = _run_of(connection, trial)
    end = _end_of(connection, trial["session_id"], trial["position"])
    position = trial["position"] + 1
    if end is not None and position <= end["position"]:
        runs = _runs_of(connection, trial["session_id"], run.task_id)
        following = next(other for other in runs if position in other.plan)
        others = sorted(set(_candidates(run, following, trial)))
        anchor = following.state.anchor_frame
        if following.plan[position]:
            others[0] = anchor
        pairs = {(0, anchor), *((1, other) for other in others)}
        swapped = _swapped(store, seed, run.task_id, following.anchor, following.plan, position)
        return _places(store, position, trial["stimulus_id"], pairs, swapped=swapped)
    later = _end_of(connection, trial["session_id"], position)
    if later is None:
        return []
    begun = _begun(store, later["stimulus_id"])
    pairs = {
        pair
        for one in begun.values()
        for pair in ((0, one.anchor_frame), (1, one.anchor_frame), (1, one.next_frame()))
    }
    first = later["position"] - block_of(store.study.protocol) + 1
    plans = _plans(store, seed, later["task_id"], first)
    name = next(name for name, plan in plans.items() if first in plan)
    swapped = _swapped(store, seed, later["task_id"], name, plans[name], first)
    return _places(store, first, later["stimulus_id"], pairs, swapped=swapped)


@dataclass(frozen=True)
class _Run:
    """One row of the table of staircases."""

    id: int
    task_id: int
    anchor: str
    plan: dict[int, bool]
    """Whether the trial at a position compares the anchor with itself."""
    stored: str

    @cached_property
    def state(self) -> FrameStaircase:
        from affectlab.analysis import FrameStaircase

        return FrameStaircase.from_dict(json.loads(self.stored))


def _run(row: RowMapping) -> _Run:
    plan = {int(position): bool(catch) for position, catch in json.loads(row["plan"])}
    return _Run(row["id"], row["task_id"], row["anchor"], plan, row["state"])


def _runs_of(connection: Connection, session: int, task: int) -> list[_Run]:
    found = connection.execute(
        select(staircases)
        .where(staircases.c.session_id == session, staircases.c.task_id == task)
        .order_by(staircases.c.id)
    )
    return [_run(row) for row in found.mappings()]


def _run_of(connection: Connection, trial: RowMapping) -> _Run:
    number = json.loads(trial["layout"])["staircase"]
    found = connection.execute(select(staircases).where(staircases.c.id == number))
    return _run(found.mappings().one())


def _begun(store: Store, stimulus: int) -> dict[str, FrameStaircase]:
    """Runs over a sequence before their first answer."""
    from affectlab.analysis import FrameStaircase

    wanted = store.study.protocol.staircase
    assert wanted is not None
    return FrameStaircase.runs(
        len(store.content[stimulus]["files"]),
        wanted.anchors,
        ends=wanted.ends,
        trials=wanted.trials,
        threshold=wanted.threshold,
    )


def _plans(store: Store, seed: int, task: int, first: int) -> dict[str, dict[int, bool]]:
    """Mix the runs over a sequence, so that nobody can follow one of them.

    Returns
    -------
    By anchor, the positions of its run, and whether each is a catch trial.
    """
    wanted = store.study.protocol.staircase
    assert wanted is not None
    drawn = random.Random(f"{seed}:runs:{task}")
    order = [anchor for anchor in wanted.anchors for _ in range(wanted.trials + wanted.catch)]
    drawn.shuffle(order)
    plans = {}
    for anchor in wanted.anchors:
        own = [first + place for place, name in enumerate(order) if name == anchor]
        # A run ends with a comparison that counts: after it nothing more is asked.
        catches = set(drawn.sample(own[:-1], wanted.catch))
        plans[anchor] = {position: position in catches for position in own}
    return plans


def _begin(
    connection: Connection, store: Store, session: RowMapping, end: RowMapping, first: int
) -> None:
    """Begin the runs over a sequence."""
    plans = _plans(store, session["seed"], end["task_id"], first)
    for anchor, begun in _begun(store, end["stimulus_id"]).items():
        connection.execute(
            insert(staircases).values(
                session_id=session["id"],
                participant_id=session["participant_id"],
                task_id=end["task_id"],
                stimulus_id=end["stimulus_id"],
                anchor=anchor,
                plan=json.dumps(list(plans[anchor].items())),
                state=json.dumps(begun.to_dict()),
            )
        )


def _candidates(run: _Run, following: _Run, trial: RowMapping) -> Iterator[int]:
    """Frames that the following trial may compare with its anchor, unless it is a catch trial."""
    states = [following.state]
    if following.id == run.id:
        frame = json.loads(trial["layout"])["frames"][1]
        states = [run.state.update(frame, seen) for seen in (True, False)]
    for state in states:
        yield state.next_frame()


def _places(
    store: Store, position: int, stimulus: int, pairs: set[tuple[int, int]], *, swapped: bool
) -> list[tuple[int, int, str]]:
    """Say where frames of a comparison stand: the anchor is frame 0 of it, the other frame 1."""
    files = store.content[stimulus]["files"]
    found = [(position, 1 - of if swapped else of, files[number]) for of, number in pairs]
    # By its name in the file system, the place of a picture in the list would tell what it is.
    return sorted(found, key=lambda one: store.digest("order", "/".join(map(str, one))))


def _swapped(
    store: Store, seed: int, task: int, anchor: str, plan: dict[int, bool], position: int
) -> bool:
    """Whether the anchor stands on the right: in half of each four of a run, catches apart."""
    if not store.study.protocol.input.swap_sides:
        return False
    catch = plan[position]
    alike = sorted(place for place, other in plan.items() if other == catch)
    four, place = divmod(alike.index(position), _SIDES)
    drawn = random.Random(f"{seed}:sides:{task}:{anchor}:{int(catch)}:{four}")
    return balanced_sides(min(_SIDES, len(alike) - four * _SIDES), drawn)[place]


def _first_ahead(connection: Connection, session: int) -> RowMapping | None:
    found = connection.execute(
        select(trials)
        .where(trials.c.session_id == session, trials.c.state.in_(_AHEAD))
        .order_by(trials.c.position)
        .limit(1)
    )
    return found.mappings().one_or_none()


def _end_of(connection: Connection, session: int, position: int) -> RowMapping | None:
    """Find the end of the block in which a position lies, or of the next one that is left."""
    found = connection.execute(
        select(trials)
        .where(
            trials.c.session_id == session,
            trials.c.task_id.is_not(None),
            trials.c.state.in_(_AHEAD),
            trials.c.position >= position,
        )
        .order_by(trials.c.position)
        .limit(1)
    )
    return found.mappings().one_or_none()


def _leave_dropped(connection: Connection, session: int) -> None:
    """Skip what was drawn for a sequence that the session has lost to others."""
    ahead = _first_ahead(connection, session)
    if ahead is None or ahead["task_id"] is not None:
        return
    number = json.loads(ahead["layout"])["staircase"]
    lost = connection.execute(
        select(trials.c.id)
        .join(staircases, staircases.c.task_id == trials.c.task_id)
        .where(
            staircases.c.id == number,
            trials.c.session_id == session,
            trials.c.state == "skipped",
        )
    )
    if lost.first() is not None:
        connection.execute(update(trials).where(trials.c.id == ahead["id"]).values(state="skipped"))
