"""Places in bundles: how many sessions are given a bundle, and how many of them count.

A bundle wants so many valid sessions. A session *holds* a place in it from its claim until its
lease runs out or it ends, and *is counted* once it is complete with enough answers that count.
How many it wants grows where a stimulus was left out (:mod:`affectlab.study.design.batches`).
Whoever changes a place holds the tasks first (:func:`affectlab.study.delivery.claims.hold_tasks`),
so that one change follows the other; answers in the middle of a session change none, and wait for
nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, case, func, select, update

from affectlab.study.database import drawn_order
from affectlab.study.delivery.completeness import Completeness, enough, unshowable
from affectlab.study.design import set_wanted
from affectlab.study.store import Store
from affectlab.study.tables import answers, bundles, sessions, tasks, trials

__all__ = [
    "BundleProgress",
    "any_bundle",
    "bundle_progress",
    "first_release",
    "give_up_place",
    "is_bundled",
    "take_bundle",
    "take_place_again",
    "weigh",
]

_Place = Literal["", "held", "counted"]


@dataclass(frozen=True)
class BundleProgress:
    """How far the batches of a study are."""

    batches: int
    done: int
    """Batches with all the valid sessions they want."""
    sessions: int
    """Valid sessions, those beyond what a batch wants left out."""
    wanted: int
    """Valid sessions that all batches want."""
    held: int
    """Batches that a session holds now, each counted for every such session."""


def is_bundled(store: Store, batch: str) -> bool:
    """Whether sessions are given whole bundles; in a pilot they never are."""
    return batch != "pilot" and store.study.design.sessions.batch is not None


def take_bundle(
    connection: Connection, store: Store, session: int, participant: int, seed: int
) -> Sequence[Row[Any]]:
    """Give a session a bundle that the participant has seen nothing of; the caller holds the tasks.

    Those with the fewest sessions go first; which of equally many, is drawn for each session. One
    of which nothing can be shown is given to nobody.

    Returns
    -------
    ``id``, ``stimulus_id`` and ``label`` of the bundle's tasks; none when no bundle is free.
    """
    n = bundles.c.valid + bundles.c.leased
    free = (
        _unseen(participant)
        .where(bundles.c.wanted > n)
        .order_by(n, drawn_order(bundles.c.id, f"{seed}:bundles"), bundles.c.id)
        .limit(1)
    )
    while True:
        bundle = connection.execute(free).scalar_one_or_none()
        if bundle is None:
            return []
        # Answers that came since it was last looked at may have left it nothing to want.
        set_wanted(connection, store.study, bundle)
        still = select(bundles.c.id).where(bundles.c.id == bundle, bundles.c.wanted > n)
        if connection.execute(still).first() is not None:
            break
    connection.execute(update(sessions).where(sessions.c.id == session).values(bundle_id=bundle))
    _set_place(connection, session, "held")
    wanted: Select[Any] = select(tasks.c.id, tasks.c.stimulus_id, tasks.c.label)
    whole = wanted.where(tasks.c.bundle_id == bundle).order_by(tasks.c.rank)
    return connection.execute(whole).all()


def any_bundle(connection: Connection, participant: int | None) -> bool:
    """Whether a bundle wants more sessions, free or held now, and this participant can have it."""
    left = _unseen(participant).where(bundles.c.wanted > bundles.c.valid)
    return connection.execute(left.limit(1)).first() is not None


def first_release(connection: Connection, participant: int) -> tuple[int, int | None]:
    """Count the bundles that this participant could get once others give them back.

    Returns
    -------
    Bundles that others hold, and the time at which the first of their leases runs out.
    """
    held = and_(trials.c.session_id == sessions.c.id, trials.c.state == "open")
    row = connection.execute(
        select(func.count(func.distinct(bundles.c.id)), func.min(trials.c.lease_until))
        .select_from(
            bundles.join(sessions, sessions.c.bundle_id == bundles.c.id).join(trials, held)
        )
        .where(
            sessions.c.place == "held",
            bundles.c.wanted > bundles.c.valid,
            bundles.c.id.in_(_unseen(participant)),
        )
    ).one()
    return int(row[0]), None if row[1] is None else int(row[1])


def take_place_again(connection: Connection, session: int) -> bool | None:
    """Let a session hold its place again, where it is still free; the caller holds the tasks.

    Returns
    -------
    Whether it holds it; None for a session without a bundle.
    """
    found = connection.execute(
        select(
            sessions.c.place, (bundles.c.wanted > bundles.c.valid + bundles.c.leased).label("free")
        )
        .join(bundles, bundles.c.id == sessions.c.bundle_id)
        .where(sessions.c.id == session)
    ).one_or_none()
    if found is None:
        return None
    if found.free and found.place == "":
        _set_place(connection, session, "held")
    return bool(found.free or found.place == "held")


def give_up_place(connection: Connection, session: int) -> None:
    """Let a session hold no place and not be counted; the caller holds the tasks."""
    _set_place(connection, session, "")


def weigh(connection: Connection, store: Store, session: int) -> None:
    """Count a complete session in its bundle, or no more; the caller holds the tasks.

    It counts when it has answered so much that it may be paid unseen, and these answers count;
    trials that this server could not show it are not asked for. What it left out is asked again.
    """
    own = select(sessions.c.stage, sessions.c.bundle_id).where(sessions.c.id == session)
    row = connection.execute(own).one()
    if row.bundle_id is None:
        return
    if row.stage == "complete":
        good = _is_good(connection, store, session)
        _set_place(connection, session, "counted" if good else "")
    # Answers of sessions that ended before count for their stimuli too.
    set_wanted(connection, store.study, row.bundle_id)


def _is_good(connection: Connection, store: Store, session: int) -> bool:
    main = connection.execute(
        select(trials.c.id, answers.c.valid)
        .select_from(trials.outerjoin(answers, answers.c.trial_id == trials.c.id))
        .where(trials.c.session_id == session, trials.c.kind == "main")
    ).all()
    unshown = unshowable(connection, session)
    asked = [one for one in main if one.id not in unshown]
    valid = sum(bool(one.valid) for one in asked)
    return bool(asked) and enough(store, Completeness(valid, len(asked)))


def bundle_progress(connection: Connection) -> BundleProgress | None:
    """Count places; None in a study that keeps no batches whole."""
    capped = case((bundles.c.valid < bundles.c.wanted, bundles.c.valid), else_=bundles.c.wanted)
    row = connection.execute(
        select(
            func.count(),
            func.sum(case((bundles.c.valid >= bundles.c.wanted, 1), else_=0)),
            func.sum(capped),
            func.sum(bundles.c.wanted),
            func.sum(bundles.c.leased),
        ).select_from(bundles)
    ).one()
    return BundleProgress(*(int(one) for one in row)) if row[0] else None


def _unseen(participant: int | None) -> Select[Any]:
    """Bundles of which a participant has had nothing, in the main study or in the pilot."""
    found = select(bundles.c.id)
    if participant is None:
        return found
    same: ColumnElement[bool] = (tasks.c.stimulus_id == trials.c.stimulus_id) & (
        tasks.c.label == trials.c.label
    )
    seen = (
        select(tasks.c.bundle_id)
        .join(trials, same)
        .where(trials.c.participant_id == participant, tasks.c.bundle_id.is_not(None))
    )
    return found.where(bundles.c.id.not_in(seen))


def _set_place(connection: Connection, session: int, place: _Place) -> None:
    """Write what a session is to its bundle, and count it there."""
    own = sessions.c.id == session
    row = connection.execute(select(sessions.c.bundle_id, sessions.c.place).where(own)).one()
    if row.bundle_id is None or row.place == place:
        return
    connection.execute(update(sessions).where(own).values(place=place))
    held = int(place == "held") - int(row.place == "held")
    counted = int(place == "counted") - int(row.place == "counted")
    connection.execute(
        update(bundles)
        .where(bundles.c.id == row.bundle_id)
        .values(leased=bundles.c.leased + held, valid=bundles.c.valid + counted)
    )
