"""Distances between whole sets of labels, for Krippendorff's alpha of several labels a stimulus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import plural
from affectlab.ratings import Answers, Ratings, StepKind
from affectlab.reliability.agreement.alpha_levels import DistanceLevel, LevelMaker
from affectlab.reliability.agreement.wording import NO_EMPTY_SETS, not_binary, set_distance

_MOST_HELD = 1 << 23
"""Distances between sets that are held; more are computed anew each time."""


def _jaccard(shared: Ints, first: Ints, second: Ints) -> Floats:
    """1 - J, J = |A and B| / |A or B|; two empty sets are equal."""
    union = first + second - shared
    return 1 - ratio(shared, union, 1.0)


def _masi(shared: Ints, first: Ints, second: Ints) -> Floats:
    """1 - J M, M = 1 of equal sets, 2/3 where one holds the other, 1/3 where they overlap."""
    smaller, larger = np.minimum(first, second), np.maximum(first, second)
    monotony = np.where(shared == larger, 1.0, np.where(shared == smaller, 2 / 3, 1 / 3))
    return 1 - (1 - _jaccard(shared, first, second)) * monotony


SetLevel: TypeAlias = Literal["masi", "jaccard"]
SET_DISTANCES: Mapping[SetLevel, tuple[str, Callable[[Ints, Ints, Ints], Floats]]] = (
    MappingProxyType({"masi": ("MASI", _masi), "jaccard": ("Jaccard", _jaccard)})
)
"""Distances by the level that asks for them, from sizes of an intersection and of two sets."""
LABEL_SETS = "label sets"
"""The one row of alpha of sets."""


@dataclass(frozen=True, eq=False)
class _SetDistance:
    """Distances between the distinct sets that occur, which answers name by their number."""

    of: Callable[[Ints, Ints, Ints], Floats]
    chosen: Bools
    """Shape (sets, labels)."""

    @cached_property
    def _bits(self) -> Ints:
        """Labels as bits, shape (sets, words of 63)."""
        wide = np.pad(self.chosen, ((0, 0), (0, -self.chosen.shape[1] % 63)))
        words = wide.reshape(len(wide), -1, 63)
        return words.astype(np.int64) @ (1 << np.arange(63, dtype=np.int64))

    def _between(self, first: Ints, second: Ints) -> Floats:
        size, bits = self.chosen.sum(axis=1), self._bits
        shared = np.zeros(first.shape, dtype=np.int64)
        for word in bits.T:
            shared += np.bitwise_count(word[first] & word[second])
        return self.of(shared, size[first], size[second])

    @cached_property
    def _held(self) -> Floats | None:
        n = len(self.chosen)
        if n * n > _MOST_HELD:
            return None
        place = np.arange(n)
        return self._between(*np.broadcast_arrays(place[:, None], place[None, :]))

    def __call__(self, first: Floats, second: Floats) -> Floats:
        one, other = first.astype(np.int64), second.astype(np.int64)
        held = self._held
        return self._between(one, other) if held is None else held[one, other]


def as_label_sets(answers: Answers, level: SetLevel) -> tuple[Answers, tuple[str, ...], LevelMaker]:
    """Take what a rater chose of a stimulus as one answer, and the distance between such answers.

    Where answers hold no zero at all, they list what was chosen; otherwise a stimulus of which a
    rater did not answer every label is left out for this rater.

    Returns
    -------
    Answers to the one label :data:`LABEL_SETS`, whose values are numbers of sets; the name of the
    distance, with what was left out; and what makes the level of measurement.

    Raises
    ------
    InputError
        Where answers are not yes or no to several labels.
    """
    scales = answers.scales or ()
    if len(answers.labels) < 2 or not all(scale.kind == "binary" for scale in scales):
        what = not_binary(len(answers.labels), sorted({str(scale) for scale in scales}))
        raise InputError(f"level {level!r} needs yes/no answers to two labels or more; {what}")
    ballots = answers.ballots()
    value = ballots.value
    known = ballots.complete
    chosen, code = np.unique(value[known] == 1, axis=0, return_inverse=True)
    title, distance = SET_DISTANCES[level]
    n_incomplete = int((~known).sum())
    left_out = [f"without {plural(n_incomplete, 'incomplete set')}"] if n_incomplete else []
    sets = replace(
        answers,
        unit=ballots.unit[known],
        rater=ballots.rater[known],
        label=np.zeros(code.size, dtype=np.int64),
        value=code.reshape(-1).astype(np.float64),
        labels=(LABEL_SETS,),
        scales=None,
    )
    maker = partial(DistanceLevel, distance=_SetDistance(distance, chosen))
    return sets, (set_distance(title), *left_out), maker


def said_of_empty_sets(ratings: object, answers: Answers, found: pl.DataFrame) -> list[str]:
    """Say of lists of what was chosen that they do not tell who chose nothing.

    Parameters
    ----------
    ratings
        What `answers` were read from.
    found
        Estimates.
    """
    of_sets = "label" in found.columns and LABEL_SETS in found["label"]
    if not of_sets or not isinstance(ratings, Ratings):
        return []
    ballots = answers.ballots()
    listed = ballots.listed or any(one.kind is StepKind.FILLED for one in ratings.history)
    return [NO_EMPTY_SETS] if listed and (ballots.value == 1).any(axis=1).all() else []
