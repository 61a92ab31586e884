"""The two sides of a comparison: people and models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings, Scale

__all__ = ["Sides", "people_of", "sides"]

_MOST_STEPS = 10
"""Steps of a scale on which whole numbers are answers in steps, and not places of a slider."""


@dataclass(frozen=True)
class Sides:
    """People and models that answered the same questions.

    The two may have different scales: people rate in steps, a model gives any number.
    """

    people: Ratings
    models: Ratings


def sides(ratings: Ratings, models: Ratings | None = None) -> Sides:
    """Tell people and models apart.

    Parameters
    ----------
    ratings
        The answers of people, or of people and models. One table has one scale, which has no steps
        where models give fractions; people whose answers on it are all whole numbers, on a scale of
        up to 11, get its steps back, as they would in a table of their own.
    models
        Answers of models in a table of their own; every rater in it is judged, whatever its kind.
        Models that `ratings` holds are then judged, too, where the scales are the same.

    Raises
    ------
    InputError
        When there are no people or no models, or the two share no stimulus or no label.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "a"], "rater": ["ann", "net"], "value": [1, 2]},
    ...                 scale="0-7", raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> found = sides(table)
    >>> found.people.rater_names, found.models.rater_names
    (('ann',), ('net',))
    """
    kinds = set(ratings.rater_kinds)
    if not kinds & set(HUMAN_KINDS):
        raise InputError(
            f"{_name(ratings)}: no rater is human; expected the answers of people to judge by"
        )
    mixed = bool(kinds & set(MODEL_KINDS))
    people = people_of(ratings)
    found = [ratings.models()] if mixed else []
    if models is not None:
        found.append(models)
    if not found:
        raise InputError(
            f"{_name(ratings)}: no rater is a model; give the models in a table of their own "
            f"({option('models', 'FILE')}), or each its rater_kind ({option('raters', 'FILE')})"
        )
    if found[0].scale != found[-1].scale:
        raise InputError(
            f"{_name(ratings)} holds models on another scale ({found[0].scale}) than "
            f"{_name(found[-1])} ({found[-1].scale}); expected one scale for all models"
        )
    judged = found[0].merge(*found[1:]) if len(found) > 1 else found[0]
    _check_shared(people, judged)
    return Sides(people, judged)


def people_of(ratings: Ratings) -> Ratings:
    """Take the people of a table; their steps come back where only models have fractions."""
    if not set(ratings.rater_kinds) & set(MODEL_KINDS):
        return ratings
    people, models = ratings.humans(), ratings.models()
    scale = people.scale
    if scale.kind != "interval" or scale.step is not None or not scale.declared:
        return people
    if scale.low is None or scale.high is None:
        return people
    whole = [_whole(np.append(part.value, (scale.low, scale.high))) for part in (people, models)]
    if not whole[0] or whole[1] or scale.high - scale.low > _MOST_STEPS:
        return people
    return people.with_values(
        people.value,
        Scale("ordinal", scale.low, scale.high, 1.0),
        step="answers of people: steps of 1, since all are whole numbers and those of models not",
    )


def _whole(value: np.ndarray) -> bool:
    given = value[~np.isnan(value)]
    return bool((given == np.rint(given)).all())


def _check_shared(people: Ratings, models: Ratings) -> None:
    if people.has_labels != models.has_labels:
        with_labels, without = (people, models) if people.has_labels else (models, people)
        raise InputError(
            f"{_name(with_labels)} has labels and {_name(without)} has none; expected the same in "
            "both"
        )
    for what, ours, theirs in (
        ("stimulus", people.stimulus_names, models.stimulus_names),
        ("label", people.label_names, models.label_names),
    ):
        if not set(ours) & set(theirs):
            raise InputError(
                f"people and models share no {what}: people have {ours[0]!r}, …, models "
                f"{theirs[0]!r}, …; expected the same names"
            )


def _name(ratings: Ratings) -> str:
    return ratings.source or "the ratings"
