"""Who is closer to the other people, a model or the person who is left out: item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._alignment_panel import LabelPanel, Panel

__all__ = ["Duels", "Items", "Score", "duels_of"]

Score: TypeAlias = Literal["accuracy", "rmse", "jaccard"]
Items: TypeAlias = Literal["stimuli", "cells"]

_TIE = 1e-9
"""Distances that differ by less, relative to their size, are equal."""


@dataclass(frozen=True)
class Duels:
    """The items of one model, person after person."""

    person: Ints
    """Shape (items of all people,)."""
    model_wins: Bools
    """Whether the model is at least as close to the other people as this person is."""
    person_wins: Bools
    """Whether the person is at least as close; both win a tie."""


def duels_of(panel: Panel, score: Score, items: Items, min_people: int) -> list[Duels]:
    """Compare every model with every person.

    Parameters
    ----------
    panel
        People and models.
    score
        How close an answer is to those of the other people: see :func:`alt_test`.
    items
        What is an item: a stimulus with all its labels, or each (stimulus, label).
    min_people
        People who answered an item, the one who is left out included.

    Returns
    -------
    One per model.
    """
    found = []
    people = [] if score == "jaccard" else [_People.of(part, score) for part in panel.parts]
    for f in range(len(panel.models)):
        if score == "jaccard":
            keys, theirs, own = _of_sets(panel, f, min_people)
        else:
            parts = [
                _distances(part, beside, f, score, min_people)
                for part, beside in zip(panel.parts, people, strict=True)
            ]
            keys, theirs, own = (np.concatenate(column) for column in zip(*parts, strict=True))
            if items == "stimuli":
                keys, theirs, own = _summed(keys, theirs, own)
        person = keys // len(panel.stimuli)
        room = _TIE * (1.0 + np.abs(own))
        found.append(Duels(person, theirs <= own + room, own <= theirs + room))
    return found


def _summed(keys: Ints, theirs: Floats, own: Floats) -> tuple[Ints, Floats, Floats]:
    """Add up the labels of each person and stimulus."""
    n = int(keys.max(initial=0)) + 1
    if n <= 4 * keys.size:
        present = np.flatnonzero(np.bincount(keys, minlength=n))
        sums = [np.bincount(keys, weights=one, minlength=n)[present] for one in (theirs, own)]
    else:
        present, place = np.unique(keys, return_inverse=True)
        sums = [np.bincount(place, weights=one, minlength=present.size) for one in (theirs, own)]
    return present.astype(np.int64), sums[0].astype(np.float64), sums[1].astype(np.float64)


@dataclass(frozen=True)
class _People:
    """What every model needs of the answers of people to one label: shape (answers,) each."""

    others: Ints
    """Other people who answered the item."""
    total: Floats
    """Sum of their answers; of squares of them."""
    squares: Floats
    own: Floats
    """Distance of the person to the other people, as a sum of squares."""

    @classmethod
    def of(cls, part: LabelPanel, score: Score) -> _People:
        item, value, none = part.item, part.value, np.zeros(0)
        others = np.bincount(item, minlength=part.n_items)[item] - 1
        if score != "rmse":
            return cls(others, none, none, none)
        total = np.bincount(item, weights=value, minlength=part.n_items)[item] - value
        squares = np.bincount(item, weights=value**2, minlength=part.n_items)[item] - value**2
        return cls(others, total, squares, others * value**2 - 2 * value * total + squares)


def _distances(
    part: LabelPanel, people: _People, f: int, score: Score, min_people: int
) -> tuple[Ints, Floats, Floats]:
    """Distance of the model, and of each person, to the other people on one label."""
    item, value, others = part.item, part.value, people.others
    of_model = (part.exact if score == "rmse" else part.steps)[f][item]
    kept = (others >= max(min_people - 1, 1)) & ~np.isnan(of_model)
    if score == "rmse":
        # Sums of squared distances; people and models share the number of others, and the root
        # keeps their order.
        own = people.own
        theirs = others * of_model**2 - 2 * of_model * people.total + people.squares
    else:
        levels, place = np.unique(np.concatenate([value, of_model]), return_inverse=True)
        by_person, by_model = place[: value.size], place[value.size :]
        counts = np.bincount(item * levels.size + by_person, minlength=part.n_items * levels.size)
        own = others - (counts[item * levels.size + by_person] - 1.0)
        agreed = counts[item * levels.size + by_model] - (by_model == by_person)
        theirs = others - agreed.astype(np.float64)
    key = part.person * part.n_items + item
    if kept.all():
        return key, theirs, own
    return key[kept], theirs[kept], own[kept]


def _of_sets(panel: Panel, f: int, min_people: int) -> tuple[Ints, Floats, Floats]:
    """Distance of label sets: 1 less the mean Jaccard similarity with the other people."""
    n_items, n_labels = len(panel.stimuli), len(panel.labels)
    label = np.concatenate([np.full(p.item.size, k) for k, p in enumerate(panel.parts)])
    item = np.concatenate([part.item for part in panel.parts])
    person = np.concatenate([part.person for part in panel.parts])
    value = np.concatenate([part.value for part in panel.parts])
    of_model = np.stack([part.steps[f] for part in panel.parts])
    order = np.argsort(item, kind="stable")
    bounds = np.searchsorted(item[order], np.arange(n_items + 1))
    keys, theirs, own = [], [], []
    for s in range(n_items):
        rows = order[bounds[s] : bounds[s + 1]]
        answered = ~np.isnan(of_model[:, s])
        who, place = np.unique(person[rows], return_inverse=True)
        if who.size < max(min_people, 2) or not answered.any():
            continue
        # The model stands in the last row.
        table = np.full((who.size + 1, n_labels), np.nan)
        table[place, label[rows]] = value[rows]
        table[-1] = of_model[:, s]
        table = table[:, answered]
        present = ~np.isnan(table)
        chosen = np.where(present, table, 0.0)
        shared = chosen @ chosen.T
        either = chosen @ present.T
        either = either + either.T - shared
        # Two empty sets are the same.
        alike = np.divide(shared, either, out=np.ones(shared.shape), where=either > 0)
        people = alike[:-1, :-1]
        others = who.size - 1
        own.append(1 - (people.sum(axis=1) - np.diag(people)) / others)
        theirs.append(1 - (alike[-1, :-1].sum() - alike[-1, :-1]) / others)
        keys.append(who * n_items + s)
    if not keys:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    return np.concatenate(keys), np.concatenate(theirs), np.concatenate(own)
