"""Trials of simulated sessions of differences: who sees which pair, in which order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.arrays import mixed_bits
from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints

# Chance without memory: numbers that are a function of what they are for.
#
# What a person says of a pair must be the same however many other sessions are simulated beside
# it, and the part of it that is stable the same whenever the pair comes back. A generator would
# need to be asked in one order; a hash of the names can be asked in any.


_Words = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Chance:
    """Uniform and normal numbers by keys; the same seed, purpose and keys give the same number.

    Keys are whole numbers or arrays of them that broadcast. The mixing function is that of
    SplitMix64 (Steele, Lea and Flood, 2014), applied once more for each key.
    """

    def __init__(self, seed: int) -> None:
        self._seed = np.array(seed % 2**64, dtype=np.uint64)

    def uniform(self, purpose: int, *keys: NDArray[np.integer] | int) -> Floats:
        """Give numbers between 0 and 1, both left out."""
        # Arithmetic of unsigned words wraps round; numpy says so for single words.
        with np.errstate(over="ignore"):
            word = _mixed(self._seed + np.uint64(purpose) * _STEP)
            for key in keys:
                word = _mixed(word ^ (np.asarray(key).astype(np.uint64) * _STEP))
        found: Floats = ((word >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return found

    def normal(self, purpose: int, *keys: NDArray[np.integer] | int) -> Floats:
        """Give standard normal numbers."""
        from scipy.special import ndtri

        found: Floats = ndtri(self.uniform(purpose, *keys))
        return found


def _mixed(word: _Words) -> _Words:
    return mixed_bits(word + _STEP)


KINDS = ("main", "golden", "repeat")
_WHEN, _AGAIN, _LATER = 11, 12, 13
_BELOW_ONE = 1.0 - 1e-7


@dataclass(frozen=True, eq=False)
class Batches:
    """Which pairs each batch holds."""

    names: tuple[str, ...]
    start: Ints
    """Where the pairs of each batch begin in `pairs`, one entry more than batches."""
    pairs: Ints
    """Rows of the table of pairs, batch by batch."""

    @classmethod
    def of(cls, pairs: pl.DataFrame) -> Batches:
        """Read the column ``batch``; without one all pairs are one batch."""
        if "batch" not in pairs.columns:
            return cls(("1",), np.array([0, pairs.height]), np.arange(pairs.height))
        given = pairs["batch"].cast(pl.String)
        if given.null_count():
            row = int(given.is_null().arg_max() or 0)
            raise InputError(f"pairs, row {row + 1}: batch is empty; expected a name")
        names = given.unique(maintain_order=True)
        code = given.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
        order = np.argsort(code, kind="stable")
        start = np.searchsorted(code[order], np.arange(len(names) + 1))
        return cls(tuple(names.to_list()), start, order)

    @property
    def sizes(self) -> Ints:
        """Number of pairs of each batch."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class DifferenceTrials:
    """Trials in the order in which each session showed them; one entry per trial."""

    session: Ints
    pair: Ints
    """Row of the table of pairs; golden pairs count on behind them."""
    kind: Ints
    """Position in :data:`KINDS`."""
    number: Ints
    """Place in the session, from 1."""


def difference_trials(
    rater: Ints, batch: Ints, batches: Batches, golden: int, repeats: int, chance: Chance
) -> DifferenceTrials:
    """Show each session its batch, every golden pair, and some pairs again, in an own order.

    Raises
    ------
    InputError
        When a batch has fewer pairs than shall be repeated.
    """
    sizes, n_pairs, n = batches.sizes, len(batches.pairs), len(rater)
    if repeats > sizes.min():
        raise InputError(
            f"repeats = {repeats}: a batch has {int(sizes.min())} pairs; expected at most as many"
        )
    counts = sizes[batch]
    begin = np.concatenate([[0], np.cumsum(counts)])
    main = np.repeat(np.arange(n), counts)
    pair = batches.pairs[
        np.arange(begin[-1]) + np.repeat(batches.start[batch] - begin[:-1], counts)
    ]
    when = chance.uniform(_WHEN, rater[main], pair, batch[main])
    sessions, pairs, times = [main], [pair], [when]
    if golden:
        own = np.repeat(np.arange(n), golden)
        shown = n_pairs + np.tile(np.arange(golden), n)
        sessions.append(own)
        pairs.append(shown)
        times.append(chance.uniform(_WHEN, rater[own], shown, batch[own]))
    if repeats:
        drawn = np.argsort(main + _BELOW_ONE * chance.uniform(_AGAIN, rater[main], pair))
        chosen = drawn[(begin[:-1, None] + np.arange(repeats)).ravel()]
        later = chance.uniform(_LATER, rater[main[chosen]], pair[chosen])
        sessions.append(main[chosen])
        pairs.append(pair[chosen])
        times.append(when[chosen] + (1.0 - when[chosen]) * later)
    kind = np.repeat([0, *([1] * bool(golden)), *([2] * bool(repeats))], [len(p) for p in pairs])
    session = np.concatenate(sessions)
    order = np.argsort(session + _BELOW_ONE * np.concatenate(times))
    session = session[order]
    number = np.arange(len(session)) - np.searchsorted(session, np.arange(n))[session] + 1
    return DifferenceTrials(session, np.concatenate(pairs)[order], kind[order], number)


def deal_sessions(
    n_batches: int, n_people: int, n_raters: int, most: int | None, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Give each batch `n_raters` different people, and all people nearly equally many batches.

    Returns
    -------
    Person and batch of each session.

    Raises
    ------
    InputError
        When there are too few people.
    """
    if not 1 <= n_raters <= n_people:
        raise InputError(
            f"n_raters = {n_raters}: expected 1 to the number of people, {n_people}; nobody rates "
            "a batch twice"
        )
    if most is not None and n_batches * n_raters > most * n_people:
        raise InputError(
            f"{n_batches:,} batches of {n_raters} raters are more than {n_people:,} people may "
            f"rate with at most {most} each; expected more people"
        )
    load: Floats = np.zeros(n_people)
    people = np.empty((n_batches, n_raters), dtype=np.int64)
    for batch in range(n_batches):
        people[batch] = np.argsort(load + rng.random(n_people))[:n_raters]
        load[people[batch]] += 1.0
    return people.ravel(), np.repeat(np.arange(n_batches), n_raters)
