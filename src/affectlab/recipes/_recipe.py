"""What a recipe is: a paper as a function of its data, and what a run of it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab._types import Figure, by_name
from affectlab.recipes._needs import DataNeed, find_input
from affectlab.recipes._published import PublishedFigures

if TYPE_CHECKING:
    from affectlab.report._pictures import Picture
else:
    Picture = by_name("affectlab.report._pictures", "Picture")

__all__ = [
    "DataNeed",
    "Finding",
    "PartFailure",
    "Recipe",
    "RecipeFigure",
    "RecipeRun",
    "find_input",
]


@dataclass(frozen=True)
class Finding:
    """Our value for one published figure: a number, perhaps with its interval; or bounds.

    Bounds without a value are what the data allow. An interval beside a value is part of the
    verdict where the value itself is drawn or trained anew; where it says what other answers than
    the paper's would have given (`sampling`), it is only shown.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    """Why there is no single value, when there is none."""
    sampling: bool = False
    """Whether the interval is that of a sample: the same data give the same value."""
    doubt: str = ""
    """Why there is no verdict on this figure although there is a value from real data: it is of
    other data than the paper's, or was found in another way."""
    remark: str = ""
    """What belongs beside the value, such as how much of the data a method used."""


@dataclass(frozen=True)
class PartFailure:
    """A part of a run that failed."""

    part: str
    reason: str
    keys: tuple[str, ...] = ()
    """Beginnings of the keys of the figures that it would have given."""
    traceback: str = ""
    """Where a defect came up, for whoever mends it; empty where the data do not suffice."""

    def __str__(self) -> str:
        return f"{self.part}: {self.reason}"


@dataclass(frozen=True)
class RecipeFigure:
    """A picture of what a run found, drawn when it is asked for."""

    name: str
    """Of its files, without suffix."""
    title: str
    description: str
    """For people who cannot see it."""
    draw: Callable[[], Figure]

    @classmethod
    def of(cls, picture: Picture, title: str = "") -> RecipeFigure:
        """Take over a picture that a verb draws, too, perhaps under another title."""
        return cls(picture.name, title or picture.title, picture.description, picture.draw)


@dataclass(frozen=True)
class RecipeRun:
    """What a run of a recipe found, and in which files."""

    findings: Mapping[str, Finding]
    inputs: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    doubt: str = ""
    """Why there is no verdict although real data were given: they are not the paper's own, or were
    not treated as the paper did."""
    figures: tuple[RecipeFigure, ...] = ()
    seeds: tuple[int, ...] = ()
    """Seeds that were used, where they are not the one that was given."""
    failures: tuple[PartFailure, ...] = ()
    """Parts that failed; the others went on (see :class:`Parts`)."""


@dataclass(frozen=True)
class Recipe:
    """One paper, as a function of its data."""

    name: str
    """Name on the command line, for example ``emonet-face``."""
    published: Callable[[], PublishedFigures]
    needs: tuple[DataNeed, ...]
    run: Callable[[Path, bool], RecipeRun]
    """Runs on a folder of real data; the second argument asks for a quick run."""
    simulate: Callable[[int, bool], RecipeRun]
    """Runs on simulated data, from a seed."""
