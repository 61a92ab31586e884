"""Scores of texts: one number each, and what is needed to read it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab._types import Bools, Floats, Ints
from affectlab._words import count, plural
from affectlab.errors import unknown_name
from affectlab.models.text._truncation import TruncatedTextWarning
from affectlab.models.text_metrics._item import TextItem

__all__ = [
    "OverReferences",
    "TextScores",
    "check_over",
    "names_of",
    "over_references",
    "warn_of_cut_items",
]

OverReferences: TypeAlias = Literal["mean", "max"]


@dataclass(frozen=True, eq=False)
class TextScores:
    """What a metric says of n texts."""

    metric: str
    """Its name, with model, direction and settings."""
    scores: Floats
    """Shape (n,)."""
    items: tuple[str, ...]
    """Names of the items; their numbers where they have none."""
    n_tokens: Ints
    """Tokens of the candidate as the model cuts it, marks of start and end included, before what
    is too long was cut off; shape (n,)."""
    n_reference_tokens: Ints
    """The most tokens of a reference; 0 where none is read; shape (n,)."""
    truncated: Bools
    """Whether the candidate or a reference is longer than the model reads; shape (n,)."""
    limit: int
    """Tokens that the model reads."""
    model: str
    """The checkpoint."""
    direction: str
    """From what to what it is computed."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Floats] = field(default_factory=dict)
    """Numbers that the score is made of, by the full names of metrics; each of shape (n,)."""

    @property
    def mean(self) -> float:
        """Mean over items, the score of a corpus; ``nan`` where there is none."""
        return float(self.scores.mean()) if len(self.scores) else float("nan")

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self, *, parts: bool = False) -> pl.DataFrame:
        """Give a tidy table: item, metric, score, n_tokens, n_reference_tokens, truncated.

        Parameters
        ----------
        parts
            Also what the score is made of, as metrics of their own.
        """

        def rows(name: str, values: Floats) -> pl.DataFrame:
            return pl.DataFrame(
                {
                    "item": list(self.items),
                    "metric": [name] * len(self),
                    "score": values,
                    "n_tokens": self.n_tokens,
                    "n_reference_tokens": self.n_reference_tokens,
                    "truncated": self.truncated,
                },
                schema_overrides={"item": pl.String, "metric": pl.String},
            )

        more = self.parts.items() if parts else ()
        return pl.concat([rows(self.metric, self.scores), *(rows(*one) for one in more)])


def names_of(items: Sequence[TextItem]) -> tuple[str, ...]:
    """Give the names of items for tables."""
    return tuple(item.item or str(place) for place, item in enumerate(items))


def check_over(over: str) -> None:
    """Refuse what is no way to bring several references together."""
    if over not in get_args(OverReferences):
        raise unknown_name("references", over, get_args(OverReferences))


def over_references(values: Floats, sizes: Ints, over: OverReferences) -> Floats:
    """Bring the values of several references of each item together.

    Parameters
    ----------
    values
        Shape (pairs,), item after item.
    sizes
        References of each item, 1 or more, shape (n,).

    Returns
    -------
    ndarray
        Shape (n,).

    Examples
    --------
    >>> over_references(np.array([1.0, 3.0, 5.0]), np.array([2, 1]), "mean")
    array([2., 5.])
    """
    if not len(sizes):
        return np.zeros(0)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if over == "max":
        largest: Floats = np.maximum.reduceat(values, start)
        return largest
    total: Floats = np.add.reduceat(values, start)
    return total / sizes


def warn_of_cut_items(metric: str, truncated: Bools, limit: int, longest: int) -> None:
    """Warn of items whose texts are not read to the end."""
    n = int(truncated.sum())
    if n:
        warnings.warn(
            f"{metric}: {count(n)} of {plural(len(truncated), 'item')} with a text longer than the "
            f"{count(limit)} tokens that the model reads (the longest has {count(longest)}); the "
            "rest of it is not read",
            TruncatedTextWarning,
            stacklevel=3,
        )
