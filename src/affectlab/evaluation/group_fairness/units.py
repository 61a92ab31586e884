"""From ratings to what is judged in each group: answers, what they are compared with, and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import mean_of_defined, places_in, ratio
from affectlab.core.errors import InputError, check_choices
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.classes import PeopleAnswers, Truth, classes_of
from affectlab.evaluation.classification import CLASSIFICATION_METRICS, why_not
from affectlab.evaluation.group_fairness.groups import Grouping
from affectlab.evaluation.group_fairness.metrics import AnswerMetric, Compared
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike, label_facts
from affectlab.ratings import Ratings, answers_of, require_order
from affectlab.taxonomy import CostMatrix, load_taxonomy

_PEOPLE = "people"
"""What people are called where they are judged together."""
_NONE = np.zeros(0, dtype=np.int64)
_NOBODY = PeopleAnswers((), (), _NONE, _NONE, _NONE, _NONE, left_out=False)


@dataclass(frozen=True)
class Options:
    """What says how answers are compared."""

    truth: Truth = "people"
    taxonomy: TaxonomyLike | None = None
    costs: CostsLike | None = None
    seed: int = 0


@dataclass(frozen=True)
class _Rows:
    """Rows of everybody, with codes into ``stimuli``, ``raters`` (people) and ``labels``."""

    stimuli: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    people: Compared
    """Each person's answers, compared with the other people."""
    models: Mapping[str, Compared]
    """Each model's answers, compared with people together (the person of a row is then 0), or with
    each person."""


def _score_rows(
    people: Ratings, models: Ratings | None, metric: AnswerMetric, *, of_raters: bool
) -> _Rows:
    """Compare answers to labels; models are on the scale of people, unless any scale will do."""
    for side in (people, models):
        if side is not None and (side is models or metric.needs != "people"):
            require_order(side, f"metric {metric.name!r}")
    given = answers_of(people)
    n_stimuli, cell = len(given.units), given.cell
    n_cells = len(given.labels) * n_stimuli
    total = np.bincount(cell, weights=given.value, minlength=n_cells)
    count = np.bincount(cell, minlength=n_cells)
    several = count[cell] > 1
    others = ratio(total[cell] - given.value, count[cell] - 1, 0.0)
    if metric.needs in ("people", "answers"):
        several, others = np.ones(cell.size, dtype=np.bool_), np.full(cell.size, np.nan)
    if metric.with_self:
        # Apart from the others by d, a person is apart by d (N - 1)/N from the panel of N people
        # that they belong to, so that the gap of two groups is the difference of their ratings.
        panel = int(np.unique(given.rater).size)
        others = others + (given.value - others) / panel
    rows = Compared(
        unit=given.unit,
        n_units=n_stimuli,
        label=given.label,
        labels=given.labels,
        stimulus=given.unit,
        rater=given.rater,
        answer=given.value,
        truth=others,
        nominal=people.scale.kind == "nominal",
        scales=given.scales,
    )
    grids: dict[str, Floats] = {}
    if models is not None:
        theirs = answers_of(models).on(given.units, given.labels)
        grids = dict(zip(theirs.raters, theirs.grid().reshape(-1, n_cells), strict=True))
    mean = ratio(total, count)
    by_person = metric.needs == "pairs" or (of_raters and metric.needs != "people")
    beside = _beside(rows, n_stimuli, grids, None if by_person else mean)
    return _Rows(given.units, given.raters, given.labels, rows.take(several), beside)


def _class_rows(
    people: Ratings, models: Ratings | None, options: Options, *, of_raters: bool
) -> _Rows:
    """Compare classes."""
    taxonomy = options.taxonomy
    if isinstance(taxonomy, Path):
        taxonomy = load_taxonomy(taxonomy)
    if isinstance(taxonomy, CostMatrix):
        raise InputError("taxonomy: expected a taxonomy; give a cost matrix as costs")
    found = classes_of(
        people, models, truth=options.truth, taxonomy=taxonomy, seed=options.seed, multilabel=False
    )
    given = found.people or _NOBODY
    stimuli = tuple(dict.fromkeys([*found.stimuli, *given.stimuli]))
    stimulus, of_truth = (
        places_in(stimuli, given.stimuli)[given.stimulus],
        places_in(stimuli, found.stimuli),
    )
    rows = Compared(
        unit=stimulus,
        n_units=len(stimuli),
        label=np.zeros_like(stimulus),
        labels=found.labels,
        stimulus=stimulus,
        rater=given.rater,
        answer=given.predicted.astype(np.float64),
        truth=given.truth.astype(np.float64),
        nominal=True,
        taxonomy=found.taxonomy,
        costs=options.costs,
    )

    def grid(values: NDArray[Any], known: Bools | None = None) -> Floats:
        cells = np.full(len(stimuli), np.nan)
        cells[of_truth] = values if known is None else np.where(known, values, np.nan)
        return cells

    grids = {
        name: grid(found.predicted[code], found.answered[code])
        for code, name in enumerate(found.raters)
    }
    beside = _beside(rows, len(stimuli), grids, None if of_raters else grid(found.truth))
    return _Rows(stimuli, given.raters, found.labels, rows, beside)


def _beside(
    people: Compared, n_stimuli: int, grids: Mapping[str, Floats], truth: Floats | None
) -> dict[str, Compared]:
    """Put the answers of models, by label and stimulus, beside a truth; or beside each person's."""
    found = {}
    for name, grid in grids.items():
        if truth is None:
            answer = grid[people.label * n_stimuli + people.stimulus]
            rows = replace(people, answer=answer, truth=people.answer)
            found[name] = rows.take(~np.isnan(answer))
            continue
        cells = np.flatnonzero(~np.isnan(grid + truth))
        label, stimulus = np.divmod(cells, max(n_stimuli, 1))
        found[name] = replace(
            people,
            unit=stimulus,
            label=label,
            stimulus=stimulus,
            rater=np.zeros_like(cells),
            answer=grid[cells],
            truth=truth[cells],
        )
    return found


@dataclass(frozen=True)
class Side:
    """One who is judged, on one label or on all; U units."""

    rater: str
    label: str
    """Empty where all labels count together."""
    grouping: Grouping
    evaluate: Callable[[Floats], Floats]
    """From weights of units, shape (b, U), to values, shape (b,)."""
    members: Ints
    """Stimuli, or people, of each unit that have an answer, shape (U,)."""
    ratings: Ints
    """Answers of each unit, shape (U,)."""
    n_items: int
    n_raters: int
    mistakes: Ints | None
    """Mistakes in each unit, shape (U,), for a metric that looks at mistakes alone."""

    @cached_property
    def codes(self) -> Ints:
        """Group of each unit, -1 where it has no answer."""
        return np.where(self.members > 0, self.grouping.group, -1)

    def counts(self, units: Bools) -> dict[str, int]:
        """Items, raters and ratings of some units."""
        members = int(self.members[units].sum())
        of_raters = self.grouping.carrier == "rater"
        return {
            "n_items": self.n_items if of_raters else members,
            "n_raters": members if of_raters else self.n_raters,
            "n_ratings": int(self.ratings[units].sum()),
        }


def sides_of(
    people: Ratings,
    models: Ratings | None,
    metric: AnswerMetric,
    grouping: Grouping,
    options: Options,
    *,
    labels: Sequence[str] | None,
    by_label: bool,
    with_people: bool,
) -> Iterator[Side]:
    """Give what is judged, one after the other: models, then people where they are wanted.

    Raises
    ------
    InputError
        When answers have no order, or classes lack what the metric needs.
    """
    of_raters = grouping.carrier == "rater"
    if metric.needs == "classes":
        if labels is not None or by_label:
            raise InputError(
                f"metric {metric.name!r} is about one class per stimulus; labels and by_label are "
                "for metrics of ratings"
            )
        rows = _class_rows(people, models, options, of_raters=of_raters)
        _check_classes(rows, metric)
    else:
        rows = _score_rows(people, models, metric, of_raters=of_raters)
    wanted: Sequence[int] = range(len(rows.labels))
    if labels is not None:
        given = [labels] if isinstance(labels, str) else labels
        check_choices("label", given, rows.labels)
        wanted = [rows.labels.index(name) for name in given]
    judged = {} if metric.needs == "people" else dict(rows.models)
    if with_people or metric.needs == "people":
        judged[_PEOPLE] = rows.people
    for name, data in judged.items():
        parts = {rows.labels[at]: data.take(data.label == at) for at in wanted} if by_label else {}
        if not by_label:
            parts[""] = data if labels is None else data.take(np.isin(data.label, wanted))
        for label, part in parts.items():
            yield _side(name, label, rows, part, metric, grouping, data is rows.people)


def _check_classes(rows: _Rows, metric: AnswerMetric) -> None:
    """Refuse classes without the costs or the polarity that a metric needs."""
    kind, of = CLASSIFICATION_METRICS.get(metric.name), rows.people
    facts = None if kind is None else label_facts(of.taxonomy, labels=of.labels, costs=of.costs)
    if kind is None or facts is None:
        return
    everyone = [of, *rows.models.values()]
    used = np.unique(np.concatenate([codes for of in everyone for codes in (of.answer, of.truth)]))
    reason = why_not(kind, facts, used.astype(np.int64))
    if reason is not None:
        raise InputError(f"metric {metric.name!r}: {reason}")


def _side(
    name: str,
    label: str,
    rows: _Rows,
    data: Compared,
    metric: AnswerMetric,
    grouping: Grouping,
    is_people: bool,
) -> Side:
    of_raters = grouping.carrier == "rater"
    names = rows.raters if of_raters else rows.stimuli
    unit_of = np.array([grouping.unit_of.get(name, -1) for name in names], dtype=np.int64)
    unit = unit_of[data.rater if of_raters else data.stimulus]
    n_units = grouping.group.size
    data = replace(data, unit=unit, n_units=n_units, of_raters=of_raters).take(unit >= 0)
    mistakes, kind = None, CLASSIFICATION_METRICS.get(metric.name)
    if metric.needs == "classes" and kind is not None and kind.of_mistakes:
        mistakes = np.bincount(data.unit[data.answer != data.truth], minlength=n_units)
    if metric.needs != "people" and (of_raters or (is_people and not metric.pooled)):
        evaluate, data = _mean_over_people(data, metric)
    else:
        evaluate = partial(metric, data)
    members = np.unique(data.rater if of_raters else data.stimulus)
    return Side(
        rater=name,
        label=label,
        grouping=grouping,
        evaluate=evaluate,
        members=np.bincount(unit_of[members], minlength=n_units).astype(np.int64),
        ratings=np.bincount(data.unit, minlength=n_units).astype(np.int64),
        n_items=int(np.unique(data.stimulus).size),
        n_raters=int(np.unique(data.rater).size) if is_people else 1,
        mistakes=mistakes,
    )


def _mean_over_people(
    data: Compared, metric: AnswerMetric
) -> tuple[Callable[[Floats], Floats], Compared]:
    """Mean over people of each one's value, and the rows that count.

    Where people are the units each has one value, which is computed once; those for whom it is not
    defined do not count.
    """
    raters = np.unique(data.rater)
    parts = [data.take(data.rater == rater) for rater in raters]

    def over_stimuli(weights: Floats) -> Floats:
        if not parts:
            return np.full(len(weights), np.nan)
        return mean_of_defined(np.stack([metric(part, weights) for part in parts]))

    if not data.of_raters:
        return over_stimuli, data
    once = (replace(one, unit=one.unit * 0, n_units=1, of_raters=False) for one in parts)
    value = np.array([metric(one, np.ones((1, 1)))[0] for one in once])
    known = ~np.isnan(value)
    unit = np.array([one.unit[0] for one in parts], dtype=np.int64)[known]
    total = np.bincount(unit, weights=value[known], minlength=data.n_units)
    count = np.bincount(unit, minlength=data.n_units).astype(np.float64)

    def over_people(weights: Floats) -> Floats:
        top, bottom = weights @ total, weights @ count
        return ratio(top, bottom)

    return over_people, data.take(np.isin(data.rater, raters[known]))
