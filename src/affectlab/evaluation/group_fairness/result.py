"""What fairness found: values by group, gaps, and what they say in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
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

    def table(self, rows: Sequence[Mapping[str, Any]], *keys: str) -> Estimates:
        """Make a table of rows by rater, label where asked for, and the keys."""
        first = ("rater", "label") if self.by_label else ("rater",)
        return Estimates.of_rows(rows, (*first, *keys), method=self.metric.title)

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
            mistakes = _too_few_mistakes(plan, units) if settings.n_boot else ""
            status = (f"no interval: {mistakes}" if mistakes else spread.missing[at]) or "ok"
            if not plan.tested[at]:
                counted = plan.side.grouping.counted(int(plan.size[at]))
                status = f"small: {counted}, not tested"
            if math.isnan(value):
                status = f"undefined: {settings.metric.title} is not defined for this group"
            key = {"group": plan.groups[at], "value": value, "status": status}
            rows.append(settings.row(plan, units) | key | _ends(spread, at, hidden=bool(mistakes)))
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
            row["status"] = f"cannot be shown: {row['shared_out']} in {row['ways']} ways only"
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
        value, status = float(judged.gaps.value[at]), spread.missing[at] or "ok"
        if few:
            status = f"not tested: {few}, on one side"
        if math.isnan(value):
            status = "undefined: the metric is not defined on one side"
        yield {
            **settings.row(plan, sides[0] | sides[1]),
            "group": contrast.group,
            "against": contrast.against,
            "value": value,
            **_ends(spread, at, hidden=bool(few)),
            "p": math.nan if few else float(judged.p[at]),
            "ways": math.comb(pool, inside),
            "shared_out": f"{pool} {things} can be shared out",
            "status": status,
        }


def _untested(plan: Plan, settings: Settings) -> Iterator[dict[str, Any]]:
    for contrast, why in plan.untested():
        yield {
            **settings.row(plan, plan.units(contrast.pool)),
            **dict.fromkeys(("value", *_ENDS, "p"), math.nan),
            "group": contrast.group,
            "against": contrast.against,
            "ways": math.inf,
            "status": why,
        }


def _too_few_mistakes(plan: Plan, *sides: Bools) -> str:
    """Say that a side has too few mistakes for a metric of mistakes; empty where it has not."""
    if plan.side.mistakes is None:
        return ""
    fewest = min(int(plan.side.mistakes[units].sum()) for units in sides)
    return few_mistakes(fewest) if fewest < FEWEST_MISTAKES else ""


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
    short = pl.col("status").str.split(":").list.first()
    of_groups = groups.frame.join(
        loud, on=[*keys, "group"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("flagged").fill_null(False),
        remark=pl.when(pl.col("status") == "ok").then(pl.lit("")).otherwise(short),
    )
    of_gaps = gaps.frame.with_columns(
        said=pl.when("flagged")
        .then(pl.lit("shown"))
        .when(pl.col("status") != "ok")
        .then(short)
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
            why = list(dict.fromkeys(mine["status"].to_list()))
            return wording.nothing_tested(rater, self.grouping.name, why)
        hopeless = tested.filter(pl.col("status").str.starts_with("cannot be shown"))
        if hopeless.height == tested.height:
            why = hopeless["status"][0].partition(": ")[2]
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
