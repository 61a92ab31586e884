"""From ratings to what is judged in each group: answers, what they are compared with, and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._costs_of import label_facts
from affectlab.evaluation._fairness_groups import Grouping
from affectlab.evaluation._fairness_rows import Options, Rows, class_rows, score_rows
from affectlab.evaluation._metric_registry import AnswerMetric, Compared
from affectlab.evaluation._metric_registry_scores import mean_defined
from affectlab.evaluation._metrics_kinds import (
    CLASSIFICATION_METRICS,
    rests_on_mistakes,
    why_not,
)
from affectlab.ratings import Ratings

__all__ = ["Side", "Units", "counted", "sides_of", "units_of"]


@dataclass(frozen=True)
class Units:
    """What is resampled and permuted: stimuli, clusters of stimuli, people or clusters of them."""

    names: tuple[str, ...]
    group: Ints
    """Group of each unit, shape (U,)."""
    of: dict[str, int]
    """Unit of each stimulus, or of each person."""
    things: str
    """What they are called in a sentence."""

    def places(self, names: Sequence[str]) -> Ints:
        """Unit of each of these names, -1 where it has no group."""
        return np.array([self.of.get(name, -1) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Side:
    """One who is judged, on one label or on all."""

    rater: str
    label: str
    """Empty where all labels count together."""
    evaluate: Callable[[Floats], Floats]
    """From weights of units, shape (b, U), to values, shape (b,)."""
    members: Ints
    """Stimuli, or people, of each unit that have an answer, shape (U,)."""
    ratings: Ints
    """Answers of each unit, shape (U,)."""
    n_items: int
    n_raters: int
    of_raters: bool
    mistakes: Ints | None = None
    """Mistakes in each unit, shape (U,), for a metric that looks at mistakes alone."""

    @property
    def present(self) -> Bools:
        """Units that have an answer, shape (U,)."""
        here: Bools = self.members > 0
        return here

    def counts(self, group: Bools) -> dict[str, int]:
        """Items, raters and ratings of the units in a group."""
        members = int(self.members[group].sum())
        return {
            "n_items": self.n_items if self.of_raters else members,
            "n_raters": members if self.of_raters else self.n_raters,
            "n_ratings": int(self.ratings[group].sum()),
        }


def counted(n: int, things: str) -> str:
    """Write how many stimuli or people there are."""
    return plural(n, "person" if things == "people" else "stimulus", things)


def units_of(grouping: Grouping, clusters: dict[str, str] | None) -> Units:
    """Number the units; without clusters each stimulus, or person, is its own."""
    unit_name = {name: name for name in grouping.code} if clusters is None else clusters
    names = tuple(dict.fromkeys(unit_name.values()))
    place = {name: at for at, name in enumerate(names)}
    of = {name: place[unit] for name, unit in unit_name.items()}
    group = np.zeros(len(names), dtype=np.int64)
    for name, unit in of.items():
        group[unit] = grouping.code[name]
    things = "people" if grouping.carrier == "rater" else "stimuli"
    return Units(names, group, of, things)


def sides_of(
    people: Ratings,
    models: Ratings | None,
    metric: AnswerMetric,
    units: Units,
    options: Options,
    *,
    labels: Sequence[str] | None,
    by_label: bool,
    with_people: bool,
) -> Iterator[Side]:
    """Give what is judged, one after the other: models, then people where they are wanted."""
    if metric.needs == "classes":
        if labels is not None or by_label:
            raise InputError(
                f"metric {metric.name!r} is about one class per stimulus; labels and by_label are "
                "for metrics of ratings"
            )
        rows = class_rows(people, models, options)
        _check_labels(rows, metric)
    else:
        rows = score_rows(people, models, metric, options)
    places = range(len(rows.labels)) if labels is None else _places(rows.labels, labels)
    for name, data, is_people in rows.judged(metric, with_people=with_people):
        if not by_label:
            part = data if labels is None else data.take(np.isin(data.label, places))
            yield _side(name, "", rows, part, metric, units, is_people=is_people)
            continue
        for at in places:
            part = data.take(data.label == at)
            yield _side(name, rows.labels[at], rows, part, metric, units, is_people=is_people)


def _check_labels(rows: Rows, metric: AnswerMetric) -> None:
    """Refuse classes without the costs or the polarity that a metric needs."""
    kind = CLASSIFICATION_METRICS.get(metric.name)
    if kind is None:
        return
    everyone = [rows.people, *rows.models.values()]
    used = np.unique(np.concatenate([codes for of in everyone for codes in (of.answer, of.truth)]))
    of = rows.people
    facts = label_facts(of.taxonomy, labels=of.labels, costs=of.costs)
    reason = "" if facts is None else why_not(kind, facts, used.astype(np.int64))
    if reason:
        raise InputError(f"metric {metric.name!r}: {reason.removeprefix('undefined: ')}")


def _places(known: Sequence[str], labels: Sequence[str]) -> list[int]:
    given = [labels] if isinstance(labels, str) else list(labels)
    for name in given:
        if name not in known:
            raise unknown_name("label", name, known)
    return [known.index(name) for name in given]


def _side(
    name: str,
    label: str,
    rows: Rows,
    data: Compared,
    metric: AnswerMetric,
    units: Units,
    *,
    is_people: bool,
) -> Side:
    of_raters = units.things == "people"
    names = rows.raters if of_raters else rows.stimuli
    unit_of = units.places(names)
    thing = data.rater if of_raters else data.stimulus
    kept = unit_of[thing] >= 0 if thing.size else np.zeros(0, dtype=np.bool_)
    data, thing = data.take(kept), thing[kept]
    n_units = len(units.names)
    data = replace(data, unit=unit_of[thing], n_units=n_units, of_raters=of_raters)
    mistakes = None
    kind = CLASSIFICATION_METRICS.get(metric.name)
    if metric.needs == "classes" and kind is not None and rests_on_mistakes(kind):
        mistakes = np.bincount(data.unit[data.answer != data.truth], minlength=n_units)
    if of_raters and metric.needs != "people":
        data, thing = _value_per_person(data, thing, metric)
        evaluate: Callable[[Floats], Floats] = _mean_of_values(data)
    elif is_people and not metric.pooled and metric.needs != "people":
        evaluate = _mean_over_people(data, metric)
    else:
        evaluate = _alone(data, metric)
    of_thing = np.unique(thing)
    members = np.bincount(unit_of[of_thing], minlength=n_units)
    per_unit = np.bincount(data.unit, minlength=n_units)
    return Side(
        rater=name,
        label=label,
        evaluate=evaluate,
        members=members.astype(np.int64),
        ratings=per_unit.astype(np.int64),
        n_items=int(np.unique(data.stimulus).size),
        n_raters=int(np.unique(data.rater).size) if is_people else 1,
        of_raters=of_raters,
        mistakes=mistakes,
    )


def _alone(data: Compared, metric: AnswerMetric) -> Callable[[Floats], Floats]:
    return lambda weights: metric(data, weights)


def _mean_over_people(data: Compared, metric: AnswerMetric) -> Callable[[Floats], Floats]:
    parts = [data.take(data.rater == rater) for rater in np.unique(data.rater)]

    def evaluate(weights: Floats) -> Floats:
        if not parts:
            return np.full(weights.shape[0], np.nan)
        return mean_defined(np.stack([metric(part, weights) for part in parts], axis=1))

    return evaluate


def _value_per_person(data: Compared, person: Ints, metric: AnswerMetric) -> tuple[Compared, Ints]:
    """Keep the rows of the people for whom the metric is defined; the answer is their value."""
    once = np.ones((1, 1))
    value = np.full(data.answer.size, np.nan)
    for rater in np.unique(person):
        rows = np.flatnonzero(person == rater)
        own = data.take(rows)
        own = replace(own, unit=np.zeros(rows.size, dtype=np.int64), n_units=1, of_raters=False)
        value[rows] = metric(own, once)[0]
    known = ~np.isnan(value)
    return replace(data.take(known), answer=value[known]), person[known]


def _mean_of_values(data: Compared) -> Callable[[Floats], Floats]:
    """Mean over the people of each one's value; every row of a person holds it."""
    _, first = np.unique(data.rater, return_index=True)
    value, unit = data.answer[first], data.unit[first]
    total = np.bincount(unit, weights=value, minlength=data.n_units)
    count = np.bincount(unit, minlength=data.n_units).astype(np.float64)

    def evaluate(weights: Floats) -> Floats:
        top, bottom = weights @ total, weights @ count
        mean: Floats = np.divide(top, bottom, out=np.full(top.size, np.nan), where=bottom > 0)
        return mean

    return evaluate
