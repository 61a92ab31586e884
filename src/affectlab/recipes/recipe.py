"""What a recipe is: a paper as a function of its data, and what a run of it finds."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Figure as Declared, Table
from affectlab.core.types import Figure
from affectlab.recipes.needs import DataNeed, find_input
from affectlab.recipes.published_figures import PublishedFigures

__all__ = [
    "SETTING",
    "DataNeed",
    "Finding",
    "PartFailure",
    "Parts",
    "Recipe",
    "RecipeFigure",
    "RecipeRun",
    "find_input",
]


SETTING = "set as in the paper, and not found in the data"
"""Why a constant has no verdict: it would be held against itself."""


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

    def __post_init__(self) -> None:
        """Take what is not defined for what is not there: no value, and no interval."""
        if self.value is not None and math.isnan(self.value):
            object.__setattr__(self, "value", None)
            object.__setattr__(self, "why", self.why or "not defined for these answers")
        if any(end is not None and math.isnan(end) for end in (self.low, self.high)):
            object.__setattr__(self, "low", None)
            object.__setattr__(self, "high", None)

    def doubted(self, doubt: str) -> Finding:
        """Give the same without a verdict, for the reason that is told first."""
        return replace(self, doubt=self.doubt or doubt)


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
    def of(
        cls, figure: Declared, table: Table, *, title: str = "", description: str = ""
    ) -> RecipeFigure:
        """Take over a figure that a result declares, perhaps under another title."""
        from affectlab.core.render.figure import figure_of

        said = description or figure.description
        return cls(figure.name, title or figure.title, said, partial(figure_of, figure, table))

    @classmethod
    def all_of(
        cls, *results: Result, titles: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[RecipeFigure, ...]:
        """Take over all figures of results, under titles by their names where these are given."""
        return tuple(
            cls.of(
                one,
                result.table(one.of),
                title=titles.get(one.name, ""),
                description=one.description or " ".join(result.sentences),
            )
            for result in results
            for one in result.figures
        )


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


# The parts of a run: one that fails leaves its reason, and the others go on.


class Parts:
    """What the parts of a run find; a part that fails does not end the run.

    Parameters
    ----------
    done
        Receives the name of each part that is done.

    Examples
    --------
    >>> parts = Parts()
    >>> with parts("means", "mean."):
    ...     parts.add({"mean.age": Finding(30.0)})
    >>> with parts("transfer", "transfer."):
    ...     raise InputError("there is one text; expected several")
    >>> [(one.part, one.reason) for one in parts.to_run().failures]
    [('transfer', 'there is one text; expected several')]
    """

    def __init__(self, done: Callable[[str], None] = lambda _: None) -> None:
        self.findings: dict[str, Finding] = {}
        self.notes: list[str] = []
        self.figures: list[RecipeFigure] = []
        self.failures: list[PartFailure] = []
        self._done = done

    @contextmanager
    def __call__(self, part: str, *keys: str) -> Iterator[None]:
        """Run a part; `keys` are the beginnings of the keys of the figures that it finds.

        Whatever goes wrong in it is noted as a failure, except that the user stops the run. What
        it had found, noted and drawn before is left out, as it may be half of something.
        """
        n_notes, n_figures = len(self.notes), len(self.figures)
        try:
            yield
        except Exception as error:  # noqa: BLE001
            # Hours of other parts must not be lost to a defect, of ours or of a library, in one.
            del self.notes[n_notes:], self.figures[n_figures:]
            reason, where = str(error), ""
            if not isinstance(error, InputError):
                reason, where = f"{type(error).__name__}: {error}", traceback.format_exc()
            self.failures.append(PartFailure(part, reason.rstrip("."), keys, where))
        else:
            self._done(part)

    def add(
        self,
        findings: Mapping[str, Finding],
        notes: Iterable[str] = (),
        figures: Iterable[RecipeFigure] = (),
    ) -> None:
        """Add what a part found."""
        self.findings |= findings
        self.notes += notes
        self.figures += figures

    def failed(self, part: str) -> bool:
        """Tell whether a part failed before, as with another seed."""
        return any(one.part == part for one in self.failures)

    def to_run(self, **more: Any) -> RecipeRun:
        """Give the run; `more` are its other fields, such as ``inputs`` and ``seeds``.

        What a part had found before it failed is left out, as it may be half of a value.
        """
        left_out = tuple(key for one in self.failures for key in one.keys)
        findings = {
            key: one
            for key, one in self.findings.items()
            if not (left_out and key.startswith(left_out))
        }
        return RecipeRun(
            findings,
            notes=tuple(self.notes),
            figures=tuple(self.figures),
            failures=tuple(self.failures),
            **more,
        )
