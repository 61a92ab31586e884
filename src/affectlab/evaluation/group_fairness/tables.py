"""Tables of groups and of gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.core.errors import unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Uncertainty, summarise
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.classification import FEWEST_MISTAKES, few_mistakes
from affectlab.evaluation.group_fairness.gaps import Contrast, Correction, Judged, corrected
from affectlab.evaluation.group_fairness.metrics import AnswerMetric
from affectlab.evaluation.group_fairness.units import Side, Units, counted

__all__ = [
    "Plan",
    "Settings",
    "gap_table",
    "group_table",
]

# Which groups of one who is judged are shown, which are tested, and against what.


class Plan:
    """The groups of one side, and the gaps between them.

    Sets of groups are arrays of booleans, shape (groups,).
    """

    def __init__(
        self, side: Side, units: Units, groups: tuple[str, ...], against: str, min_items: int
    ) -> None:
        if against not in ("rest", "largest") and against not in groups:
            raise unknown_name("group", against, ("rest", "largest", *groups), "against")
        self.side = side
        self.groups = groups
        self.against = against
        self.min_items = min_items
        self.things = units.things
        self.codes: Ints = np.where(side.present, units.group, -1)
        """Group of each unit, -1 where it has no answer."""
        self.size = np.array(
            [int(side.members[self.codes == place].sum()) for place in range(len(groups))]
        )
        self.present: Bools = self.size > 0
        self.tested: Bools = self.size >= min_items

    def units(self, groups: Bools) -> Bools:
        """Units of some of the groups, shape (U,)."""
        return np.asarray(np.append(groups, False)[self.codes], dtype=np.bool_)

    def single(self, place: int) -> Bools:
        """The set of one group."""
        return np.asarray(np.arange(len(self.groups)) == place)

    def contrasts(self, values: Floats) -> tuple[Contrast, ...]:
        """The gaps that are tested."""
        if self.against == "largest":
            return self._furthest_apart(values)
        return tuple(
            Contrast(self.groups[at], name, self.single(at), others, self.single(at) | others)
            for at, others, name in self._pairs()
            if self._testable(at, others)
        )

    def untested(self) -> list[tuple[str, str, Bools, str]]:
        """Group, what it would be held against, the groups of both, and why that is not tested."""
        if self.against == "largest":
            if int(self.tested.sum()) >= 2:
                return []
            why = f"not tested: fewer than two groups of {counted(self.min_items, self.things)}"
            return [("largest", "smallest", self.present, why)]
        return [
            (self.groups[at], name, self.single(at) | others, self._why(at, others))
            for at, others, name in self._pairs()
            if not self._testable(at, others)
        ]

    def _pairs(self) -> list[tuple[int, Bools, str]]:
        """Group, what it is held against, and the name of that, tested or not."""
        present = [int(at) for at in np.flatnonzero(self.present)]
        if self.against in self.groups:
            reference = self.groups.index(self.against)
            held = self.single(reference)
            return [(at, held, self.against) for at in present if at != reference]
        if len(present) == 2:
            # One gap seen from both sides would be tested twice: the smaller group comes first.
            first, second = sorted(present, key=lambda at: (int(self.size[at]), -at))
            return [(first, self.single(second), self.groups[second])]
        return [(at, self.present & ~self.single(at), "rest") for at in present]

    def _testable(self, place: int, others: Bools) -> bool:
        alone = int(self.size[others].sum())
        return bool(self.tested[place]) and alone >= self.min_items

    def _why(self, place: int, others: Bools) -> str:
        small = min(int(self.size[place]), int(self.size[others].sum()))
        return f"not tested: {counted(small, self.things)}, fewer than {self.min_items}"

    def _furthest_apart(self, values: Floats) -> tuple[Contrast, ...]:
        usable = np.flatnonzero(self.tested & ~np.isnan(values))
        if usable.size < 2:
            return ()
        top = int(usable[np.argmax(values[usable])])
        # The last of equals, so that the two differ.
        bottom = int(usable[::-1][np.argmin(values[usable][::-1])])
        pool = np.isin(np.arange(len(self.groups)), usable)
        return (
            Contrast(
                self.groups[top],
                self.groups[bottom],
                self.single(top),
                self.single(bottom),
                pool,
                largest=True,
            ),
        )


_POWER = 0.8


@dataclass(frozen=True)
class Settings:
    """What is computed, and what makes a gap worth a flag."""

    metric: AnswerMetric
    by_label: bool
    cluster: str | None
    alpha: float
    min_gap: float
    correction: Correction
    n_boot: int
    n_permutations: int
    confidence: float

    def table(self, rows: Sequence[Mapping[str, Any]], *keys: str) -> Estimates:
        """Make a table of rows that name their side."""
        of = [{"rater": row["side"].rater, "label": row["side"].label, **row} for row in rows]
        first = ("rater", "label") if self.by_label else ("rater",)
        return Estimates.of_rows(of, (*first, *keys), method=self.metric.title)

    def resampled(self, plan: Plan) -> str:
        if self.n_boot == 0:
            return "none"
        if self.cluster is not None:
            return "clusters"
        return "raters" if plan.things == "people" else "units"

    def spread(self, values: Floats, replicates: Floats) -> Uncertainty:
        """Sum up replicates, where there are any."""
        if replicates.shape[0] == 0:
            return Uncertainty.none(values.size)
        return summarise(values, replicates, self.confidence)


def group_table(plans: Sequence[Plan], results: Sequence[Judged], settings: Settings) -> Estimates:
    rows: list[dict[str, Any]] = []
    for plan, result in zip(plans, results, strict=True):
        spread = settings.spread(result.values, result.replicates)
        for at in np.flatnonzero(plan.present).tolist():
            value = float(result.values[at])
            mistakes = _too_few_mistakes(plan, plan.codes == at) if settings.n_boot else ""
            status = (f"no interval: {mistakes}" if mistakes else spread.missing[at]) or "ok"
            if plan.size[at] < plan.min_items:
                status = f"small: {counted(int(plan.size[at]), plan.things)}, not tested"
            if math.isnan(value):
                status = f"undefined: {settings.metric.title} is not defined for this group"
            rows.append(
                {
                    "side": plan.side,
                    "group": plan.groups[at],
                    "value": value,
                    **_ends(spread, at, hidden=bool(mistakes)),
                    "resampled": settings.resampled(plan),
                    "status": status,
                    **plan.side.counts(plan.codes == at),
                }
            )
    return settings.table(rows, "group")


def _ends(spread: Uncertainty, at: int, *, hidden: bool) -> dict[str, float]:
    """Standard error and ends of one value; ``nan`` where they are hidden."""
    names = ("se", "low", "high")
    return {name: math.nan if hidden else float(getattr(spread, name)[at]) for name in names}


def gap_table(
    plans: Sequence[Plan], results: Sequence[Judged], settings: Settings
) -> tuple[Estimates, int]:
    import polars as pl
    from scipy.special import ndtri

    rows: list[dict[str, Any]] = []
    for plan, result in zip(plans, results, strict=True):
        spread = settings.spread(result.gaps, result.gap_replicates)
        things = "clusters" if settings.cluster is not None else plan.things
        common = {"side": plan.side, "resampled": settings.resampled(plan)}
        own: list[dict[str, Any]] = []
        for at, contrast in enumerate(result.contrasts):
            sides = (plan.units(contrast.first), plan.units(contrast.second))
            pool, inside = int(plan.units(contrast.pool).sum()), int(sides[0].sum())
            few = _too_few_mistakes(plan, *sides)
            value, status = float(result.gaps[at]), spread.missing[at] or "ok"
            if few:
                status = f"not tested: {few}, on one side"
            if math.isnan(value):
                status = "undefined: the metric is not defined on one side"
            own.append(
                {
                    **common,
                    "group": contrast.group,
                    "against": contrast.against,
                    "value": value,
                    **_ends(spread, at, hidden=bool(few)),
                    "p": math.nan if few else float(result.p[at]),
                    "ways": math.comb(pool, inside),
                    "spread": f"{pool} {things} can be shared out",
                    "status": status,
                    **plan.side.counts(sides[0] | sides[1]),
                }
            )
        own += [
            {
                **common,
                **dict.fromkeys(("value", "se", "low", "high", "p"), math.nan),
                "group": group,
                "against": against,
                "status": why,
                **plan.side.counts(plan.units(both)),
            }
            for group, against, both, why in plan.untested()
        ]
        order = {group: at for at, group in enumerate(plan.groups)}
        rows += sorted(own, key=lambda row, order=order: order.get(row["group"], 0))  # type: ignore[misc]
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    alpha, correction = settings.alpha, settings.correction
    adjusted = corrected(p, correction)
    n_tests = int((~np.isnan(p)).sum())
    share = alpha / max(n_tests, 1) if correction != "none" else alpha
    reach = float(ndtri(1 - share / 2) + ndtri(_POWER))
    for row in rows:
        if not math.isnan(row["value"]) and row.get("ways", math.inf) < 1 / share:
            row["se_of_test"] = math.nan
            row["status"] = f"cannot be shown: {row['spread']} in {row['ways']} ways only"
    table = settings.table(rows, "group", "against")
    with np.errstate(invalid="ignore"):
        large = np.abs(table.frame["value"].to_numpy()) >= settings.min_gap
        flagged = (adjusted <= alpha) & large
    tested = ""
    if settings.n_permutations:
        how = {"holm": ", Holm's correction", "bh": ", Benjamini-Hochberg correction", "none": ""}
        tested = f"; {settings.n_permutations:,} permutations{how[correction]}"
    frame = table.frame.with_columns(
        pl.col("method") + tested,
        pl.Series("p", p),
        pl.Series("p_corrected", adjusted),
        pl.Series("flagged", flagged, dtype=pl.Boolean),
        pl.Series("detectable", [row.get("se_of_test", row["se"]) * reach for row in rows]),
    )
    return Estimates.of(frame, table.keys), n_tests


def _too_few_mistakes(plan: Plan, *sides: Bools) -> str:
    """Say that a side has too few mistakes for a metric of mistakes; empty where it has not."""
    if plan.side.mistakes is None:
        return ""
    fewest = min(int(plan.side.mistakes[units].sum()) for units in sides)
    return few_mistakes(fewest) if fewest < FEWEST_MISTAKES else ""
