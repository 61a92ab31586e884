"""The two sides of a comparison: people and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.core.words import option, shown
from affectlab.evaluation.people_and_models.names import (
    notes_of_repeats,
    notes_of_stimuli,
    on_one_nominal,
)
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings, Scale, said_by_label

_MOST_STEPS = 10
"""Steps of a scale on which whole numbers are answers in steps, and not places of a slider."""


@dataclass(frozen=True)
class Sides:
    """People and models that answered the same questions.

    The two may have different scales: people rate in steps, a model gives any number.
    """

    people: Ratings
    models: Ratings
    notes: tuple[str, ...] = ()
    """Which control runs of models were left out, and what only models name, in words."""


def check_models(models: object, *others: type) -> None:
    """Refuse models that are neither ratings nor one of what else a function takes."""
    if models is not None and not isinstance(models, (Ratings, *others)):
        raise InputError(
            f"models: got {type(models).__name__} {shown(models, 40)!r}; expected Ratings, the "
            "answers of models in a table of their own"
        )


def sides(ratings: Ratings, models: Ratings | None = None) -> Sides:
    """Tell people and models apart.

    Parameters
    ----------
    ratings
        The answers of people, or of people and models. In one table a label has one scale, which
        has no steps where models give fractions; people whose answers on it are all whole numbers,
        on a scale of
        up to 11, get its steps back, as they would in a table of their own.
    models
        Answers of models in a table of their own; every rater in it is judged, whatever its kind.
        Models that `ratings` holds are then judged, too, where the scales are the same.

    Raises
    ------
    InputError
        When there are no people or no models, models are no ratings, or the two share no stimulus
        or no label.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "a"], "rater": ["ann", "net"], "value": [1, 2]},
    ...                 scale="0-7", raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> found = sides(table)
    >>> found.people.rater_names, found.models.rater_names
    (('ann',), ('net',))
    """
    check_models(models)
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
    ours, theirs = found[0].scales, found[-1].scales
    shared = [name for name in ours if name in theirs] or [*ours][:1]
    if any(ours[name] != theirs.get(name, next(iter(theirs.values()))) for name in shared):
        raise InputError(
            f"{_name(ratings)} holds models on another scale ({_said(ours)}) than "
            f"{_name(found[-1])} ({_said(theirs)}); expected one scale for all models"
        )
    judged = found[0].merge(*found[1:]) if len(found) > 1 else found[0]
    _check_shared(people, judged)
    people, judged, notes = on_one_nominal(people, judged)
    return Sides(
        people, judged, (*notes, *notes_of_repeats(judged), *notes_of_stimuli(people, judged))
    )


def shared_attribute(
    key: str, names: Sequence[str], tables: Sequence[pl.DataFrame], name: str
) -> pl.Series | None:
    """Find an attribute of raters or stimuli, in the order of their names.

    Parameters
    ----------
    key
        Column of the names, ``"rater"`` or ``"stimulus"``.
    names
        Whose values are wanted.
    tables
        Where they may stand; what is missing in one is taken from the next.
    name
        The attribute.

    Returns
    -------
    Its values; None where no table has it.
    """
    import polars as pl

    holding = [table for table in tables if name in table.columns]
    if not holding or name == key:
        return None
    column = pl.DataFrame({key: names}, schema={key: pl.String})
    parts = [f"{at}" for at, _ in enumerate(holding)]
    for part, table in zip(parts, holding, strict=True):
        values = table.select(pl.col(key).cast(pl.String), pl.col(name).alias(part))
        column = column.join(values, on=key, how="left", maintain_order="left")
    return column.select(pl.coalesce(parts).alias(name))[name]


def people_of(ratings: Ratings) -> Ratings:
    """Take the people of a table; their steps come back where only models have fractions."""
    if not set(ratings.rater_kinds) & set(MODEL_KINDS):
        return ratings
    people, models = ratings.humans(), ratings.models()
    stepped: dict[str, Scale] = {}
    for scale in dict.fromkeys(people.scales.values()):
        low, high = scale.low, scale.high
        if scale.kind != "interval" or scale.step is not None or not scale.declared:
            continue
        if low is None or high is None or high - low > _MOST_STEPS:
            continue
        labels = [name for name, own in people.scales.items() if own == scale]
        whole = [
            _whole(np.append(_values(table, labels), (low, high))) for table in (people, models)
        ]
        if whole[0] and not whole[1]:
            stepped |= dict.fromkeys(labels, Scale("ordinal", low, high, 1.0))
    if not stepped:
        return people
    return people.with_values(
        people.value,
        stepped,
        step="answers of people: steps of 1, since all are whole numbers and those of models not",
    )


def scores_beside_names(models: Ratings, people: Ratings) -> str:
    """Say that a model scores each class where people name one."""
    return (
        f"{_name(models)} has a score for each class, and {_name(people)} names one class for each "
        "stimulus: only 'affectlab evaluate classification' and 'affectlab evaluate soft-labels' "
        "compare these; here, give the class with the highest score in a column 'prediction'"
    )


def _values(table: Ratings, labels: Sequence[str]) -> np.ndarray:
    codes = [code for code, name in enumerate(table.label_names) if name in labels]
    return table.value[np.isin(table.label_code, codes)]


def _said(scales: Mapping[str, Scale]) -> str:
    first = next(iter(scales.values()))
    return str(first) if len(set(scales.values())) == 1 else said_by_label(scales)


def _whole(value: np.ndarray) -> bool:
    given = value[~np.isnan(value)]
    return bool((given == np.rint(given)).all())


def _check_shared(people: Ratings, models: Ratings) -> None:
    if models.has_labels and not people.has_labels and people.scale.kind == "nominal":
        raise InputError(scores_beside_names(models, people))
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
