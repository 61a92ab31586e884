"""Judging a session as soon as it is complete: whether its answers count, and whether it is paid.

The rules are those of the screening policy that a study names, when they look at one session at a
time; else those of the protocol's checks. What counts and what is paid are two verdicts: answers
that do not count are asked again of others, and who pays is always a person. Check trials that a
session left out count as failed, and one that left out many main trials is not paid unseen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, select, update

from affectlab.study.dataset import answer_rows, ratings_of
from affectlab.study.delivery import completeness, end, enough, hold_tasks, recount, unjudged, weigh
from affectlab.study.design import live_policy
from affectlab.study.errors import conflict, not_found
from affectlab.study.store import Store, log, pseudonym
from affectlab.study.tables import answers, participants, sessions, trials

if TYPE_CHECKING:
    import polars as pl

    from affectlab.reliability.screening import Policy, Screening


__all__ = [
    "accept_session",
    "give_verdict",
    "judge_completed",
    "let_count",
    "missing_checks",
    "reject_session",
    "with_missing",
]

# Check trials that a session left out: they count as failed, or nobody would have to pass them.


def missing_checks(connection: Connection, store: Store, session: int) -> dict[str, int]:
    """Count the answers to check trials that a session left out, by the check that needs them.

    A repeat is missing too when the trial that it repeats was left out. Where a trial asks about
    several labels, each of them counts, as it does for those that were answered.
    """
    rows = connection.execute(
        select(trials.c.kind, trials.c.stimulus_id, trials.c.label, trials.c.state).where(
            trials.c.session_id == session
        )
    ).all()
    first = {(row.stimulus_id, row.label) for row in rows if row.kind == "main" and _done(row)}
    labels = len(store.study.protocol.labels())
    every = labels if labels and store.study.protocol.asks.per_trial != "one" else 1
    found = {"golden": 0, "repeats": 0}
    for row in rows:
        if row.kind == "golden" and not _done(row):
            expected = store.content[row.stimulus_id]["expected"] or {}
            found["golden"] += 1 if row.label else len(expected)
        elif row.kind == "repeat" and not (_done(row) and (row.stimulus_id, row.label) in first):
            found["repeats"] += every
    return found


def with_missing(
    policy: Policy, evidence: list[dict[str, Any]], missing: Mapping[str, int]
) -> tuple[dict[str, bool], list[dict[str, str]]]:
    """Judge a session again, with the check trials that it left out counted as failed.

    Parameters
    ----------
    policy
        Whose rules look at one session.
    evidence
        What its rules found in the answers: ``rule``, ``measure``, ``n``, ``violated`` and
        ``evidence``; empty where there was no answer to look at.
    missing
        See :func:`missing_checks`.

    Returns
    -------
    ``pay`` and ``use``, and whether the rules ``block`` the person; and the rules that are broken,
    with the evidence.
    """
    of = {row["rule"]: row for row in evidence}
    left: dict[str, int] = {}
    broken: dict[str, str] = {}
    for rule in policy.rules:
        row = of.get(rule.name, {})
        if row.get("violated"):
            broken[rule.name] = str(row["evidence"])
        if rule.check == "together":
            left[rule.name] = sum(left[name] for name in rule.rules)
        else:
            left[rule.name] = missing.get(rule.check, 0)
        if rule.name in broken or not left[rule.name]:
            continue
        if rule.check not in ("golden", "repeats", "together"):
            continue
        if rule.check == "together" and rule.of is None:
            count = sum(name in broken for name in rule.rules)
            if count >= rule.at_least:
                broken[rule.name] = f"{count} rules violated >= {rule.at_least}"
            continue
        measure = row.get("measure")
        wrong = 0 if measure is None or math.isnan(measure) else round(measure)
        n = int(row.get("n") or 0) + left[rule.name]
        planned = rule.of or rule.at_least
        needed = max(min(rule.at_least, n), math.ceil(n * rule.at_least / planned - 1e-9))
        if wrong + left[rule.name] >= needed:
            broken[rule.name] = (
                f"{wrong} failed and {left[rule.name]} left out of {n} checks >= {needed}"
            )
    found = {
        name: not verdict.rules or sum(one in broken for one in verdict.rules) < verdict.at_least
        for name, verdict in (("pay", policy.pay), ("use", policy.use))
    }
    found["block"] = any(name in broken for name in policy.block.rules)
    return found, [{"rule": name, "evidence": told} for name, told in broken.items()]


def _done(row: Any) -> bool:
    return bool(row.state == "answered")


# Rejecting a session, or taking it back: what counts changes, what was answered stays.


_LEFT = ("withdrawn", "erased")
"""Verdicts that are the participant's own, which nobody else can take back."""


def reject_session(
    store: Store,
    session: int,
    reason: str,
    *,
    by: str = "command line",
    expected: str | None = None,
    category: str = "OTHER",
    pay: bool | None = None,
) -> int:
    """Let the answers of a session not count, so that its tasks are asked again; give how many.

    A session that is still going on ends: nobody works on for answers that do not count.

    Parameters
    ----------
    category
        Kind of reason, as Prolific names it; see :data:`affectlab.study.recruit.CATEGORIES`.
    by
        Who decides, for the log.
    expected
        The verdict that was seen; another one, made meanwhile by somebody else, is then kept.
    pay
        Whether the session is paid all the same; None leaves it at what was said before.

    Raises
    ------
    StudyError
        When there is no such session, or its verdict is not the expected one.
    """
    return _decide(store, session, "rejected", reason, by, expected, category, pay)


def accept_session(
    store: Store,
    session: int,
    reason: str = "",
    *,
    by: str = "command line",
    expected: str | None = None,
    pay: bool | None = None,
) -> int:
    """Let the answers of a session count again; give how many. Arguments as for rejecting."""
    return _decide(store, session, "accepted", reason, by, expected, pay=pay)


def _decide(
    store: Store,
    session: int,
    verdict: str,
    reason: str,
    by: str,
    expected: str | None,
    category: str = "",
    pay: bool | None = None,
) -> int:
    with store.database.write() as connection:
        known = select(sessions).where(sessions.c.id == session)
        if not store.database.is_sqlite:
            known = known.with_for_update()
        row = connection.execute(known).one_or_none()
        if row is None:
            raise not_found(f"There is no session {session}.")
        if expected is not None and row.verdict != expected:
            raise conflict(f"Somebody else decided on this session meanwhile: {row.verdict}.")
        body: dict[str, Any] = {"by": by, "reason": reason}
        body |= {"category": category} if category else {}
        if pay is not None:
            body["pay"] = pay
            decided = update(sessions).where(sessions.c.id == session)
            connection.execute(decided.values(pay="yes" if pay else "no"))
        if verdict == "rejected" and row.stage not in ("complete", "ended"):
            end(connection, row._mapping, "rejected")
        return give_verdict(connection, store, session, row.participant_id, verdict, body)


def give_verdict(
    connection: Connection,
    store: Store,
    session: int,
    participant: int,
    verdict: str,
    body: dict[str, Any],
) -> int:
    """Let the answers of a session count, or not, in a transaction of the caller; give how many.

    Where the participant has withdrawn, it is logged alone: whether the work is paid can still be
    decided, whether the answers count cannot.

    Parameters
    ----------
    verdict
        ``accepted`` or ``rejected``.
    body
        What the log says beside how many answers changed: who decided, and why.
    """
    own = sessions.c.id == session
    before = connection.execute(select(sessions.c.verdict).where(own)).scalar_one()
    changed = 0
    if before not in _LEFT:
        changed = let_count(connection, store, session, valid=verdict == "accepted")
        connection.execute(update(sessions).where(own).values(verdict=verdict))
    body = {**body, "answers": changed}
    log(connection, verdict, participant=participant, session=session, body=body)
    return changed


def let_count(connection: Connection, store: Store, session: int, *, valid: bool) -> int:
    """Let all answers of a session count, or none; give how many that changed."""
    hold_tasks(connection)
    own = select(trials.c.id).where(trials.c.session_id == session)
    changed = connection.execute(
        update(answers)
        .where(answers.c.trial_id.in_(own), answers.c.valid.is_(not valid))
        .values(valid=valid)
        .returning(answers.c.trial_id)
    ).all()
    _recount_all(connection, store, session)
    weigh(connection, store, session)
    return len(changed)


def _recount_all(connection: Connection, store: Store, session: int) -> None:
    touched = connection.execute(
        select(trials.c.task_id)
        .where(trials.c.session_id == session, trials.c.task_id.is_not(None))
        .order_by(trials.c.task_id)
    )
    for (task,) in touched.all():
        recount(connection, store, task)


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
            _judge_session(connection, store, session, policy, screen)
            judged += 1
    return judged


def _any_waits(store: Store) -> bool:
    with store.database.read() as connection:
        return unjudged(connection)


def _judge_session(
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
