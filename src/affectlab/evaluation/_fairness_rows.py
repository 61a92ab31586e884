"""Rows of answers beside what they are compared with, for models and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.errors import InputError
from affectlab.evaluation._classes import PeopleAnswers
from affectlab.evaluation._classes_of import classes_of
from affectlab.evaluation._classes_truth import Truth
from affectlab.evaluation._costs_of import CostsLike, TaxonomyLike
from affectlab.evaluation._metric_registry import AnswerMetric, Compared
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import answers_of, require_order
from affectlab.taxonomy import CostMatrix, load_taxonomy

__all__ = ["PEOPLE", "Options", "Rows", "class_rows", "score_rows"]

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
    shape = {"labels": given.labels, "nominal": people.scale.kind == "nominal"}
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
