"""Rules about how a session was worked through: spread, runs, movement, speed, number."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from affectlab._types import Floats
from affectlab.reliability._screening._rule import (
    Judgement,
    Rule,
    ScaleRule,
    judged,
    not_applicable,
)
from affectlab.reliability._screening._trials import Trials

__all__ = ["Movement", "Run", "SeenBefore", "SessionNumber", "Speed", "Spread"]

_NO_WIDTH = "the scale has no two ends, and the limit is in percent of its width"


def _number(value: float) -> str:
    return f"{value:.3g}"


class Spread(ScaleRule):
    """Straight-lining: the ratings of main trials hardly differ (population SD)."""

    check: Literal["spread"]
    below: float = Field(gt=0)
    min_answers: int = Field(default=5, ge=2)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the SD with the limit."""
        return _spread(self, trials, trials.value, "ratings", self.below, self.min_answers)


class Movement(ScaleRule):
    """The slider hardly moved: SD of the column ``movement`` over main trials."""

    check: Literal["movement"]
    below: float = Field(gt=0)
    min_answers: int = Field(default=5, ge=2)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the SD with the limit."""
        if trials.movement is None:
            return not_applicable(trials, "the ratings have no column 'movement'")
        what = "slider movements"
        return _spread(self, trials, trials.movement, what, self.below, self.min_answers)


def _spread(
    rule: ScaleRule, trials: Trials, values: Floats, what: str, below: float, min_answers: int
) -> Judgement:
    limit = rule.points(below, trials)
    if limit is None:
        return not_applicable(trials, _NO_WIDTH)
    chosen = trials.main & ~np.isnan(values)
    n, sd = trials.count(chosen), trials.sd(values, chosen)

    def words(unit: int) -> str:
        sign = "<" if sd[unit] < limit else ">="
        return f"SD of {n[unit]} {what} {_number(sd[unit])} {sign} {_number(limit)}"

    missing = f"not judged: fewer than {min_answers} {what}"
    return judged(sd, n, n >= min_answers, sd < limit, words, missing)


class Run(Rule):
    """Straight-lining: the same answer many times in a row, in main trials."""

    check: Literal["run"]
    at_least: int = Field(ge=2)
    """Length of the longest run of equal answers."""
    share: float = Field(default=0.0, ge=0, le=1)
    """Share of all answers that the run must be as well."""

    def judge(self, trials: Trials) -> Judgement:
        """Find the longest run of each unit."""
        rows = np.flatnonzero(trials.main)
        rows = rows[np.argsort(trials.unit[rows], kind="stable")]
        unit, value = trials.unit[rows], trials.value[rows]
        longest = np.zeros(trials.n_units)
        n = trials.count(trials.main)
        if rows.size:
            new = np.concatenate([[True], (np.diff(unit) != 0) | (np.diff(value) != 0)])
            start = np.flatnonzero(new)
            np.maximum.at(longest, unit[start], np.diff(np.append(start, rows.size)))
        violated = (longest >= self.at_least) & (longest >= self.share * n)

        def words(index: int) -> str:
            sign = ">=" if violated[index] else "<"
            limit = max(self.at_least, int(np.ceil(self.share * n[index])))
            return f"longest run of equal answers {longest[index]:.0f} of {n[index]} {sign} {limit}"

        return judged(longest, n, n > 0, violated, words, "not judged: no answers")


class Speed(Rule):
    """Too fast: median response time of main trials."""

    check: Literal["speed"]
    below: float = Field(gt=0)
    """Milliseconds."""
    min_answers: int = Field(default=5, ge=1)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the median with the limit."""
        if trials.rt_ms is None:
            return not_applicable(trials, "the ratings have no column 'rt_ms'")
        rows = np.flatnonzero(trials.main & ~np.isnan(trials.rt_ms))
        rows = rows[np.lexsort((trials.rt_ms[rows], trials.unit[rows]))]
        unit, times = trials.unit[rows], trials.rt_ms[rows]
        n = np.bincount(unit, minlength=trials.n_units)
        start = np.searchsorted(unit, np.arange(trials.n_units))
        median: Floats = np.full(trials.n_units, np.nan)
        some = n > 0
        lower, upper = start[some] + (n[some] - 1) // 2, start[some] + n[some] // 2
        median[some] = (times[lower] + times[upper]) / 2

        def words(index: int) -> str:
            sign = "<" if median[index] < self.below else ">="
            return (
                f"median of {n[index]} response times {median[index]:.0f} {sign} {self.below:g} ms"
            )

        missing = f"not judged: fewer than {self.min_answers} response times"
        return judged(median, n, n >= self.min_answers, median < self.below, words, missing)


class SessionNumber(Rule):
    """A rater has had more sessions than allowed; those beyond are judged."""

    check: Literal["session_number"]
    over: int = Field(ge=1)

    def judge(self, trials: Trials) -> Judgement:
        """Number the sessions of each rater in their order."""
        if trials.session is None:
            return not_applicable(trials, "raters are judged, not sessions")
        owner = trials.rater_of_unit
        number = (np.arange(owner.size) - np.searchsorted(owner, owner) + 1).astype(np.float64)

        def words(index: int) -> str:
            sign = ">" if number[index] > self.over else "<="
            return f"session number {number[index]:.0f} of the rater {sign} {self.over}"

        everyone = np.ones(owner.size, dtype=bool)
        n = trials.count(np.ones(trials.unit.size, dtype=bool))
        return judged(number, n, everyone, number > self.over, words, "")


class SeenBefore(Rule):
    """A rater rates the same stimuli in a second session."""

    check: Literal["seen_before"]
    at_least: float = Field(default=0.5, gt=0, le=1)
    """Share of the session's main answers whose stimulus the rater had in an earlier session."""

    def judge(self, trials: Trials) -> Judgement:
        """Look every answer up among the earlier sessions of its rater."""
        if trials.session is None:
            return not_applicable(trials, "raters are judged, not sessions")
        rows = np.flatnonzero(trials.main)
        key = trials.cell[rows] * (trials.rater.max(initial=0) + 1) + trials.rater[rows]
        _, code = np.unique(key, return_inverse=True)
        first = np.full(code.max(initial=-1) + 1, trials.n_units)
        np.minimum.at(first, code, trials.unit[rows])
        again = np.bincount(trials.unit[rows], first[code] < trials.unit[rows], trials.n_units)
        n = trials.count(trials.main)
        share: Floats = np.divide(again, n, out=np.zeros(n.size), where=n > 0)

        def words(index: int) -> str:
            sign = ">=" if share[index] >= self.at_least else "<"
            return (
                f"{share[index]:.0%} of {n[index]} answers on stimuli of an earlier session of the "
                f"rater {sign} {self.at_least:.0%}"
            )

        return judged(share, n, n > 0, share >= self.at_least, words, "not judged: no answers")
