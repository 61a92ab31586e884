"""The tables of ratings, and what each of their columns holds, for codebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from affectlab.core.words import plural
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import shared_scale
from affectlab.ratings.schema import HUMAN_KINDS
from affectlab.ratings.storage import named_frame, plain_source
from affectlab.ratings.wording import ABOUT

_ONE = {"raters": "rater", "stimuli": "stimulus"}


@dataclass(frozen=True)
class Variable:
    """A column of a table."""

    name: str
    about: str
    """What it holds, as a sentence."""
    type: pl.DataType
    scale: Scale | None = None
    """Of answers."""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.type.is_numeric()

    @property
    def categories(self) -> tuple[str, ...]:
        """Names that its values can take, in their order."""
        return () if self.scale is None or self.numeric else self.scale.categories


def tables_of(ratings: RatingsBase) -> dict[str, pl.DataFrame]:
    """Give the tables ``ratings``, ``raters`` and ``stimuli``; categories stand by name."""
    return {
        "ratings": named_frame(ratings),
        "raters": ratings.raters,
        "stimuli": ratings.stimuli,
    }


def variables_of(ratings: RatingsBase, name: str, table: pl.DataFrame) -> Iterator[Variable]:
    """Describe the columns of one of the tables."""
    shared = shared_scale(ratings.scales)
    for column, dtype in table.schema.items():
        if column == "value":
            said = "; ".join(f"{label}: {scale}" for label, scale in ratings.scales.items())
            about = f"{ABOUT[column]}: {said if shared is None else shared}"
            yield Variable(column, sentence(about), dtype, shared)
        else:
            attribute = f"attribute {column!r} of the {_ONE.get(name, 'answer')}"
            yield Variable(column, sentence(ABOUT.get(column, attribute)), dtype)


def sentence(phrase: str) -> str:
    """Make a sentence of a phrase."""
    return f"{phrase[:1].upper()}{phrase[1:]}."


def counts_of(ratings: RatingsBase) -> str:
    """Say what a table holds, as a sentence."""
    people = sum(kind in HUMAN_KINDS for kind in ratings.rater_kinds)
    said = [
        plural(ratings.n_ratings, "answer"),
        plural(ratings.n_stimuli, "stimulus", "stimuli"),
        plural(people, "person", "people"),
        plural(ratings.n_raters - people, "model"),
        plural(ratings.n_labels if ratings.has_labels else 0, "label"),
    ]
    return ", ".join(part for part in said if not part.startswith("0 ")) + "."


def steps_of(ratings: RatingsBase) -> list[str]:
    """Say where the answers come from, and what was done to them, as sentences."""
    source = [f"Source: {plain_source(ratings)}."] if ratings.source else []
    aside = [f"Set aside: {part}." for part in ratings.set_aside if part.count]
    return [*source, *(sentence(str(one)) for one in ratings.history), *aside]


def name_of(ratings: RatingsBase) -> str:
    """Give the data set the name of the file that it comes from."""
    return Path(plain_source(ratings)).stem or "ratings"
