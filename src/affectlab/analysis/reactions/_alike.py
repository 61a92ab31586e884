"""Which texts are alike: all pairs above a threshold, without comparing all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from affectlab._types import Floats, Ints

__all__ = ["alike", "runs"]

_PRODUCT = 2_000_000
"""Pairs that a block of texts may at most have in common with all others, about."""
_AT_ONCE = 20_000
"""Pairs of texts whose runs are compared at once."""
_LANES = 4
"""Words of 64 bits in the signature of a text."""
_EDGE = 1e-9
"""What rounding may add to a product that must just reach a whole number."""


def runs(text: str, n: int) -> frozenset[str]:
    """Give the runs of n characters of a text with a space at both ends."""
    padded = f" {text} "
    return frozenset(padded[k : k + n] for k in range(max(len(padded) - n + 1, 1)))


def _table(texts: Sequence[frozenset[str]]) -> Any:
    """Give a sparse table of 0 and 1: texts by runs, the rarest run first."""
    from scipy.sparse import csr_array

    codes: dict[str, int] = {}
    indices = [codes.setdefault(run, len(codes)) for found in texts for run in sorted(found)]
    ends = np.concatenate([[0], np.cumsum([len(found) for found in texts], dtype=np.int64)])
    # Columns from the rarest run on, so that the first entries of a row are its rarest ones.
    rank = np.empty(len(codes), dtype=np.int64)
    order = np.argsort(np.bincount(indices, minlength=len(codes)), kind="stable")
    rank[order] = np.arange(len(codes))
    table = csr_array(
        (np.ones(len(indices), dtype=np.int32), rank[indices].astype(np.int32), ends),
        shape=(len(texts), max(len(codes), 1)),
    )
    table.sort_indices()
    return table


def alike(texts: Sequence[frozenset[str]], threshold: float) -> tuple[Ints, Ints, Floats]:
    r"""Find which sets are joined by pairs whose similarity reaches a threshold.

    With :math:`|A| \le |B|` and :math:`|A \cap B| / |A \cup B| \ge t` the two share one of the
    :math:`|A| - \lceil 2 t |A| / (1 + t) \rceil + 1` rarest runs of A and of the
    :math:`|B| - \lceil t |B| \rceil + 1` rarest of B, :math:`|A| \ge t |B|`, and no more than
    :math:`(|A| + |B|) (1 - t) / (1 + t)` bits of their signatures differ. Only pairs that pass all
    three, and are not joined yet by others, are compared: none that would join two groups is lost,
    and a thousand copies of one text give a thousand pairs, no million.

    Returns
    -------
    tuple of arrays
        Places of the two, the earlier one first, and their similarity, shape (p,).
    """
    if len(texts) < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    # From the smallest set on, so that those that may be alike stand in one stretch.
    order = np.argsort([len(found) for found in texts], kind="stable")
    table = _table([texts[k] for k in order])
    sizes = np.diff(table.indptr).astype(np.int64)
    asked = _rarest(table, sizes, np.ceil(threshold * sizes - _EDGE))
    kept = _rarest(table, sizes, np.ceil(2 * threshold / (1 + threshold) * sizes - _EDGE))
    signatures = _signatures(table)
    groups = np.arange(len(texts), dtype=np.int64)
    found: list[tuple[Ints, Ints, Floats]] = []
    for start, end in _blocks(asked, kept):
        small, large, ahead = _candidates(sizes, signatures, asked, kept, start, end, threshold)
        while len(small):
            one, two = small[:ahead], large[:ahead]
            small, large, ahead = small[ahead:], large[ahead:], _AT_ONCE
            both = _in_common(table, one, two)
            similarity = both / (sizes[one] + sizes[two] - both)
            near = similarity >= threshold - 1e-12
            if near.any():
                found.append((one[near], two[near], similarity[near]))
                groups = _joined(groups, one[near], two[near])
                apart = groups[small] != groups[large]
                small, large = small[apart], large[apart]
    ones, others = (
        order[np.concatenate([one[k] for one in found], dtype=np.int64)]
        if found
        else np.empty(0, dtype=np.int64)
        for k in (0, 1)
    )
    alikeness = np.concatenate([one[2] for one in found]) if found else np.empty(0)
    return np.minimum(ones, others), np.maximum(ones, others), alikeness


def _joined(groups: Ints, ones: Ints, others: Ints) -> Ints:
    """Groups after pairs of members of theirs were joined."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(groups)
    links = (np.ones(len(ones), dtype=bool), (groups[ones], groups[others]))
    new = connected_components(coo_array(links, shape=(n, n)), directed=False)[1]
    joined: Ints = new[groups].astype(np.int64)
    return joined


def _rarest(table: Any, sizes: Ints, shared: Floats) -> Any:
    """The first entries of each row, of which two must have one in common to share so many."""
    from scipy.sparse import csr_array

    wanted = sizes - shared.astype(np.int64) + 1
    place = np.arange(table.nnz) - np.repeat(table.indptr[:-1], sizes)
    first = place < np.repeat(wanted, sizes)
    ends = np.concatenate([[0], np.cumsum(wanted)])
    return csr_array((table.data[first], table.indices[first], ends), shape=table.shape)


def _blocks(asked: Any, kept: Any) -> list[tuple[int, int]]:
    """Stretches of rows, each of which meets a bounded number of others."""
    holders = np.bincount(kept.indices, minlength=kept.shape[1])
    met = np.concatenate([[0], np.cumsum(holders[asked.indices])])[asked.indptr]
    blocks, start = [], 0
    while start < asked.shape[0]:
        end = int(np.searchsorted(met, met[start] + _PRODUCT, side="right")) - 1
        end = max(end, start + 1)
        blocks.append((start, end))
        start = end
    return blocks


def _candidates(
    sizes: Ints,
    signatures: np.ndarray[Any, np.dtype[np.uint64]],
    asked: Any,
    kept: Any,
    start: int,
    end: int,
    threshold: float,
) -> tuple[Ints, Ints, int]:
    """Pairs that may be alike, whose larger set is in a stretch of rows.

    The likeliest one of each row comes first; how many these are is the last that is given.
    """
    first = int(np.searchsorted(sizes, threshold * sizes[start] - _EDGE))
    shared = (asked[start:end] @ kept[first:end].T).tocoo()
    large = shared.row.astype(np.int64) + start
    small = shared.col.astype(np.int64) + first
    may = (small < large) & (sizes[small] >= threshold * sizes[large] - _EDGE)
    small, large = small[may], large[may]
    differ = np.zeros(len(small), dtype=np.int64)
    for lane in signatures:
        differ += np.bitwise_count(lane[small] ^ lane[large])
    most = (sizes[small] + sizes[large]) * ((1 - threshold) / (1 + threshold)) + _EDGE
    likely = differ <= most
    small, large, differ = small[likely], large[likely], differ[likely]
    if not len(large):
        return small, large, 0
    # A product has its rows one after the other.
    starts = np.flatnonzero(np.diff(large, prepend=-1))
    least = np.repeat(np.minimum.reduceat(differ, starts), np.diff(starts, append=len(large)))
    best = np.flatnonzero(differ == least)
    best = best[np.diff(large[best], prepend=-1) != 0]
    rest = np.ones(len(large), dtype=bool)
    rest[best] = False
    order = np.concatenate([best, np.flatnonzero(rest)])
    return small[order], large[order], len(best)


def _signatures(table: Any) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Bits of each row, shape (lanes, rows); a run sets the same one wherever it stands."""
    bits = 64 * _LANES
    held = np.zeros((table.shape[0], bits), dtype=bool)
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    held[row, table.indices % bits] = True
    return np.ascontiguousarray(np.packbits(held, axis=1).view(np.uint64).T)


def _in_common(table: Any, ones: Ints, others: Ints) -> Floats:
    """How many runs rows of a table share, two by two."""
    parts = [
        np.asarray(table[ones[k : k + _AT_ONCE]].multiply(table[others[k : k + _AT_ONCE]]).sum(1))
        for k in range(0, len(ones), _AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.float64) if parts else np.empty(0)
