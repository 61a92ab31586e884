"""The two sides of a comparison: people and models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings, Scale

__all__ = ["Rounding", "Sides", "on_scale", "sides"]

Rounding: TypeAlias = Literal["round", "truncate"]


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
        The answers of people, or of people and models.
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
    people = ratings.humans() if mixed else ratings
    found = [ratings.models()] if mixed else []
    if models is not None:
        found.append(models)
    if not found:
        raise InputError(
            f"{_name(ratings)}: no rater is a model; give the models in a table of their own "
            "(option models: FILE), or each its rater_kind (option raters: FILE)"
        )
    if found[0].scale != found[-1].scale:
        raise InputError(
            f"{_name(ratings)} holds models on another scale ({found[0].scale}) than "
            f"{_name(found[-1])} ({found[-1].scale}); expected one scale for all models"
        )
    judged = found[0].merge(*found[1:]) if len(found) > 1 else found[0]
    _check_shared(people, judged)
    return Sides(people, judged)


def on_scale(
    models: Ratings, scale: Scale, how: Rounding = "round", *, rescale: bool = False
) -> Ratings:
    """Bring the answers of models to the steps of the people's scale.

    Parameters
    ----------
    models
        Answers of models.
    scale
        The scale of the people, with bounds.
    how
        ``"round"`` takes the nearest step (halves go to the even one); ``"truncate"`` the next
        lower one, as the EmoNet-Face study does, which loses half a step on average.
    rescale
        Spread the answers from the bounds of their own scale to those of `scale` first.

    Returns
    -------
    Ratings on `scale`; answers beyond its bounds are taken as the bound, and
    :attr:`~affectlab.ratings.Ratings.history` counts them.

    Raises
    ------
    InputError
        When a scale has no order or no bounds.

    Examples
    --------
    >>> model = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": [2.7, 7.2]},
    ...                 scale="interval")
    >>> on_scale(model, Scale.parse("0-7")).value.tolist()
    [3.0, 7.0]
    """
    if models.scale == scale:
        return models
    for name, given in (("the people's scale", scale), ("the models' scale", models.scale)):
        if given.kind in ("nominal", "text"):
            raise InputError(f"{name} ({given}) has no order; expected numbers to compare")
    if scale.low is None or scale.high is None:
        raise InputError(f"the people's scale ({scale}) has no bounds; declare it, as in '0-7'")
    value = np.array(models.value, dtype=np.float64)
    steps = []
    if rescale:
        low, high = models.scale.low, models.scale.high
        if low is None or high is None or not models.scale.declared:
            raise InputError(
                f"the models' scale ({models.scale}) has no declared bounds to spread from; "
                "declare it, as in '0-1 interval'"
            )
        value = scale.low + (value - low) * (scale.high - scale.low) / (high - low)
        steps.append(f"spread from {low:g}-{high:g} to {scale.low:g}-{scale.high:g}")
    if scale.step is not None:
        nearest = np.rint if how == "round" else np.floor
        # A hair's breadth, so that 2.9999999 of a computation counts as the step that it is.
        places = (value - scale.low) / scale.step + (0.0 if how == "round" else 1e-9)
        value = scale.low + nearest(places) * scale.step
        steps.append("rounded to steps" if how == "round" else "truncated to steps")
    with np.errstate(invalid="ignore"):
        n_beyond = int(((value < scale.low) | (value > scale.high)).sum())
    if n_beyond:
        value = np.clip(value, scale.low, scale.high)
        steps.append(f"{plural(n_beyond, 'answer')} beyond the bounds taken as the bound")
    said = "; ".join(steps) or "taken on the people's scale"
    return models.with_values(value, scale, step=f"answers of models: {said} ({scale})")


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
