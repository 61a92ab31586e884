"""Rules about trials that check the rater: golden trials, repeats, and both together."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from affectlab._types import Ints
from affectlab.reliability._screening._rule import (
    Judgement,
    Rule,
    ScaleRule,
    judged,
    not_applicable,
)
from affectlab.reliability._screening._trials import Mask, Trials

__all__ = ["Combined", "Golden", "Repeats"]

_NO_WIDTH = "the scale has no two ends, and the tolerance is in percent of its width"


class _Counted(ScaleRule):
    """Violations among check trials: as many as said, and as large a share as said."""

    tolerance: float = Field(gt=0)
    """A difference this large, or larger, is a violation."""
    at_least: int = Field(ge=1)
    """Violations of the session."""
    of: int = Field(ge=1)
    """Trials that ``at_least`` is meant for; with more or fewer, the same share is asked."""

    @model_validator(mode="after")
    def _fits(self) -> _Counted:
        if self.at_least > self.of:
            raise ValueError(f"at_least {self.at_least} can never be reached of {self.of}")
        return self

    def _judge(self, trials: Trials, bad: Mask, chosen: Mask, what: str) -> Judgement:
        return _counts(
            trials.count(chosen & bad), trials.count(chosen), self.at_least, self.of, what
        )


def _counts(count: Ints, n: Ints, at_least: int, of: int, what: str) -> Judgement:
    # Of fewer trials than planned the share decides; of more, both do.
    needed = np.maximum(np.minimum(at_least, n), np.ceil(n * at_least / of - 1e-9))
    violated = count >= needed

    def words(unit: int) -> str:
        sign = ">=" if violated[unit] else "<"
        return f"{count[unit]} of {n[unit]} {what} {sign} {needed[unit]:.0f}"

    return judged(count.astype(float), n, n > 0, violated, words, f"not judged: no {what}")


class Golden(_Counted):
    """Answers far from known ones."""

    check: Literal["golden"]

    def judge(self, trials: Trials) -> Judgement:
        """Count violations over golden trials, or over all trials with a known answer."""
        limit = self.points(self.tolerance, trials)
        if limit is None:
            return not_applicable(trials, _NO_WIDTH)
        known = ~np.isnan(trials.expected)
        if not known.any():
            return not_applicable(trials, "no known answers of golden trials were given")
        golden = known & trials.golden
        chosen = golden if golden.any() else known
        bad = np.abs(trials.value - trials.expected) >= limit
        return self._judge(trials, bad, chosen, f"golden answers {limit:g} or more off")


class Repeats(_Counted):
    """Different answers to a trial shown again."""

    check: Literal["repeats"]

    def judge(self, trials: Trials) -> Judgement:
        """Compare repeat trials with the main answer of the session, else of the rater."""
        limit = self.points(self.tolerance, trials)
        if limit is None:
            return not_applicable(trials, _NO_WIDTH)
        if not trials.repeat.any():
            return not_applicable(trials, "there are no repeat trials")
        before = _main_answer(trials, trials.unit)
        before = np.where(np.isnan(before), _main_answer(trials, trials.rater), before)
        chosen = trials.repeat & ~np.isnan(before)
        with np.errstate(invalid="ignore"):
            bad = np.abs(trials.value - before) >= limit
        return self._judge(trials, bad, chosen, f"repeated answers {limit:g} or more apart")


def _main_answer(trials: Trials, owner: Ints) -> np.ndarray:
    """First main answer of the owner to the same cell, for every trial; ``nan`` without one."""
    key = owner * (trials.cell.max(initial=0) + 1) + trials.cell
    rows = np.flatnonzero(trials.main)
    known, first = np.unique(key[rows], return_index=True)
    answer = np.full(key.size, np.nan)
    if known.size:
        place = np.minimum(np.searchsorted(known, key), known.size - 1)
        found = known[place] == key
        answer[found] = trials.value[rows[first[place[found]]]]
    return answer


class Combined(Rule):
    """Violations of several counting rules taken together, or so many rules of several."""

    check: Literal["together"]
    rules: tuple[str, ...] = Field(min_length=2)
    """Names of rules above this one."""
    at_least: int = Field(ge=1)
    of: int | None = Field(default=None, ge=1)
    """Trials that ``at_least`` is meant for; without it rules are counted, not their trials."""

    def combine(self, trials: Trials, earlier: dict[str, Judgement]) -> Judgement:
        """Add up what the other rules found."""
        parts = [earlier[name] for name in self.rules]
        if not any(part.known.any() for part in parts):
            return not_applicable(trials, f"none of {', '.join(self.rules)} applies")
        if self.of is None:
            count = np.sum([part.violated for part in parts], axis=0)
            n = np.sum([part.known for part in parts], axis=0)

            def words(unit: int) -> str:
                sign = ">=" if count[unit] >= self.at_least else "<"
                return f"{count[unit]} of {n[unit]} rules violated {sign} {self.at_least}"

            known = n > 0
            return judged(
                count.astype(float), n, known, count >= self.at_least, words, "not judged: no rule"
            )
        count = np.sum([np.nan_to_num(part.measure) for part in parts], axis=0).astype(np.int64)
        n = np.sum([part.n for part in parts], axis=0)
        return _counts(count, n, self.at_least, self.of, f"check trials ({', '.join(self.rules)})")
