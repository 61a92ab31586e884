"""Check trials that a session left out: they count as failed, or nobody would have to pass them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from affectlab.study._store import Store
from affectlab.study._tables import trials

if TYPE_CHECKING:
    from affectlab.reliability import Policy

__all__ = ["missing_checks", "with_missing"]


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
