"""What raters of a pilot chose, as arrays, and how often each label was."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, answers_of
from affectlab.taxonomy import Taxonomy

__all__ = ["Pilot", "binary_choices", "read_pilot"]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Answers of a pilot, one row per rater and stimulus; labels in the order of the taxonomy."""

    labels: tuple[str, ...]
    values: Floats
    """Shape (rows, labels); 0 where nobody asked."""
    asked: NDArray[np.bool_]
    """Which of them were asked, of the same shape."""
    stimulus: Ints
    """Code of the stimulus of each row, rising; shape (rows,)."""
    n_stimuli: int
    n_raters: int
    least: float
    """The answer that does not choose a label."""
    answered: frozenset[tuple[str, str]] = frozenset()
    """Names of stimulus and rater of each row."""

    def per_stimulus(self, rows: Floats) -> Floats:
        """Sum rows of shape (rows, labels) by stimulus; shape (stimuli, labels)."""
        sums = np.zeros((self.n_stimuli, len(self.labels)))
        np.add.at(sums, self.stimulus, rows)
        return sums

    @cached_property
    def votes(self) -> Floats:
        """Raters who chose each label, shape (stimuli, labels)."""
        return self.per_stimulus((self.asked & (self.values > self.least)).astype(np.float64))

    @cached_property
    def asked_of(self) -> Floats:
        """Raters who were asked about each label, shape (stimuli, labels)."""
        return self.per_stimulus(self.asked.astype(np.float64))

    def n_asked(self, raters: int = 1) -> Ints:
        """Stimuli for which so many raters or more were asked about each label, shape (labels,)."""
        asked: Ints = (self.asked_of >= raters).sum(axis=0)
        return asked

    @cached_property
    def n_shared(self) -> Ints:
        """Stimuli for which a label was chosen, of those that two raters or more were asked about.

        Shape (labels,). Only these say anything about agreement.
        """
        several = self.asked_of >= 2
        shared: Ints = (several & (self.votes > 0)).sum(axis=0)
        return shared

    @cached_property
    def pairs(self) -> tuple[Floats, Floats]:
        """How often another rater chooses a label that one rater chose, and how often anybody does.

        Two arrays of shape (labels,), over stimuli with several raters; ``nan`` where nobody chose
        the label or no two raters share a stimulus.
        """
        number = self.asked_of
        several = number >= 2
        votes = np.where(several, self.votes, 0.0)
        others = np.where(several, (votes - 1) / np.where(several, number - 1, 1.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            again: Floats = (votes * others).sum(axis=0) / votes.sum(axis=0)
            base: Floats = votes.sum(axis=0) / np.where(several, number, 0.0).sum(axis=0)
        return again, base

    def n_chosen(self, votes: int = 1) -> Ints:
        """Stimuli for which so many raters chose each label, shape (labels,)."""
        chosen: Ints = (self.votes >= votes).sum(axis=0)
        return chosen


def read_pilot(ratings: Ratings, taxonomy: Taxonomy) -> Pilot:
    """Arrange the answers of a pilot; a label that it did not ask about has no answers.

    Raises
    ------
    InputError
        When there is no answer, or a label of the ratings is not in the taxonomy.
    """
    answers = answers_of(binary_choices(ratings))
    if not answers.value.size:
        raise InputError("the pilot holds no answer that counts; expected main or pilot trials")
    column = np.array([taxonomy.index(label) for label in answers.labels], dtype=np.int64)
    ballots = answers.ballots()
    seen = zip(ballots.unit.tolist(), ballots.rater.tolist(), strict=True)
    units, stimulus = np.unique(ballots.unit, return_inverse=True)
    values = np.zeros((len(ballots.value), len(taxonomy)))
    asked = np.zeros(values.shape, dtype=np.bool_)
    row, label = np.nonzero(~np.isnan(ballots.value))
    values[row, column[label]] = ballots.value[row, label]
    asked[row, column[label]] = True
    least = 0.0 if ratings.scale.low is None else float(ratings.scale.low)
    if ratings.scale.kind == "nominal":
        least = 0.0
    return Pilot(
        taxonomy.labels,
        values,
        asked,
        stimulus.astype(np.int64),
        len(units),
        int(np.unique(answers.rater).size),
        least,
        frozenset((answers.units[one], answers.raters[other]) for one, other in seen),
    )


def binary_choices(ratings: Ratings) -> Ratings:
    """Give answers that name one category as one yes or no for each category; others unchanged.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> one = Ratings(
    ...     {"stimulus": ["a", "a"], "rater": ["r", "s"], "value": ["joy", "awe"]},
    ...     scale="nominal:joy,awe,fear",
    ... )
    >>> binary_choices(one).frame.select("rater", "label", "value").rows()[:3]
    [('r', 'joy', 1.0), ('r', 'awe', 0.0), ('r', 'fear', 0.0)]
    """
    if ratings.scale.kind != "nominal":
        return ratings
    import polars as pl

    names = list(ratings.scale.categories or ())
    categories = pl.DataFrame({"label": names, "code": [float(k) for k in range(len(names))]})
    frame = (
        ratings.coded_frame.drop("label", strict=False)
        .join(categories, how="cross", maintain_order="left_right")
        .with_columns(
            pl.when(pl.col("value").is_null())
            .then(None)
            .otherwise((pl.col("value") == pl.col("code")).cast(pl.Float64))
            .alias("value")
        )
        .drop("code")
    )
    return Ratings(frame, scale="binary", raters=ratings.raters, stimuli=ratings.stimuli)
