"""Ratings of people that heads learn from, or are judged or calibrated by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
    from affectlab.ratings.options import Absent
    from affectlab.taxonomy import Taxonomy

__all__ = ["people_of", "read_zero_to_seven"]


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


def read_zero_to_seven(
    path: Path, absent: Absent | None, taxonomy: Taxonomy | None = None
) -> Ratings:
    """Read ratings; where the file says no scale, numbers are from 0 to 7, as heads learn."""
    from affectlab.ratings import Scale, read_ratings

    found = read_ratings(path, taxonomy=taxonomy, absent=absent)
    if found.scale.declared or found.scale.kind not in ("ordinal", "interval"):
        return found
    # Nothing in the file says what could have been answered; what is off 0 to 7 is refused.
    scale = Scale.parse("0-7" if found.scale.step else "0-7 interval")
    return read_ratings(path, taxonomy=taxonomy, scale=scale, absent=absent)
