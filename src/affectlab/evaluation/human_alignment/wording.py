"""What alignment says in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.core.facts import Reason
from affectlab.core.words import count, joined, number, p_value, percent, plural, shown, some


@dataclass(frozen=True)
class Basis:
    """What the comparison of a model with people rests on."""

    n_people: int
    n_items: int
    n_offered: int
    """Stimuli that people rated."""
    n_labels: int
    coverage: float
    """Share of the answers of people that the model shares."""
    clusters: str = ""
    """What stimuli belong to, counted, such as ``8 actors``."""

    def __str__(self) -> str:
        of = f" of {count(self.n_offered)}" if self.n_items != self.n_offered else ""
        word = "stimulus" if self.n_offered == 1 else "stimuli"
        clusters = f" of {self.clusters}" if self.clusters else ""
        partly = self.coverage < 1 - 1e-9
        covered = f", {percent(self.coverage, 1)} of what people rated" if partly else ""
        people = plural(self.n_people, "person", "people")
        labels = plural(self.n_labels, "label")
        return f"{people}, {count(self.n_items)}{of} {word}{clusters}, {labels}{covered}"


def cannot_be_placed(model: str, why: str, basis: Basis) -> str:
    """Why a model has no verdict."""
    return f"{shown(model)} cannot be placed: {why} ({basis})."


def verdict(
    row: Mapping[str, Any], measure: str, target: str, basis: Basis, confidence: float
) -> str:
    """Where a model stands, and what that rests on.

    Parameters
    ----------
    row
        Of the table ``difference``.
    measure
        Name of the measure that decides; not used of ranks.
    target
        What the intervals are about.
    """
    where = "the human range"
    if target == "raters":
        where += f" on these {plural(row['n_items'], 'stimulus', 'stimuli')}"
    elif target not in ("none", "both"):
        where += f" of these {count(basis.n_people)} people"
    place = row["verdict"] if row["verdict"] != "not shown" else "not shown to be inside"
    details = [f"difference {number(row['value'], 3)}"]
    if math.isnan(row["se"]):
        where += ", for want of an interval"
    else:
        ends = f"{number(row['low'], 3)} to {number(row['high'], 3)}"
        details[0] += f", {percent(confidence)} interval {ends}"
        digits = 2 if round(row["margin"], 2) == row["margin"] else 3
        p = f", p {p_value(row['p'])}" if row["verdict"] == "inside" else ""
        details.append(f"margin {number(row['margin'], digits)}{p}")
    compared, other = f"{measure} with people", "that of people with one another"
    if row["measure"] == "spearman":
        compared, other = "Spearman correlation with the median of people", "that of a person"
    not_worse = row["verdict"] == "not shown" and row["at_least"]
    least = "; it is not worse than people by more than the margin" if not_worse else ""
    return (
        f"{shown(row['rater'])} is {place} {where}: its {compared} is "
        f"{number(row['agreement'], 3)}, {other} {number(row['people'], 3)} "
        f"({'; '.join([*details, str(basis)])}){least}."
    )


def without_careless(people: Sequence[str], changed: Mapping[str, str]) -> str:
    """Who does not count, and which verdicts that changes."""
    one = len(people) == 1
    names = some([shown(name, 60) for name in people], 5)
    verdicts = [
        f"the verdict on {shown(name, 60)} would be “{other}”" for name, other in changed.items()
    ]
    return (
        f"The answers of {names}, who {'is' if one else 'are'} taken to be careless, do not count; "
        f"with them {joined(verdicts) if verdicts else 'every verdict would be the same'}."
    )


def alt_test_outcome(row: Mapping[str, Any]) -> str:
    """The outcome of the alternative-annotator test for a model."""
    test = f"the alternative-annotator test (ε = {row['epsilon']:g})"
    name = shown(row["rater"])
    if row["passed"] is None:
        return f"{name}: {test} cannot be done: {Reason.of_row(row['reason'])}."
    people = plural(row["n_people"], "person", "people")
    more = ", though it gives one answer to everything" if row["constant_answer"] else ""
    return (
        f"{name} {'passes' if row['passed'] else 'does not pass'} {test}, winning against "
        f"{row['wins']} of {people}{more}."
    )


def ceiling(row: Mapping[str, Any], measure: str) -> str:
    """What people reach with one another, by one measure."""
    return (
        f"A person left out reaches {number(row['value'], 3)} on average ({measure}); people range "
        f"from {number(row['min'], 3)} to {number(row['max'], 3)} ({shown(row['best'])})."
    )


def largest_discrepancy(row: Mapping[str, Any]) -> str:
    """Where people and a model are furthest apart."""
    return (
        f"The largest difference of means: people rate {shown(row['label'], 40)} "
        f"{number(abs(row['value']))} points {'higher' if row['value'] > 0 else 'lower'} than "
        f"{shown(row['rater'], 40)} does."
    )


# What weakens a comparison.


def other_scale(models: Sequence[str], why: str) -> str:
    """Models that cannot be put on the scale of people; all where none are named."""
    whom = joined([shown(name) for name in models]) if models else "models"
    return (
        f"Only ranks of {whom} are compared: {why}. Kappa, the alternative-annotator test and "
        "differences of means need the scale of people."
    )


def one_person() -> str:
    """A single person."""
    return "One person cannot show how far people agree; two or more are needed."


def about_these(target: str, n_people: int) -> str:
    """Intervals that are not about other people."""
    if n_people == 2:
        return f"Two people cannot be generalised to others: intervals are over {target} alone."
    return f"Intervals are over {target}: about these people, and no others."


def few_people(n_people: int) -> str:
    """Intervals about other people that few people stand for."""
    degrees = plural(n_people - 1, "degree")
    return f"With {n_people} people, intervals rest on {degrees} of freedom and are wide."


def pooled(shared: int, measure: str) -> str:
    """People who share few stimuli, so that disagreement is pooled."""
    return (
        f"Two people who meet share {plural(shared, 'stimulus', 'stimuli')} (median), a person and "
        f"a model more. Kappas of pairs are biased towards 0 on few stimuli, so disagreement is "
        f"pooled over pairs ({measure}); do not compare models with people in tables of pairs."
    )


def few_shared(shared: int, measure: str) -> str:
    """Pairs that share few stimuli, those with models as those of people."""
    return (
        f"Two people who meet share {plural(shared, 'stimulus', 'stimuli')} (median): the "
        f"{measure} of a pair is uncertain and biased towards 0, for models and people alike."
    )


def disagreeing_people(people: Mapping[str, float], median: float) -> str:
    """People who agree with nobody, while others do."""
    far = joined([f"{shown(name)} ({number(value, 3)})" for name, value in people.items()])
    return (
        f"These people agree with nobody (median person: {number(median, 3)}): {far}. Any model "
        "looks good compared with careless raters; screen people first."
    )


def wide_margin(margin: float, agreement: float) -> str:
    """A margin that shows nothing, or little, beside the agreement of people."""
    if margin >= agreement:
        return (
            f"The margin of {margin:g} is not below the agreement of people "
            f"({number(agreement, 3)}), so no model can be shown to be inside; state a smaller one."
        )
    return (
        f"The margin of {margin:g} is wide: {percent(margin / agreement)} of the agreement of "
        f"people ({number(agreement, 3)})."
    )


def large_epsilon(epsilon: float) -> str:
    """An epsilon of the alternative-annotator test beside people who agree little."""
    return (
        "People agree little; the authors of the alternative-annotator test then advise a smaller "
        f"epsilon than {epsilon:g}."
    )


def partial_answers(coverage: Mapping[str, float]) -> str:
    """Models that answered part of what people rated."""
    models = joined([f"{shown(name)} ({percent(share, 1)})" for name, share in coverage.items()])
    return f"Compared on part of the answers of people: {models}. What is left out may be hard."


def undefined_labels(measure: str, n_labels: Mapping[str, int]) -> str:
    """Labels that are left out of the means of models and people."""
    models = joined([f"{shown(name)} ({plural(n, 'label')})" for name, n in n_labels.items()])
    return (
        f"Labels without a defined {measure} are left out of the means: {models}. A model that "
        "gives one constant answer escapes its hardest labels."
    )


def several_models(n_tested: int, alpha: float, inside: Sequence[str], held: Sequence[str]) -> str:
    """What holds for all models together."""
    level = f"{count(n_tested)} models are judged, each at a level of {percent(alpha)}"
    if len(held) == len(inside):
        return f"{level}; with Holm's correction the same are inside."
    if not held:
        return f"{level}; with Holm's correction none is shown to be inside."
    names = joined([shown(name) for name in held])
    are = "is" if len(held) == 1 else "are"
    return f"{level}; with Holm's correction only {names} {are} shown to be inside."


# Tables and figures.


def models_notes(margin: float, n_people: int, epsilon: float) -> tuple[str, ...]:
    """What the columns of the table of models mean."""
    return (
        "Human range: inside where two one-sided tests show a difference smaller than "
        f"{number(margin)} either way; below or above where it is shown to be larger.",
        f"People below: people, of {n_people}, who agree less with the others than the model does.",
        "Alt-test: share of people whom the model beats at agreeing with the rest, less "
        f"{number(epsilon)} for being cheaper (Calderon et al. 2025); 0.5 or more passes.",
    )


MODELS_CAPTION = "Models with people, and people with one another."
EVERYBODY_CAPTION = "Agreement of models, and of each person, with the other people."
RANGE_TITLE = "Models on the range of people"
RANGE_DESCRIPTION = "Each person with the other people, and each model with people."
MARGIN_TITLE = "Difference of models from people, with intervals and margin"


def margin_caption(measure: str, intervals: str, margin: float) -> str:
    """What the figure of differences shows."""
    return (
        f"Agreement of models with people - that of people with one another ({measure}{intervals})."
        f" Band: the margin of {number(margin)}."
    )
