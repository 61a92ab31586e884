"""From ratings to what is judged in each group: answers, what they are compared with, and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import plural
from affectlab.evaluation.classes import PeopleAnswers, Truth, classes_of
from affectlab.evaluation.classification import CLASSIFICATION_METRICS, rests_on_mistakes, why_not
from affectlab.evaluation.group_fairness.groups import Grouping
from affectlab.evaluation.group_fairness.metrics import AnswerMetric, Compared, mean_defined
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike, label_facts
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import answers_of, require_order
from affectlab.taxonomy import CostMatrix, load_taxonomy

__all__ = [
    "PEOPLE",
    "Options",
    "Rows",
    "Side",
    "Units",
    "class_rows",
    "counted",
    "score_rows",
    "sides_of",
    "units_of",
]

# Rows of answers beside what they are compared with, for models and for people.


PEOPLE = "people"
"""What people are called where they are judged together."""


_NONE = np.zeros(0, dtype=np.int64)
_NOBODY = PeopleAnswers((), (), _NONE, _NONE, _NONE, _NONE, left_out=False)


@dataclass(frozen=True)
class Options:
    """What says how answers are compared."""

    of_raters: bool
    """Whether groups are made of people, so that models are compared with each person."""
    truth: Truth = "people"
    taxonomy: TaxonomyLike | None = None
    costs: CostsLike | None = None
    seed: int = 0


@dataclass(frozen=True)
class Rows:
    """Rows of everybody, with codes into ``stimuli``, ``raters`` (people) and ``labels``."""

    stimuli: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    people: Compared
    """Each person's answers, compared with the other people."""
    models: dict[str, Compared] = field(default_factory=dict)
    """Each model's answers, compared with people together (the person of a row is then 0), or with
    each person."""

    def judged(
        self, metric: AnswerMetric, *, with_people: bool
    ) -> Iterator[tuple[str, Compared, bool]]:
        """Name, rows, and whether they are those of people, of everybody who is judged."""
        if metric.needs != "people":
            for name in self.models:
                yield name, self.models[name], False
        if with_people or metric.needs == "people":
            yield PEOPLE, self.people, True


def score_rows(
    people: Ratings, models: Ratings | None, metric: AnswerMetric, options: Options
) -> Rows:
    """Compare answers to labels; see :class:`Rows`.

    Parameters
    ----------
    people, models
        Models on the scale of people, unless the metric takes any scale.

    Raises
    ------
    InputError
        When answers have no order.
    """
    if metric.needs != "people":
        require_order(people, f"metric {metric.name!r}")
    of_raters = options.of_raters
    given = answers_of(people)
    n_labels, n_stimuli = len(given.labels), len(given.units)
    cell = given.cell
    total = np.bincount(cell, weights=given.value, minlength=n_labels * n_stimuli)
    count = np.bincount(cell, minlength=n_labels * n_stimuli)
    shape = {
        "labels": given.labels,
        "nominal": people.scale.kind == "nominal",
        "scales": given.scales,
    }
    several = count[cell] > 1
    if metric.needs in ("people", "answers"):
        several = np.ones(cell.size, dtype=np.bool_)
        others = np.full(cell.size, np.nan)
    else:
        others = np.divide(
            total[cell] - given.value, count[cell] - 1, out=np.zeros(cell.size), where=several
        )
    if metric.with_self:
        # Apart from the others by d, a person is apart by d (N - 1)/N from the panel of N people
        # that they belong to, so that the gap of two groups is the difference of their ratings.
        panel = int(np.unique(given.rater).size)
        others = others + (given.value - others) / panel
    own = _compared(given.unit, given.rater, given.label, given.value, others, several, **shape)
    if models is None:
        return Rows(given.units, given.raters, given.labels, own)
    require_order(models, f"metric {metric.name!r}")
    theirs = answers_of(models)
    stimulus = _translate(theirs.units, given.units)[theirs.unit]
    label = _translate(theirs.labels, given.labels)[theirs.label]
    shared = (stimulus >= 0) & (label >= 0)
    place = np.where(shared, label * n_stimuli + stimulus, 0)
    mean = np.divide(total, count, out=np.full(total.size, np.nan), where=count > 0)
    found: dict[str, Compared] = {}
    by_person = metric.needs == "pairs" or (of_raters and metric.needs != "people")
    for code, name in enumerate(theirs.raters):
        rows = np.flatnonzero((theirs.rater == code) & shared)
        value = theirs.value[rows]
        if by_person:
            answer = np.full(total.size, np.nan)
            answer[place[rows]] = value
            both = ~np.isnan(answer[cell])
            truth = given.value
            found[name] = _compared(
                given.unit, given.rater, given.label, answer[cell], truth, both, **shape
            )
        else:
            at = place[rows]
            found[name] = _compared(
                stimulus[rows],
                np.zeros(rows.size, dtype=np.int64),
                label[rows],
                value,
                mean[at],
                ~np.isnan(mean[at]),
                **shape,
            )
    return Rows(given.units, given.raters, given.labels, own, found)


def class_rows(people: Ratings, models: Ratings | None, options: Options) -> Rows:
    """Compare classes; see :class:`Rows`."""
    taxonomy = options.taxonomy
    if isinstance(taxonomy, Path):
        taxonomy = load_taxonomy(taxonomy)
    if isinstance(taxonomy, CostMatrix):
        raise InputError("taxonomy: expected a taxonomy; give a cost matrix as costs")
    found = classes_of(
        people,
        models,
        truth=options.truth,
        taxonomy=taxonomy,
        seed=options.seed,
    )
    beside = found.people or _NOBODY
    stimuli = tuple(dict.fromkeys([*found.stimuli, *beside.stimuli]))
    of_people = _translate(beside.stimuli, stimuli)[beside.stimulus]
    of_truth = _translate(found.stimuli, stimuli)
    shape = {
        "labels": found.labels,
        "nominal": True,
        "taxonomy": found.taxonomy,
        "costs": options.costs,
    }
    zero = np.zeros(of_people.size, dtype=np.int64)
    own = _compared(
        of_people,
        beside.rater,
        zero,
        beside.predicted.astype(np.float64),
        beside.truth.astype(np.float64),
        np.ones(of_people.size, dtype=np.bool_),
        **shape,
    )
    models_of: dict[str, Compared] = {}
    for code, name in enumerate(found.raters):
        if options.of_raters:
            answer = np.full(len(stimuli), np.nan)
            answer[of_truth] = np.where(found.answered[code], found.predicted[code], np.nan)
            models_of[name] = _compared(
                of_people,
                beside.rater,
                zero,
                answer[of_people],
                own.answer,
                ~np.isnan(answer[of_people]),
                **shape,
            )
        else:
            n = found.n_stimuli
            models_of[name] = _compared(
                of_truth,
                np.zeros(n, dtype=np.int64),
                np.zeros(n, dtype=np.int64),
                found.predicted[code].astype(np.float64),
                found.truth.astype(np.float64),
                found.answered[code],
                **shape,
            )
    return Rows(stimuli, beside.raters, found.labels, own, models_of)


def _compared(
    stimulus: Ints,
    rater: Ints,
    label: Ints,
    answer: Floats,
    truth: Floats,
    kept: Bools,
    **shape: Any,
) -> Compared:
    """Rows whose units are their stimuli, until groups say otherwise."""
    n = int(stimulus.max(initial=-1)) + 1
    return Compared(
        unit=stimulus[kept],
        n_units=n,
        label=label[kept],
        stimulus=stimulus[kept],
        rater=rater[kept],
        answer=answer[kept],
        truth=truth[kept],
        **shape,
    )


def _translate(names: tuple[str, ...], into: tuple[str, ...]) -> Ints:
    """Code of each name in another list, -1 where it is not there."""
    place = {name: at for at, name in enumerate(into)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


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
