"""What studies of preference say in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from affectlab.core.render.notes import row_status_text
from affectlab.core.wording import undefined_text
from affectlab.core.words import (
    count,
    in_brackets,
    joined,
    number,
    option,
    p_value,
    percent,
    plural,
    shown,
    some,
)

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate

_Row: TypeAlias = Mapping[str, Any]


def target(name: str) -> str:
    """What intervals are about."""
    others = {
        "stimuli": "other items, judged by the same judges",
        "raters": "other judges of the same items",
        "both": "other items and other judges",
    }
    return f"intervals are about {others[name]}"


def too_few_judges(n_judges: int) -> str:
    """Judges who cannot be generalised to others; 0 where they are not known."""
    few = plural(n_judges, "judge") if n_judges else "judges unknown"
    return f"{few}: intervals are about other items, not about other judges"


def few_clusters_drawn(clusters: str) -> str:
    """Percentiles of replicates of few clusters."""
    return (
        f"percentile intervals over {clusters} cover too rarely (simulated: 80 % with four, 91 % "
        f"with eight, for a nominal 95 %); use {option('n_boot', 0)}"
    )


def side_bias(p: float) -> str:
    """Whether a side was preferred."""
    sign = "a sign of side bias" if p < 0.05 else "no sign of side bias"
    return f"{sign} (p {p_value(p)})"


# Shares of votes, of items and of verdicts.


def preferred(better: _Row, worse: _Row, confidence: float) -> str:
    """Which of two systems is preferred, by their decided votes."""
    if not better["of"]:
        return f"No vote decides between {better['choice']} and {worse['choice']}."
    votes = f"{count(better['count'])} of {count(better['of'])} decided votes"
    name = f"{percent(confidence)} interval"
    ends = ""
    if not math.isnan(better["low"]):
        ends = f", {name} {percent(better['low'], 1)} to {percent(better['high'], 1)}"
    share = f"({percent(better['value'], 1)}{ends})"
    if better["low"] > 0.5:
        return f"{better['choice']} is preferred to {worse['choice']}: {votes} {share}."
    if better["count"] == worse["count"]:
        return (
            f"{better['choice']} and {worse['choice']} have {count(better['count'])} decided votes "
            f"each {share}."
        )
    return (
        f"Neither {better['choice']} nor {worse['choice']} is clearly preferred: "
        f"{better['choice']} has {votes} {share}."
    )


def undecided_votes(votes: Mapping[str, int], total: int) -> str:
    """Votes for neither side."""
    parts = [f"{choice} {count(n)}" for choice, n in votes.items()]
    return f"Votes for neither side, of all {count(total)}: {', '.join(parts)}."


def items_by_majority(first: _Row, second: _Row, tied: _Row, p: float) -> str:
    """On how many items more judges prefer either system."""
    test = "" if math.isnan(p) else f"; sign test p {p_value(p)}"
    return (
        f"More judges prefer {first['choice']} on {count(first['count'])} of "
        f"{plural(first['of'], 'item')}, {second['choice']} on {count(second['count'])}, and "
        f"{count(tied['count'])} are tied{test}."
    )


def verdicts(rule: str, counts: Mapping[str, int], none: str, n_none: int) -> str:
    """How many items have which verdict."""
    parts = [f"{name} {count(n)}" for name, n in counts.items()]
    return f"Verdicts by {rule}: {', '.join(parts)}; {none} {count(n_none)}."


def agreement(found: Estimate) -> str:
    """How far judges agree."""
    if not found.ok:
        return f"Agreement of the judges is {undefined_text(found.reason)}."
    value = found.value
    return f"Judges agree with an alpha of {number(value)} over all choices."


def side(row: _Row) -> str:
    """How many votes went to one side, and whether that is a bias."""
    where = "the left" if row["choice"] == "left" else f"option {row['choice']}"
    share = f"{percent(row['value'], 1)} of decided votes went to {where}"
    if not math.isnan(row["p"]):
        return f"{share}: {side_bias(row['p'])}."
    if math.isnan(row["low"]):
        return f"{share}."
    return f"{share}; each system was on one side only, so a bias cannot be tested."


def intervals_of_shares(votes: str, of_two: str, with_items: bool) -> tuple[str, ...]:
    """How the intervals of shares come about."""
    two = "" if votes == of_two else f"; share of two: {of_two}"
    items = (
        "items and verdicts: Wilson interval, and exact for the share of two; about other items, "
        "judged by the same judges"
    )
    return (f"votes: {votes}{two}", *([items] if with_items else []))


# Verdicts of items.


def ratio(row: _Row, more: str, less: str) -> str:
    """How many times as often one system is preferred."""
    ends = ""
    if not math.isnan(row["low"]):
        ends = f"; interval {number(row['low'])} to {number(row['high'])}"
    return (
        f"{more} is preferred {number(row['value'])} times as often as {less} "
        f"({count(row['count'])} to {count(row['of'])}{ends})."
    )


def good_items(row: _Row) -> str:
    """On how many items a system is preferred, or as good."""
    return (
        f"{row['of_what']} is good on {count(row['count'])} of {count(row['of'])} items with a "
        f"verdict ({percent(row['value'], 1)}, {percent(row['low'], 1)} to "
        f"{percent(row['high'], 1)}): preferred, or as good."
    )


def items_without_verdict(decided: _Row, why: str, bounds: tuple[float, float] | None) -> str:
    """Items without a verdict, and between what shares of all items may be good."""
    left = decided["of"] - decided["count"]
    text = (
        f"{count(left)} of {count(decided['of'])} items have no verdict ({why}, "
        f"{percent(1 - decided['value'], 1)})"
    )
    if bounds is None:
        return f"{text}."
    least, most = (percent(share, 1) for share in bounds)
    return f"{text}; whatever they are, between {least} and {most} of all items are good."


def intervals_of_verdicts(resampled: str) -> str:
    """How the intervals of verdicts come about; `resampled` is empty where items are each one."""
    if resampled:
        return f"verdicts, ratio and good: {resampled}; decided: Wilson interval"
    return "shares: Wilson intervals; ratio: from the exact interval of the share of two"


# Strengths of systems.


def no_scale(why: str) -> str:
    """Choices that determine no scale."""
    return f"There is no scale ({why})."


def unlinked(groups: Sequence[Sequence[str]]) -> str:
    """Groups of systems that only the prior puts on one scale."""
    names = "; ".join(joined(list(group)) for group in groups)
    return (
        f"Systems of {len(groups)} groups were never compared ({names}): only the prior puts these "
        "on one scale."
    )


def strongest(system: str, chance: float) -> str:
    """The strongest system, and how sure that is."""
    sure = "" if math.isnan(chance) else f", with a chance of {percent(chance, 1)} to be the first"
    return f"{system} is strongest{sure}."


def effect(row: _Row) -> str:
    """How often equal systems tie, or the left one is chosen."""
    between = in_brackets(row["low"], row["high"], 1, write=percent, name="interval")
    share = percent(row["value"], 1) + between
    if row["effect"] == "tie":
        return f"Two equal systems tie with a chance of {share}."
    bias = "" if math.isnan(row["p"]) else f": {side_bias(row['p'])}"
    return f"Of two equal systems the left one is chosen with a chance of {share}{bias}."


# What metrics see of preferences.


def area(row: _Row, margin: float | None) -> str:
    """Whether a metric sees what people prefer."""
    if row["status"] != "ok":
        return f"{row['metric']}: {row_status_text(row)}."
    area = f"{row['metric']}: AUC {number(row['value'])}"
    if math.isnan(row["low"]):
        return f"{area}, without an interval."
    largest = number(max(row["high"], 1 - row["low"]))
    text = {
        "sees": "sees what people prefer",
        "sees the wrong way round": "scores what people prefer lower",
        "does not show that it sees": (
            f"does not show that it sees what people prefer; areas up to {largest} fit these data"
        ),
        "sees no more than the margin": f"is within the margin of {number(margin, 3)} from chance",
    }[row["verdict"]]
    clear = row["verdict"] in ("sees", "sees the wrong way round")
    if clear and row["all_low"] <= 0.5 <= row["all_high"]:
        text += f", though not with simultaneous intervals of {row['n_together']} metrics"
    return f"{area} ({number(row['low'])} to {number(row['high'])}): {text}."


def area_difference(row: _Row) -> str:
    """By how much the area of one metric is larger than that of another."""
    pair = f"AUC of {row['metric']} - AUC of {row['other']}"
    if row["status"] != "ok":
        return f"{pair}: {row_status_text(row)}."
    # The verdict is read from these ends; with one difference they are its own.
    name = f"simultaneous interval of {row['n_together']}" if row["n_together"] > 1 else ""
    interval = in_brackets(row["all_low"], row["all_high"], 3, name=name)
    return f"{pair}: {number(row['value'], 3)}{interval}, {row['verdict']}."


def groups_seen(
    by: str, n_groups: int, n_large: int, min_size: int, seen: Sequence[str], simultaneous: str
) -> str:
    """In which groups a metric sees what people prefer."""
    few = n_groups - n_large
    small = f" ({plural(few, 'has', 'have')} fewer than {min_size} good or poor)" if few else ""
    if not n_large:
        return f"By {by}: {plural(n_groups, 'group')}{small}."
    return (
        f"By {by}, {plural(n_large, 'group')} of {n_groups} large enough{small}: a metric sees it "
        f"in {joined(seen) if seen else 'none'} ({simultaneous})."
    )


def judged_items(
    n_good: int, n_poor: int, system: str, other: str, unit: str, aside: Mapping[str, int]
) -> str:
    """What counts as good and as poor, and what as neither."""
    rest = joined([f"{count(n)} {name}" for name, n in aside.items()]) if aside else "none"
    return (
        f"{plural(n_good, f'good {unit}')} ({system} chosen, or both), {count(n_poor)} poor "
        f"({other} chosen); not used: {rest}."
    )


def rough_intervals(fewest: int, clustered: bool) -> str:
    """Intervals that rest on few items, or groups of them."""
    what = "groups with good or poor ones" if clustered else "good or poor items"
    return f"With fewer than {fewest} {what}, intervals are rough."


def without_scores(n: int, unit: str) -> str:
    """Items that no metric scores."""
    return f"{plural(n, f'decided {unit}')} without any score."


def meaning_of_areas(system: str, unit: str, intervals: str) -> str:
    """What an area is of, and how its interval comes about; empty without one."""
    source = "verdicts of items" if unit == "item" else "votes of judges"
    text = (
        f"AUC: the chance that a good {system} text scores above a poor one, from {source}; 0.5 is "
        "chance level"
    )
    return f"{text}; {intervals}" if intervals else text


def areas_left_out(confidence: float, n: int, cluster: str | None) -> str:
    """Intervals from leaving out items, or groups of them."""
    groups = plural(n, "item")
    if cluster is not None:
        groups = f"{plural(n, 'group')} of items that share a {cluster}"
    return f"{percent(confidence)} intervals from leaving out each of {groups}"


def never_compared(pairs: Sequence[tuple[str, str]]) -> str:
    """Systems that no item compares: their order follows from others alone."""
    listed = some([f"{shown(first)} and {shown(second)}" for first, second in pairs], 5)
    return f"Never compared directly, so placed by their other comparisons alone: {listed}."
