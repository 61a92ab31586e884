"""Kappa of pairs of raters in every row of draws.

Quadratic kappa of two raters follows from sums of their answers, squares and products,

    kappa = (2 n Sxy - 2 Sx Sy) / (n (Sxx + Syy) - 2 Sx Sy),

so that it is enough to sum products of answers once over the columns that count alike in all rows,
and to add up these sums in each row. On a scale without steps the same formula is Lin's concordance
correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.types import Bools, Floats, Ints

_EXACT = 1 << 24
"""Whole numbers up to here are exact in single precision."""
_FEW_SHARED = 1 / 8
"""Share of the columns that pairs share, below which lists of them are faster than matrices."""
_SMALL = 1 << 14
"""Cells of a table up to which gaps do not matter for speed."""
_MOST_CELLS = 1 << 22
"""Pairs by rows that are held at once."""


@dataclass(frozen=True, eq=False)
class RaterPairs:
    """Pairs of raters of one table of answers.

    Examples
    --------
    >>> pairs = RaterPairs.of(np.array([[0.0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]]))
    >>> pairs.kappas(np.zeros(4, dtype=int), np.ones((1, 1))).ravel().round(3).tolist()
    [0.652, 0.969, 0.625]
    """

    table: Floats
    """Shape (raters, columns), ``nan`` where there is no answer; levels from 0 where answers have
    no order; best centred at 0 where they have no steps."""
    first: NDArray[np.int32]
    """The raters of each pair, shape (pairs,)."""
    second: NDArray[np.int32]
    shared: Ints
    """Columns that both answered, shape (pairs,)."""

    @classmethod
    def of(cls, table: Floats, n_people: int | None = None) -> RaterPairs:
        """Pair the first raters with each other, and each later one with all of these.

        Parameters
        ----------
        table
            Answers, shape (raters, columns).
        n_people
            How many raters meet each other; by default all. Of these, pairs without a shared column
            are left out.
        """
        n_people = len(table) if n_people is None else n_people
        there = ~np.isnan(table)
        first, second, shared = _who_meet(there[:n_people])
        if n_people < len(table):
            judged = np.repeat(np.arange(n_people, len(table)), n_people)
            person = np.tile(np.arange(n_people), len(table) - n_people)
            together = there[n_people:].astype(np.float32) @ there[:n_people].T.astype(np.float32)
            first, second = np.append(first, person), np.append(second, judged)
            shared = np.append(shared, together.ravel().astype(np.int64))
        return cls(table, first.astype(np.int32), second.astype(np.int32), shared)

    @cached_property
    def _there(self) -> Bools:
        return ~np.isnan(self.table)

    @cached_property
    def _listed(self) -> bool:
        """Whether pairs share so little that lists of what they share are faster."""
        few = self.shared.sum() < _FEW_SHARED * self.first.size * self.table.shape[1]
        return self.table.size > _SMALL and bool(few)

    @property
    def rows_at_once(self) -> int:
        """Rows of draws whose sums fit into memory."""
        return max(16, _MOST_CELLS // max(self.first.size, 1))

    def kappas(self, kind: Ints, weights: NDArray[Any], n_levels: int = 0) -> Floats:
        """Compute kappa of all pairs in some rows of draws, shape (pairs, rows).

        Parameters
        ----------
        kind
            The kind of each column, shape (columns,): columns of a kind count alike in every row.
        weights
            How often each kind counts, shape (rows, kinds).
        n_levels
            How many categories there are, without weights between them; 0 for quadratic kappa.

        Returns
        -------
        ``nan`` where both raters give one and the same answer throughout.
        """
        if n_levels:
            from affectlab.reliability.agreement.chance_corrected.kappa_kernels import nominal_lanes

            return self._from_lists(nominal_lanes, (n_levels,), weights[:, kind].T)
        if self._listed:
            from affectlab.reliability.agreement.chance_corrected.kappa_kernels import (
                quadratic_lanes,
            )

            return self._from_lists(quadratic_lanes, (), weights[:, kind].T)
        return self._from_products(kind, weights)

    @cached_property
    def _lists(self) -> tuple[Ints, NDArray[np.int32], Floats, Floats]:
        """Where the list of each pair starts, and shared columns with the two answers."""
        from affectlab.reliability.agreement.chance_corrected.kappa_kernels import list_shared

        where = np.concatenate([[0], np.cumsum(self.shared)]).astype(np.int64)
        column = np.empty(where[-1], dtype=np.int32)
        x, y = np.empty(where[-1]), np.empty(where[-1])
        start = np.concatenate([[0], np.cumsum(self._there.sum(axis=1))])
        answered = np.nonzero(self._there)[1].astype(np.int32)
        answers = start, answered, self.table[self._there]
        list_shared(*answers, self.first, self.second, where, column, x, y)
        return where, column, x, y

    def _from_lists(self, kernel: Any, options: tuple[int, ...], weights: NDArray[Any]) -> Floats:
        """Compute kappa, shape (pairs, rows), from weights of columns by rows."""
        from affectlab.core.compiled import LANES, in_threads

        lists = self._lists
        out = np.empty((self.first.size, weights.shape[1]))

        def lanes(first: int) -> None:
            block = np.ascontiguousarray(weights[:, first : first + LANES], dtype=np.float64)
            kappa = np.empty((self.first.size, block.shape[1]))
            kernel(*lists, *options, block, kappa)
            out[:, first : first + LANES] = kappa

        in_threads(lanes, range(0, weights.shape[1], LANES))
        return out

    def _from_products(self, kind: Ints, weights: NDArray[Any]) -> Floats:
        """Compute quadratic kappa from products of answers, summed by kind of column."""
        x = np.where(self._there, self.table, 0.0)
        whole = bool((x == np.rint(x)).all())
        exact = whole and x.shape[1] * max(float(np.abs(x).max(initial=0.0)), 1.0) ** 2 < _EXACT
        sides: NDArray[np.floating[Any]] = np.stack([x, self._there, x**2]).astype(
            np.float32 if exact else np.float64
        )
        n_kinds, n = weights.shape[1], len(x)
        ends = np.cumsum(np.bincount(kind, minlength=n_kinds))
        of_kind = np.split(np.argsort(kind, kind="stable"), ends[:-1])
        sums = np.empty((n_kinds, 5, self.first.size))
        for out, columns in zip(sums, of_kind, strict=True):
            part = sides[:, :, columns].reshape(3 * n, -1)
            # Answers and whether there are any, with these and with squares of answers.
            by = (part[: 2 * n] @ part.T).reshape(2, n, 3, n)
            out[0] = by[0, self.first, 0, self.second]
            out[1] = by[1, self.first, 1, self.second]
            out[2] = by[0, self.first, 1, self.second]
            out[3] = by[0, self.second, 1, self.first]
            out[4] = by[1, self.second, 2, self.first]
            out[4] += by[1, self.first, 2, self.second]
        shape = 5, self.first.size, len(weights)
        totals = (sums.reshape(n_kinds, -1).T @ weights.T.astype(np.float64)).reshape(shape)
        products, n_shared, of_first, of_second, squares = totals
        cross = 2.0 * of_first * of_second
        both = n_shared * squares
        spread = both - cross
        products = products * (2.0 * n_shared) - cross
        undefined = np.full(products.shape, np.nan)
        kappa: Floats = np.divide(products, spread, out=undefined, where=spread > 1e-12 * both)
        return kappa


def _who_meet(there: Bools) -> tuple[Ints, Ints, Ints]:
    """List the pairs of raters who share columns, and how many they share."""
    if there.size <= _SMALL or there.mean() > _FEW_SHARED:
        together = there.astype(np.float32)
        # Counts of columns are exact in single precision, as far as there are fewer than 2^24.
        shared = np.triu((together @ together.T).astype(np.int64), 1)
        first, second = np.nonzero(shared)
        return first, second, shared[first, second]
    from scipy.sparse import csr_array, triu

    answered = csr_array(there.astype(np.int64))
    meeting = triu(answered @ answered.T, k=1, format="csr").sorted_indices().tocoo()
    return meeting.row.astype(np.int64), meeting.col.astype(np.int64), meeting.data
