"""What judging classifications says in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from affectlab.core.wording import undefined_text
from affectlab.core.words import in_brackets, joined, number, percent, plural, some

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate

_NAMED = 5
"""Names that a note lists."""


def share(estimate: Estimate, confidence: float) -> str:
    """A share with its interval."""
    name = f"{100 * confidence:g}\u00a0% interval"
    return percent(estimate.value, 1) + in_brackets(
        estimate.low, estimate.high, 1, write=percent, name=name
    )


def value(estimate: Estimate) -> str:
    """A metric with its interval, or why there is none."""
    if not estimate.ok:
        return undefined_text(estimate.reason)
    return number(estimate.value) + in_brackets(estimate.low, estimate.high)


# Models and people.


def not_judged(model: str) -> str:
    """A model that answered nothing with a truth."""
    return f"{model} answered no stimulus that has a true class, and is not judged."


def people(estimate: Estimate, confidence: float, left_out: bool, sets: bool) -> str:
    """What people reach, beside a model; each judged by the others where they are the truth."""
    who = "people, each judged by the others," if left_out else "people"
    if sets:
        return f"{who} have a macro F1 of {value(estimate)}"
    of = plural(estimate.n_ratings, "answer")
    return f"{who} are right on {share(estimate, confidence)} of {of}"


def of_sets(exact: Estimate, macro: Estimate, micro: Estimate, confidence: float) -> str:
    """How a model does where a stimulus has several classes."""
    return (
        f"gives exactly the true classes of {share(exact, confidence)} of "
        f"{plural(exact.n_items, 'stimulus', 'stimuli')} (macro F1 {value(macro)}, micro F1 "
        f"{value(micro)})"
    )


def right(accuracy: Estimate, confidence: float, baselines: Mapping[str, float]) -> str:
    """How often a model is right, and what answering without a look would reach."""
    stimuli = plural(accuracy.n_items, "stimulus", "stimuli")
    text = f"is right on {share(accuracy, confidence)} of {stimuli}"
    if not baselines:
        return text
    best = max(baselines, key=lambda name: baselines[name])
    above = not math.isnan(accuracy.low) and accuracy.low > baselines[best]
    beside = "above" if above else "not shown to be above"
    if math.isnan(accuracy.low):
        beside = "compared with"
    blind = best if best == "guessing" else f"answering {best}"
    return f"{text}, {beside} the {percent(baselines[best], 1)} of {blind}"


def severity(emc: Estimate, guessing: Estimate | None, n_mistakes: int) -> str:
    """How mild the mistakes of a model are, beside those of guessing."""
    own = f"EMC of its {plural(n_mistakes, 'mistake')}: {value(emc)}"
    if guessing is None or not guessing.ok:
        return own
    beside = "not shown to be milder or worse"
    if emc.low > guessing.value:
        beside = "milder"
    elif emc.high < guessing.value:
        beside = "worse"
    elif math.isnan(emc.low):
        return f"{own}, of guessing: {number(guessing.value)}"
    return (
        f"its mistakes are {beside} than those of guessing (EMC {value(emc)} against "
        f"{number(guessing.value)})"
    )


NO_MISTAKE = "it makes no mistake"
ROLE_OF_METRICS = (
    "ACC2: the share of answers in the right group (polarity, unless the taxonomy says otherwise). "
    "ECC: accuracy in which a near miss counts in part. EMC: how mild the mistakes are. All are "
    "better when higher."
)


def truth(said: str, n_stimuli: int, n_classes: int, costs: str) -> str:
    """What the truth is, and what mistakes cost; empty where no costs are known."""
    text = (
        f"Truth: {said}; {plural(n_stimuli, 'stimulus', 'stimuli')}, "
        f"{plural(n_classes, 'class', 'classes')}"
    )
    return f"{text}; costs of mistakes: {costs}." if costs else f"{text}."


# Notes on what is judged.


def answered_nothing(model: str) -> str:
    """A model that is left out."""
    return f"{model} answered no stimulus that has a true class: not judged"


def own_answers(n_stimuli: int, shares: str) -> str:
    """Models that are judged on different stimuli."""
    return f"each model is judged on what it answered: of {n_stimuli:,} stimuli {shares}"


def common_answers(n_common: int, n_stimuli: int, shares: str) -> str:
    """Stimuli that all models answered; no shares of a single model."""
    who = f"all of them answered ({shares})" if shares else "it answered"
    stimuli = plural(n_common, "stimulus", "stimuli")
    return f"models are compared on the {stimuli} of {n_stimuli:,} that {who}"


def gaps_as_mistakes(model: str, n_gaps: int, n_stimuli: int, priced: bool) -> str:
    """What a model did not answer counts as wrong."""
    stimuli = plural(n_gaps, "stimulus", "stimuli")
    worst = ", as costly as the worst one" if priced else ""
    return f"{model}: {stimuli} of {n_stimuli:,} not answered, taken as mistakes{worst}"


def no_distribution(why: str) -> str:
    """Why the distribution of people's answers is not compared."""
    return f"the distribution of people's answers is not compared: {why}"


def macro_classes(raters: Sequence[str], n_classes: int, absent: Sequence[str]) -> str:
    """Over which classes macro averages run, of some raters or of all."""
    of = f" of {some(raters, _NAMED)}" if raters else ""
    if not absent:
        return f"macro averages{of} run over all {n_classes} classes"
    return (
        f"macro averages{of} run over the {n_classes - len(absent)} of {n_classes} classes in "
        f"truth or answers, without {some(absent, _NAMED)}"
    )


NO_COSTS = (
    "no costs of mistakes are known for these classes, so severity is not judged; name a taxonomy "
    "with a wheel or groups, or costs"
)
LEAVE_ONE_OUT = (
    "each person is judged by the other people, where these agree on a class; models by all"
)


# Comparisons of two or more.


def comparison(
    a: str,
    b: str,
    ahead: Mapping[str, Sequence[str]],
    equivalent: Mapping[str, Sequence[str]],
    undecided: Sequence[str],
    undefined: Sequence[str],
) -> str:
    """On what one of two classifications is better.

    Parameters
    ----------
    a, b
        Their names.
    ahead
        Name to the metrics on which it is better.
    equivalent
        Margin to the metrics on which they are equivalent.
    undecided, undefined
        Metrics without a difference that is shown, and those that are not defined.
    """
    parts = [
        f"{name} is better than {other} on {joined(ahead[name])}"
        for name, other in ((a, b), (b, a))
        if ahead.get(name)
    ]
    parts += [
        f"{a} and {b} are equivalent on {joined(titles)}, within {margin}"
        for margin, titles in equivalent.items()
    ]
    if undecided:
        parts.append(f"{a} and {b} are not shown to differ on {joined(undecided)}")
    if undefined:
        parts.append(f"{joined(undefined)} {'is' if len(undefined) == 1 else 'are'} not defined")
    return ("; ".join(parts) or "No metric was compared") + "."


def pair(a: str, b: str, better: Mapping[str, Sequence[str]], metrics: str, n_items: int) -> str:
    """On what one of two models is better, with the values of both."""
    stimuli = f"({plural(n_items, 'stimulus', 'stimuli')})"
    if not better:
        return f"Neither {a} nor {b} is shown to be better on {metrics} {stimuli}."
    parts = [
        f"{winner} is better than {b if winner == a else a} on {joined(titles)}"
        for winner, titles in better.items()
    ]
    return f"{joined(parts)} {stimuli}."


def values_of_pair(title: str, first: float, second: float) -> str:
    """A metric with its value of the better model and of the other."""
    return f"{title} ({number(first)} against {number(second)})"


def winners(wins: Mapping[str, Sequence[str]], n_pairs: int) -> str:
    """Which models are better than which, of all pairs."""
    if not wins:
        return (
            f"No model is shown to be better than another in {n_pairs} pairs (p values adjusted "
            "for all pairs and metrics)."
        )
    parts = [
        f"{winner} is better than {joined(losers)}"
        for winner, losers in sorted(wins.items(), key=lambda entry: -len(entry[1]))
    ]
    rest = n_pairs - sum(map(len, wins.values()))
    tail = f"; {rest} of {n_pairs} pairs undecided" if rest else ""
    return f"{joined(parts)} on at least one measure and worse on none{tail}."


# Tables of mistakes.


def confusions(n: str, accuracy: float, worst: tuple[str, str, str, str] | None) -> str:
    """How many items have the right label, and the most frequent mistake.

    Parameters
    ----------
    worst
        True label, predicted label, how often, of how many; None where there is no mistake.
    """
    return f"{percent(accuracy, 1)} of {n} items have the right label{_most_often(worst)}."


def confused_sets(n: int, n_labels: int, worst: tuple[str, str, str, str] | None) -> str:
    """How many items and labels there are, and the most frequent mistake."""
    return f"{plural(n, 'item')} and {plural(n_labels, 'label')}{_most_often(worst)}."


def _most_often(worst: tuple[str, str, str, str] | None) -> str:
    if worst is None:
        return ""
    true, predicted, often, of = worst
    return f"; {true} is taken for {predicted} most often ({often} of {of})"


NO_ITEMS = "There are no items."
ROWS_AND_COLUMNS = "Rows: true labels; columns: predicted labels; colours: shares of a row."
SETS_OF_LABELS = (
    " Where an item has several labels, each true one is set against each predicted one."
)


def both_wrong(
    systems: Sequence[str], n_wrong: Sequence[int], n_judged: int, n_both: int, n_different: int
) -> str:
    """How often two classifiers are wrong, and both of them."""
    return (
        f"{systems[0]} gets {n_wrong[0]:,} of {n_judged:,} wrong and {systems[1]} {n_wrong[1]:,}; "
        f"both {n_both:,}, of which {n_different:,} into different classes."
    )


def label_averages(f1: float, n_macro: int, n_labels: int, exact: Estimate) -> str:
    """The macro average, and how many items are exactly right."""
    over = plural(n_labels, "label")
    if n_macro != n_labels:
        over = f"{n_macro} of {n_labels} labels that occur"
    return (
        f"Macro F1 is {number(f1)} over {over}; {percent(exact.value, 1)} of "
        f"{plural(exact.n_items, 'item')} have exactly the right labels."
    )
