"""People among raters, for verbs that learn from them and cannot take everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["people_of"]


def people_of(ratings: Ratings, notes: list[str], where: str) -> Ratings:
    """Keep people where there are both people and models, and note it.

    Parameters
    ----------
    notes
        A sentence is added.
    where
        Name of the file, for the sentence.
    """
    kinds = set(ratings.rater_kinds)
    if not (kinds & {"model", "baseline"} and kinds & {"human", "simulated"}):
        return ratings
    people = ratings.humans()
    left = ratings.n_raters - people.n_raters
    notes.append(
        f"{where}: {plural(people.n_raters, 'person counts', 'people count')}; "
        f"{plural(left, 'model is', 'models are')} left out"
    )
    return people
