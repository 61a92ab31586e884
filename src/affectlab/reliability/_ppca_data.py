"""Judgements of several raters on the same examples, split at random into halves."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Ratings

__all__ = ["Judgements", "Split", "judgements_of", "split_raters"]


@dataclass(frozen=True)
class Judgements:
    """One row per example and rater, sorted by example; examples and raters numbered anew."""

    example: Ints
    rater: Ints
    values: Floats
    """Shape (rows, labels)."""
    labels: tuple[str, ...]
    raters: tuple[str, ...]
    dropped: dict[str, int]
    """Rows left out, by reason, in the order in which the reasons were applied."""

    @property
    def starts(self) -> Ints:
        """First row of every example, and the number of rows."""
        n = int(self.example[-1]) + 1
        return np.searchsorted(self.example, np.arange(n + 1))


def judgements_of(ratings: Ratings, exclude: Collection[str], min_raters: int) -> Judgements:
    """Arrange ratings as one row of labels per example and rater, and drop rows.

    Dropped are, in this order, rows without an answer to every label, rows in which an excluded
    label is above zero, rows that are zero throughout, and examples with fewer than ``min_raters``
    rows left.

    Raises
    ------
    InputError
        If an excluded label is unknown, fewer than two labels remain, or no row is left.
    """
    if ratings.scale.kind == "text":
        raise InputError("expected numeric ratings, got ratings on a text scale")
    answers = ratings.answers()
    labels, n_raters = answers.label_names, answers.n_raters
    for name in exclude:
        if name not in labels and name != "neutral":
            raise unknown_name("label", name, labels, "exclude")
    out = np.array([name in exclude for name in labels], dtype=np.bool_)
    if len(labels) - out.sum() < 2:
        raise InputError(f"{len(labels) - out.sum()} label: expected two or more for components")
    key = answers.stimulus_code.astype(np.int64) * n_raters + answers.rater_code
    present = np.zeros(answers.n_stimuli * n_raters, dtype=np.bool_)
    present[key] = True
    rows = np.flatnonzero(present)
    place = np.cumsum(present, dtype=np.int32)[key] - 1
    values = np.full((rows.size, len(labels)), np.nan)
    # Of repeated answers the first counts: written last.
    values[place[::-1], answers.label_code[::-1]] = answers.value[::-1]
    dropped = {}

    def keep(kept: Any, reason: str) -> None:
        nonlocal rows, values
        dropped[reason] = int((~kept).sum())
        if dropped[reason]:
            rows, values = rows[kept], values[kept]

    keep(~np.any(np.isnan(values), axis=1), "incomplete")
    keep(~np.any(values[:, out] > 0, axis=1), "excluded label")
    values = np.ascontiguousarray(values[:, ~out])
    keep(np.any(values != 0, axis=1), "empty")
    example = rows // n_raters
    keep(np.bincount(example, minlength=1)[example] >= min_raters, "few raters")
    if not rows.size:
        reasons = ", ".join(f"{name} {count:,}" for name, count in dropped.items())
        raise InputError(
            f"no example has {min_raters} complete judgements (rows dropped: {reasons}); where "
            "only the chosen labels are listed, expected ratings.fill_absent(0)"
        )
    _, example = np.unique(rows // n_raters, return_inverse=True)
    known, rater = np.unique(rows % n_raters, return_inverse=True)
    return Judgements(
        example,
        rater,
        values,
        tuple(name for name, gone in zip(labels, out, strict=True) if not gone),
        tuple(answers.rater_names[k] for k in known),
        dropped,
    )


@dataclass(frozen=True)
class Split:
    """The rows of every example in a random order, and what halves of it need.

    With m rows in the order of an example, and one of them left out, the first
    h = (m - 1) // 2 of the others are one half.
    """

    data: Judgements
    position: Ints
    """Place of every row in the order of its example, shape (rows,)."""
    total: Floats
    """Sum over the rows of every example, shape (examples, labels)."""
    leading: Floats
    """Sum over the first h rows, shape (examples, labels)."""
    border: Floats
    """Row h, shape (examples, labels)."""
    m: Ints
    """Rows of every example."""

    def without(self, rows: Ints) -> tuple[Floats, Floats, Floats]:
        """Halves X and Y, and mean M, of the others on the examples of rows that are left out."""
        example = self.data.example[rows]
        own = self.data.values[rows]
        m = self.m[example][:, None]
        h = (m - 1) // 2
        rest = self.total[example] - own
        early = (self.position[rows][:, None] < h).astype(np.float64)
        first = self.leading[example] + early * (self.border[example] - own)
        return first / h, (rest - first) / (m - 1 - h), rest / (m - 1)

    def halves(self) -> tuple[Floats, Floats]:
        """Halves of all rows of every example, none left out."""
        m = self.m[:, None]
        h = m // 2
        # With an even number of rows the half is one row longer than with one left out.
        first = self.leading + np.where(h > (m - 1) // 2, self.border, 0.0)
        return first / h, (self.total - first) / (m - h)


def split_raters(data: Judgements, rng: np.random.Generator) -> Split:
    """Draw one random order of the rows of every example.

    The order is that of ``rng.random(rows)``. Whoever is left out, the others keep their order, so
    that one draw serves all raters.
    """
    order = np.lexsort((rng.random(data.example.size), data.example))
    starts = data.starts
    m = np.diff(starts)
    position = np.empty(order.size, dtype=np.int64)
    position[order] = np.arange(order.size) - starts[data.example]
    h = (m - 1) // 2
    ordered = data.values[order]
    total = np.add.reduceat(ordered, starts[:-1], axis=0)
    leading = np.zeros_like(total)
    for k in range(int(h.max())):
        inside = np.flatnonzero(k < h)
        leading[inside] += ordered[starts[inside] + k]
    return Split(data, position, total, leading, ordered[starts[:-1] + h], m)
