"""The answers of models, in one table or in several: one for each scale."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import shown
from affectlab.ratings.beside.people import beside_people
from affectlab.ratings.scale import Scale, fits_scale
from affectlab.ratings.scales import shared_scale
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step
from affectlab.ratings.table import Ratings

_Way = Literal["own", "people", "bounds"]
"""How a scale of models was found: from their answers, as that of people, or with its bounds."""
ModelRatings: TypeAlias = Ratings | Sequence[Ratings]
"""Answers of models; in several tables where models answer on scales of their own."""


def model_tables(models: ModelRatings | None, like: Ratings | None = None) -> tuple[Ratings, ...]:
    """Give the tables of models, one for each scale; models on the same scale stand in one.

    Parameters
    ----------
    models
        Answers of models.
    like
        Answers of people, as whose stimuli and labels those of models are called where names
        differ; the history of a table says so.

    Raises
    ------
    InputError
        When something else than ratings is given, or a rater stands in two tables.

    Examples
    --------
    >>> def answers(name, values, scale):
    ...     return Ratings({"stimulus": ["a", "b"], "rater": [name] * 2, "value": values},
    ...                    scale=scale)
    >>> given = [answers("net", [0.2, 1], "0-1 interval"), answers("vlm", [2, 7], "0-7"),
    ...          answers("bot", [1, 5], "0-7")]
    >>> [table.rater_names for table in model_tables(given)]
    [('net',), ('vlm', 'bot')]
    """
    if models is None:
        return ()
    tables = [models] if isinstance(models, Ratings) else models
    if not isinstance(tables, Sequence) or isinstance(tables, str):
        tables = [tables]
    for table in tables:
        if not isinstance(table, Ratings):
            raise InputError(
                f"models: got {type(table).__name__} {shown(table, 40)!r}; expected Ratings, the "
                "answers of models in a table of their own, or several of these"
            )
    if like is not None:
        tables = [beside_people(table, like) for table in tables]
    return by_scale_of_models(tables)


def by_scale_of_models(tables: Sequence[Ratings]) -> tuple[Ratings, ...]:
    """Put tables on the same scale into one, in the order in which scales come first."""
    groups: list[list[Ratings]] = []
    for table in tables:
        own = next((group for group in groups if all(_same(table, one) for one in group)), None)
        if own is None:
            groups.append([table])
        else:
            own.append(table)
    names = [name for table in tables for name in table.rater_names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if len(groups) > 1 and twice is not None:
        raise InputError(
            f"rater {twice!r} is in two tables of models on different scales; expected a name of "
            "its own for each"
        )
    return tuple(group[0].merge(*group[1:]) for group in groups)


def _same(one: Ratings, other: Ratings) -> bool:
    """Whether two tables can stand in one: each label is on the same scale in both."""
    if one.has_labels != other.has_labels:
        return False
    ours, theirs = one.scales, other.scales
    labels = [name for name in ours if name in theirs]
    if not labels:
        return set(ours.values()) == set(theirs.values())
    return all(
        ours[name] == theirs[name]
        # Categories that were only inferred are put together when the tables are.
        or not any(
            scale.declared or scale.kind != "nominal" for scale in (ours[name], theirs[name])
        )
        for name in labels
    )


def on_own_scales(table: Ratings, like: Ratings, labels: Collection[str]) -> list[Ratings]:
    """Find the scale of each model from its own answers, where nobody declared one.

    Parameters
    ----------
    table
        Answers of one or more models.
    like
        Answers of people: on their scale are models whose answers fit it.
    labels
        Labels whose scale nobody declared.

    Returns
    -------
    A table for each scale; what was taken is recorded in their history.
    """
    shared = shared_scale(like.scales)
    unknown = [
        name
        for name in table.label_names
        if name in labels and table.scales[name].kind not in ("nominal", "text")
    ]
    by_scale = {
        scale: [name for name in unknown if like.scales.get(name, shared) == scale]
        for scale in dict.fromkeys(like.scales.values())
        if scale.kind not in ("nominal", "text")
    }
    rows = {
        scale: np.isin(table.label_code, [table.label_names.index(name) for name in names])
        & ~np.isnan(table.value)
        for scale, names in by_scale.items()
        if names
    }
    groups: dict[tuple[tuple[Scale, _Way] | None, ...], list[str]] = {}
    for code, name in enumerate(table.rater_names):
        own = table.rater_code == code
        taken = tuple(_taken(table.value[own & part], scale) for scale, part in rows.items())
        groups.setdefault(taken, []).append(name)
    found = []
    for taken, names in groups.items():
        part = table if len(groups) == 1 else table.select(raters=names)
        for scale, one in zip(rows, taken, strict=True):
            here = [name for name in by_scale[scale] if name in part.label_names]
            if one is not None and here:
                scale, way = one
                labels = here if len(here) < part.n_labels else []
                done = step(StepKind.MODEL_SCALE, way=way, scale=str(scale), labels=labels)
                part = part.with_values(part.value, dict.fromkeys(here, scale), step=done)
        found.append(part)
    return found


def _taken(given: Floats, scale: Scale) -> tuple[Scale, _Way] | None:
    """Take answers of a model to be on the scale of people where they fit, and say so."""
    if not given.size:
        return None
    if not fits_scale(given, scale):
        return Scale.infer(given), "own"
    if scale.contains(given).all():
        return scale, "people"
    return Scale("interval", scale.low, scale.high, declared=scale.declared), "bounds"
