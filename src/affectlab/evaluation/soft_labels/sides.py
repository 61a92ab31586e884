"""Whose distributions are compared: people's answers, and what models say, in one set of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from affectlab.core.arrays import places_in
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats
from affectlab.evaluation.people_and_models import (
    check_level,
    check_shares,
    judged_runs,
    no_shared_class,
    notes_of_repeats,
    notes_of_stimuli,
    of_training,
    sides,
)
from affectlab.evaluation.soft_labels.distributions import (
    LabelDistributions,
    Reading,
    Votes,
    own_distributions,
    pooled_distributions,
    votes_of,
)
from affectlab.ratings import (
    MODEL_KINDS,
    ClusterLike,
    ModelRatings,
    Ratings,
    Scale,
    StimulusClusters,
    clusters_of_named,
    model_tables,
    stimulus_clusters,
)


@dataclass(frozen=True, eq=False)
class SoftSides:
    """People's distributions, and those that are compared with them."""

    people: LabelDistributions
    predictions: dict[str, LabelDistributions]
    source: Ratings | None
    """The answers of people; ``None`` where distributions were given."""
    ballots: Votes | None
    """The same, person by person."""
    smoothing: float
    """Votes that are added to every label of people."""
    notes: tuple[str, ...]
    """What was left out, in words."""
    trained: tuple[str, ...] = ()
    """Which models were trained on what they are judged on, in words."""

    @cached_property
    def predicted(self) -> dict[str, Floats]:
        """What each model says of people's stimuli and labels, shape (n, k); ``nan`` for nothing.

        Raises
        ------
        InputError
            When a model answers with a label that people were not asked about.
        """
        return {name: _aligned(name, self.people, of) for name, of in self.predictions.items()}

    def drawn(self, cluster: ClusterLike) -> StimulusClusters:
        """Find what stimuli belong to; distributions alone do not say, but may be told."""
        if self.source is None:
            return clusters_of_named(self.people.stimuli, cluster)
        return stimulus_clusters(self.source, cluster)

    @cached_property
    def shared(self) -> dict[str, Bools]:
        """Stimuli of which both a model and people say something, shape (n,)."""
        theirs = self.people.values
        return {
            name: np.asarray(~np.isnan(values + theirs).any(axis=1))
            for name, values in self.predicted.items()
        }


def soft_sides(
    ratings: Ratings | LabelDistributions,
    models: ModelRatings | Mapping[str, LabelDistributions] | None,
    reading: Reading,
) -> SoftSides:
    """Make the distributions of both sides; see :func:`~affectlab.evaluation.soft_label_metrics`.

    People may name one label where models score each: the labels are then the categories.

    Raises
    ------
    InputError
        When the two sides do not fit each other, or only control runs are there.
    """
    tables = () if isinstance(models, Mapping) else model_tables(models)
    if isinstance(ratings, LabelDistributions):
        judged, notes = judged_runs(tables)
        given = dict(models) if isinstance(models, Mapping) else {}
        for table in judged:
            given |= own_distributions(table, replace(reading, smoothing=0.0))
        if not given:
            raise InputError(
                f"{ratings!r}: expected the distributions of at least one model beside it"
            )
        _check_answered(ratings)
        trained = of_training(judged, ratings.stimuli)
        return SoftSides(ratings, given, None, None, reading.smoothing, notes, trained)
    notes = ()
    if isinstance(models, Mapping):
        people, judged, given = ratings.humans(), (), dict(models)
    else:
        people, judged, said = _two_sides(ratings, model_tables(models, ratings))
        judged, notes = judged_runs(judged)
        notes = (*notes, *said)
        given = {}
        for table in judged:
            if table.has_labels and table.scales != people.scales:
                check_shares(table, "distributions are made of shares")
            people = _widened(people, table)
        for table in judged:
            # One question to people, scores of its categories from models: each by its own rule.
            rule = None if table.has_labels and not people.has_labels else reading.rule
            given |= own_distributions(table, replace(reading, rule=rule, smoothing=0.0))
    found = pooled_distributions(people, reading)
    _check_answered(found)
    ballots = votes_of(people, reading)
    trained = of_training(judged, people.stimulus_names)
    return SoftSides(found, given, people, ballots, reading.smoothing, notes, trained)


def _check_answered(people: LabelDistributions) -> None:
    if np.isnan(people.values).any(axis=1).all():
        raise InputError("nobody chose a label for any stimulus; expected answers to compare with")


def _two_sides(
    ratings: Ratings, tables: Sequence[Ratings]
) -> tuple[Ratings, tuple[Ratings, ...], tuple[str, ...]]:
    names_only = ratings.scale.kind == "nominal" and not ratings.has_labels
    scoring = [table for table in tables if table.has_labels] if names_only else []
    naming = [table for table in tables if table not in scoring]
    mixed = bool(set(ratings.rater_kinds) & set(MODEL_KINDS))
    if not scoring:
        both = sides(ratings, tables)
        return both.people, both.tables, both.notes
    people = ratings.humans()
    named: tuple[Ratings, ...] = ()
    notes: tuple[str, ...] = ()
    if naming or mixed:
        both = sides(ratings, naming)
        people, named, notes = both.people, both.tables, both.notes
    for models in scoring:
        check_level(models, people.taxonomy, _name(people))
        if models.scale.kind == "nominal":
            raise InputError(
                f"{_name(models)}: people name one label, and here is a name for each; where these "
                "are scores, declare their scale, as in '0-1 interval' (--models-scale '0-1 "
                "interval')"
            )
        if not set(people.stimulus_names) & set(models.stimulus_names):
            raise InputError(
                f"people and models share no stimulus: people have {people.stimulus_names[0]!r}, "
                f"…, models {models.stimulus_names[0]!r}, …; expected the same names"
            )
        names, own = people.scale.categories, models.label_names
        if not set(names) & set(own):
            raise no_shared_class("people", names, models.rater_names[0], own)
        notes = (*notes, *notes_of_repeats(models), *notes_of_stimuli(people, models))
    return people, (*named, *scoring), notes


def _widened(people: Ratings, models: Ratings) -> Ratings:
    """Let people have chosen, and never have chosen, what only models name.

    Where the categories were not declared, people may have been asked about more than they named.
    """
    scale = people.scale
    if scale.kind != "nominal" or scale.declared or people.has_labels:
        return people
    theirs = models.label_names if models.has_labels else models.scale.categories
    extra = [name for name in theirs if name not in scale.categories]
    if not extra:
        return people
    return people.with_values(
        np.array(people.value, dtype=np.float64),
        Scale.nominal((*scale.categories, *extra)),
        step=f"labels that only models name added: {', '.join(extra[:5])}",
    )


def _name(ratings: Ratings) -> str:
    return ratings.source or "the ratings"


def _aligned(name: str, people: LabelDistributions, found: LabelDistributions) -> Floats:
    """Predictions in the order of the people's stimuli and labels, ``nan`` where there is none."""
    column, rows = places_in(people.labels, found.labels), places_in(found.stimuli, people.stimuli)
    asked = column >= 0
    if (np.nan_to_num(found.values[:, ~asked]) > 0).any():
        raise InputError(
            f"model {name!r} answers {found.labels[int(asked.argmin())]!r}, which people were not "
            "asked about; choose labels that both have"
        )
    wide = np.zeros(people.values.shape)
    wide[:, column[asked]] = found.values[rows][:, asked]
    wide[(rows < 0) | np.isnan(wide).any(axis=1)] = np.nan
    return wide
