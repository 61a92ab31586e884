"""What fairness found: values by group, gaps, and what they say in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab._words import joined, number
from affectlab.estimates import Estimates
from affectlab.evaluation._fairness_data import counted
from affectlab.evaluation._metric_registry import AnswerMetric

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Fairness"]

_WORDS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


@dataclass(frozen=True)
class Fairness:
    """A metric by group, and the gaps between groups; made by :func:`fairness`."""

    metric: AnswerMetric
    by: str
    """The attributes that make the groups."""
    groups: Estimates
    """By rater, label (where asked for) and group."""
    gaps: Estimates
    """By rater, label (where asked for), group and against: the value of the group less that of
    what it is held against. Extra columns ``p``, ``p_corrected``, ``flagged`` and ``detectable``,
    the gap that would be shown four times in five."""
    notes: tuple[str, ...]
    """What was left out, in words."""
    alpha: float
    min_gap: float
    correction: str
    n_tests: int
    """Gaps that were tested, for which p values are corrected."""
    things: str
    """What groups consist of: people or stimuli."""

    def flagged(self) -> pl.DataFrame:
        """Give the gaps that are shown and no smaller than wanted, largest first."""
        return self.gaps.frame.filter(pl.col("flagged")).sort(
            pl.col("value").abs(), descending=True, maintain_order=True
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each gap that is shown, or for each rater that none is."""
        said = [self._flag(row) for row in self.flagged().iter_rows(named=True)]
        for rater in self.gaps.frame["rater"].unique(maintain_order=True):
            quiet = self._none(rater)
            if quiet:
                said.append(quiet)
        return tuple(said)

    def to_frame(self) -> pl.DataFrame:
        """Give groups and gaps in one table, with a column ``part``."""
        parts = [
            self.groups.frame.with_columns(part=pl.lit("group")),
            self.gaps.frame.with_columns(part=pl.lit("gap")),
        ]
        whole = pl.concat(parts, how="diagonal")
        first = ["part", *self.gaps.keys]
        return whole.select(*first, *(name for name in whole.columns if name not in first))

    def __rich__(self) -> Table:
        return self.groups.__rich__()

    def __repr__(self) -> str:
        n = int(self.gaps.frame["flagged"].sum())
        return (
            f"Fairness({self.metric.title} by {self.by}: {len(self.groups)} values, "
            f"{len(self.gaps)} gaps, {n} flagged)"
        )

    def _flag(self, row: dict[str, Any]) -> str:
        value, low, high = row["value"], row["low"], row["high"]
        about = f" of {row['label']}" if row.get("label") else ""
        side = "higher" if value > 0 else "lower"
        interval = "" if low != low else f" (interval {number(low, 3)} to {number(high, 3)})"
        how = _WORDS.get(self.correction)
        after = f" after {how}'s correction for {self.n_tests} tests" if how else ", not corrected"
        after = after if self.n_tests > 1 else ""
        p = row["p_corrected"]
        shown = "< 0.001" if p < 0.001 else f"= {p:.3f}"
        return (
            f"{row['rater']}: {self.metric.title}{about} is {number(abs(value), 3)} {side} for "
            f"{row['group']} than for {_against(row['against'])}{interval}, p {shown}{after}"
            f"{self._judgement(value)}."
        )

    def _judgement(self, gap: float) -> str:
        if self.metric.better not in ("higher", "lower"):
            return ""
        worse = (gap < 0) == (self.metric.better == "higher")
        return "; that is worse for the former" if worse else "; that is better for the former"

    def _none(self, rater: str) -> str:
        """One sentence on the gaps of a rater that are not flagged, empty where all are."""
        mine = self.gaps.frame.filter(pl.col("rater") == rater)
        tested = mine.filter(pl.col("p").is_not_nan())
        if tested.height == 0:
            why = joined(dict.fromkeys(mine["status"].to_list())) if mine.height else "no groups"
            return f"{rater}: no gap by {self.by} could be tested ({why})."
        if mine["flagged"].any():
            return ""
        hopeless = tested.filter(pl.col("status").str.starts_with("cannot be shown"))
        if hopeless.height == tested.height:
            why = hopeless["status"][0].partition(": ")[2]
            return f"{rater}: no gap in {self.metric.title} by {self.by} could be shown: {why}."
        sizes = self._sizes(rater)
        small = tested.filter(pl.col("p_corrected") <= self.alpha)
        if small.height:
            largest = float(small["value"].abs().max())  # type: ignore[arg-type]
            return (
                f"{rater}: gaps in {self.metric.title} by {self.by} are shown, but none reaches "
                f"{number(self.min_gap, 3)}; the largest is {number(largest, 3)} ({sizes})."
            )
        missed = self._missed(sorted(tested["detectable"].drop_nans().to_list()))
        return f"{rater}: no gap in {self.metric.title} by {self.by} is shown; {sizes}, {missed}."

    @staticmethod
    def _missed(could: Sequence[float]) -> str:
        if not could:
            return "without intervals it is not known how large a gap could have been missed"
        least, most = number(could[0], 3), number(could[-1], 3)
        if least == most:
            return f"a gap below {most} could have been missed"
        return f"a gap below {least} to {most}, as groups go, could have been missed"

    def _sizes(self, rater: str) -> str:
        column = "n_raters" if self.things == "people" else "n_items"
        mine = self.groups.frame.filter(pl.col("rater") == rater)[column]
        low, high = int(mine.min()), int(mine.max())  # type: ignore[arg-type]
        if low == high:
            return f"with {counted(low, self.things)} in a group"
        return f"with {low:,} to {high:,} {self.things} in a group"


def _against(name: object) -> str:
    return "the rest" if name == "rest" else str(name)
