"""What the numbers of a pilot say about single labels, limit by limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scipy.special import ndtri

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.words import in_brackets, number, percent, plural
from affectlab.stimuli.taxonomy.pilot import Pilot
from affectlab.stimuli.taxonomy.policy import LowAgreement, RevisionPolicy, Suggested
from affectlab.stimuli.taxonomy.suggestions import Suggestion
from affectlab.taxonomy import Taxonomy

__all__ = [
    "Agreement",
    "Verdict",
    "agreement_by_label",
    "judge_agreement",
    "judge_scarcity",
    "judge_suggestion",
    "needed",
    "pairs_may_agree",
    "wilson",
]

# Intervals of shares, and what they say about a limit.


_MOST = 10_000_000


def wilson(chosen: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Give Wilson's score interval of a share of n.

    Examples
    --------
    >>> low, high = wilson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.037)
    """
    z = float(ndtri((1 + confidence) / 2))
    share = chosen / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if chosen == 0 else max((middle - half) / scale, 0.0)
    high = 1.0 if chosen == n else min((middle + half) / scale, 1.0)
    return low, high


def needed(share: float, limit: float, confidence: float = 0.95) -> int | None:
    """Give the number of stimuli whose interval would leave the limit out, were the share the same.

    None when that is more than anybody would ask about, or the share is the limit.

    Examples
    --------
    >>> needed(0.0, 0.01)
    381
    """
    if share == limit:
        return None

    def decides(n: int) -> bool:
        low, high = wilson(round(share * n), n, confidence)
        return high < limit or low > limit

    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    # The score interval leaves the limit out where the score test rejects it.
    n = math.ceil(z2 * limit * (1 - limit) / (share - limit) ** 2)
    while n <= _MOST and not decides(n):
        n = math.ceil(n * 1.01) + 1
    return n if n <= _MOST else None


# Agreement about labels, in whatever shape it was computed elsewhere.


@dataclass(frozen=True)
class Agreement:
    """Agreement about one label; ``nan`` where it is not defined."""

    value: float
    low: float
    high: float
    n_raters: int | None = None


def agreement_by_label(given: Any, taxonomy: Taxonomy) -> dict[str, Agreement]:
    """Read agreement: estimates, a data frame, or a mapping of label to value (low, high).

    Raises
    ------
    InputError
        When a label is not in the taxonomy, stands twice, or a value is no number.
    """
    if isinstance(given, Mapping):
        rows = [(label, *_ends(label, told)) for label, told in given.items()]
    else:
        frame = given.to_frame() if isinstance(given, Estimates) else given
        names = getattr(frame, "columns", ())
        for name in ("label", "value"):
            if name not in names:
                raise InputError(
                    "agreement: expected estimates by label, or columns label, value, low, high"
                )
        rows = [
            (row["label"], row["value"], row.get("low"), row.get("high"), row.get("n_raters"))
            for row in frame.iter_rows(named=True)
        ]
    found: dict[str, Agreement] = {}
    for label, value, low, high, n_raters in rows:
        name = taxonomy.name_of(label)
        if name in found:
            raise InputError(f"agreement: label {name!r} stands twice; expected each once")
        found[name] = Agreement(_float(value), _float(low), _float(high), n_raters)
    return found


def pairs_may_agree(pilot: Pilot, label: int, confidence: float) -> float:
    r"""Give how well pairs of raters may agree about a label, given the stimuli they share.

    With q the share of other raters who choose what one rater chose, and p the share of answers
    that choose it, the correlation of two raters is :math:`(q - p) / (1 - p)`. Here q is the upper
    end of Wilson's interval, counted over the stimuli for which somebody chose the label. An
    interval from the spread over raters says nothing about that: where a rare label was chosen
    twice for no stimulus, all raters are alike, and a few more stimuli would have changed them all.
    """
    again, base = (float(shares[label]) for shares in pilot.pairs)
    n = int(pilot.n_shared[label])
    if n == 0 or base >= 1:
        return math.nan
    return (wilson(again * n, n, confidence)[1] - base) / (1 - base)


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _ends(label: str, told: Any) -> tuple[Any, Any, Any, None]:
    parts = tuple(told) if isinstance(told, tuple | list) else (told, None, None)
    if len(parts) != 3:
        raise InputError(
            f"agreement about {label!r}: expected a number, or value, low and high; got {told!r}"
        )
    return (*parts, None)


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
    told = f"agreement {number(found.value)}{in_brackets(found.low, found.high)}"
    limit = f"the limit of {number(rule.below)}"
    if shared < rule.needs:
        evidence["agreement_needs"] = rule.needs
        return Verdict(
            "undecided",
            f"{told} says nothing yet: chosen for {plural(shared, 'stimulus', 'stimuli')} with "
            f"several raters, expected {rule.needs}",
            evidence,
        )
    if rule.bound == "value":
        low = found.value < rule.below
        return Verdict("yes" if low else "no", f"{told}, below {limit}" if low else told, evidence)
    evidence["pairs_high"] = pairs_high
    if found.high != found.high:
        # Where no two raters share the label, how well pairs may agree is all that is known.
        if max(found.value, pairs_high) < rule.below:
            may = f"; raters may agree up to {number(pairs_high)}, below {limit}"
            return Verdict("yes", told + may, evidence)
        why = f"{told} has no interval: expected more raters, or stimuli that they share"
        return Verdict("undecided", why, evidence)
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
