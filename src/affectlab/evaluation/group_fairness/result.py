"""What fairness found: values by group, gaps, and what they say in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import Uncertainty, left_out_uncertainty
from affectlab.core.jackknife import Jackknife
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, PValue, Table, Text
from affectlab.core.types import Bools
from affectlab.core.words import sentence_case
from affectlab.evaluation.classification import FEWEST_MISTAKES, few_mistakes
from affectlab.evaluation.group_fairness import wording
from affectlab.evaluation.group_fairness.gaps import Correction, Judged, corrected
from affectlab.evaluation.group_fairness.groups import Grouping
from affectlab.evaluation.group_fairness.metrics import AnswerMetric
from affectlab.evaluation.group_fairness.plans import Plan

_BETTER = {
    "higher": ", higher is better",
    "lower": ", lower is better",
    "zero": ", 0 is best",
    "neither": "",
}
_POWER = 0.8
_ENDS = ("se", "low", "high")


class Tested(StrEnum):
    """Whether a gap, or the gaps of a group, were tested."""

    DONE = "done"
    SMALL = "small"
    """A group is too small for its gaps to be tested."""
    NONE = "none"
    HOPELESS = "hopeless"
    """Tested, though so few units can be shared out that no gap could be shown."""


_TEST_WORDS = {Tested.NONE.value: "not tested", Tested.HOPELESS.value: "cannot be shown"}


@dataclass(frozen=True, eq=False, repr=False)
class Fairness(Result):
    """A metric by group, and the gaps between groups; made by :func:`fairness`.

    Its table has groups and gaps, told apart by the column ``part``.
    """

    @property
    def groups(self) -> Estimates:
        """By rater, label (where asked for) and group; ``flagged`` where a gap of it is shown."""
        return Estimates((self.table("groups"),))

    @property
    def gaps(self) -> Estimates:
        """By rater, label (where asked for), group and against.

        The value of the group less that of what it is held against. Extra columns ``p``,
        ``p_corrected``, ``flagged`` and ``detectable``, the gap that would be shown four times in
        five.
        """
        return Estimates((self.table("gaps"),))

    def flagged(self) -> pl.DataFrame:
        """Give the gaps that are shown and no smaller than wanted, largest first."""
        return _flagged(self.to_frame("gaps"))


def _flagged(gaps: pl.DataFrame) -> pl.DataFrame:
    return gaps.filter("flagged").sort(pl.col("value").abs(), descending=True, maintain_order=True)


@dataclass(frozen=True)
class Settings:
    """What is computed, and what makes a gap worth a flag."""

    metric: AnswerMetric
    by_label: bool
    cluster: str | None
    alpha: float
    min_gap: float
    min_items: int
    against: str
    correction: Correction
    n_boot: int
    n_permutations: int
    confidence: float

    def row(self, plan: Plan, units: Bools) -> dict[str, Any]:
        """Say whom a row is about, how many are in it, and what its interval is about."""
        side, target = plan.side, "none"
        if self.n_boot:
            of = "raters" if side.grouping.carrier == "rater" else "stimuli"
            target = of if self.cluster is None else "clusters"
        who = {"rater": side.rater, "label": side.label, "target": target}
        return who | side.counts(units)

    def table(
        self, rows: Sequence[Mapping[str, Any]], *keys: str, options: Sequence[str] = ()
    ) -> Estimates:
        """Make a table of rows by rater, label where asked for, and the keys."""
        first = ("rater", "label") if self.by_label else ("rater",)
        interval = [
            IntervalFact("jackknife", (row["target"],)) if self.n_boot else None for row in rows
        ]
        return Estimates.of_rows(
            rows,
            (*first, *keys),
            {"test": pl.String},
            statistic=(self.metric.title, *options),
            interval=interval,
        )

    def spread(self, of: Jackknife) -> Uncertainty:
        """Give errors and intervals, where they are asked for, and why there are none."""
        if not self.n_boot:
            return Uncertainty.none(of.value.size)
        return left_out_uncertainty(of, self.confidence)


def fairness_result(
    grouping: Grouping,
    plans: Sequence[Plan],
    found: Sequence[Judged],
    settings: Settings,
    notes: Sequence[str],
) -> Fairness:
    """Put together what was found of everybody who is judged."""
    metric = settings.metric
    groups = _group_table(plans, found, settings)
    gaps, n_tests = _gap_table(plans, found, settings)
    heading = f"{sentence_case(metric.title)} by {grouping.name}{_BETTER[metric.better]}."
    tables = _tables(groups, gaps, heading, grouping)
    words = _Words(groups.frame, gaps.frame, settings, grouping, n_tests)
    sentences = tuple(words.sentences())
    names = ("correction", "alpha", "min_gap", "min_items", "n_boot", "n_permutations")
    return Fairness(
        tables,
        sentences,
        tuple(_figures(tables, settings, grouping, " ".join(sentences))),
        tuple(notes),
        {
            "metric": metric.name,
            "title": metric.title,
            "better": metric.better,
            "by": grouping.name,
            "things": grouping.things,
            "against": settings.against,
            **{name: getattr(settings, name) for name in names},
            "confidence": settings.confidence,
            "n_tests": n_tests,
        },
    )


# Values and gaps as estimates.


def _group_table(plans: Sequence[Plan], found: Sequence[Judged], settings: Settings) -> Estimates:
    rows: list[dict[str, Any]] = []
    for plan, judged in zip(plans, found, strict=True):
        spread = settings.spread(judged.groups)
        for at in np.flatnonzero(plan.present).tolist():
            units = plan.side.codes == at
            value = float(judged.groups.value[at])
            mistakes = _too_few_mistakes(plan, units) if settings.n_boot else None
            reason = mistakes or spread.missing[at]
            if not plan.tested[at]:
                things = plan.side.grouping.things
                reason = Reason(Cause.FEW_UNITS, int(plan.size[at]), plan.min_items, things)
            if math.isnan(value):
                reason = Reason(Cause.NONE, of=f"{settings.metric.title} for this group")
            test = Tested.DONE if plan.tested[at] else Tested.SMALL
            key = {"group": plan.groups[at], "value": value, "reason": reason, "test": test}
            ends = _ends(spread, at, hidden=mistakes is not None)
            rows.append(settings.row(plan, units) | key | ends)
    return settings.table(rows, "group")


def _ends(spread: Uncertainty, at: int, *, hidden: bool) -> dict[str, float]:
    """Standard error and ends of one value; ``nan`` where they are hidden."""
    return {name: math.nan if hidden else float(getattr(spread, name)[at]) for name in _ENDS}


def _gap_table(
    plans: Sequence[Plan], found: Sequence[Judged], settings: Settings
) -> tuple[Estimates, int]:
    """Give the gaps, tested or not, and how many were tested."""
    from scipy.special import ndtri

    rows: list[dict[str, Any]] = []
    for plan, judged in zip(plans, found, strict=True):
        order = {group: at for at, group in enumerate(plan.groups)}
        own = [*_tested(plan, judged, settings), *_untested(plan, settings)]
        rows += sorted(own, key=lambda row: order.get(row["group"], 0))
    p = np.array([row["p"] for row in rows], dtype=np.float64)
    alpha, correction = settings.alpha, settings.correction
    adjusted, n_tests = corrected(p, correction), int((~np.isnan(p)).sum())
    share = alpha / max(n_tests, 1) if correction != "none" else alpha
    reach = float(ndtri(1 - share / 2) + ndtri(_POWER))
    for row in rows:
        row["detectable"] = row["se"] * reach
        if not math.isnan(row["value"]) and row["ways"] < 1 / share:
            row["detectable"] = math.nan
            row["reason"] = Reason(Cause.FEW_WAYS, row["ways"], of=row["shared_out"])
            row["test"] = Tested.HOPELESS
    options: list[str] = []
    if settings.n_permutations:
        how = {"holm": "Holm's correction", "bh": "Benjamini-Hochberg correction"}
        options = [f"{settings.n_permutations:,} permutations"]
        options += [how[correction]] if correction in how else []
    table = settings.table(rows, "group", "against", options=options)
    with np.errstate(invalid="ignore"):
        large = np.abs(table.frame["value"].to_numpy()) >= settings.min_gap
        flagged = (adjusted <= alpha) & large
    frame = table.frame.with_columns(
        pl.Series("p", p),
        pl.Series("p_corrected", adjusted),
        pl.Series("flagged", flagged, dtype=pl.Boolean),
        pl.Series("detectable", [row["detectable"] for row in rows], dtype=pl.Float64),
    )
    return Estimates.of(frame, table.keys), n_tests


def _tested(plan: Plan, judged: Judged, settings: Settings) -> Iterator[dict[str, Any]]:
    spread = settings.spread(judged.gaps)
    things = "clusters" if settings.cluster is not None else plan.side.grouping.things
    for at, contrast in enumerate(judged.contrasts):
        sides = (plan.units(contrast.first), plan.units(contrast.second))
        pool, inside = int(plan.units(contrast.pool).sum()), int(sides[0].sum())
        few = _too_few_mistakes(plan, *sides)
        value, reason = float(judged.gaps.value[at]), few or spread.missing[at]
        if math.isnan(value):
            reason = Reason(Cause.UNDEFINED_ON_ONE_SIDE)
        yield {
            **settings.row(plan, sides[0] | sides[1]),
            "group": contrast.group,
            "against": contrast.against,
            "value": value,
            **_ends(spread, at, hidden=few is not None),
            "p": float(judged.p[at]) if few is None else math.nan,
            "ways": math.comb(pool, inside),
            "shared_out": f"{pool} {things}",
            "reason": reason,
            "test": Tested.DONE if few is None else Tested.NONE,
        }


def _untested(plan: Plan, settings: Settings) -> Iterator[dict[str, Any]]:
    for contrast, why in plan.untested():
        yield {
            **settings.row(plan, plan.units(contrast.pool)),
            **dict.fromkeys(("value", *_ENDS, "p"), math.nan),
            "group": contrast.group,
            "against": contrast.against,
            "ways": math.inf,
            "reason": why,
            "test": Tested.NONE,
        }


def _too_few_mistakes(plan: Plan, *sides: Bools) -> Reason | None:
    """Give the reason that a side has too few mistakes for a metric of mistakes, if it has."""
    if plan.side.mistakes is None:
        return None
    fewest = min(int(plan.side.mistakes[units].sum()) for units in sides)
    return few_mistakes(fewest) if fewest < FEWEST_MISTAKES else None


# Tables and figures.


def _tables(
    groups: Estimates, gaps: Estimates, heading: str, grouping: Grouping
) -> tuple[Table, ...]:
    """Give groups and gaps in one table, and each in one of its own."""
    keys = [key for key in gaps.keys if key in ("rater", "label")]
    shown_gaps = gaps.frame.filter("flagged")
    sides = [shown_gaps.select(*keys, group=name) for name in ("group", "against")]
    # Where a group stands out from another, both are stressed; the rest is no group.
    loud = pl.concat(sides).unique(maintain_order=True).with_columns(flagged=pl.lit(True))
    undefined = pl.when(pl.col("status") != "ok").then(pl.lit("undefined"))
    bare = pl.col("reason").is_not_null()
    of_groups = groups.frame.join(
        loud, on=[*keys, "group"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("flagged").fill_null(False),
        remark=undefined.when(pl.col("test") == Tested.SMALL.value)
        .then(pl.lit("small"))
        .when(bare)
        .then(pl.lit("no interval"))
        .otherwise(pl.lit("")),
    )
    of_gaps = gaps.frame.with_columns(
        said=pl.when("flagged")
        .then(pl.lit("shown"))
        .when(pl.col("test") != Tested.DONE.value)
        .then(pl.col("test").replace(_TEST_WORDS))
        .when(pl.col("status") != "ok")
        .then(pl.lit("undefined"))
        .when(bare)
        .then(pl.lit("no interval"))
        .when(pl.col("p").is_nan())
        .then(pl.lit("not tested"))
        .otherwise(pl.lit("not shown"))
    )
    parts = {"group": groups.frame, "gap": gaps.frame}
    whole = pl.concat(
        [frame.with_columns(part=pl.lit(part)) for part, frame in parts.items()], how="diagonal"
    )
    whole = whole.select("part", *gaps.keys, pl.exclude("part", *gaps.keys))
    named = tuple(Key(key) for key in keys)
    size = Count("n_raters" if grouping.carrier == "rater" else "n_items", grouping.things)
    columns = (*named, Key("group"), size, Number("value", decimals=3), Interval())
    remark = (Text("remark"),) if (of_groups["remark"] != "").any() else ()
    of_gap = (
        *named,
        Key("group"),
        Key("against"),
        Number("value", "gap", decimals=3),
        Interval(),
        PValue("p", spare=True),
        PValue("p_corrected", "corrected p"),
        Text("said", "gap is"),
    )
    shown = (Key("part"), *columns, *remark)[:-1]
    return (
        Table("fairness", "Groups and gaps.", whole, shown, limit=0),
        Table("groups", heading, of_groups, (*columns, *remark)),
        Table("gaps", wording.GAPS_CAPTION, of_gaps, of_gap),
    )


def _figures(
    tables: tuple[Table, ...], settings: Settings, grouping: Grouping, said: str
) -> Iterator[Figure]:
    """Declare the values of groups, and the gaps where there are any."""
    of_gaps = tables[2]
    title = f"{settings.metric.title} by {grouping.name}"
    section = [key for key in of_gaps.keys if key in ("rater", "label")]
    options: dict[str, Any] = {
        "row": ("group",),
        "section": section,
        "value_name": title,
        "size": "n_raters" if grouping.carrier == "rater" else "n_items",
        "line": 0.0 if settings.metric.better == "zero" else None,
    }
    caption = wording.figure_caption(grouping.things)
    yield Figure("fairness", "fairness", "groups", title, caption, said, options)
    if of_gaps.frame["value"].is_not_nan().any():
        options = {
            "row": ("group", "against"),
            "section": section,
            "value_name": f"gap in {title}",
            "line": 0.0,
            "band": settings.min_gap,
        }
        yield Figure("fairness_gaps", "fairness", "gaps", f"Gaps in {title}", "", said, options)


# Sentences.


@dataclass(frozen=True, eq=False)
class _Words:
    """What is said of groups and gaps."""

    groups: pl.DataFrame
    gaps: pl.DataFrame
    settings: Settings
    grouping: Grouping
    n_tests: int

    def sentences(self) -> Iterator[str]:
        """One sentence for each gap that is shown, or for each rater that none is."""
        metric = self.settings.metric
        for row in _flagged(self.gaps).iter_rows(named=True):
            yield wording.gap(
                row, metric.title, metric.better, self.settings.correction, self.n_tests
            )
        for rater in self.gaps["rater"].unique(maintain_order=True):
            mine = self.gaps.filter(rater=rater)
            if not mine["flagged"].any():
                yield self._none(rater, mine)

    def _none(self, rater: str, mine: pl.DataFrame) -> str:
        """Say why no gap of a rater is shown."""
        what = f"{self.settings.metric.title} by {self.grouping.name}"
        tested = mine.filter(pl.col("p").is_not_nan())
        if tested.height == 0:
            reasons = dict.fromkeys(map(str, filter(None, map(Reason.of_row, mine["reason"]))))
            none = ["no permutations"] if mine.height else []
            return wording.nothing_tested(rater, self.grouping.name, list(reasons) or none)
        hopeless = tested.filter(pl.col("test") == Tested.HOPELESS.value)
        if hopeless.height == tested.height:
            why = str(Reason.of_row(hopeless["reason"][0]))
            return wording.nothing_can_be_shown(rater, what, why)
        column = "n_raters" if self.grouping.carrier == "rater" else "n_items"
        counts = self.groups.filter(rater=rater)[column].to_list()
        sizes = wording.group_sizes(
            counts, self.grouping.things, self.grouping.counted(min(counts))
        )
        small = tested.filter(pl.col("p_corrected") <= self.settings.alpha)["value"].to_list()
        if small:
            largest = max(map(abs, small))
            return wording.gaps_are_small(rater, what, self.settings.min_gap, largest, sizes)
        return wording.no_gap(rater, what, tested["detectable"].drop_nans().to_list(), sizes)
