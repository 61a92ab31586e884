"""Screening in words: why a rule could not judge, what it measured, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from affectlab.core.words import count, listing, number, percent, plural


class Gap(StrEnum):
    """Kinds of reasons why a rule could not judge."""

    # It does not apply to these ratings.
    NO_COLUMN = "no_column"
    NO_ORDER_COLUMN = "no_order_column"
    ORDER_AMBIGUOUS = "order_ambiguous"
    LIMIT_IN_POINTS = "limit_in_points"
    LIMIT_IN_PERCENT = "limit_in_percent"
    NOT_BY_SESSION = "not_by_session"
    NO_KNOWN_ANSWERS = "no_known_answers"
    NO_REPEATS = "no_repeats"
    NO_RULE_APPLIES = "no_rule_applies"
    NOT_BY_LABEL = "not_by_label"
    NO_ORDER = "no_order"
    FEW_RATERS = "few_raters"
    SIMULATED = "simulated"
    # It applies, and a unit has too little for it.
    NONE = "none"
    FEW = "few"
    FEW_OR_EQUAL = "few_or_equal"
    FEW_OR_SPARSE = "few_or_sparse"
    NO_PAIR = "no_pair"


GAPS = {
    Gap.NO_COLUMN: "not applicable: no column {of!r}",
    Gap.NO_ORDER_COLUMN: "not applicable: no column 'trial' or 'at' gives the order of answers",
    Gap.ORDER_AMBIGUOUS: "not applicable: {of} do not order the stimuli of a rater",
    Gap.LIMIT_IN_POINTS: "not applicable: labels have different scales, but the {of} is in points",
    Gap.LIMIT_IN_PERCENT: "not applicable: the scale has no ends, but the {of} is in percent",
    Gap.NOT_BY_SESSION: "not applicable: raters are judged, not sessions",
    Gap.NO_KNOWN_ANSWERS: "not applicable: golden trials have no known answers",
    Gap.NO_REPEATS: "not applicable: no repeat trials",
    Gap.NO_RULE_APPLIES: "not applicable: none of {of} applies",
    Gap.NOT_BY_LABEL: "not applicable: answers are not by label, or have no order",
    Gap.NO_ORDER: "not applicable: answers have no order",
    Gap.FEW_RATERS: "not applicable: fewer than {n} raters with {least} shared answers",
    Gap.SIMULATED: "not applicable: the rule is not about answers",
    Gap.NONE: "not judged: no {of}",
    Gap.FEW: "not judged: fewer than {least} {of}",
    Gap.FEW_OR_EQUAL: "not judged: fewer than {least} shared answers, or all of them equal",
    Gap.FEW_OR_SPARSE: "not judged: fewer than {least} shared answers, or too sparse",
    Gap.NO_PAIR: "not judged: too few shared stimuli, or all answers equal",
}
"""What each kind of gap is in words; shared answers are to questions that others answered, too."""


@dataclass(frozen=True)
class Unjudged:
    """Why a rule could not judge: a kind, with what belongs to it."""

    gap: Gap
    of: str = ""
    least: int | None = None
    n: int | None = None

    def __str__(self) -> str:
        return GAPS[self.gap].format(of=self.of, least=self.least, n=self.n)


# What a rule measured.


def _below(value: float, limit: float) -> str:
    return "<" if value < limit else ">="


def spread_text(n: int, what: str, sd: float, limit: float) -> str:
    """Compare the SD of some numbers with its lower limit."""
    return f"SD of {n} {what}: {sd:.3g} {_below(sd, limit)} {limit:.3g}"


def run_text(longest: float, n: int, limit: int) -> str:
    """Compare the longest run of equal answers with its upper limit."""
    return f"longest run of equal answers: {longest:.0f} of {n} {_below(longest, limit)} {limit}"


def speed_text(n: int, median_ms: float, limit_ms: float) -> str:
    """Compare the median response time with its lower limit."""
    sign = _below(median_ms, limit_ms)
    return f"median of {n} response times: {median_ms:.0f} {sign} {limit_ms:g} ms"


def session_text(place: float, most: int) -> str:
    """Compare the number of a session with the most sessions of a rater."""
    return f"session {place:.0f} of the rater {'>' if place > most else '<='} {most}"


def seen_before_text(share: float, n: int, limit: float) -> str:
    """Compare the share of stimuli of earlier sessions with its upper limit."""
    sign = _below(share, limit)
    return f"stimuli of an earlier session: {share:.0%} of {n} answers {sign} {limit:.0%}"


def far_text(limit: float, *, percent_of_scale: bool) -> str:
    """Give the difference from which an answer counts as wrong."""
    return f"{limit:g}{' % of the scale' if percent_of_scale else ''} or more"


def golden_off(far: str) -> str:
    """Name answers that are far from known ones."""
    return f"golden answers {far} off"


def repeats_apart(far: str) -> str:
    """Name answers that are far from the first to the same trial."""
    return f"repeated answers {far} apart"


def violations_text(n_bad: int, n: int, what: str, limit: float, *, violated: bool) -> str:
    """Compare a number of violations with its upper limit."""
    return f"{n_bad} of {n} {what} {'>=' if violated else '<'} {limit:.0f}"


def equal_answers_text(n: int) -> str:
    """Say that equal answers have no correlation."""
    return f"no correlation: all {n} answers are equal"


def correlation_text(r: float, upper: float, n: int, limit: float) -> str:
    """Compare the upper end of a correlation with its lower limit."""
    sign = _below(upper, limit)
    return (
        f"correlation with the others' mean {r:.2f} (n = {n}), upper end {upper:.2f} {sign} "
        f"{limit:g}"
    )


def unlike_text(other: str, n: int, ratio: float) -> str:
    """Say how like the closest other rater a rater answers."""
    return (
        f"closest rater {other!r}: differences over {count(n)} shared stimuli are {ratio:.2f} of "
        "what is expected"
    )


def outliers_text(
    above: float, below: float, n: float, share: tuple[float, float], balance: tuple[float, float]
) -> str:
    """Compare the share and the imbalance of outliers, each given with its limit."""
    text = (
        f"{above + below:.0f} of {n:.0f} ratings far from the others "
        f"({share[0]:.1%} {'>' if share[0] > share[1] else '<='} {share[1]:.0%})"
    )
    if above + below and share[0] > share[1]:
        sign = _below(*balance)
        text += (
            f", {above:.0f} above and {below:.0f} below "
            f"(imbalance {balance[0]:.2f} {sign} {balance[1]:g})"
        )
    return text


def nobody_rejected(text: str) -> str:
    """Add that a rater is used because the rule would leave nobody."""
    return f"{text}; used, since the rule would reject everybody"


def careless_text(p: float, n: int, slope: float, *, constant: bool, is_reversed: bool) -> str:
    """Give the probability that a rater is careless, and what it rests on."""
    if constant:
        what = "always the same answer"
    elif is_reversed:
        what = "answers as on a reversed scale"
    else:
        what = f"slope on the others' answers {number(slope)} of a typical rater's"
    probability = "< 0.001" if p < 0.001 else "> 0.999" if p > 0.999 else f"= {p:.3f}"
    return f"{what} (n = {count(n)}); P(careless) {probability}"


def equal_labels_text(equal: int, n: int, others_equal: int, others_n: int) -> str:
    """Compare trials with one answer to all labels with those of the others."""
    return (
        f"same answer to all labels in {count(equal)} of {count(n)} trials; of the others in "
        f"{count(others_equal)} of {count(others_n)}"
    )


NO_MORE_EQUAL_LABELS = "no more trials with one answer to all labels than the others"

PANEL_MEASURES = {
    "severity": "difference from the others",
    "centrality": "slope on the others' mean",
    "inconsistency": "SD of residuals",
    "agreement": "correlation with the others' mean",
    "drift": "change relative to the others, first to last answer",
}
"""What a rule measures of a rater, by its check."""


def panel_text(check: str, value: float, n: int, low: float, high: float) -> str:
    """Compare a measure with what is expected of one more rater; ends may be infinite."""
    ends = [number(end) for end in (low, high) if abs(end) < float("inf")]
    if len(ends) == 2:
        span = " to ".join(ends)
    elif ends:
        span = f"at {'least' if high == float('inf') else 'most'} {ends[0]}"
    else:
        span = "anything"
    return f"{PANEL_MEASURES[check]} {number(value)} (n = {count(n)}); expected {span}"


# What follows for the panel.


def verdict_text(
    policy: str, what: str, n: int, *, unused: int, look: int, unpaid: int, blocked: int
) -> str:
    """Count verdicts."""
    return (
        f"Policy {policy}: of {plural(n, what)}, {count(unused)} not used, {count(look)} to look "
        f"at, {count(unpaid)} not paid; {plural(blocked, 'rater')} blocked."
    )


def careless_rates(refused_honest: float, found_random: float) -> str:
    """Give both error rates of the probability of being careless."""
    few = "under 0.1 %" if refused_honest < 0.001 else f"about {percent(refused_honest, 1)}"
    return (
        f"In simulations the rule flags {few} of attentive raters and {percent(found_random)} of "
        "raters who answer at random."
    )


def correlation_rates(level: float, below: float, found_random: float) -> str:
    """Give both error rates of a rule about correlation."""
    return (
        f"The rule flags raters whose true correlation is {below:g} or more in at most "
        f"{percent(level)} of panels, and {percent(found_random)} of raters who answer at random."
    )


def refused_text(n_panels: int, share: float, what: str) -> str:
    """Give the share of simulated attentive raters who are refused."""
    panels = plural(n_panels, "simulated panel")
    return f"In {panels} of attentive raters, {percent(share, 1)} of {what}s are not used."


NO_SESSIONS = "Raters were judged: the ratings have no column 'session'."


def judged_nobody(rule: str, why: Unjudged) -> str:
    """Say that a rule judged nobody, and why."""
    return f"Rule {rule!r} {why}."


# Golden items and pilots.


def overlap_text(stimuli: Sequence[str]) -> str:
    """Say which stimuli a pilot and its main study share."""
    if not stimuli:
        return "pilot and main study share no stimulus"
    shared = plural(len(stimuli), "stimulus", "stimuli")
    return f"pilot and main study share {shared}: {listing(stimuli, 5)}"


def golden_text(
    mean: float, sd: float, n: int, median_sd: float, rank: int, of: int, end: str
) -> str:
    """Say why a stimulus is a golden item."""
    return (
        f"mean {mean:.3g}, {end}est {rank} of {of}; SD {sd:.3g} of {n} ratings "
        f"(median SD {median_sd:.3g})"
    )


def pilot_violations(evidence: str, share: float) -> str:
    """Add the share of answers in the pilot that would count as wrong."""
    return f"{evidence}; {percent(share)} of the pilot's answers would be violations"
