"""What every rule has: a name, the unit of its limits, and a judgement with evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from affectlab._types import Floats, Ints
from affectlab.reliability._screening._trials import Mask, Trials

__all__ = ["Judgement", "Rule", "ScaleRule", "Table", "judged", "not_applicable"]


class Table(BaseModel):
    """A table of a policy file: fixed once read, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a rule found about every unit."""

    measure: Floats
    """The number that is held against the limit; ``nan`` without one."""
    n: Ints
    """Answers, or trials, that it comes from."""
    known: Mask
    """Whether there was enough to judge."""
    violated: Mask
    evidence: tuple[str, ...]
    """In words, for every unit."""


class Rule(Table):
    """A rule of a policy."""

    name: str = Field(min_length=1)
    """What the rule is called in results, and in the verdicts of the policy."""


class ScaleRule(Rule):
    """A rule whose limits are measured on the scale."""

    units: Literal["points", "percent"] = "percent"
    """Limits are points of the scale, or percent of its width (points on a slider of 0 to 100)."""

    def points(self, limit: float, trials: Trials) -> float | None:
        """Give a limit in points; ``None`` in percent of a scale without two ends."""
        if self.units == "points":
            return limit
        return None if trials.width is None else limit * trials.width / 100


def judged(
    measure: Floats,
    n: Ints,
    known: Mask,
    violated: Mask,
    words: Callable[[int], str],
    missing: str,
) -> Judgement:
    """Put a judgement together; ``words`` says it for a unit, ``missing`` where it is unknown."""
    evidence = tuple(words(unit) if there else missing for unit, there in enumerate(known.tolist()))
    return Judgement(np.where(known, measure, np.nan), n, known, violated & known, evidence)


def not_applicable(trials: Trials, why: str) -> Judgement:
    """Say of every unit that the rule does not apply."""
    none = np.zeros(trials.n_units, dtype=bool)
    words = (f"not applicable: {why}",) * trials.n_units
    nothing = np.zeros(trials.n_units, dtype=np.int64)
    return Judgement(np.full(trials.n_units, np.nan), nothing, none, none, words)
