"""Judging a session as soon as it is complete: whether its answers count, and whether it is paid.

The rules are those of the screening policy that a study names, when they look at one session at a
time; else those of the protocol's checks. What counts and what is paid are two verdicts: answers
that do not count are asked again of others, and who pays is always a person. Check trials that a
session left out count as failed, and one that left out many main trials is not paid unseen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, select, update

from affectlab.study._completeness import completeness, enough
from affectlab.study._export import answer_rows, ratings_of
from affectlab.study._export_tables import pseudonym
from affectlab.study._live_policy import live_policy
from affectlab.study._missing_checks import missing_checks, with_missing
from affectlab.study._review import give_verdict
from affectlab.study._session import unjudged
from affectlab.study._store import Store, log
from affectlab.study._tables import participants, sessions

if TYPE_CHECKING:
    import polars as pl

    from affectlab.reliability import Policy, Screening

__all__ = ["judge_completed"]


def judge_completed(store: Store) -> int:
    """Judge all sessions that are complete and not judged yet; give how many.

    Each is judged in a transaction of its own, so that a server that dies in between leaves none
    half judged: whoever comes next judges the rest.
    """
    policy = live_policy(store.study)
    if policy is None:
        return 0
    judged = 0
    # Loaded before a transaction begins, which others would have to wait for.
    from affectlab.reliability import screen

    while _any_waits(store):
        with store.database.write() as connection:
            waiting = (
                select(sessions)
                .where(sessions.c.stage == "complete", sessions.c.pay == "")
                .order_by(sessions.c.id)
                .limit(1)
            )
            if not store.database.is_sqlite:
                waiting = waiting.with_for_update(skip_locked=True)
            session = connection.execute(waiting).mappings().one_or_none()
            if session is None:
                break
            _judge(connection, store, session, policy, screen)
            judged += 1
    return judged


def _any_waits(store: Store) -> bool:
    with store.database.read() as connection:
        return unjudged(connection)


def _judge(
    connection: Connection,
    store: Store,
    session: RowMapping,
    policy: Policy,
    screen: Callable[..., Screening],
) -> None:
    person = session["participant_id"]
    rows = list(answer_rows(connection, store, participant=person))
    own = [row for row in rows if row["session"] == str(session["id"])]
    if not any(row["outcome"] == "ok" for row in own):
        # All questions were declined: there is nothing to judge but what was left out.
        blocked = False
        evidence: list[dict[str, Any]] = []
    else:
        result = screen(ratings_of(store, rows), policy=policy, golden=_known(store))
        name, number = pseudonym(store, person), str(session["id"])
        frame = result.to_frame()
        blocked = bool(_row_of(frame, name, number)["block"])
        evidence = [
            row
            for row in result.evidence_frame().rows(named=True)
            if (row["rater"], row["session"]) == (name, number)
        ]
    missing = missing_checks(connection, store, session["id"])
    verdicts, reasons = with_missing(policy, evidence, missing)
    verdicts["block"] |= blocked
    main = completeness(connection, session=session["id"]).get(session["id"])
    if not enough(store, main):
        verdicts["pay"] = False
        told = "no main trial" if main is None else f"{main.answered} of {main.of} main trials"
        reasons.append({"rule": "unanswered", "evidence": f"only {told} answered"})
    connection.execute(
        update(sessions)
        .where(sessions.c.id == session["id"])
        .values(pay="yes" if verdicts["pay"] else "no", reasons=json.dumps(reasons))
    )
    log(
        connection,
        "judged",
        participant=person,
        session=session["id"],
        body={"policy": policy.name, **verdicts, "reasons": reasons},
    )
    if not verdicts["use"] and not session["verdict"]:
        why = "; ".join(f"{one['rule']}: {one['evidence']}" for one in reasons)
        body = {"by": f"policy {policy.name}", "reason": why}
        give_verdict(connection, store, session["id"], person, "rejected", body)
    if verdicts["block"]:
        connection.execute(
            update(participants).where(participants.c.id == person).values(blocked=True)
        )
        log(connection, "blocked", participant=person, session=session["id"])


def _row_of(frame: pl.DataFrame, rater: str, session: str) -> dict[str, Any]:
    import polars as pl

    return frame.filter(pl.col("rater") == rater, pl.col("session") == session).row(0, named=True)


def _known(store: Store) -> pl.DataFrame | None:
    """Known answers of golden stimuli, for the rules that need them."""
    import polars as pl

    rows = [
        {"stimulus": content["name"], "label": label or None, "value": value}
        for content in store.content.values()
        if content["kind"] == "golden"
        for label, value in (content["expected"] or {}).items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None) if rows else None
