"""The two sides of a comparison: people and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.core.words import option, shown
from affectlab.evaluation.people_and_models.names import (
    notes_of_repeats,
    notes_of_stimuli,
    on_one_nominal,
)
from affectlab.ratings import (
    HUMAN_KINDS,
    MODEL_KINDS,
    ModelRatings,
    Ratings,
    Scale,
    StepKind,
    by_scale_of_models,
    format_by_label,
    model_tables,
    on_own_scales,
    step,
)
from affectlab.taxonomy import Taxonomy

_MOST_STEPS = 10
"""Steps of a scale on which whole numbers are answers in steps, and not places of a slider."""


@dataclass(frozen=True)
class Sides:
    """People and models that answered the same questions.

    People and models may have different scales (people rate in steps, a model gives any number),
    and so may two models.
    """

    people: Ratings
    tables: tuple[Ratings, ...]
    """Answers of models, a table for each scale."""
    notes: tuple[str, ...] = ()
    """Which control runs of models were left out, and what only models name, in words."""
    together: bool = False
    """Whether models and people come in one table."""

    @property
    def model_names(self) -> tuple[str, ...]:
        """All models."""
        return tuple(name for table in self.tables for name in table.rater_names)

    @cached_property
    def models(self) -> Ratings:
        """All models in one table, by their own numbers: for what looks at order alone.

        Where models have several scales it stands on one without bounds.

        Raises
        ------
        InputError
            When models have several scales, one of which has no order.
        """
        return side_by_side(self.tables)


def check_models(models: object, *others: type) -> None:
    """Refuse models that are neither ratings nor one of what else a function takes."""
    if models is not None and not isinstance(models, (Ratings, *others)):
        raise InputError(
            f"models: got {type(models).__name__} {shown(models, 40)!r}; expected Ratings, the "
            "answers of models in a table of their own"
        )


def check_level(models: Ratings, taxonomy: Taxonomy | None, whose: str, way: str = "") -> None:
    """Refuse groups of labels beside the labels themselves, which may have the same names.

    Parameters
    ----------
    models
        Their table knows the taxonomy of its labels, and so whether these are groups of a level.
    taxonomy
        That of the others.
    whose
        Who they are.
    way
        How to get groups on both sides.

    Raises
    ------
    InputError
        When one side answers groups of the labels of the other.
    """
    own = models.taxonomy
    if own is None or taxonomy is None or own.name == taxonomy.name:
        return
    who = models.rater_names[0]
    for fine, coarse, one, other in ((taxonomy, own, who, whose), (own, taxonomy, whose, who)):
        for level in fine.levels:
            if fine.coarsen(level).name == coarse.name:
                raise InputError(
                    f"{one} has groups of labels (level {level} of {fine.name}), and {other} the "
                    "labels themselves, some of which have the same names; expected groups on both "
                    f"sides: {way or f'Ratings.group_labels({level!r})'}"
                )


def side_by_side(tables: Sequence[Ratings]) -> Ratings:
    """Put models on several scales into one table, by their own numbers; its scale has no bounds.

    Raises
    ------
    InputError
        When the scale of one of several tables has no order.
    """
    if len(tables) == 1:
        return tables[0]
    words = [
        table
        for table in tables
        if {"nominal", "text"} & {scale.kind for scale in table.scales.values()}
    ]
    if words:
        other = next(table for table in tables if table is not words[0])
        raise InputError(
            f"{words[0].rater_names[0]!r} answers on another scale ({_said(words[0].scales)}) than "
            f"{other.rater_names[0]!r} ({_said(other.scales)}), and not both have an order; use "
            "them in calls of their own"
        )
    step = "answers of models on several scales, side by side"
    loose = [
        table.with_values(
            table.value, dict.fromkeys(table.label_names, Scale("interval")), step=step
        )
        for table in tables
    ]
    return loose[0].merge(*loose[1:])


def sides(ratings: Ratings, models: ModelRatings | None = None) -> Sides:
    """Tell people and models apart.

    Parameters
    ----------
    ratings
        The answers of people, or of people and models. In one table a label has one scale, which
        has no steps where models give fractions; people whose answers on it are all whole numbers,
        on a scale of
        up to 11, get its steps back, as they would in a table of their own.
    models
        Answers of models in a table of their own, or in several, each on its scale; every rater in
        them is judged, whatever its kind, and so are models that `ratings` holds.

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
    kinds = set(ratings.rater_kinds)
    if not kinds & set(HUMAN_KINDS):
        raise InputError(
            f"{_name(ratings)}: no rater is human; expected the answers of people to judge by"
        )
    people = people_of(ratings)
    given = model_tables(models, people)
    joined = _joined(models, given)
    mixed = [ratings.models()] if kinds & set(MODEL_KINDS) else []
    tables = by_scale_of_models([*mixed, *(part for one in given for part in _apart(one, people))])
    if not tables:
        raise InputError(
            f"{_name(ratings)}: no rater is a model; give the models in a table of their own "
            f"({option('models', 'FILE')}), or each its rater_kind ({option('raters', 'FILE')})"
        )
    _check_shared(people, tables)
    for table in tables:
        check_level(table, people.taxonomy, _name(people))
    notes = joined
    for at, table in enumerate(tables):
        people, moved, said = on_one_nominal(people, table)
        tables = (*tables[:at], moved, *tables[at + 1 :])
        notes = (*notes, *said)
    for table in tables:
        notes = (*notes, *notes_of_repeats(table), *notes_of_stimuli(people, table))
    return Sides(people, tables, notes, together=not given)


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
    return people.with_values(people.value, stepped, step=step(StepKind.WHOLE_STEPS))


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
    return str(first) if len(set(scales.values())) == 1 else format_by_label(scales)


def _whole(value: np.ndarray) -> bool:
    given = value[~np.isnan(value)]
    return bool((given == np.rint(given)).all())


def _joined(models: ModelRatings | None, tables: Sequence[Ratings]) -> tuple[str, ...]:
    """Say how stimuli and labels of models were joined with people's, where names differ."""
    before = {one for table in model_tables(models) for one in table.history}
    steps = [one for table in tables for one in table.history if one not in before]
    return tuple(dict.fromkeys(one.text for one in steps if one.guessed))


def _apart(models: Ratings, people: Ratings) -> list[Ratings]:
    """Part models whose one scale was inferred from the answers of all, where they have several."""
    unknown = [name for name, scale in models.scales.items() if not scale.declared]
    if models.n_raters < 2 or not unknown:
        return [models]
    parts = on_own_scales(models, people, unknown)
    return parts if len(parts) > 1 else [models]


def _check_shared(people: Ratings, tables: Sequence[Ratings]) -> None:
    for models in tables:
        if models.has_labels and not people.has_labels and people.scale.kind == "nominal":
            raise InputError(scores_beside_names(models, people))
        if people.has_labels != models.has_labels:
            has, lacks = (people, models) if people.has_labels else (models, people)
            raise InputError(
                f"{_name(has)} has labels and {_name(lacks)} has none; expected the same in both"
            )
    for what in ("stimulus", "label"):
        ours, *theirs = (getattr(table, f"{what}_names") for table in (people, *tables))
        if not any(set(ours) & set(names) for names in theirs):
            raise InputError(
                f"people and models share no {what}: people have {ours[0]!r}, …, models "
                f"{theirs[0][0]!r}, …; expected the same names"
            )


def _name(ratings: Ratings) -> str:
    return ratings.source or "the ratings"
