"""The true class of each stimulus, and the class that each model and person saw in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.core.errors import check_choice
from affectlab.core.types import Bools, Ints
from affectlab.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class PeopleAnswers:
    """Answers of people beside a truth that they have no part in: one row per person and stimulus.

    Rows without a truth, or without a class, are left out.
    """

    raters: tuple[str, ...]
    stimuli: tuple[str, ...]
    """All stimuli that people answered."""
    rater: Ints
    """Code of the person of each row, shape (m,)."""
    stimulus: Ints
    """Code of the stimulus of each row, shape (m,)."""
    truth: Ints | Bools
    """Class of each row, shape (m,); or 0/1 for each class, shape (m, k)."""
    predicted: Ints | Bools
    """The same, as the person answered."""
    left_out: bool
    """Whether the truth is made of the other people."""

    def of(self, rater: str) -> tuple[Ints | Bools, Ints | Bools]:
        """Truth and answers of one person."""
        check_choice("person", rater, self.raters)
        rows = self.rater == self.raters.index(rater)
        return self.truth[rows], self.predicted[rows]


@dataclass(frozen=True, eq=False, repr=False)
class Classes:
    """Truth and answers as classes, stimulus by stimulus; made by :func:`classes_of`."""

    labels: tuple[str, ...]
    """The k classes, in the order of the taxonomy."""
    taxonomy: Taxonomy
    stimuli: tuple[str, ...]
    """The n stimuli that have a truth."""
    truth: Ints | Bools
    """Class of each stimulus, shape (n,); or 0/1 for each class, shape (n, k)."""
    raters: tuple[str, ...]
    """The M models."""
    predicted: Ints | Bools
    """Class that each model answered, -1 for none, shape (M, n); or 0/1, shape (M, n, k)."""
    answered: Bools
    """Whether each model answered a class, shape (M, n)."""
    people: PeopleAnswers | None
    """Answers of people beside the same truth, or beside that of the other people."""
    truth_said: str
    """What the truth is, in words."""
    multilabel: bool
    ties: Mapping[str, int]
    """Stimuli with several highest classes, by rater; those of the truth under ``"truth"``."""
    notes: tuple[str, ...]
    """What was left out, and why, in words."""
    trained: tuple[str, ...] = ()
    """Which models were trained on what they are judged on, in words."""

    @property
    def n_stimuli(self) -> int:
        """Stimuli that have a truth."""
        return len(self.stimuli)

    @property
    def common(self) -> Bools:
        """Stimuli that all models answered, shape (n,)."""
        common: Bools = np.all(self.answered, axis=0)
        return common

    def of(self, rater: str) -> tuple[Ints | Bools, Ints | Bools]:
        """Truth and answers of one model, on the stimuli that it answered."""
        check_choice("model", rater, self.raters)
        place = self.raters.index(rater)
        rows = self.answered[place]
        return self.truth[rows], self.predicted[place][rows]

    def coverage(self) -> pl.DataFrame:
        """One row per model and person.

        Columns ``rater``, ``role`` (model or person), ``answered``, ``of``, ``share`` and ``ties``.
        Of a model, ``of`` counts the stimuli with a truth; of a person, all stimuli that people
        answered, and ``answered`` those that have a truth beside the person's own answer.
        """
        counts = self.answered.sum(axis=1).tolist()
        rows = [(*of, "model", self.n_stimuli) for of in zip(self.raters, counts, strict=True)]
        people = self.people
        if people is not None:
            counts = np.bincount(people.rater, minlength=len(people.raters)).tolist()
            n = len(people.stimuli)
            rows += [(*of, "person", n) for of in zip(people.raters, counts, strict=True)]
        frame = pl.DataFrame(
            rows,
            {"rater": pl.String, "answered": pl.Int64, "role": pl.String, "of": pl.Int64},
            orient="row",
        )
        share = pl.when(pl.col("of") > 0).then(pl.col("answered") / pl.col("of")).otherwise(0.0)
        ties = pl.Series("ties", [self.ties.get(row[0], 0) for row in rows], dtype=pl.Int64)
        return frame.select("rater", "role", "answered", "of", share.alias("share"), ties)

    def to_frame(self) -> pl.DataFrame:
        """One row per stimulus: ``stimulus``, ``truth``, one column per model (null: no answer).

        Classes are names; sets of classes are lists of names.
        """
        columns = [pl.Series("stimulus", self.stimuli, dtype=pl.String)]
        everyone = np.ones(self.n_stimuli, dtype=bool)
        columns.append(self._named("truth", self.truth, everyone))
        taken = {"stimulus", "truth"}
        for place, rater in enumerate(self.raters):
            name = rater
            while name in taken:
                name += "_"
            taken.add(name)
            columns.append(self._named(name, self.predicted[place], self.answered[place]))
        return pl.DataFrame(columns)

    def _named(self, name: str, given: Ints | Bools, answered: Bools) -> pl.Series:
        if self.multilabel:
            sets = [
                [self.labels[place] for place in np.flatnonzero(row)] if known else None
                for row, known in zip(given, answered, strict=True)
            ]
            return pl.Series(name, sets, dtype=pl.List(pl.String))
        names = [
            self.labels[code] if known else None
            for code, known in zip(given.tolist(), answered.tolist(), strict=True)
        ]
        return pl.Series(name, names, dtype=pl.String)

    def __repr__(self) -> str:
        people = 0 if self.people is None else len(self.people.raters)
        return (
            f"Classes({self.n_stimuli} stimuli, {len(self.labels)} classes, {len(self.raters)} "
            f"models, {people} people; truth: {self.truth_said})"
        )
