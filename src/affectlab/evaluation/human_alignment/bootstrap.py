"""Which stimuli and which people enter each replicate of the two-way bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.inference import Target, by_name, draw_weights
from affectlab.core.types import Floats
from affectlab.core.words import option, plural

__all__ = [
    "Draws",
    "Spread",
    "columns_of",
    "draw",
    "mean_of_defined",
    "spread_of",
]

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
    target: Target
    n_groups: int = 0
    """Rows in which a group of stimuli is left out."""

    @property
    def resampled(self) -> str:
        """What tables of estimates call what was drawn."""
        return "units" if self.target == "stimuli" else self.target

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
        if self.target == "stimuli" or not self.n_boot:
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
    target: Target,
    seed: int | np.random.Generator | None,
) -> Draws:
    """Draw stimuli and people, each in the order of their names, however they are listed.

    Stimuli are drawn with replacement; so are people, once more where a draw holds a single
    person, since nobody else is then left to agree with. Two people or fewer are not drawn with
    ``"both"``.

    Raises
    ------
    InputError
        When ``n_boot`` is negative or 1, ``target`` is not known, or two people are to be drawn.
    """
    n_items, n_people = len(stimuli), len(persons)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    if target not in get_args(Target):
        raise unknown_name("target", str(target), get_args(Target))
    if n_boot == 1:
        raise InputError(
            f"{option('n_boot')} 1: one replicate has no spread; expected 0, or 2 "
            "and more (1,000 are usual)"
        )
    if target == "raters" and n_people < 3 and n_boot:
        raise InputError(
            f"target 'raters' with {plural(n_people, 'person', 'people')}: no others can be "
            "drawn from so few; "
            "expected three or more people, or target 'stimuli'"
        )
    rng = np.random.default_rng(seed)
    if n_people < 3 and target == "both":
        target = "stimuli"
    of_people = target != "stimuli" and n_boot > 0
    n_left_out = n_people if of_people else 0
    n_groups = min(n_items, _GROUPS) if of_people and target == "both" and n_items > 1 else 0
    before = 1 + n_left_out + n_groups
    n_rows = before + n_boot
    items = np.ones((n_rows, n_items), dtype=np.uint8)
    people = np.ones((n_rows, n_people), dtype=np.int32)
    people[np.arange(1, 1 + n_left_out), np.arange(n_left_out)] = 0
    if n_boot and target != "raters":
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
    return Draws(items, people, n_left_out, target, n_groups)


def _people(rng: np.random.Generator, n: int, n_boot: int) -> NDArray[np.int32]:
    drawn = np.zeros((n_boot, n), dtype=np.int32)
    open_rows = np.arange(n_boot)
    while open_rows.size and n > 1:
        chosen = rng.integers(0, n, size=(open_rows.size, n))
        drawn[open_rows] = 0
        np.add.at(drawn, (open_rows[:, None], chosen), 1)
        open_rows = open_rows[(drawn[open_rows] > 0).sum(axis=1) < 2]
    return drawn


# Standard errors and intervals from the rows of a two-way bootstrap.


_MOST_UNDEFINED = 0.1
"""Share of undefined replicates from which on there is no interval."""
_CONSTANT = 1e-12
"""Standard errors up to here are rounding noise of equal replicates."""


@dataclass(frozen=True)
class Spread:
    """Values with their uncertainty; every field has shape (k,)."""

    value: Floats
    se: Floats
    low: Floats
    high: Floats
    df: Floats
    """Degrees of freedom of the interval."""
    people_share: Floats
    """Share of the variance that is due to the choice of people."""
    resampled: str

    def clipped(self) -> Spread:
        """Keep the interval within [-1, 1]."""
        low, high = np.maximum(self.low, -1.0), np.minimum(self.high, 1.0)
        return Spread(self.value, self.se, low, high, self.df, self.people_share, self.resampled)


def spread_of(
    rows: Floats,
    draws: Draws,
    n_items: int,
    confidence: float,
    *,
    most_undefined: float = _MOST_UNDEFINED,
) -> Spread:
    r"""Give values, standard errors and intervals.

    Where stimuli and people are drawn at once, the variance V of the replicates is too large: what
    is due to the single answers, :math:`V_A`, is in it three times (Owen 2007). Leaving out each
    person in turn (the jackknife) gives the variance :math:`V_P` due to people and leaving out
    groups of stimuli :math:`V_S`, each with :math:`V_A` once; so :math:`V = V_P + V_S + V_A`, and

    .. math:: \widehat V = V_P + V_S - V_A = 2 (V_P + V_S) - V,

    as with errors that are clustered in two ways. It is kept between the larger of the two and V.
    Drawing P of P people with replacement shows only the part c = (P - 1)/P of :math:`V_P`, so
    :math:`(1 - c) V_P` is added to V. Intervals are :math:`\pm t` standard errors around the value:
    replicates hold fewer different people than the data, whose median is less good, so their middle
    lies too low. The degrees of freedom are Satterthwaite's, with P - 1 for :math:`V_P` and one
    less than the number of stimuli for the rest.

    Parameters
    ----------
    rows
        Statistics in every row of the draws, shape (k, rows).
    draws
        What was drawn.
    n_items
        Stimuli.
    confidence
        Coverage of the interval.
    most_undefined
        Share of undefined replicates from which on there is no interval.
    """
    value = rows[:, 0].copy()
    k = value.size
    unknown = np.full(k, np.nan)
    if not draws.n_boot:
        return Spread(value, unknown, unknown, unknown, unknown, unknown, "none")
    replicates = rows[:, draws.replicates]
    total = _variance(replicates)
    of_people = np.zeros(k)
    df = np.full(k, max(n_items - 1.0, 1.0))
    if draws.n_left_out:
        n = draws.n_left_out
        left_out = rows[:, draws.left_out]
        of_people = _variance(left_out) * (n - 1) ** 2 / n
        total = total + max(1.0 - draws.people_share, 0.0) * np.nan_to_num(of_people)
        total = _once(rows, draws, total, np.nan_to_num(of_people))
        people = np.clip(np.nan_to_num(of_people), 0.0, total)
        rest = total - people
        with np.errstate(divide="ignore", invalid="ignore"):
            df = total**2 / (people**2 / (n - 1) + rest**2 / max(n_items - 1, 1))
        of_people = people
    scarce = np.isnan(replicates).mean(axis=1) > most_undefined
    se = np.sqrt(total)
    constant = se <= _CONSTANT * np.maximum(np.abs(value), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = of_people / total
    hidden = scarce | constant | np.isnan(value)
    se, df, share = (np.where(hidden, np.nan, part) for part in (se, df, share))
    half = stdtrit(df, (1 + confidence) / 2) * se
    return Spread(value, se, value - half, value + half, df, share, draws.resampled)


def _once(rows: Floats, draws: Draws, total: Floats, of_people: Floats) -> Floats:
    """Take out of the variance of the replicates what it holds more than once."""
    n = draws.n_groups
    if not n:
        return total
    of_stimuli = np.nan_to_num(_variance(rows[:, draws.groups])) * (n - 1) ** 2 / n
    least = np.minimum(np.maximum(of_people, of_stimuli), total)
    corrected: Floats = np.clip(2.0 * (of_people + of_stimuli) - total, least, total)
    return corrected


def _variance(rows: Floats) -> Floats:
    """Variance over the last axis of the values that are defined."""
    defined = ~np.isnan(rows)
    n = defined.sum(axis=1)
    several = n > 1
    known = np.where(defined, rows, 0.0)
    mean = known.sum(axis=1) / np.maximum(n, 1)
    squares = np.where(defined, (rows - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return np.where(several, squares / np.maximum(n - 1, 1), np.nan)


def mean_of_defined(values: Floats, axis: int = 0) -> Floats:
    """Mean over an axis of the values that are defined."""
    defined = ~np.isnan(values)
    n = defined.sum(axis=axis)
    total = np.where(defined, values, 0.0).sum(axis=axis)
    mean: Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return mean


def columns_of(spreads: Sequence[Spread]) -> dict[str, Floats]:
    """Put values with their uncertainty one after the other, as columns of a table."""
    names = ("value", "se", "low", "high")
    return {name: np.concatenate([getattr(one, name) for one in spreads]) for name in names}
