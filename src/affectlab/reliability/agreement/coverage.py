"""Where intervals hold less often than they say, as simulations have found.

``weak_designs.json`` holds the designs in which 95 % intervals of a coefficient held in less than
93 % of simulated studies; ``python -m benchmarks.coverage`` writes it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from affectlab.core.arrays import distinct_codes
from affectlab.core.estimates import Estimates
from affectlab.core.facts import IntervalFact
from affectlab.core.statistic import Clusters
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers

_NEAR = 2.0
"""Ratio of numbers of items, or of raters, up to which designs are alike; also of shares of yes."""
_NEAR_GAPS, _NEAR_SD = 0.2, 0.75


class Rated(NamedTuple):
    """Answers to one label: the stimulus, the rater and the value of each, shape (n,)."""

    unit: Ints
    rater: Ints
    value: Floats


@dataclass(frozen=True)
class WeakDesign:
    """A simulated design in which too few intervals held."""

    target: str
    items: int
    raters: int
    gaps: float
    rater_sd: float
    """Standard deviation of the level of raters, in that of stimuli."""
    share: float | None
    """Share of yes of yes/no answers, None of others."""
    coverage: float

    @property
    def design(self) -> str:
        """The design in words, such as ``30 items, 5 raters, 10% gaps``."""
        gaps = [f"{self.gaps:.0%} gaps"] if self.gaps else []
        share = [] if self.share is None else [f"{self.share:.0%} yes"]
        return ", ".join([f"{self.items} items", f"{self.raters} raters", *gaps, *share])

    @property
    def fact(self) -> IntervalFact:
        """How often intervals held there."""
        return IntervalFact("jackknife", coverage=self.coverage, design=self.design)


@cache
def weak_designs(statistic: str) -> tuple[WeakDesign, ...]:
    """Give the designs in which intervals of a statistic held too rarely, the worst first."""
    rows = json.loads((files("affectlab.reliability.agreement") / "weak_designs.json").read_text())
    designs = [WeakDesign(**row) for row in rows.get(statistic, ())]
    return tuple(sorted(designs, key=lambda one: one.coverage))


def weak_design_like(
    statistic: str, target: str, answers: Answers | Rated, clusters: Clusters | None = None
) -> WeakDesign | None:
    """Find the worst such design that the answers to one label are like.

    Clusters of stimuli count as its items.
    """
    designs = [one for one in weak_designs(statistic) if one.target == target]
    if not designs or not answers.value.size:
        return None
    units = distinct_codes(answers.unit, int(answers.unit.max()) + 1)
    raters = distinct_codes(answers.rater, int(answers.rater.max()) + 1).size
    gaps = 1 - answers.value.size / (units.size * raters)
    items = units.size if clusters is None else np.unique(clusters.code[units]).size
    known = np.unique(answers.value)
    share = float((answers.value == known[-1]).mean()) if known.size <= 2 else None
    spread = None
    for one in designs:
        alike = _ratio(one.items, items) and _ratio(one.raters, raters)
        alike &= abs(one.gaps - gaps) <= _NEAR_GAPS
        if not alike or (one.share is None) != (share is None):
            continue
        if one.share and share and not _ratio(one.share, min(share, max(1 - share, 1e-9))):
            continue
        spread = _rater_sd(answers) if spread is None else spread
        # Where stimuli hardly seem to differ, the ratio of both is not known.
        if math.isinf(spread) or abs(one.rater_sd - spread) <= _NEAR_SD * max(one.rater_sd, 1.0):
            return one
    return None


def _ratio(first: float, second: float) -> bool:
    return 1 / _NEAR <= first / second <= _NEAR


def _rater_sd(answers: Answers | Rated) -> float:
    """Estimate the standard deviation of raters' levels in that of stimuli, from their means."""
    value = answers.value - answers.value.mean()

    def variance(code: Ints) -> float:
        n = np.bincount(code)
        used = n > 0
        mean = np.bincount(code, value)[used] / n[used]
        within = (value**2).sum() - (n[used] * mean**2).sum()
        noise = within / max(value.size - used.sum(), 1)
        return float(max(mean.var() - noise * (1 / n[used]).mean(), 0.0))

    of_stimuli = variance(answers.unit)
    return math.sqrt(variance(answers.rater) / of_stimuli) if of_stimuli > 0 else math.inf


def with_coverage(
    table: Estimates,
    statistic: str,
    target: str,
    answers: Answers,
    clusters: Clusters | None = None,
) -> Estimates:
    """Say of which labels' intervals simulations have shown that they hold too rarely.

    Parameters
    ----------
    table
        Estimates of the statistic; others than by ``label`` alone are left as they are.
    target
        What the intervals are about.
    answers
        Those of which the estimates are.
    clusters
        What their stimuli were drawn with.
    """

    if table.keys != ("label",) or not weak_designs(statistic):
        return table
    parts = dict(zip(answers.labels, answers.by_label(), strict=True))
    said = [
        None
        if row["low"] != row["low"]
        else weak_design_like(statistic, target, parts[row["label"]], clusters)
        for row in table.frame.iter_rows(named=True)
        if row["label"] in parts
    ]
    if len(said) < len(table) or not any(said):
        return table
    return table.with_coverage(
        [None if one is None else (one.coverage, one.design) for one in said]
    )
