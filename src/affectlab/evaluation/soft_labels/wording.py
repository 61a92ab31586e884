"""What judging distributions says in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from affectlab.core.words import in_brackets, joined, number, percent, plural, shown

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate

_MOST_NAMED = 4
"""Models that a sentence lists."""


def _points(share: float, digits: int = 1) -> str:
    """A difference of shares in points."""
    return number(100 * share, digits)


def _value(one: Estimate, sign: int = 1, digits: int = 2) -> str:
    low, high = sorted((sign * one.low, sign * one.high))
    return number(sign * one.value, digits) + in_brackets(low, high, digits)


# Models beside people.


def not_judged(model: str) -> str:
    """A model without a stimulus in common with people."""
    return f"{model} has no stimulus in common with people, and is not judged."


def distance(one: Estimate, metric: str) -> str:
    """How far a model is from people's answers."""
    return f"is {_value(one)} in {metric} from the answers of people on {one.n_items:,} stimuli"


def beside_people(one: Estimate, people: str) -> str:
    """Whether a model is nearer than people are, who are judged as models are."""
    if one.low <= 0 <= one.high:
        side = f"not shown to be nearer or further: {_value(one)}"
    elif one.value < 0:
        side = f"nearer by {_value(one, -1)}"
    else:
        side = f"further by {_value(one)}"
    return f"compared with {people} it is {side}"


ONE_PERSON = "a person judged by the others"


def half(size: int) -> str:
    """Half of the people, as one."""
    return f"half of the people ({size}) judged by the other half"


NO_NEARER_THAN_CONSTANT = "it is no nearer than one distribution for all stimuli"
NO_PROBABILITIES = "it claims no probabilities"


def confidence(over: Estimate, ece: Estimate, majority: bool) -> str:
    """Whether a model is as sure as people agree, or as it is right."""
    aim = "it is right" if majority else "people are united"
    points = f"{_points(over.value)} points" + in_brackets(over.low, over.high, 1, write=_points)
    error = f"ECE {_value(ece, digits=3)}"
    if over.low <= 0 <= over.high:
        return f"it is about as sure as {aim}: {points}, {error}"
    side = "surer" if over.value > 0 else "less sure"
    return f"it is {side} than {aim}, by {points}, {error}"


def unanimity(top: float, unanimous: float, n: int, entropy: float, most: float) -> str:
    """How far people agree on each stimulus."""
    return (
        f"The most frequent label has {percent(top)} of the answers on average; people agree fully "
        f"on {percent(unanimous)} of {plural(n, 'stimulus', 'stimuli')}. Entropy: "
        f"{number(entropy)} of at most {number(most)} nats."
    )


def nobody_chose(n: int) -> str:
    """Stimuli of which none has a distribution."""
    return f"Nobody chose a label for any of {plural(n, 'stimulus', 'stimuli')}."


def source_of_people(n_stimuli: int, n_labels: int, rule: str) -> str:
    """What the distribution of people is of."""
    stimuli, labels = plural(n_stimuli, "stimulus", "stimuli"), plural(n_labels, "label")
    return f"answers of people to {stimuli} and {labels}: {rule}"


def without_labels(n: int) -> str:
    """Stimuli that are left out, since nobody chose a label."""
    return f"{plural(n, 'stimulus', 'stimuli')} on which nobody chose a label: left out"


def partial_answers(model: str, n: int, of: int) -> str:
    """A model that is judged on part of the stimuli."""
    return f"{model} answers {n:,} of {of:,} stimuli and is judged on these"


# Tables and figures of distances.


def nearest(
    metric: str, models: Mapping[str, float], person: float, constant: float, blind: Sequence[str]
) -> str:
    """Name the models nearest to people, what a person reaches, and who is no nearer than blind.

    Parameters
    ----------
    metric
        Its title.
    models
        Distances of the models, the nearest first.
    person
        Distance of a person's own answer; ``nan`` where that is not known.
    constant
        Distance of the same distribution for every stimulus; ``nan`` where that is not known.
    blind
        Models that are no nearer than that.
    """
    if not models:
        return "No model can be compared with the distribution of people's answers."
    nearest = list(models.items())[:_MOST_NAMED]
    listed = joined([f"{shown(name, 40)} {number(value)}" for name, value in nearest])
    more = f" and {len(models) - _MOST_NAMED} more" if len(models) > _MOST_NAMED else ""
    text = f"{metric} from people's answers, less is nearer: {listed}{more}."
    if not math.isnan(person):
        text += f" A person's own answer is {number(person)} from that of the others."
    if not math.isnan(constant):
        text += f" The same distribution for every stimulus reaches {number(constant)}"
        if blind:
            names = joined([shown(name, 40) for name in blind[:_MOST_NAMED]])
            text += f"; {names} {'is' if len(blind) == 1 else 'are'} no nearer"
        text += "."
    return text[0].upper() + text[1:]


def cross_entropy(least: float, floor: float) -> str:
    """What cross-entropy can be at least."""
    raised = f"; shares below {floor:g} are raised to it" if floor else ""
    return (
        f"cross-entropy in nats: at least {number(least)}, the entropy of people's answers{raised}"
    )


INFINITE = (
    "a dash in place of a cross-entropy or divergence: infinite, as a label that somebody chose "
    "was given no chance"
)
LESS_IS_NEARER = "less is nearer in every column"
DISTANCES_CAPTION = "Distance from the distribution of people's answers."


def distances_caption(method: str) -> str:
    """What a figure of distances shows."""
    return (
        f"{method}, mean over stimuli; less is nearer. For comparison: one person with the others, "
        "half of the people with the other half, and (line) one distribution for all stimuli."
    )


def least(rater: str, value: float) -> str:
    """The nearest model."""
    return f"Least for {rater} ({number(value)})."


# Calibration.


def calibration(ece: float, n: int, confidence: float, outcome: float) -> str:
    """The calibration error of claims."""
    return (
        f"Calibration error (ECE) {number(ece, 3)} over {plural(n, 'item')}: mean confidence "
        f"{number(confidence)}, mean outcome {number(outcome)}."
    )


def best_calibrated(model: str, ece: float, several: bool) -> str:
    """The model whose most probable label is off by least."""
    least = ", the least of the models" if several else ""
    return (
        f"The most probable label of {shown(model, 40)} is off by {percent(ece, 1)} on average "
        f"(expected calibration error){least}."
    )


def diagram_caption(outcome: str) -> str:
    """What a reliability diagram shows."""
    return (
        f"{outcome[0].upper()}{outcome[1:]}, for the model's most probable label, against the "
        "probability that the model gave it. Below the line the model is too sure."
    )


def diagram(ece: float, n: int) -> str:
    """What a reliability diagram finds."""
    return f"Expected calibration error {number(ece, 3)} over {n:,} stimuli."
