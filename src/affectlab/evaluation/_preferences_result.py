"""What a preference study found, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab._words import plural
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._preferences_tally import Rule, Tally, no_verdict, verdicts
from affectlab.evaluation._preferences_words import sentences

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Preferences"]


@dataclass(frozen=True, eq=False)
class Preferences:
    """Verdicts of blind comparisons.

    Made by :func:`preferences`.
    """

    table: Estimates
    """Shares by ``about`` and ``choice``, with extra columns ``count``, ``of`` and ``p``; the last
    row is about the side (``about`` is ``side``) where sides are known."""
    systems: tuple[str, str]
    """The two systems that are compared."""
    tally: Tally
    rule: Rule
    """What makes the verdict of an item."""
    agreement: Estimate | None
    """Krippendorff's alpha of the judges over all choices; ``None`` where no item has several
    votes of known judges."""
    confidence: float
    notes: tuple[str, ...]
    """What a reader should know, in sentences."""

    @property
    def choices(self) -> tuple[str, ...]:
        """The two systems, then the other choices."""
        return self.tally.choices

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items that were judged; empty where only counts are known."""
        return self.tally.items

    @property
    def votes(self) -> Floats:
        """Votes of shape (items, choices)."""
        return self.tally.counts

    @property
    def side(self) -> Estimate | None:
        """Share of decided votes for the left side, or for option A; ``None`` where not known."""
        frame = self.table.frame
        found = frame["choice"].filter(frame["about"] == "side").to_list()
        return self.table["side", found[0]] if found else None

    def verdicts(self) -> pl.DataFrame:
        """Give the verdict of every item.

        Returns
        -------
        ``item``, ``verdict`` (a choice, or ``no majority`` or ``tied``), ``preferred`` (the system
        that more judges chose, or ``tied``), ``n_votes``, and the votes for each choice.
        """
        names = np.array([*self.choices, no_verdict(self.rule)], dtype=object)
        lead = np.sign(self.votes[:, 0] - self.votes[:, 1]).astype(int)
        sides = np.array([self.systems[1], "tied", self.systems[0]], dtype=object)
        n = self.votes.sum(axis=1).astype(np.int64)
        kept = np.flatnonzero(n) if self.items else np.zeros(0, dtype=np.int64)
        columns = {
            "item": [self.items[k] for k in kept.tolist()],
            "verdict": names[verdicts(self.votes, self.rule)[kept]].tolist(),
            "preferred": sides[lead[kept] + 1].tolist(),
            "n_votes": n[kept],
        }
        schema = {"item": pl.String, "verdict": pl.String, "preferred": pl.String}
        frame = pl.DataFrame(columns, schema_overrides=schema)
        taken = set(frame.columns)
        return frame.with_columns(
            pl.Series(
                f"votes for {choice}" if choice in taken else choice, self.votes[kept, k]
            ).cast(pl.Int64)
            for k, choice in enumerate(self.choices)
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What people prefer, in plain words.

        Examples
        --------
        >>> from affectlab.evaluation import preferences
        >>> preferences({"human": 707, "model": 292}).sentences[0].replace("\\u00a0", " ")
        'human is preferred to model: 707 of 999 decided votes (70.8 %, 95 % interval 67.8 % to
        73.6 %).'
        """
        return sentences(self.table, self.choices, self.rule, self.agreement, self.confidence)

    def to_frame(self) -> pl.DataFrame:
        """Give the table as a polars data frame."""
        return self.table.to_frame()

    def __getitem__(self, key: tuple[str, str]) -> Estimate:
        """Look a share up by what it is about and the choice."""
        return self.table[key]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        votes = plural(int(self.votes.sum()), "vote")
        return f"Preferences({self.systems[0]} and {self.systems[1]}, {votes})"

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def __rich__(self) -> Table:
        return self.table.__rich__()
