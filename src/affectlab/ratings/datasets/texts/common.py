"""What the readers of texts with emotions share: texts in, ratings of one voice out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects
from affectlab.ratings.files import Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy

__all__ = ["LabelledRows", "binarised"]


@dataclass
class LabelledRows:
    """Texts that were read, one entry each."""

    stimulus: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    answer: list[Any] = field(default_factory=list)
    """One label, or one value for each label."""
    place: list[str] = field(default_factory=list)
    """Where in the file."""
    more: dict[str, list[Any]] = field(default_factory=dict)
    """Attributes of the texts, by name."""

    def add(self, stimulus: str, text: str, answer: Any, place: str, **more: Any) -> None:
        """Take a text."""
        self.stimulus.append(stimulus)
        self.text.append(text)
        self.answer.append(answer)
        self.place.append(place)
        for name, value in more.items():
            self.more.setdefault(name, []).append(value)

    def nominal(
        self,
        peek: Peek,
        options: ReadOptions,
        categories: Sequence[str],
        rejects: Rejects,
        *,
        rater: str | Sequence[str],
        history: tuple[str, ...] = (),
    ) -> Ratings:
        """Make ratings in which every answer names one of several emotions."""
        return self._assembled(
            peek,
            options,
            {"value": pl.Series("value", self.answer, dtype=pl.String)},
            rejects,
            rater=rater,
            history=history,
            scale=Scale.nominal(tuple(categories)),
        )

    def by_label(
        self,
        peek: Peek,
        options: ReadOptions,
        labels: Sequence[str],
        rejects: Rejects,
        *,
        rater: str,
        scale: Scale,
        name: str,
        history: tuple[str, ...] = (),
    ) -> Ratings:
        """Make ratings with one value for each label; those that are ``nan`` were not asked."""
        values = np.array(self.answer, dtype=np.float64).reshape(-1, len(labels))
        row, column = np.nonzero(~np.isnan(values))
        names = pl.Series(list(labels), dtype=pl.String)
        columns = {
            "label": names.gather(column).alias("label"),
            "value": pl.Series("value", values[row, column]),
        }
        return self._assembled(
            peek,
            options,
            columns,
            rejects,
            rater=rater,
            history=history,
            scale=scale,
            taxonomy=Taxonomy.from_labels(labels, name=name),
            rows=row,
        )

    def _assembled(
        self,
        peek: Peek,
        options: ReadOptions,
        columns: Mapping[str, pl.Series],
        rejects: Rejects,
        *,
        rater: str | Sequence[str],
        history: tuple[str, ...],
        scale: Scale,
        taxonomy: Taxonomy | None = None,
        rows: ArrayLike | None = None,
    ) -> Ratings:
        if not self.text:
            raise InputError(f"{peek.path}: no line can be used; expected texts with emotions")
        places = self.place
        stimulus = pl.Series("stimulus", self.stimulus, dtype=pl.String)
        one = isinstance(rater, str)
        raters = pl.Series(
            "rater", [rater] * len(stimulus) if one else list(rater), dtype=pl.String
        )
        order = np.arange(len(stimulus)) if rows is None else np.asarray(rows)
        kinds: dict[str, Any] = {"rater": raters.unique(maintain_order=True)}
        kinds["rater_kind"] = ["human"] * len(kinds["rater"])
        if one:
            kinds["aggregated"] = [True]
        table = {"stimulus": stimulus, "text": pl.Series(self.text, dtype=pl.String)}
        table |= {name: pl.Series(name, values) for name, values in self.more.items()}
        return assemble(
            {"stimulus": stimulus.gather(order), "rater": raters.gather(order), **columns},
            options,
            source=str(peek.path),
            locate=lambda at: f"{peek.path}, {places[int(order[at])]}",
            scale=scale,
            taxonomy=taxonomy,
            raters=pl.DataFrame(kinds),
            stimuli=pl.DataFrame(table).unique("stimulus", keep="first", maintain_order=True),
            set_aside=rejects.set_aside,
            history=history,
            typed=True,
            split=False,
        )


def binarised(ratings: Ratings, cut: float | None) -> Ratings:
    """Say yes from an intensity on; None: leave intensities as they are.

    Raises
    ------
    InputError
        When the cut is off the scale.
    """
    if cut is None:
        return ratings
    low, high = ratings.scale.low, ratings.scale.high
    if not (low is not None and high is not None and low < cut <= high):
        raise InputError(f"cut = {cut}: expected a number above {low:g}, up to {high:g}")
    values = np.where(np.isnan(ratings.value), np.nan, ratings.value >= cut)
    return ratings.with_values(values, Scale.binary(), step=f"yes from {cut:g} on")
