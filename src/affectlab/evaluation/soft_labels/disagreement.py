"""Learning with Disagreements: how near models come to the answers of all people, and of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import places_in, ratio
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, infer
from affectlab.core.result import Result
from affectlab.core.statistic import Statistic, from_weights
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import percent, plural, quoted, shown, with_ends
from affectlab.evaluation.people_and_models import check_shares, judged_runs
from affectlab.ratings import (
    MODEL_KINDS,
    Answers,
    ClusterLike,
    ModelRatings,
    Ratings,
    Scale,
    answers_of,
    folded,
    model_tables,
    require_known_raters,
    stimulus_clusters,
)

ANSWERS_AS = "answers_as"
"""Column of the person as whom a model answers."""
_TITLES = {
    "AMD": "average Manhattan distance",
    "AWD": "average Wasserstein distance",
    "MAMD": "multilabel average Manhattan distance",
    "AER": "average error rate",
    "ANAD": "average normalized absolute distance",
    "MER": "multilabel error rate",
}
"""The measures by the names of the task: three of distributions, three of single people."""
_OF = {"categories": ("AMD", "AER"), "levels": ("AWD", "ANAD"), "labels": ("MAMD", "MER")}
"""Soft and perspectivist measure by what people answer."""
_FEWEST = 3
"""Stimuli from which on there is an interval."""
_SUM = 1e-2
"""How far the sum of shares, of which some are rounded, may lie from 1."""
_ROUNDED = 1e-6
"""How far an answer may lie from a level."""


@dataclass(frozen=True, eq=False)
class PeopleAnswers:
    """What people answered: categories, levels of a scale, or yes or no, to one or more labels."""

    answers: Answers
    code: Ints
    """Place of each answer among the names."""
    names: tuple[str, ...]
    """Categories or levels; of labels no and yes."""
    scale: Scale
    kind: str

    @classmethod
    def of(cls, ratings: Ratings) -> PeopleAnswers:
        """Read the answers of people.

        Raises
        ------
        InputError
            When they are numbers between levels.
        """
        answers, scale = answers_of(ratings), ratings.scale
        n_labels = len(answers.labels)
        if scale.kind != "nominal" and scale.step is None:
            raise _no_task(n_labels, scale)
        kind = "labels" if n_labels > 1 and scale.kind == "binary" else "levels"
        kind = "categories" if kind == "levels" and scale.kind in ("nominal", "binary") else kind
        names = scale.categories or tuple(f"{level:g}" for level in scale.levels())
        return cls(answers, _codes(answers.value, scale), names, scale, kind)

    @property
    def measures(self) -> tuple[str, str]:
        """Names of the soft and of the perspectivist measure."""
        return _OF[self.kind]

    @property
    def n_places(self) -> int:
        """Categories or levels, and one place for all categories that people never give."""
        return len(self.names) + (self.scale.kind == "nominal")

    def shares(self, unit: Ints, label: Ints, code: Ints) -> Floats:
        """Distribution of some answers, shape (units, labels, names); ``nan`` for none."""
        shape = len(self.answers.units), len(self.answers.labels), self.n_places
        place = (unit * shape[1] + label) * shape[2] + code
        count = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)
        return ratio(count, count.sum(axis=2, keepdims=True))

    @cached_property
    def given(self) -> Floats:
        """Distribution of the answers of people."""
        return self.shares(self.answers.unit, self.answers.label, self.code)

    def soft(self, predicted: Floats) -> Floats:
        """Distance of a model's distributions from those of people, shape (units,)."""
        apart = predicted - self.given
        if self.kind == "levels":
            apart = np.cumsum(apart, axis=2)
        return _mean(np.abs(apart).sum(axis=2))

    def errors(self, first: Floats, second: Floats) -> Floats:
        """How far answers of a model are from those of the people as whom it answers."""
        if self.kind == "levels":
            # As the task's scorer has it: 11 from -5 to 5, and 6 from 1 to 6.
            return np.abs(first - second) / ((self.scale.step or 1.0) * len(self.names))
        if self.scale.kind == "binary":
            return np.abs(first - second)
        return np.asarray(first != second, dtype=np.float64)


def _no_task(n_labels: int, scale: Scale) -> InputError:
    return InputError(
        f"expected one question with categories or levels, or yes/no answers to labels; "
        f"people answer {plural(n_labels, 'label')} on {scale}"
    )


def _codes(value: Floats, scale: Scale) -> Ints:
    """Places of answers among the categories or levels of a scale."""
    if scale.kind == "nominal":
        return np.asarray(value, dtype=np.int64)
    places = np.rint((value - scale.levels()[0]) / (scale.step or 1.0))
    return np.asarray(places, dtype=np.int64)


def _mean(by_label: Floats) -> Floats:
    """Mean over the labels that are known, shape (units, labels) to (units,)."""
    known = ~np.isnan(by_label)
    return ratio(np.where(known, by_label, 0.0).sum(axis=1), known.sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Scored:
    """A measure of one model by stimulus, shape (units,), ``nan`` where there is none."""

    rater: str
    measure: str
    scores: Floats
    how: str = ""
    said: tuple[str, ...] = ()
    """What is to be known of the answers of the model."""


def disagreement_metrics(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
) -> Result:
    r"""Compute the measures of the shared task Learning with Disagreements 2025 (LeWiDi).

    Of item i, :math:`t_i` is the distribution of the answers of its a people, :math:`p_i` what a
    model predicts; :math:`t_{ik}` is the answer of person k, :math:`p_{ik}` that of the model as
    this person. Less is better. Each measure is the mean over the N items of

    =============================================  ===============================================
    what people answer, and in which data          soft; perspectivist
    =============================================  ===============================================
    a category (MP)                                AMD: :math:`\sum_c |p_{ic} - t_{ic}|`;
                                                   AER: share of people for whom it errs
    a level of an ordered scale (Par, CSC)         AWD: Wasserstein distance, 1 from level to
                                                   level; ANAD: mean over people of
                                                   :math:`|t_{ik} - p_{ik}| / s`, s levels
    yes or no to labels (VEN)                      MAMD: mean over labels of AMD; MER: of AER
    =============================================  ===============================================

    Means are taken in the order of the task's scorer: over people (and labels) within an item, then
    over items. Its s is the number of levels, 11 for answers from -5 to 5. A category that people
    never give counts with the share 0 among people.

    Parameters
    ----------
    ratings
        People, or people and models.
    models
        Models. A model that answers as people has a row for each, whom the column ``answers_as``
        names as `ratings` do. Other models have a share for each category, level or label, or one
        answer.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, or a mapping
        from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.

    Returns
    -------
    Result
        Estimates by ``rater`` and ``measure``, with intervals about other stimuli. A model that
        answers as people has both measures: its distribution is that of these answers.

    Raises
    ------
    InputError
        If people answer neither a question with categories or levels nor yes or no to labels, there
        is no model, a model answers as nobody who is known, or gives what is no level.

    References
    ----------
    Leonardelli et al. (2025), LeWiDi-2025 at NLPerspectives.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("aabb"), "rater": list("rsrs"), "value": [1, 0, 0, 0]},
    ...                  scale="binary")
    >>> net = Ratings({"stimulus": list("aabb"), "rater": ["net"] * 4, "value": [1, 1, 0, 1],
    ...                "answers_as": list("rsrs")}, scale="binary",
    ...               raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> disagreement_metrics(people, net).to_frame().select("measure", "value").rows()
    [('AMD', 1.0), ('AER', 0.5)]
    """
    check_confidence(confidence)
    tables, notes = judged_runs(model_tables(models, ratings))
    own = [ratings.models()] if set(ratings.rater_kinds) & set(MODEL_KINDS) else []
    people = PeopleAnswers.of(ratings.humans())
    if len(people.answers.labels) > 1 and people.kind != "labels":
        raise _no_task(len(people.answers.labels), people.scale)
    scored = [
        one
        for table in (*own, *tables)
        for name in table.rater_names
        for one in _of_model(people, table.select(raters=name), name, ratings)
    ]
    if not scored:
        raise InputError("there is no model to judge; expected answers of one (models)")
    found = stimulus_clusters(ratings, cluster)
    estimates = infer(
        _statistic(scored, people),
        interval="jackknife",
        target="stimuli",
        confidence=confidence,
        clusters=found.on(people.answers.units),
    )
    rows = estimates.frame.to_dicts()
    said = (
        f"{row['rater']}: {_TITLES[row['measure']]} ({row['measure']}) "
        f"{with_ends(row, confidence)}."
        for row in rows
        if row["status"] == "ok"
    )
    table = replace(
        estimates.tables[0], name="measures", caption="Measures of LeWiDi 2025 (less is better)."
    )
    return Result(
        (table,),
        tuple(said),
        (),
        (
            *notes,
            *(s for one in scored for s in one.said),
            *_gaps(rows, people),
            *found.notes_for(estimates.frame["target"]),
        ),
        {"answers": people.kind, "confidence": confidence},
    )


def _of_model(people: PeopleAnswers, model: Ratings, name: str, like: Ratings) -> Iterator[_Scored]:
    """Score one model."""
    soft, perspectivist = people.measures
    answers = model.answers(every=True)
    if ANSWERS_AS not in answers.frame.columns:
        predicted, said = _distributions(people, answers, name)
        yield _Scored(name, soft, people.soft(predicted), said=said)
        return
    require_known_raters(like, f"{name}: answers as people")
    unit, label, value = _aligned(people, answers, name)
    persons = answers.frame[ANSWERS_AS].cast(pl.String).fill_null("").to_list()
    person = places_in(people.answers.raters, persons)
    if (person < 0).all():
        raise InputError(
            f"{name} answers as {shown(persons[0], 40)!r}, and nobody is called so (people: "
            f"{', '.join(people.answers.raters[:5])}); expected names of people in column "
            f"{ANSWERS_AS!r}"
        )
    known = (unit >= 0) & (label >= 0) & ~np.isnan(value)
    notes = [*_strangers(name, persons, person)]
    known &= person >= 0
    notes += _odd_answers(people, answers, name, value, known)
    predicted = people.shares(unit[known], label[known], _codes(value[known], people.scale))
    theirs = people.answers
    n_units, n_raters = len(theirs.units), len(theirs.raters)
    key = (label * n_units + unit) * n_raters + person
    keys = theirs.cell * n_raters + theirs.rater  # rising
    place = np.minimum(np.searchsorted(keys, key), keys.size - 1)
    as_whom = np.unique(person[known]).size
    both = known & (keys[place] == key)
    if (n := int(both.sum())) < keys.size:
        notes.append(
            f"{name}: answers for {as_whom:,} of {plural(n_raters, 'person', 'people')} "
            f"({n:,} of {plural(keys.size, 'answer')})"
        )
    yield _Scored(
        name, soft, people.soft(predicted), ", of its answers as people", said=tuple(notes)
    )
    known = both
    error = people.errors(value[known], theirs.value[place[known]])
    cell = unit[known] * len(theirs.labels) + label[known]
    shape = n_units, len(theirs.labels)
    total, count = (np.bincount(cell, w, shape[0] * shape[1]) for w in (error, np.ones(error.size)))
    yield _Scored(name, perspectivist, _mean(ratio(total, count).reshape(shape)))


def _aligned(people: PeopleAnswers, answers: Ratings, name: str) -> tuple[Ints, Ints, Floats]:
    """Units, labels and values of the answers of a model, as people have them."""
    unit = places_in(people.answers.units, answers.stimulus_names)[answers.stimulus_code]
    label = np.zeros(unit.size, dtype=np.int64)
    if people.kind == "labels":
        labels = map(folded, people.answers.labels)
        label = places_in(labels, map(folded, answers.label_names))[answers.label_code]
    elif answers.has_labels and ANSWERS_AS in answers.frame.columns:
        raise InputError(f"{name} answers {plural(answers.n_labels, 'label')}, and people one")
    value = np.array(answers.value, dtype=np.float64)
    if people.scale.kind == "nominal":
        if answers.scale.kind != "nominal":
            raise InputError(f"{name} answers on {answers.scale}, and people on {people.scale}")
        known = places_in(map(folded, people.names), map(folded, answers.scale.categories))
        place = np.where(np.isnan(value), 0, value).astype(np.int64)
        place = np.where(known < 0, len(people.names), known)[place]
        value = np.where(np.isnan(value), np.nan, place)
        return unit, label, value
    low, high = people.scale.levels()[[0, -1]]
    outside = value[(value < low) | (value > high)]
    if outside.size:
        raise InputError(f"{name} answers {outside[0]:g}, and people {low:g} to {high:g}")
    return unit, label, value


def _strangers(name: str, persons: Sequence[str], person: Ints) -> Iterator[str]:
    """Say as whom a model answers who is not among the people."""
    strangers = [who for who, code in zip(persons, person, strict=True) if code < 0]
    if strangers:
        yield (
            f"{name}: {plural(len(strangers), 'answer')} as {quoted(dict.fromkeys(strangers), 5)}, "
            "not among the people: left out"
        )


def _odd_answers(
    people: PeopleAnswers, answers: Ratings, name: str, value: Floats, rows: Bools
) -> Iterator[str]:
    """Say which answers are no category that people give, or lie between their levels."""
    if people.scale.kind == "nominal":
        odd = rows & (value == len(people.names))
        codes = dict.fromkeys(np.asarray(answers.value)[odd].astype(np.int64).tolist())
        if codes:
            names = quoted([answers.scale.categories[code] for code in codes], 5)
            yield f"{name}: {plural(odd.sum(), 'answer')} of no category of people ({names})"
        return
    step = people.scale.step or 1.0
    places = (value[rows] - people.scale.levels()[0]) / step
    if n := int((np.abs(places - np.rint(places)) > _ROUNDED).sum()):
        yield (
            f"{name}: {plural(n, 'answer')} between levels, rounded to the nearest for "
            f"{people.measures[0]}"
        )


def _distributions(
    people: PeopleAnswers, answers: Ratings, name: str
) -> tuple[Floats, tuple[str, ...]]:
    """Read what a model that speaks for itself predicts, shape (units, labels, places)."""
    if answers.has_labels and people.kind != "labels":
        return _of_shares(people, answers, name)
    unit, label, value = _aligned(people, answers, name)
    rows = (unit >= 0) & (label >= 0) & ~np.isnan(value)
    if people.scale.kind != "binary":
        said = tuple(_odd_answers(people, answers, name, value, rows))
        shares = people.shares(unit[rows], label[rows], _codes(value[rows], people.scale))
        return shares, said
    check_shares(answers, "distributions are made of shares")
    predicted = np.full(people.given.shape, np.nan)
    predicted[unit[rows], label[rows]] = np.stack([1 - value[rows], value[rows]], axis=1)
    return predicted, ()


def _of_shares(
    people: PeopleAnswers, answers: Ratings, name: str
) -> tuple[Floats, tuple[str, ...]]:
    """Read a share of each category or level."""
    check_shares(answers, "distributions are made of shares")
    unit = places_in(people.answers.units, answers.stimulus_names)[answers.stimulus_code]
    code = places_in(map(folded, people.names), map(folded, answers.label_names))
    if (code < 0).all():
        raise InputError(
            f"{name} has shares of {', '.join(answers.label_names[:5])}, and people answer "
            f"{', '.join(people.names[:8])}"
        )
    value = np.array(answers.value, dtype=np.float64)
    rows = (unit >= 0) & ~np.isnan(value)
    odd = rows & (code[answers.label_code] < 0) & (value != 0)
    names = quoted([answers.label_names[at] for at in np.unique(answers.label_code[odd])], 5)
    if odd.any() and people.n_places == len(people.names):
        raise InputError(
            f"{name} has shares of {names}, and people answer {', '.join(people.names[:8])}"
        )
    code = np.where(code < 0, len(people.names), code)[answers.label_code]
    rows &= code < people.n_places
    shape = len(people.answers.units), people.n_places
    place = unit[rows] * shape[1] + code[rows]
    mass = np.bincount(place, value[rows], shape[0] * shape[1]).reshape(shape)
    total = mass.sum(axis=1)
    predicted = ratio(mass, total[:, None])
    said = []
    given = total != 0
    if odd.any():
        beyond = predicted[total > 0, -1].mean()
        said.append(
            f"{name}: {percent(beyond)} of its shares are of no category of people ({names})"
        )
    if n := int((given & (np.abs(total - 1) > _SUM)).sum()):
        low, high = total[given].min(), total[given].max()
        said.append(
            f"{name}: shares of {plural(n, 'stimulus', 'stimuli')} do not add up to 1 "
            f"(sums from {low:.3g} to {high:.3g}); they are divided by their sum"
        )
    return predicted[:, None, :], tuple(said)


def _statistic(scored: Sequence[_Scored], people: PeopleAnswers) -> Statistic:
    """Means over stimuli of all measures."""
    scores = np.stack([one.scores for one in scored], axis=1)
    known = ~np.isnan(scores)
    filled, counted = np.where(known, scores, 0.0), known.astype(np.float64)
    largest = {"AWD": len(people.names) - 1.0, "AMD": 2.0, "MAMD": 2.0}
    made = from_weights(
        {"rater": [one.rater for one in scored], "measure": [one.measure for one in scored]},
        len(scores),
        lambda weights: ratio(weights @ filled, weights @ counted),
        method=[f"{_TITLES[one.measure]} ({one.measure}){one.how}" for one in scored],
        undefined=Reason(Cause.NONE, of="stimulus with answers on both sides"),
        n_items=known.sum(axis=0),
        n_raters=len(people.answers.raters),
        n_ratings=people.answers.value.size,
        bounds=(0.0, np.array([largest.get(one.measure, 1.0) for one in scored])),
    )
    return replace(made, design=replace(made.design, stimulus=known.T), fewest=_FEWEST)


def _gaps(rows: Sequence[Mapping[str, Any]], people: PeopleAnswers) -> Iterator[str]:
    """Say where a model is judged on a part of the stimuli."""
    n = len(people.answers.units)
    for row in rows:
        if row["n_items"] < n:
            yield f"{row['rater']}: {row['measure']} is of {row['n_items']:,} of {n:,} stimuli"
