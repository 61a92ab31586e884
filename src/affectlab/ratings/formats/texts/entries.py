"""What formats of texts with emotions share: texts in, ratings of one voice out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, Place
from affectlab.ratings.formats.format import Contents, Format, Sure
from affectlab.ratings.formats.records import Rejects, Unusable, lines_of, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy


@dataclass
class Text:
    """One text that was read."""

    stimulus: str
    text: str | None
    answer: Any
    """One emotion, or one value for each; ``nan``: it was not asked."""
    rater: str | None = None
    """Who answered, where a file tells raters apart."""
    more: dict[str, Any] = field(default_factory=dict)
    """Attributes of the text."""


class Texts(Format, ABC):
    """Texts that each have one emotion, or a value for each of several emotions."""

    anonymous = True
    emotions: ClassVar[tuple[str, ...]]
    """Categories of the one answer; labels where there is a scale of values."""
    rater: ClassVar[str] = "consensus"
    """The one voice that all answers are of, where neither :meth:`entry` nor the user names one."""
    rule: ClassVar[str] = ""
    """What the authors did with the answers."""
    unit: ClassVar[str] = "line"
    """What a record is in the file."""

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:  # noqa: ARG002
        """Give the records of a file with their numbers: its lines, unless said otherwise."""
        return lines_of(head)

    @property
    def _history(self) -> History:
        return (step(StepKind.AGGREGATED_BY_AUTHORS, rule=self.rule),) if self.rule else ()

    @abstractmethod
    def entry(self, head: Peek, number: int, record: Any) -> Text:
        """Read a record; raises :class:`Unusable` where it is none."""

    def known(self, emotion: Any) -> str:
        """Give an emotion if it is one of those there are."""
        if emotion not in self.emotions:
            expected = ", ".join(self.emotions)
            raise Unusable(
                "emotion not known", f"emotion {shown(emotion)}; expected one of {expected}"
            )
        return str(emotion)

    def scale_of(self, values: NDArray[np.float64]) -> Scale | None:  # noqa: ARG002
        """Scale of the values; None: answers name one of the emotions."""
        return DeclaredScales.parse(self.scale).default

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read record by record; of a rater whom the user names no author aggregated anything."""
        unit = "row" if head.is_table else self.unit
        texts: list[Text] = []
        places: list[str] = []
        for number, record in self.records(head, rejects):
            place = f"{unit} {number}"
            try:
                texts.append(self.entry(head, number, record))
            except Unusable as problem:
                rejects.note(place, problem)
            else:
                places.append(place)
        if not texts:
            raise InputError(f"{head.path}: no {unit} can be used; expected texts with emotions")
        row, answers, scale, taxonomy = self._answers(texts)
        stimulus = pl.Series("stimulus", [one.stimulus for one in texts], dtype=pl.String)
        voice = options.rater or self.rater
        rater = pl.Series("rater", [one.rater or voice for one in texts], dtype=pl.String)
        raters = (
            rater.unique(maintain_order=True).to_frame().with_columns(rater_kind=pl.lit("human"))
        )
        unnamed = all(one.rater is None for one in texts)
        if unnamed and options.rater is None:
            raters = raters.with_columns(aggregated=pl.lit(value=True))
        stimuli = pl.DataFrame(
            [
                stimulus,
                pl.Series("text", [one.text for one in texts], dtype=pl.String),
                *(pl.Series(name, [one.more[name] for one in texts]) for name in texts[0].more),
            ]
        )
        return Contents(
            {"stimulus": stimulus.gather(row), "rater": rater.gather(row), **answers},
            lambda at: Place(places[int(row[at])], head.path),
            scale=scale,
            taxonomy=taxonomy,
            raters=raters,
            stimuli=stimuli.unique("stimulus", keep="first", maintain_order=True),
            history=() if unnamed and options.rater is not None else self._history,
            typed=True,
            split=False,
        )

    def _answers(
        self, texts: list[Text]
    ) -> tuple[NDArray[np.intp], dict[str, pl.Series], Scale, str | Taxonomy | None]:
        """Give the text of each answer, the columns of answers, their scale, and its labels."""
        given = [one.answer for one in texts]
        if self.scale_of(np.empty(0)) is None:
            named = {"value": pl.Series("value", given, dtype=pl.String)}
            return np.arange(len(texts)), named, Scale.nominal(self.emotions), None
        values = np.array(given, dtype=np.float64).reshape(-1, len(self.emotions))
        row, column = np.nonzero(~np.isnan(values))
        labels = pl.Series("label", self.emotions, dtype=pl.Enum(self.emotions)).gather(column)
        columns = {"label": labels, "value": pl.Series("value", values[row, column])}
        taxonomy = self.taxonomy or Taxonomy.from_labels(self.emotions, name=self.name)
        scale = self.scale_of(values)
        assert scale is not None
        return row, columns, scale, taxonomy


@dataclass(frozen=True, kw_only=True)
class Intensities(Texts):
    """Texts with intensities, of which a cut makes yes and no.

    Parameters
    ----------
    cut
        Intensity from which on an emotion is there. None: the intensities themselves.
    """

    cut: float | None = None

    def read(self, head: Peek, options: ReadOptions) -> Ratings:
        """Read the intensities, and say yes from the cut on."""
        return self.with_cut(super().read(head, options))

    def with_cut(self, ratings: Ratings) -> Ratings:
        """Say yes from the cut on.

        Raises
        ------
        InputError
            When the cut is off the scale.
        """
        cut, low, high = self.cut, ratings.scale.low, ratings.scale.high
        if cut is None:
            return ratings
        if not (low is not None and high is not None and low < cut <= high):
            raise InputError(f"cut = {cut}: expected a number above {low:g}, up to {high:g}")
        values = np.where(np.isnan(ratings.value), np.nan, ratings.value >= cut)
        return ratings.with_values(values, Scale.binary(), step=step(StepKind.CUT, value=cut))


class Tabbed(Texts):
    """Texts in a table with a header, tabs between the columns, and no quotes around texts."""

    def recognise(self, head: Peek) -> Sure:
        """Look for the columns in the first line."""
        return Sure.if_(set(self.layout.needed) <= set(head.first_line.split("\t")))

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, dict[str, str]]]:
        """Give the rows, by column; quotes belong to the texts, so this is no CSV."""
        lines = lines_of(head)
        header = next(lines)[1].split("\t")
        self.layout.check(head, header, "tabs")
        for number, line in lines:
            fields = line.split("\t")
            if len(fields) == len(header):
                yield number, dict(zip(header, fields, strict=True))
                continue
            sentence = f"{len(fields)} fields; expected {len(header)}, separated by tabs"
            rejects.reject(f"line {number}", f"not {len(header)} fields", sentence)
