"""Which stimuli and which people enter each replicate of the two-way bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab._hints import option
from affectlab._resampling import by_name, draw_weights
from affectlab._words import plural
from affectlab.errors import InputError, unknown_name

__all__ = ["Draws", "Resample", "draw"]

Resample: TypeAlias = Literal["both", "units", "raters"]

_GROUPS = 60
"""Groups of stimuli that are left out in turn, at most."""
_HELD = 1 << 24
"""Weights that are held as floating point numbers at once."""


@dataclass(frozen=True)
class Draws:
    """Rows of weights: the data as they are, parts of them left out in turn, then the replicates.

    First each person is left out, where people are resampled; then each group of stimuli, where
    both are.
    """

    items: NDArray[np.uint8]
    """How often each stimulus counts, shape (rows, stimuli)."""
    people: NDArray[np.int32]
    """How often each person counts, shape (rows, people)."""
    n_left_out: int
    """Rows in which a person is left out."""
    resample: Resample
    n_groups: int = 0
    """Rows in which a group of stimuli is left out."""

    @property
    def n_rows(self) -> int:
        """All rows."""
        return int(self.items.shape[0])

    @property
    def n_boot(self) -> int:
        """Replicates of the bootstrap."""
        return self.n_rows - 1 - self.n_left_out - self.n_groups

    @property
    def left_out(self) -> slice:
        """The rows in which a person is left out."""
        return slice(1, 1 + self.n_left_out)

    @property
    def groups(self) -> slice:
        """The rows in which a group of stimuli is left out."""
        return slice(1 + self.n_left_out, 1 + self.n_left_out + self.n_groups)

    @property
    def replicates(self) -> slice:
        """The rows of the bootstrap."""
        return slice(1 + self.n_left_out + self.n_groups, None)

    @cached_property
    def people_share(self) -> float:
        r"""How much of the variance due to people the replicates show, for a mean over people.

        With shares :math:`p_j` of the draws this is :math:`P\,E \sum_j (p_j - 1/P)^2`: (P - 1)/P
        for P draws from P people.
        """
        drawn = self.people[self.replicates].astype(np.float64)
        if self.resample == "units" or not self.n_boot:
            return 1.0
        share = drawn / drawn.sum(axis=1, keepdims=True)
        n = drawn.shape[1]
        return float(n * ((share - 1 / n) ** 2).sum(axis=1).mean())

    def blocks(self, least: int = 1 << 30) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Give the weights of stimuli in blocks of rows, shape (stimuli, rows of the block).

        Parameters
        ----------
        least
            Rows of a block at most.
        """
        size = min(least, self._at_once)
        if size >= self.n_rows:
            yield slice(0, self.n_rows), self._turned
            return
        for start in range(0, self.n_rows, size):
            rows = slice(start, min(start + size, self.n_rows))
            yield rows, np.ascontiguousarray(self.items[rows].T, dtype=np.float32)

    @property
    def _at_once(self) -> int:
        return max(16, _HELD // max(int(self.items.shape[1]), 1))

    def prepare(self) -> None:
        """Turn the weights once, before several threads ask for them."""
        if self._at_once >= self.n_rows:
            _ = self._turned

    @cached_property
    def _turned(self) -> NDArray[np.float32]:
        return np.ascontiguousarray(self.items.T, dtype=np.float32)


def draw(
    stimuli: Sequence[str],
    persons: Sequence[str],
    n_boot: int,
    resample: Resample,
    seed: int | np.random.Generator | None,
) -> Draws:
    """Draw stimuli and people, each in the order of their names, however they are listed.

    Stimuli are drawn with replacement; so are people, once more where a draw holds a single
    person, since nobody else is then left to agree with. Two people or fewer are not drawn with
    ``"both"``.

    Raises
    ------
    InputError
        When ``n_boot`` is negative or 1, ``resample`` is not known, or two people are to be drawn.
    """
    n_items, n_people = len(stimuli), len(persons)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    if resample not in ("both", "units", "raters"):
        raise unknown_name("resample", str(resample), ("both", "units", "raters"))
    if n_boot == 1:
        raise InputError(
            f"{option('n_boot')} 1: one replicate has no spread; expected 0, or 2 "
            "and more (1,000 are usual)"
        )
    if resample == "raters" and n_people < 3 and n_boot:
        raise InputError(
            f"resample 'raters' with {plural(n_people, 'person', 'people')}: no others can be "
            "drawn from so few; "
            "expected three or more people, or resample 'units'"
        )
    rng = np.random.default_rng(seed)
    if n_people < 3 and resample == "both":
        resample = "units"
    of_people = resample != "units" and n_boot > 0
    n_left_out = n_people if of_people else 0
    n_groups = min(n_items, _GROUPS) if of_people and resample == "both" and n_items > 1 else 0
    before = 1 + n_left_out + n_groups
    n_rows = before + n_boot
    items = np.ones((n_rows, n_items), dtype=np.uint8)
    people = np.ones((n_rows, n_people), dtype=np.int32)
    people[np.arange(1, 1 + n_left_out), np.arange(n_left_out)] = 0
    if n_boot and resample != "raters":
        at, columns = before, by_name(stimuli)
        for block in draw_weights(rng, n_items, n_boot):
            items[at : at + len(block), columns] = np.minimum(block, 255)
            at += len(block)
    if of_people:
        people[before:, by_name(persons)] = _people(rng, n_people, n_boot)
    if n_groups:
        # At random: stimuli often stand in a regular order.
        group = rng.permutation(n_items) % n_groups
        items[1 + n_left_out + group, by_name(stimuli)] = 0
    return Draws(items, people, n_left_out, resample, n_groups)


def _people(rng: np.random.Generator, n: int, n_boot: int) -> NDArray[np.int32]:
    drawn = np.zeros((n_boot, n), dtype=np.int32)
    open_rows = np.arange(n_boot)
    while open_rows.size and n > 1:
        chosen = rng.integers(0, n, size=(open_rows.size, n))
        drawn[open_rows] = 0
        np.add.at(drawn, (open_rows[:, None], chosen), 1)
        open_rows = open_rows[(drawn[open_rows] > 0).sum(axis=1) < 2]
    return drawn
