"""Models beside people: which of them are compared, and the table of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.report.statistics.pairs import is_person

if TYPE_CHECKING:
    from affectlab.evaluation.human_alignment import AlignmentResult
    from affectlab.ratings import Ratings

__all__ = ["MOST_PEOPLE", "Beside", "beside_people"]

MOST_PEOPLE = 50
"""People that models are compared with; of more, those who answered most."""


@dataclass(frozen=True)
class Beside:
    """Models beside people, or why they are not compared."""

    alignment: AlignmentResult | None
    reason: str = ""
    n_left_out: int = 0
    """People left out because there are too many."""

    def table(self) -> pl.DataFrame:
        """Models first, then people: ``rater``, ``rater_kind``, and each measure with people."""
        found = self.alignment
        return pl.DataFrame() if found is None else found.to_frame("models_and_people")


def beside_people(ratings: Ratings, models: Ratings | None, *, n_boot: int, seed: int) -> Beside:
    """Compare models with people, of whom at most 50 enter."""
    from affectlab.evaluation import alignment

    kept, n_left_out = _busiest(ratings)
    try:
        found = alignment(kept, models, n_boot=n_boot, seed=seed)
    except InputError as error:
        return Beside(None, f"{error}.")
    return Beside(found, n_left_out=n_left_out)


def _busiest(ratings: Ratings) -> tuple[Ratings, int]:
    """Keep models, and the people who answered most."""
    person = np.array([is_person(kind) for kind in ratings.rater_kinds])
    people = np.flatnonzero(person)
    if people.size <= MOST_PEOPLE:
        return ratings, 0
    answers = np.bincount(ratings.rater_code, minlength=ratings.n_raters)
    chosen = people[np.argsort(-answers[people], kind="stable")][:MOST_PEOPLE]
    kept = sorted({*np.flatnonzero(~person).tolist(), *chosen.tolist()})
    left_out = people.size - MOST_PEOPLE
    return ratings.select(raters=[ratings.rater_names[k] for k in kept]), left_out
