"""What people reach when they are judged as models are: one against the others, half and half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.soft_labels.votes import Absent, Rule, Votes, votes_of
from affectlab.ratings import Ratings

__all__ = ["HALVES", "ONE_PERSON", "Ballots"]

ONE_PERSON = "a person against the others"
HALVES = "half the people against half"


@dataclass(frozen=True)
class Ballots:
    """The answers of people, each person's answers to a stimulus together.

    ``unit`` and ``rater`` hold the codes of each ballot, ``ballot`` the ballot of each answer.
    """

    votes: Votes
    ballot: Ints
    unit: Ints
    rater: Ints
    smoothing: float

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        rule: Rule | None,
        labels: Sequence[str] | None,
        absent: Absent,
        smoothing: float,
    ) -> Ballots:
        """Sort the answers into ballots."""
        votes = votes_of(ratings, rule, labels, absent)
        return cls(votes, *votes.ballot, smoothing)

    def rows_of(self, stimuli: Sequence[str], units: Ints) -> Ints:
        """Places among `stimuli` of the stimuli with these codes."""
        place = {stimulus: row for row, stimulus in enumerate(stimuli)}
        found = [place[self.votes.units[unit]] for unit in units.tolist()]
        return np.array(found, dtype=np.int64)

    def against_others(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Each person's own distribution, and that of the other people, at every shared stimulus.

        Returns
        -------
        Unit and rater of m ballots, then own and the others' distributions, shape (m, k) each;
        ``nan`` where there is none.
        """
        n_units = len(self.votes.units)
        panel = np.bincount(self.unit, minlength=n_units).astype(np.int64)
        kept = np.flatnonzero(panel[self.unit] > 1)
        unit = self.unit[kept]
        amount, count = self.votes.sums(self.votes.unit, n_units)
        mine, asked = self.votes.sums(self.ballot, self.unit.size)
        mine, asked = mine[kept], asked[kept]
        one = np.ones(kept.size, dtype=np.int64)
        own = self.votes.shares(mine, asked, one).normalised()
        # Differences of sums leave rounding noise where nobody else chose a label.
        rest = np.maximum(amount[unit] - mine, 0.0)
        rest[rest < 1e-12] = 0.0
        others = self.votes.shares(rest, count[unit] - asked, panel[unit] - 1)
        return unit, self.rater[kept], own, others.normalised(self.smoothing)

    def halves(
        self, n_splits: int, rng: np.random.Generator
    ) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Split the people of every stimulus at random, again and again.

        Of an odd number of people one is left out.

        Yields
        ------
        Units with two people or more, and the distributions of the halves, shape (units, k) each.
        """
        if n_splits < 0:
            raise InputError(f"n_splits {n_splits}: expected 0 or more random splits")
        n_units = len(self.votes.units)
        panel = np.bincount(self.unit, minlength=n_units)
        units = np.flatnonzero(panel > 1)
        if not units.size:
            return
        size = panel // 2
        start = np.concatenate([[0], np.cumsum(panel)[:-1]])
        for _ in range(n_splits):
            order = np.lexsort((rng.random(self.unit.size), self.unit))
            rank = np.empty(self.unit.size, dtype=np.int64)
            rank[order] = np.arange(self.unit.size) - start[self.unit[order]]
            parts = []
            for half in range(2):
                within = rank // np.maximum(size[self.unit], 1) == half
                part = self.votes.take(within[self.ballot])
                shares = self.votes.shares(*part.sums(part.unit, n_units), size.astype(np.int64))
                parts.append(shares.normalised(self.smoothing)[units])
            yield units, parts[0], parts[1]
