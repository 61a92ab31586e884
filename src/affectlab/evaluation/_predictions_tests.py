"""Tests of the differences of two classifications of the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from affectlab._resampling import Uncertainty
from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._few_mistakes import FEWEST_MISTAKES, few_mistakes
from affectlab.evaluation._jackknife import jackknife_spread, t_interval, t_test
from affectlab.evaluation._metrics_draws import Units, swapped_tallies
from affectlab.evaluation._metrics_kinds import (
    ClassificationMetric,
    metric_values,
    rests_on_mistakes,
)
from affectlab.evaluation._metrics_labels import Coded
from affectlab.evaluation._metrics_tests import exact_mcnemar, permutation_p, tango_p

__all__ = ["Pair"]

_COUNTS = ("accuracy", "acc2", "micro_f1")
"""Metrics that are shares of items."""
_NO_SPREAD = "no interval: no item makes a difference"
_MEANS = ("accuracy", "acc2", "micro_f1", "ecc", "mean_emotional_distance")
"""Metrics that are means over items of a number that the item alone decides."""


@dataclass(frozen=True)
class Pair:
    """Two classifications and the differences of m metrics, the first minus the second."""

    metrics: Sequence[ClassificationMetric]
    coded: Coded
    units: Units
    gap: Floats
    """Shape (m,), ``nan`` where a metric is not defined."""
    zero_division: float
    simple: bool
    """Whether each item is a unit and counts once."""

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        """Jackknife standard errors and their degrees of freedom, shape (m,) each."""
        one, other = (
            metric_values(self.metrics, self.units.left_out(model), self.zero_division)
            for model in (0, 1)
        )
        se, df = jackknife_spread(one - other, self.units.times)
        return np.where(np.isnan(self.gap) | self._few, np.nan, se), df

    @cached_property
    def _mistakes(self) -> int:
        """Mistakes of the one who makes fewer."""
        return int((self.coded.predicted != self.coded.true).sum(axis=1).min())

    @cached_property
    def _few(self) -> Bools:
        """Metrics of mistakes where there are too few for a test, shape (m,)."""
        few = self._mistakes < FEWEST_MISTAKES
        return np.array([few and rests_on_mistakes(metric) for metric in self.metrics], np.bool_)

    def steadied(self, spread: Uncertainty, confidence: float) -> Uncertainty:
        """Put the interval of the t test in the place of the bootstrap's, for ratios."""
        ratios = np.array([metric.ratio for metric in self.metrics], dtype=np.bool_)
        se, df = self._spread
        low, high = t_interval(self.gap, se, df, confidence)
        defined = ~np.isnan(self.gap)
        gone = ratios & defined & ~(se > 0)
        missing = [
            ("" if not none else _NO_SPREAD if alike else self._too_few()) if ratio else was
            for none, alike, ratio, was in zip(
                gone, se == 0, ratios & defined, spread.missing, strict=True
            )
        ]
        return replace(
            spread,
            se=np.where(ratios, np.where(se > 0, se, np.nan), spread.se),
            low=np.where(ratios, low, spread.low),
            high=np.where(ratios, high, spread.high),
            missing=tuple(missing),
        )

    def _why_few(self) -> str:
        return f"one makes {few_mistakes(self._mistakes)}"

    def _too_few(self) -> str:
        few = bool(self._few.any())
        return f"no interval: {self._why_few() if few else 'too few items carry it'}"

    def tests(self, n_permutations: int, rng: np.random.Generator) -> tuple[Floats, list[str]]:
        """P value and name of the test of every metric."""
        p = np.full(self.gap.size, np.nan)
        test = [""] * self.gap.size
        defined = ~np.isnan(self.gap)
        for place, metric in enumerate(self.metrics):
            if self.simple and metric.name in _COUNTS and defined[place]:
                only = self._discordant(metric)
                p[place] = exact_mcnemar(np.asarray(only[0]), np.asarray(only[1]))
                test[place] = "exact McNemar"
        for place in np.flatnonzero(self._few & defined).tolist():
            test[place] = f"not tested: {self._why_few()}"
        left = [k for k in range(self.gap.size) if not test[k] and defined[k]]
        if left:
            chosen = [self.metrics[k] for k in left]
            permuted = np.concatenate(
                [
                    metric_values(chosen, one, self.zero_division)
                    - metric_values(chosen, other, self.zero_division)
                    for one, other in swapped_tallies(self.units, n_permutations, rng)
                ]
            )
            p[left] = permutation_p(self.gap[left], permuted)
            for place in left:
                test[place] = f"paired permutation, {n_permutations} draws"
        return self._studentised(p, test)

    def _studentised(self, p: Floats, test: list[str]) -> tuple[Floats, list[str]]:
        """Let ratios pass the t test, too."""
        se, df = self._spread
        of_t = 2 * t_test(np.abs(self.gap), se, df)
        for place, metric in enumerate(self.metrics):
            if not metric.ratio or np.isnan(p[place]):
                continue
            test[place] += ", and jackknife t"
            if np.isnan(se[place]):
                # Not defined without one of the items: nothing can be said.
                p[place] = 1.0
            elif se[place] > 0:
                p[place] = max(p[place], of_t[place])
        return p, test

    def within(self, margins: Floats, alpha: float) -> list[bool | None]:
        """Say which differences are shown to lie within their margins; none without a margin."""
        se, df = self._spread
        found: list[bool | None] = []
        for place, metric in enumerate(self.metrics):
            gap, margin = self.gap[place], margins[place]
            if self._few[place] and not np.isnan(margin):
                found.append(False)
                continue
            if np.isnan(margin) or np.isnan(gap):
                found.append(None)
                continue
            if self.simple and metric.name in _COUNTS:
                n = self.coded.true.size
                one, other = self._discordant(metric)
                p = max(tango_p(one, other, n, -margin), tango_p(other, one, n, -margin))
            elif se[place] > 0:
                one_se, one_df = se[place : place + 1], df[place : place + 1]
                p = max(
                    float(t_test(np.array([side]), one_se, one_df, -margin)[0])
                    for side in (gap, -gap)
                )
            else:
                found.append(self._all_alike(metric, float(gap), float(margin), alpha))
                continue
            found.append(bool(p <= alpha))
        return found

    def _all_alike(
        self, metric: ClassificationMetric, gap: float, margin: float, alpha: float
    ) -> bool:
        """Judge models that no unit tells apart: by how many units might."""
        if gap != 0 or metric.name not in _MEANS or not self.simple:
            return False
        share = 1 - alpha ** (1 / self.coded.true.size)
        return bool(share * self._reach(metric) <= margin)

    def _reach(self, metric: ClassificationMetric) -> float:
        """Say how far two predictions of one item can be apart."""
        costs = self.coded.facts.costs
        if costs is None or metric.name in _COUNTS:
            return 1.0
        known = costs[~np.isnan(costs)]
        worth = 1 / known if metric.name == "ecc" else known
        return float(worth.max() - worth.min())

    def _discordant(self, metric: ClassificationMetric) -> tuple[int, int]:
        """Count the items on which only the first, and only the second, is right."""
        first, second = self.coded.predicted
        true, sides = self.coded.true, self.coded.facts.sides

        def right(answer: Ints) -> Ints:
            if metric.name == "acc2" and sides is not None:
                return np.asarray(sides[answer] == sides[true])
            return np.asarray(answer == true)

        one, other = right(first), right(second)
        return int(np.sum(one & ~other)), int(np.sum(other & ~one))
