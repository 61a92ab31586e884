"""Bootstrap replicates and permutations of classifications, without a loop over items.

Items with the same true label and the same predictions are alike. How often each kind of item is
drawn in a bootstrap over items is multinomial, and how many of each kind trade their two
predictions in a permutation is binomial: a replicate costs as much as there are kinds of items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.arrays import blocks_of
from affectlab.core.inference import by_name, draw_weights
from affectlab.core.statistic import Clusters, Draws
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification.labels import Coded
from affectlab.evaluation.classification.tally import Tally, sums_of_cells, tally_of_sums

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FEW = 2
"""Units per cell up to which cells are not counted on the way to the sums."""
_CROWDED = 8
"""Items per kind of item from which on counts are drawn, and not items."""


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn: kinds of items, single items, or clusters of items."""

    coded: Coded
    cells: Ints
    """Cells of the confusions that any model uses, as ``true * k + predicted``."""
    adds: tuple[csr_array, ...]
    """Per model, shape (units, cells): what a unit adds to each cell."""
    times: Ints
    """How many alike units each one stands for, shape (units,)."""
    sums: Floats
    """What each cell adds to the sums, shape (cells, q)."""

    def tallies(self, weights: Floats) -> list[Tally]:
        """Sums of every model for weights of units, shape (b, units)."""
        facts = self.coded.facts
        if self.direct is not None:
            return [tally_of_sums(facts, weights @ each) for each in self.direct]
        return [tally_of_sums(facts, (weights @ added) @ self.sums) for added in self.adds]

    @cached_property
    def direct(self) -> tuple[Floats, ...] | None:
        """Per model what each unit adds to the sums, shape (units, q), where units are few."""
        if self.times.size > _FEW * self.cells.size:
            return None
        return tuple(added @ self.sums for added in self.adds)

    def left_out(self, model: int) -> Tally:
        """Sums of a model without one unit of each kind, shape (units,)."""
        each = np.asarray(self.adds[model] @ self.sums)
        total = self.times.astype(np.float64) @ each
        left = total - each
        # What rounding leaves of a sum that is gone is nothing.
        left[np.abs(left) < 1e-9 * np.maximum(np.abs(total), 1.0)] = 0.0
        return tally_of_sums(self.coded.facts, left)

    def draw(self, rng: np.random.Generator, n_boot: int) -> Iterator[Draws]:
        """Draw items in the place of items, and count those of each kind."""
        n_units, n = self.times.size, int(self.times.sum())
        for size in blocks_of(n_boot, max(n_units, self.cells.size)):
            if n >= _CROWDED * n_units:
                drawn = rng.multinomial(n, self.times / n, size=size).astype(np.float64)
                yield Draws(size, drawn)
            elif n == n_units:
                for weights in draw_weights(rng, n, size):
                    yield Draws(len(weights), weights)
            else:
                kind = np.repeat(np.arange(n_units), self.times)
                drawn = np.zeros((size, n_units))
                for row in drawn:
                    row[:] = np.bincount(kind[rng.integers(0, n, n)], minlength=n_units)
                yield Draws(size, drawn)


def units_of(coded: Coded, weights: Floats | None, clusters: Clusters | None) -> Units:
    """Gather the units that a bootstrap draws.

    Parameters
    ----------
    coded
        The labels.
    weights
        Weight of each item; items with weights are drawn one by one.
    clusters
        What items are drawn with; clusters are drawn whole.
    """
    from scipy.sparse import csr_array

    k = len(coded.facts.labels)
    n = coded.true.size
    cell_of = coded.true * k + coded.predicted
    if clusters is not None:
        unit, n_units = clusters.code, clusters.n
        times = np.ones(n_units, dtype=np.int64)
    elif weights is not None:
        unit, n_units, times = np.arange(n), n, np.ones(n, dtype=np.int64)
    else:
        # Kinds are numbered by the names of labels, whatever order a table gives these.
        place = np.empty(k, dtype=np.int64)
        place[by_name(coded.facts.labels)] = np.arange(k)
        first, unit, times = _kinds(place[coded.true] * k + place[coded.predicted])
        n_units = times.size
    cells = np.unique(cell_of)
    if weights is None and clusters is None:
        rows, kept, amount = np.arange(n_units), cell_of[:, first], np.ones(n_units)
    else:
        rows, kept = unit, cell_of
        amount = np.ones(n) if weights is None else weights
    adds = tuple(
        csr_array((amount, (rows, np.searchsorted(cells, cell))), shape=(n_units, cells.size))
        for cell in kept
    )
    return Units(coded, cells, adds, times, sums_of_cells(coded.facts, cells))


def _kinds(cell_of: Ints) -> tuple[Ints, Ints, Ints]:
    """Kinds of items: the first of each, the kind of every item, and how many there are."""
    n = cell_of.shape[1]
    code = np.zeros(n, dtype=np.int64)
    # In an order of the cells' own, so that kinds are numbered alike whichever model comes first.
    for cell in sorted(cell_of, key=lambda one: one.tolist()):
        _, place = np.unique(cell, return_inverse=True)
        _, code = np.unique(code * (n + 1) + place, return_inverse=True)
    _, first, unit, times = np.unique(
        code, return_index=True, return_inverse=True, return_counts=True
    )
    return first, unit, times


def swapped_tallies(
    units: Units, n_permutations: int, rng: np.random.Generator
) -> Iterator[tuple[Tally, Tally]]:
    """Sums of two models after trading their predictions on a random half of the units.

    Yields
    ------
    Blocks of permutations: the tallies of both, of shape (permutations,).
    """
    first, second = units.adds
    facts = units.coded.facts
    whole = units.times.astype(np.float64) @ first, units.times.astype(np.float64) @ second
    gap = (second - first).tocsr()
    gap.eliminate_zeros()
    apart = np.flatnonzero(np.diff(gap.indptr))
    gap, times = gap[apart], units.times[apart]
    for size in blocks_of(n_permutations, max(apart.size, units.cells.size)):
        moved = _swaps(times, size, rng) @ gap
        yield (
            tally_of_sums(facts, (whole[0] + moved) @ units.sums),
            tally_of_sums(facts, (whole[1] - moved) @ units.sums),
        )


def _swaps(times: Ints, size: int, rng: np.random.Generator) -> Floats:
    """How many of the alike units trade, each with probability 1/2; shape (size, units)."""
    swaps = np.empty((size, times.size))
    single = times == 1
    n_single = int(single.sum())
    bits = np.frombuffer(rng.bytes(-(-size * n_single // 8)), dtype=np.uint8)
    swaps[:, single] = np.unpackbits(bits)[: size * n_single].reshape(size, n_single)
    swaps[:, ~single] = rng.binomial(times[~single], 0.5, size=(size, times.size - n_single))
    return swaps
