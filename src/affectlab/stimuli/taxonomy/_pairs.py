"""Which label goes into which: pairs that raters put in place of one another."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from affectlab._types import Floats, Ints
from affectlab._words import number
from affectlab.stimuli.taxonomy._confused import LabelPair, pair_interval
from affectlab.stimuli.taxonomy._pilot import Pilot
from affectlab.stimuli.taxonomy._policy import RevisionPolicy
from affectlab.stimuli.taxonomy._verdicts import Verdict
from affectlab.taxonomy import Taxonomy

__all__ = ["judge_pairs"]


def judge_pairs(
    pilot: Pilot,
    correlations: Floats,
    leaving: Collection[str],
    taxonomy: Taxonomy,
    limits: RevisionPolicy,
    *,
    seed: int,
) -> dict[str, tuple[str, Verdict]]:
    """Say which label goes into which, or may do so in a larger pilot.

    Pairs are taken most alike first. The label that is chosen less goes into the other, unless the
    other is about to leave; no label goes into one that goes elsewhere itself.
    """
    rng = np.random.default_rng(seed)
    labels, chosen = taxonomy.labels, pilot.n_chosen()
    verdicts: dict[str, tuple[str, Verdict]] = {}
    gone: set[str] = set()
    held: set[str] = set()
    for a, b in _alike(correlations, pilot.n_shared, taxonomy, limits):
        small, large = (a, b) if (chosen[a], -a) < (chosen[b], -b) else (b, a)
        if labels[large] in leaving and labels[small] not in leaving:
            small, large = large, small
        first, second = labels[small], labels[large]
        if second in leaving or second in gone or first in gone | held:
            continue
        pair = pair_interval(
            pilot, a, b, n_boot=limits.confused.n_boot, confidence=limits.confidence, rng=rng
        )
        verdict = _verdict(pair, second, limits)
        if verdict.said == "yes":
            gone.add(first)
            held.add(second)
            verdicts[first] = (second, verdict)
        else:
            verdicts.setdefault(first, (second, verdict))
    return verdicts


def _alike(
    correlations: Floats, shared: Ints, taxonomy: Taxonomy, limits: RevisionPolicy
) -> Iterator[tuple[int, int]]:
    """Give pairs of labels above the limit by value, most alike first."""
    rule = limits.confused
    used = [
        k
        for k, label in enumerate(taxonomy.labels)
        if shared[k] >= rule.needs and label != taxonomy.neutral
    ]
    pairs = [
        (float(correlations[a, b]), a, b)
        for place, a in enumerate(used)
        for b in used[place + 1 :]
        if correlations[a, b] >= rule.above
    ]
    for _, a, b in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        yield a, b


def _verdict(pair: LabelPair, other: str, limits: RevisionPolicy) -> Verdict:
    rule = limits.confused
    evidence: dict[str, float | int | str] = {
        "confused_with": other,
        "confusion": pair.value,
        "confused_above": rule.above,
    }
    told = f"correlates {number(pair.value)}"
    if pair.low == pair.low:
        evidence |= {"confusion_low": pair.low, "confusion_high": pair.high}
        told += f" ({number(pair.low)} to {number(pair.high)})"
    told += f" with {other} across raters, corrected for noise"
    limit = f"the limit of {number(rule.above)}"
    if rule.bound == "value" or pair.low >= rule.above:
        return Verdict("yes", f"{told}, above {limit}", evidence)
    return Verdict("undecided", f"{told}, around {limit}", evidence)
