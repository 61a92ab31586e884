"""What outcomes, recognition and controls say in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from affectlab.core.words import count, joined, number, percent, plural, shown, some, with_ends

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate

# Outcomes of answers.

NO_OUTCOMES = (
    "there is no column 'outcome', so every answer counts as ok; answers that failed may have been "
    "left out before"
)


def usable(total: int, rate: float, failed: Mapping[str, int]) -> str:
    """How many answers can be used, and what became of the others."""
    if not failed:
        return f"None of {plural(total, 'answer')} was refused, lost or unreadable."
    parts = joined([f"{name.replace('_', ' ')} {count(n)}" for name, n in failed.items()])
    return f"Of {plural(total, 'answer')}, {percent(rate, 1)} can be used ({parts})."


def lowest_share(names: Sequence[str], row: Mapping[str, Any], confidence: float) -> str:
    """Whose answers can be used least."""
    name = " · ".join(shown(name, 40) for name in names)
    low, high = percent(row["low"], 1), percent(row["high"], 1)
    return (
        f"The lowest share is that of {name}: {percent(row['value'], 1)}, "
        f"{percent(confidence)} interval {low} to {high}."
    )


def partly_asked(names: Sequence[str], n: int, n_stimuli: int, n_others: int) -> str:
    """Models that were not asked about all stimuli."""
    more = f", and {n_others} more not about all" if n_others else ""
    return f"{', '.join(names)} was asked about {n:,} of {n_stimuli:,} stimuli{more}"


# Models that were asked in several ways.

PROTOCOL_SCORES = "Agreement with people of each model, asked in each way."
PROTOCOL_SHARES = "What the scores differ by."
PROTOCOL_RANKINGS = "How alike two ways rank the models."


def protocol_effects(n_models: int, n_ways: int, share: Mapping[str, float]) -> str:
    """How much of the differences between scores lies in the model, and in the way of asking."""
    if math.isnan(share["model"]):
        return f"The scores of {plural(n_models, 'model')} do not differ."
    both = share["model and way"]
    rest = (
        "the rest in which way suits which model, or in the sampling of stimuli"
        if math.isnan(both)
        else f"{percent(both)} in which way suits which model"
    )
    return (
        f"Of the variance between the scores of {plural(n_models, 'model')} asked in "
        f"{plural(n_ways, 'way')}, {percent(share['model'])} lies between models, "
        f"{percent(share['way'])} between ways of asking, and {rest}."
    )


def protocols_left_out(why: str, names: Sequence[str]) -> str:
    """Models and raters that do not count."""
    listed = joined([shown(one, 40) for one in names])
    return {
        "asked": f"not asked in every way, and left out: {listed}",
        "again": f"asked again in the same way, of which the first counts: {listed}",
        "undefined": f"without a defined correlation with people, and left out: {listed}",
    }[why]


# Recognition of what stimuli are meant to show.

RATES = (
    "unbiased: 0 where an answer is never given, 1 where it is given whenever it is intended, and "
    "never else; chance: what answers at random as often as these would give"
)
RATES_CAPTION = "Hit rates of what was intended, as means over raters and of all answers pooled."
CONFUSION_CAPTION = "Rows: what was intended; columns: what was answered; colours: shares of a row."
VOTES_ARE_POOLED = (
    "raters of counted votes are not known: hit rates are of all votes pooled, and no interval is "
    "about other raters"
)


def recognised(
    who: str,
    hits: Mapping[str, Any],
    unbiased: Mapping[str, Any],
    chance: float,
    best: tuple[Sequence[str], float],
    worst: tuple[Sequence[str], float],
    confidence: float,
) -> str:
    """How well emotions are recognised, and which best and worst.

    Parameters
    ----------
    hits, unbiased
        Hit rate and unbiased hit rate, each with its interval.
    chance
        Unbiased hit rate that chance gives; ``nan`` where it is not known.
    best, worst
        Emotions and their unbiased rate; the same where there is one emotion, or all are alike.
    """
    text = f"{who}: hit rate {with_ends(hits, confidence)}, "
    text += f"unbiased hit rate {with_ends(unbiased, confidence)}"
    if not math.isnan(chance):
        text += f" where chance gives {number(chance)}"
    if best[1] > worst[1]:
        text += (
            f"; the unbiased rate is highest for {some(best[0], 3)} ({number(best[1])}) and lowest "
            f"for {some(worst[0], 3)} ({number(worst[1])})"
        )
    elif len(best[0]) > 1:
        text += "; the unbiased rate is the same for all emotions"
    return f"{text}."


def confused(pairs: Sequence[tuple[str, str, float]]) -> str:
    """Emotions that are taken for others, with the share of their answers."""
    listed = [f"{shown_} for {answered} ({percent(share)})" for shown_, answered, share in pairs]
    return f"Most often taken for another emotion: {joined(listed)}."


def missed_stimuli(names: Sequence[str], n: int) -> str:
    """Stimuli of which another answer is as frequent as the intended one."""
    return (
        f"For {len(names)} of {plural(n, 'stimulus', 'stimuli')} another answer is at least as "
        f"frequent as the intended one: {some([*map(shown, names)], 5)}."
    )


def intended_column(column: str) -> str:
    """Where the intended emotions are from."""
    return f"What was intended stands in column {column!r} of the stimuli."


def without_intention(n: int) -> str:
    """Stimuli that are left out."""
    return f"{plural(n, 'stimulus', 'stimuli')} without an intended emotion: left out"


def never_answered(who: str, emotions: Sequence[str]) -> str:
    """Intended emotions that nobody answers."""
    return f"never answered by {who}: {', '.join(emotions)}"


# Controls of models.

NO_CONTROL = "no control run says whether its answers need the image"
_WITHOUT = {"no_image": "without the image it", "wrong_image": "shown a wrong image it"}


def repeats(one: Estimate, several: bool, people: float, there: float) -> str:
    """How often a model gives the same answers to another stimulus.

    Parameters
    ----------
    several
        Whether there are several labels.
    people, there
        How often people do on the stimuli of a person, and the model there; ``nan`` without people.
    """
    if not one.ok:
        return f"answered {count(one.n_items)} stimuli, too few to repeat itself"
    thing = "answer vector" if several else "answer"
    beside = []
    if not math.isnan(people):
        beside.append(f"people on the same stimuli: {percent(people)}")
        # On the stimuli of one person there are fewer to repeat an answer on.
        if percent(there) != percent(one.value):
            beside.append(f"the model there: {percent(there)}")
    if not several and one.value > 0:
        beside.append("with one label that says little")
    text = f"gave the same {thing} to {percent(one.value)} of stimuli as to another one"
    return f"{text} ({'; '.join(beside)})" if beside else text


def control_not_compared(kind: str, same: Estimate) -> str:
    """A control run of a model that has no people beside it."""
    if same.ok:
        return f"{_WITHOUT[kind]} agrees with itself at {number(same.value)}"
    return f"{_WITHOUT[kind]} cannot be compared ({same.reason})"


def nothing_to_keep(kind: str, control: Estimate, main: Estimate) -> str:
    """A main run whose agreement with people is not clear."""
    return (
        f"{_WITHOUT[kind]} agrees with people at {number(control.value)}, else at "
        f"{number(main.value)}: there is no clear agreement to explain"
    )


def agreement_kept(
    kind: str,
    coefficient: str,
    main: Estimate,
    control: Estimate,
    kept: Estimate,
    within: Estimate | None,
) -> str:
    """What a control run keeps of the agreement with people; `within` labels, where several."""
    text = (
        f"{_WITHOUT[kind]} keeps {percent(max(kept.value, 0.0))} of its agreement with people"
        f"{'' if within is None else ' over all answers'} ({coefficient} {number(control.value)} "
        f"of {number(main.value)})"
    )
    if within is not None and within.ok:
        text += f" and {percent(max(within.value, 0.0))} of its agreement within labels"
    return text


SCORE_WITHOUT_LOOKING = ": its score does not show that it looks"
MOST_WITHOUT_IMAGE = ": most of its score does not need the image"
MOST_OVER_ALL_WITHOUT_IMAGE = ": most of a score over all answers does not need the image"


def hints_followed(accepted: Estimate, unprompted: Estimate) -> str:
    """How often a model follows wrong hints."""
    if not accepted.ok:
        return "no wrong hint can be judged"
    return (
        f"it followed {percent(accepted.value)} of {count(accepted.n_items)} wrong hints, and gave "
        f"these labels to {percent(unprompted.value)} without a hint"
    )
