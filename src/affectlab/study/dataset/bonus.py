"""Who has earned a bonus, and how much: for naming what most others named, too."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, select

from affectlab.core.words import plural, popular_without
from affectlab.protocols import label_field
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, participants, sessions, trials
from affectlab.taxonomy import emotion_key

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Bonus", "bonus_table", "bonuses", "popular_without", "write_bonuses"]


class Bonus(NamedTuple):
    """What one session has earned beside its pay."""

    session: int
    amount: float
    """In ``recruitment.currency``."""
    reason: str
    """One sentence, which can be sent to the participant."""


@dataclass(frozen=True)
class _Named:
    """What one answer named of one stimulus."""

    participant: int
    session: int
    stimulus: int
    group: tuple[str, str]
    """Kind of the participant and batch of the session: only these are compared."""
    keys: frozenset[str]
    complete: bool


def bonuses(store: Store) -> list[Bonus]:
    """Give the bonuses that completed sessions have earned, by session.

    Where the protocol gives one (``checks.bonus = "most_popular_label"``), a trial earns
    ``recruitment.bonus`` when one of the emotions that its answer names is the one that most others
    named for the same stimulus. Only valid answers to main trials count. Words are compared without
    case, punctuation and inflection. A participant's own answers are left out of the count that
    they are held against, so that nobody is their own majority; at least two others must have
    named an emotion, and of several that were named equally often each earns the bonus. More
    answers can change who earned one: pay when the study is closed.

    Parameters
    ----------
    store
        The open study.

    Returns
    -------
    One entry per session with a bonus, in the order of the sessions; empty when the study gives
    none.

    References
    ----------
    Socratis (2023), section 2.1.
    """
    amount = store.study.design.recruitment.bonus
    if store.study.protocol.checks.bonus is None or not amount:
        return []
    with store.database.read() as connection:
        named = _all_named(connection, store)
    earned = _earned(named)
    each = Decimal(str(amount))
    return [
        Bonus(session, float(each * len(matched)), _reason(matched))
        for session, matched in sorted(earned.items())
    ]


def write_bonuses(store: Store, folder: Path) -> list[Path]:
    """Write the bonuses that were earned, where there are any."""
    found = bonus_table(store)
    if found is None:
        return []
    path = folder / "bonuses.csv"
    found.write_csv(path)
    return [path]


def bonus_table(store: Store) -> pl.DataFrame | None:
    """Give the bonuses under pseudonyms, without the platform's names; None without any."""
    import polars as pl

    found = bonuses(store)
    if not found:
        return None
    with store.database.read() as connection:
        rows = connection.execute(select(sessions.c.id, sessions.c.participant_id))
        person = {row.id: row.participant_id for row in rows}
    return pl.DataFrame(
        {
            "rater": [pseudonym(store, person[one.session]) for one in found],
            "session": [str(one.session) for one in found],
            "amount": [one.amount for one in found],
            "currency": [store.study.design.recruitment.currency] * len(found),
            "reason": [one.reason for one in found],
        }
    )


def _all_named(connection: Connection, store: Store) -> list[_Named]:
    found = connection.execute(
        select(
            trials.c.participant_id,
            trials.c.session_id,
            trials.c.stimulus_id,
            answers.c.value,
            participants.c.kind,
            sessions.c.batch,
            sessions.c.stage,
        )
        .join(answers, answers.c.trial_id == trials.c.id)
        .join(sessions, sessions.c.id == trials.c.session_id)
        .join(participants, participants.c.id == trials.c.participant_id)
        .where(answers.c.valid.is_(True), trials.c.kind == "main")
        .order_by(trials.c.id)
    )
    return [
        _Named(
            row.participant_id,
            row.session_id,
            row.stimulus_id,
            (row.kind, row.batch),
            frozenset(_keys(store, json.loads(row.value))),
            row.stage == "complete",
        )
        for row in found
    ]


def _keys(store: Store, answer: dict[str, Any]) -> set[str]:
    """Names in an answer, brought together where they are forms of one word."""
    if "entries" in answer:
        field = label_field(store.study.protocol).name
        return {emotion_key(str(entry.get(field, ""))) for entry in answer["entries"]} - {""}
    if "chosen" in answer:
        return set(answer["chosen"]) - set(store.study.protocol.rules.options)
    return {label for label, value in answer.get("ratings", {}).items() if value}


def _earned(named: list[_Named]) -> dict[int, list[int]]:
    """Stimuli for which each completed session named what most others did."""
    counts: dict[Any, Counter[str]] = defaultdict(Counter)
    own: dict[Any, set[str]] = defaultdict(set)
    for one in named:
        cell = (one.group, one.stimulus)
        mine = own[cell, one.participant]
        # Once per person, however many sessions they took.
        counts[cell].update(one.keys - mine)
        mine |= one.keys
    earned: dict[int, list[int]] = defaultdict(list)
    for one in named:
        cell = (one.group, one.stimulus)
        popular = popular_without(counts[cell], frozenset(own[cell, one.participant]))
        if one.complete and one.keys & popular:
            earned[one.session].append(one.stimulus)
    return earned


def _reason(matched: list[int]) -> str:
    # Names of stimuli say what they show, and stay with the researcher.
    n = plural(len(matched), "stimulus", "stimuli")
    return f"You named an emotion that most others named, too, for {n}."
