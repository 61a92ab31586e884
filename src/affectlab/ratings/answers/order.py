"""An order of rows, stimuli and people that does not depend on how a table was sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar, cast

import numpy as np
import polars as pl

from affectlab.core.arrays import places_in
from affectlab.ratings.answers.arrays import in_order
from affectlab.ratings.build import Body
from affectlab.ratings.derived import moments
from affectlab.ratings.schema import HUMAN_KINDS
from affectlab.ratings.table import Ratings

T = TypeVar("T")
Kept: TypeAlias = Literal["nobody", "models", "raters"]


def canonical(data: T, *, listed: Kept = "nobody") -> T:
    """Put a table of ratings in an order that its names alone decide.

    Every function with a seed does this before it draws, so that the same answers and the same
    seed give the same numbers in whatever order the rows stand. Stimuli and raters are numbered in
    the order of their names, and rows sorted by stimulus, rater and label; answers of a rater to
    the same question by when they were given. Labels, of which results have a row each, keep their
    order.

    Parameters
    ----------
    data
        Ratings, or several tables of them; anything else is given back as it is.
    listed
        Raters who are not drawn, and whose order is kept because results list them so: nobody,
        models, or all raters of a table of models.
    """
    if isinstance(data, list | tuple) and data and all(isinstance(t, Ratings) for t in data):
        return cast("T", tuple(canonical(table, listed=listed) for table in data))
    if not isinstance(data, Ratings):
        return data
    body = data._body
    drawn = sorted(
        name
        for name, kind in zip(data.rater_names, data.rater_kinds, strict=True)
        if listed == "nobody" or (listed == "models" and kind in HUMAN_KINDS)
    )
    stimulus = body.stimulus.by_name()
    rater = body.rater.reorder(drawn)
    label = places_in(sorted(data.label_names), data.label_names)[data.label_code]
    key = (stimulus.code.astype(np.int64) * rater.n + rater.code) * data.n_labels + label
    numbered = Body(stimulus, rater, body.label, body.value, body.extras)
    ordered = not (np.diff(key) <= 0).any()
    if ordered and stimulus is body.stimulus and rater is body.rater:
        return data
    if not ordered:
        order = in_order(key, stimulus.n * rater.n * data.n_labels)
        if (np.diff(key[order]) == 0).any():
            order = np.lexsort((*reversed(moments(body, np.arange(body.n_rows))), key))
        numbered = numbered.take(order)
    return data._derive(numbered)


def as_listed(names: Sequence[str], ratings: object) -> list[int]:
    """Give the places of names, those of people in the order in which a table lists them.

    Parameters
    ----------
    names
        Names that a result lists, each as often as it has rows. Only the places of people are
        exchanged among themselves; models and what else has a row stay where they are.
    ratings
        The table as it was given; where it is none of ratings, nothing is exchanged.
    """
    places = list(range(len(names)))
    if not isinstance(ratings, Ratings):
        return places
    kinds = zip(ratings.rater_names, ratings.rater_kinds, strict=True)
    rank = {name: k for k, (name, kind) in enumerate(kinds) if kind in HUMAN_KINDS}
    people = [place for place in places if names[place] in rank]
    moved = sorted(people, key=lambda place: rank[names[place]])
    for place, other in zip(people, moved, strict=True):
        places[place] = other
    return places


def rows_as_listed(frame: pl.DataFrame, ratings: object) -> pl.DataFrame:
    """Exchange the rows of people in results with a column ``rater``; see :func:`as_listed`."""
    return frame[as_listed(frame["rater"].to_list(), ratings)] if frame.height else frame
