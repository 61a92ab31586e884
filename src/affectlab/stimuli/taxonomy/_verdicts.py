"""What the numbers of a pilot say about single labels, limit by limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from affectlab._words import number, percent, plural
from affectlab.stimuli.taxonomy._agreement import Agreement
from affectlab.stimuli.taxonomy._intervals import needed, wilson
from affectlab.stimuli.taxonomy._policy import LowAgreement, RevisionPolicy, Suggested
from affectlab.stimuli.taxonomy._suggestions import Suggestion

__all__ = ["Verdict", "judge_agreement", "judge_scarcity", "judge_suggestion"]

Said = Literal["yes", "no", "undecided"]


@dataclass(frozen=True)
class Verdict:
    """Whether a limit is passed, in numbers and words."""

    said: Said
    words: str
    evidence: dict[str, float | int | str] = field(default_factory=dict)


def judge_scarcity(chosen: int, asked: int, policy: RevisionPolicy) -> Verdict:
    """Whether a label is scarce, of the stimuli for which enough raters were asked about it."""
    rule = policy.scarce
    if asked == 0:
        of = "" if rule.votes == 1 else f" {rule.votes} raters of the same stimulus"
        words = f"the pilot did not ask{of} about it"
        return Verdict("undecided", words, {"stimuli": 0})
    share = chosen / asked
    low, high = wilson(chosen, asked, policy.confidence)
    evidence: dict[str, float | int | str] = {
        "chosen": chosen,
        "stimuli": asked,
        "share": share,
        "share_low": low,
        "share_high": high,
        "scarce_below": rule.below,
    }
    who = "" if rule.votes == 1 else f" by {rule.votes} raters"
    of = "" if rule.votes == 1 else " asked of so many"
    told = (
        f"chosen{who} for {chosen:,} of {plural(asked, 'stimulus', 'stimuli')}{of} "
        f"({_percent(share)}, {_percent(low)} to {_percent(high)})"
    )
    limit = f"the limit of {_percent(rule.below)}"
    if rule.below == 0:
        return Verdict("no", told, evidence)
    if (high if rule.bound == "high" else share) < rule.below:
        return Verdict("yes", f"{told}, below {limit}", evidence)
    if rule.bound == "value" or low >= rule.below:
        return Verdict("no", told, evidence)
    wanted = needed(share, rule.below, policy.confidence)
    if wanted is not None and wanted > asked:
        evidence["needs_about"] = wanted
        told += f", around {limit}; about {wanted:,} stimuli would tell"
    else:
        told += f", around {limit}"
    # Whoever is above the limit by value is kept by a larger pilot as well, most likely.
    return Verdict("undecided", told, evidence)


def judge_agreement(
    found: Agreement | None, shared: int, pairs_high: float, policy: RevisionPolicy
) -> Verdict:
    """Whether raters agree too little about a label, chosen for so many stimuli they share.

    `pairs_high` is how well pairs of raters may agree, given those stimuli.
    """
    rule = policy.agreement
    if rule.below == -1:
        return Verdict("no", "")
    if found is None or found.value != found.value:
        return Verdict("undecided", "its agreement is not defined")
    evidence = _agreement_evidence(found, rule)
    told = f"agreement {number(found.value)}"
    if found.low == found.low and found.high == found.high:
        told += f" ({number(found.low)} to {number(found.high)})"
    limit = f"the limit of {number(rule.below)}"
    if shared < rule.needs:
        evidence["agreement_needs"] = rule.needs
        return Verdict(
            "undecided",
            f"{told} says nothing yet: chosen for {plural(shared, 'stimulus', 'stimuli')} with "
            f"several raters, expected {rule.needs}",
            evidence,
        )
    if rule.bound == "high" and found.high != found.high:
        return Verdict("undecided", f"{told} has no interval: expected more raters", evidence)
    if rule.bound == "value":
        low = found.value < rule.below
        return Verdict("yes" if low else "no", f"{told}, below {limit}" if low else told, evidence)
    evidence["pairs_high"] = pairs_high
    if found.high < rule.below:
        if pairs_high < rule.below:
            return Verdict("yes", f"{told}, below {limit}", evidence)
        few = (
            f"{told} rests on {plural(shared, 'stimulus', 'stimuli')} with several raters, who may "
            f"agree up to {number(pairs_high)}, beyond {limit}"
        )
        return Verdict("undecided", few, evidence)
    if found.low >= rule.below:
        return Verdict("no", told, evidence)
    return Verdict("undecided", f"{told}, around {limit}", evidence)


def judge_suggestion(found: Suggestion, n_stimuli: int, policy: RevisionPolicy) -> Verdict:
    """Whether a label is missed often enough to be added; it is suggested for stimuli of the n."""
    rule: Suggested = policy.suggested
    n = n_stimuli
    share = found.stimuli / n
    low, high = wilson(found.stimuli, n, policy.confidence)
    evidence: dict[str, float | int | str] = {
        "suggested": found.stimuli,
        "stimuli": n,
        "raters": found.raters,
        "share": share,
        "share_low": low,
        "share_high": high,
        "add_above": rule.above,
        "add_raters": rule.raters,
        "written": found.written,
    }
    told = (
        f"suggested for {found.stimuli:,} of {plural(n, 'stimulus', 'stimuli')} "
        f"({_percent(share)}, {_percent(low)} to {_percent(high)}) "
        f"by {plural(found.raters, 'rater')}"
    )
    limit = f"the limit of {_percent(rule.above)}"
    if found.raters < rule.raters:
        return Verdict("no", f"{told}; expected {rule.raters} raters", evidence)
    if (low if rule.bound == "low" else share) >= rule.above:
        return Verdict("yes", f"{told}, above {limit}", evidence)
    if rule.bound == "value" or high < rule.above:
        return Verdict("no", f"{told}, below {limit}", evidence)
    wanted = needed(share, rule.above, policy.confidence)
    if wanted is not None and wanted > n:
        evidence["needs_about"] = wanted
    return Verdict("undecided", f"{told}, around {limit}", evidence)


def _agreement_evidence(found: Agreement, rule: LowAgreement) -> dict[str, float | int | str]:
    evidence: dict[str, float | int | str] = {"agreement": found.value}
    if found.low == found.low:
        evidence["agreement_low"] = found.low
    if found.high == found.high:
        evidence["agreement_high"] = found.high
    if found.n_raters is not None:
        evidence["agreement_raters"] = found.n_raters
    evidence["agreement_below"] = rule.below
    return evidence


def _percent(share: float) -> str:
    return percent(share, 1).replace("\u00a0", " ")
