"""What soft labels say of a model, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from affectlab._words import joined, number, percent
from affectlab.estimates import Estimate
from affectlab.evaluation._soft_people import HALVES, ONE_PERSON
from affectlab.evaluation._soft_rows import BASELINE
from affectlab.evaluation._soft_scores import SOFT_METRICS

if TYPE_CHECKING:
    from affectlab.evaluation._evaluate_soft_labels import SoftLabels

__all__ = ["sentence_on"]

_TITLES = {
    "cross_entropy": "cross-entropy",
    "kullback_leibler": "Kullback-Leibler divergence",
    "jensen_shannon": "Jensen-Shannon divergence",
    "jensen_shannon_distance": "Jensen-Shannon distance",
    "earth_movers_distance": "earth mover's distance",
    "brier": "Brier score",
    "mean_absolute_difference": "mean absolute difference",
}
_SPOKEN = ("jensen_shannon", "earth_movers_distance", "brier", "jensen_shannon_distance")
"""Metrics in the order in which a sentence takes up to two of them."""


def sentence_on(result: SoftLabels, model: str) -> str:
    """Say how near a model comes to people, beside people themselves, and whether it is too sure.

    One who names one label is held against a person who does so, too; one who spreads mass over
    labels against half of the people together, since a single person cannot hedge.
    """
    metrics = _chosen(result, model)
    if not metrics:
        return f"{model} has no stimulus in common with people, and is not judged."
    parts = [_distances(result, model, metrics), _people(result, model, metrics)]
    parts += [_baseline(result, model, metrics[0]), _calibration(result, model)]
    return f"{model} {'; '.join(part for part in parts if part)}."


def _chosen(result: SoftLabels, model: str) -> list[str]:
    known = dict(iter(result.metrics))
    order = [*_SPOKEN, *(name for name in SOFT_METRICS if name not in _SPOKEN)]
    usable = [name for name in order if (model, name) in known and known[model, name].ok]
    return usable[:2]


def _interval(one: Estimate, sign: int = 1, digits: int = 2) -> str:
    low, high = sorted((sign * one.low, sign * one.high))
    value = number(sign * one.value, digits)
    if low != low:
        return value
    return f"{value} ({number(low, digits)} to {number(high, digits)})"


def _distances(result: SoftLabels, model: str, metrics: list[str]) -> str:
    said = [f"{_interval(result.metrics[model, name])} in {_TITLES[name]}" for name in metrics]
    n = result.metrics[model, metrics[0]].n_items
    return f"is {joined(said)} from the answers of people on {n:,} stimuli"


def _people(result: SoftLabels, model: str, metrics: list[str]) -> str:
    """Hold it against people, on the metrics on which that is defined."""
    against = ONE_PERSON if model in result.one_label else HALVES
    known = dict(iter(result.comparison))
    found = [
        (name, known[model, against, name])
        for name in metrics
        if (model, against, name) in known and known[model, against, name].ok
    ]
    if not found:
        return ""
    if against is ONE_PERSON:
        who = "a person judged by the others"
    else:
        sizes = result.people.n_raters[result.people.n_raters > 1] // 2
        who = f"half of the people ({int(np.median(sizes))}) judged by the other half"
    return f"beside {who} it is {joined(_apart(name, one) for name, one in found)}"


def _apart(name: str, one: Estimate) -> str:
    title = _TITLES[name]
    if one.low <= 0 <= one.high:
        ends = f"{number(one.low)} to {number(one.high)}"
        return f"not clearly nearer or further in {title} ({number(one.value)}, {ends})"
    side, sign = ("nearer", -1) if one.value < 0 else ("further", 1)
    return f"{side} by {_interval(one, sign)} in {title}"


def _baseline(result: SoftLabels, model: str, metric: str) -> str:
    one = result.comparison[model, BASELINE, metric]
    if not one.ok or one.low != one.low or one.high < 0:
        return ""
    return "it is no nearer than one distribution for all stimuli, as if it had not looked"


def _calibration(result: SoftLabels, model: str) -> str:
    found = result.calibration.get(model)
    if found is None:
        return "it claims no probabilities" if model in result.one_label else ""
    over = found["overconfidence"]
    aim = (
        "people are united"
        if result.truth == "distribution"
        else "it is right by the majority of people"
    )
    ends = "" if over.low != over.low else f" ({_points(over.low)} to {_points(over.high)})"
    error = f"ECE {_interval(found['ece'], digits=3)}"
    if over.low <= 0 <= over.high:
        return f"it is about as sure as {aim}: {_points(over.value)} points{ends}, {error}"
    side = "surer" if over.value > 0 else "less sure"
    return f"it is {side} than {aim}, by {_points(over.value)} points{ends}, {error}"


def _points(share: float) -> str:
    return percent(share, 1).removesuffix("\u00a0%").replace("-", "−")
