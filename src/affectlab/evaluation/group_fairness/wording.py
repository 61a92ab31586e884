"""What groups and their gaps say in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.core.words import in_brackets, joined, number, p_value, plural

_CORRECTIONS = {"holm": "Holm's correction", "bh": "Benjamini-Hochberg correction"}


def gap(row: Mapping[str, Any], metric: str, better: str, correction: str, n_tests: int) -> str:
    """A gap that is shown.

    Parameters
    ----------
    row
        Of the table of gaps.
    metric
        Its title.
    better
        ``higher`` or ``lower`` values; anything else where neither is.
    correction, n_tests
        What p is corrected by, and for how many tests.
    """
    value = row["value"]
    about = f" of {row['label']}" if row.get("label") else ""
    interval = in_brackets(row["low"], row["high"], 3, name="interval")
    after = ""
    if n_tests > 1:
        how = _CORRECTIONS.get(correction)
        after = f" after {how} for {n_tests} tests" if how else ", not corrected"
    judgement = ""
    if better in ("higher", "lower"):
        worse = (value < 0) == (better == "higher")
        judgement = f", which is {'worse' if worse else 'better'}"
    against = "the rest" if row["against"] == "rest" else row["against"]
    return (
        f"{row['rater']}: {metric}{about} is {number(abs(value), 3)} "
        f"{'higher' if value > 0 else 'lower'} for {row['group']} than for {against}{judgement}"
        f"{interval}, p {p_value(row['p_corrected'])}{after}."
    )


def nothing_tested(rater: str, attribute: str, why: Sequence[str]) -> str:
    """No gap that could be tested."""
    reasons = joined(why) if why else "no groups"
    return f"{rater}: no gap by {attribute} could be tested ({reasons})."


def nothing_can_be_shown(rater: str, what: str, why: str) -> str:
    """Tests that cannot reach the level."""
    return f"{rater}: no gap in {what} could be shown: {why}."


def gaps_are_small(rater: str, what: str, min_gap: float, largest: float, sizes: str) -> str:
    """Gaps that are shown and too small to matter."""
    return (
        f"{rater}: gaps in {what} are shown, but none reaches {number(min_gap, 3)}; the largest is "
        f"{number(largest, 3)} ({sizes} in a group)."
    )


def no_gap(rater: str, what: str, detectable: Sequence[float], sizes: str) -> str:
    """No gap is shown, and how large a gap could have been missed.

    Parameters
    ----------
    detectable
        Gaps that would be shown with good chances; empty where that is not known.
    """
    missed = "how large a gap could have been missed is not known without intervals"
    if detectable:
        least, most = number(min(detectable), 3), number(max(detectable), 3)
        span = most if least == most else f"{least} to {most} (by group)"
        missed = f"gaps below {span} could have been missed"
    return f"{rater}: no gap in {what} is shown; with {sizes} in a group, {missed}."


def group_sizes(sizes: Sequence[int], things: str, counted: str) -> str:
    """How large groups are; `counted` where all are alike."""
    return counted if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,} {things}"


def people_not_judged(metric: str) -> str:
    """A metric of people that is 0 whatever they answer."""
    return f"People are not judged: their {metric} is 0 on any stimuli."


def small_groups(min_items: int, things: str, groups: Sequence[str]) -> str:
    """Groups that are shown and not tested."""
    return f"Not tested, with fewer than {min_items} {things}: {joined(groups)}."


def few_clusters(n: int, cluster: str, fewest: int) -> str:
    """A group of too few clusters for an interval."""
    return f"A group has {plural(n, 'cluster')} ({cluster}); an interval needs {fewest}."


GAPS_CAPTION = "Gaps (group minus what it is compared with)."


def figure_caption(things: str) -> str:
    """What the figure of groups shows."""
    return f"Number of {things} beside the name of a group; lines: intervals."
