"""How far each label is covered, and what hints brought it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Formula, IntervalFact, Reason
from affectlab.core.inference import wilson_interval
from affectlab.models.hinted.annotator import DECOY, MAIN, Answered
from affectlab.models.hinted.plan import HintedPlan

__all__ = ["ALL", "Tally", "acceptance_table", "coverage_table"]

ALL = "all"
"""Key of the rows over all labels."""
_PRIOR = 2
"""Hints that what the plan expects weighs as much as, in guessing how many will be accepted."""
_QUANTITIES = ("hinted", "decoy", "unprompted")
_STATISTICS = {
    "hinted": "share of hinted pictures that got the label hinted at",
    "decoy": "share of pictures that got the label of a wrong hint",
    "unprompted": "share of the same pictures that got that label without that hint",
}


@dataclass(frozen=True)
class Tally:
    """Counts of what was answered."""

    plan: HintedPlan
    wanted: tuple[str, ...]
    above: Mapping[str, int]
    """Ratings above the lowest value by label, of the annotator as it is used."""
    from_hints: Mapping[str, int]
    """Those of them that answer a hint at the label."""
    asked: Mapping[tuple[int, str], int]
    """Hinted pictures that were answered about, by round and target."""
    accepted: Mapping[tuple[int, str], int]
    """Those of them whose target got more than the lowest value."""
    made: Mapping[tuple[int, str], int]
    """Prompts by round and label."""

    @classmethod
    def of(
        cls, plan: HintedPlan, answers: Iterable[Answered], prompts: Sequence[pl.DataFrame]
    ) -> Tally:
        """Count."""
        low = lowest(plan)
        above: Counter[str] = Counter()
        from_hints: Counter[str] = Counter()
        asked: Counter[tuple[int, str]] = Counter()
        accepted: Counter[tuple[int, str]] = Counter()
        for answer in answers:
            if answer.role != MAIN or answer.outcome != "ok":
                continue
            given = [label for label, value in answer.values.items() if value > low]
            above.update(given)
            if answer.hint:
                asked[answer.round, answer.hint] += 1
                if answer.hint in given:
                    accepted[answer.round, answer.hint] += 1
                    from_hints[answer.hint] += 1
        made: Counter[tuple[int, str]] = Counter()
        for table in prompts:
            made.update(zip(table["round"].to_list(), table["label"].to_list(), strict=True))
        return cls(plan, plan.wanted(), above, from_hints, asked, accepted, made)

    @property
    def n_made(self) -> int:
        """Prompts of all rounds."""
        return sum(self.made.values())

    def lacking(self, label: str) -> int:
        """Ratings that a label lacks of the target."""
        return max(0, self.plan.target - self.above.get(label, 0))

    def given_up(self) -> tuple[str, ...]:
        """Labels of which it is known that hints bring too little.

        In each of their last rounds, as many as the plan's patience, less than its floor was
        accepted, and the interval of the share over all rounds (95 %) ends below the floor.
        """
        return tuple(
            label for label in self.wanted if self.lacking(label) and self._hopeless(label)
        )

    def _hopeless(self, label: str) -> bool:
        # A round without a usable answer says nothing about hints.
        rounds = sorted(round for (round, target), n in self.asked.items() if n and target == label)
        last = rounds[-self.plan.patience :]
        if len(last) < self.plan.patience or any(
            self.accepted.get((round, label), 0) >= self.plan.floor * self.asked[round, label]
            for round in last
        ):
            return False
        # Small rounds bring nothing by chance, too.
        asked, accepted = self.totals(label)
        return bool(wilson_interval(accepted, asked)[1] < self.plan.floor)

    def orders(self) -> dict[str, int]:
        """Give how many pictures each label needs, as its acceptance so far predicts.

        Labels that lack nothing, or were given up, need none.
        """
        left_out = set(self.given_up())
        found: dict[str, int] = {}
        for label in self.wanted:
            lacking = self.lacking(label)
            if lacking and label not in left_out:
                asked, accepted = self.totals(label)
                share = (accepted + _PRIOR * self.plan.expected) / (asked + _PRIOR)
                found[label] = min(self.plan.per_round, math.ceil(lacking / share))
        return found

    def totals(self, label: str) -> tuple[int, int]:
        """Hinted pictures of a label that were answered about, and accepted hints."""
        asked = sum(n for (_, target), n in self.asked.items() if target == label)
        accepted = sum(n for (_, target), n in self.accepted.items() if target == label)
        return asked, accepted


def lowest(plan: HintedPlan) -> float:
    """Give the value that says that a label does not apply."""
    from affectlab.ratings import Scale

    return Scale.parse(plan.scale).low or 0.0


def coverage_table(tally: Tally, round: int) -> pl.DataFrame:
    """Give a row for each label that is to be covered, after a round.

    Columns: ``round``, ``label``, ``n`` (ratings above the lowest value), ``n_hinted`` (those of
    them that a hint named), ``target``, ``lacking``, ``made`` (pictures made for it), ``asked``
    (hinted pictures that were answered about), ``accepted``, ``acceptance`` (null without any),
    ``status`` (``met``, ``lacking`` or ``given up``).
    """
    given_up = set(tally.given_up())
    rows = []
    for label in tally.wanted:
        asked, accepted = tally.totals(label)
        lacking = tally.lacking(label)
        rows.append(
            {
                "round": round,
                "label": label,
                "n": tally.above.get(label, 0),
                "n_hinted": tally.from_hints.get(label, 0),
                "target": tally.plan.target,
                "lacking": lacking,
                "made": sum(n for (_, made), n in tally.made.items() if made == label),
                "asked": asked,
                "accepted": accepted,
                "acceptance": accepted / asked if asked else None,
                "status": "given up" if label in given_up else "lacking" if lacking else "met",
            }
        )
    return pl.DataFrame(rows, schema_overrides={"acceptance": pl.Float64})


def acceptance_table(
    plan: HintedPlan, answers: Mapping[tuple[str, str], Answered], confidence: float = 0.95
) -> Estimates:
    """Compute how often hints are followed, for each label and over all.

    Keyed by ``label`` and ``quantity``: ``hinted`` (the hint names what the picture was made for),
    ``decoy`` (the hint is wrong: it names the label, the picture was made for another one) and
    ``unprompted`` (the same pictures as for ``decoy``, asked about without the wrong hint).
    """
    low = lowest(plan)
    counts: dict[tuple[str, str], list[int]] = {}

    def count(label: str, quantity: str, got: bool) -> None:
        for name in (label, ALL):
            cell = counts.setdefault((name, quantity), [0, 0])
            cell[0] += 1
            cell[1] += got

    for answer in answers.values():
        if answer.outcome != "ok" or not answer.hint:
            continue
        got = answer.values.get(answer.hint, low) > low
        if answer.role == MAIN:
            count(answer.hint, "hinted", got)
            continue
        plain = answers.get((MAIN, answer.stimulus))
        if answer.role == DECOY and plain is not None and plain.outcome == "ok":
            count(answer.hint, "decoy", got)
            count(answer.hint, "unprompted", plain.values.get(answer.hint, low) > low)
    seen = {label for label, _ in counts}
    labels = [ALL, *(label for label in plan.known().labels if label in seen)]
    keys = [(label, quantity) for label in labels for quantity in _QUANTITIES]
    n = np.array([counts.get(key, [0, 0])[0] for key in keys], dtype=np.float64)
    k = np.array([counts.get(key, [0, 0])[1] for key in keys], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        share = k / n
    lower, upper = wilson_interval(k, n, confidence)
    return Estimates.build(
        {"label": [label for label, _ in keys], "quantity": [quantity for _, quantity in keys]},
        value=share,
        low=lower,
        high=upper,
        statistic=[_STATISTICS[quantity] for _, quantity in keys],
        interval=IntervalFact("analytic", formula=Formula.WILSON),
        n_items=n.astype(np.int64),
        n_raters=1,
        n_ratings=n.astype(np.int64),
        reason=[
            None if total else Reason(Cause.NONE, of="picture with such a hint") for total in n
        ],
    )
