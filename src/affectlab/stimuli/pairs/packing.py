"""Blocks of pairs put into batches that people are given as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError

__all__ = ["pack_blocks"]


def pack_blocks(
    groups: Sequence[Sequence[str]],
    n_batches: int,
    *,
    must_hold: Sequence[str] = (),
    seed: int | np.random.Generator = 0,
) -> NDArray[np.int64]:
    """Deal blocks into batches of nearly equal numbers, with something of every group in each.

    Blocks are sorted by their groups, in random order within them, and dealt round like cards: so
    each batch gets nearly the same number of each group. Where a group that must be in every batch
    is missing from one, two batches exchange a block.

    Parameters
    ----------
    groups
        For each block the groups that it belongs to, such as its actor and its kind; the last one
        is sorted by first.
    n_batches
        Number of batches.
    must_hold
        Groups of which each batch holds at least one block.
    seed
        Draws the order of blocks within groups and of the batches.

    Returns
    -------
    numpy.ndarray
        Batch of each block, from 0; sizes differ by at most one block.

    Raises
    ------
    InputError
        When there are more batches than blocks, or a group has too few blocks, or no exchange
        brings each group into each batch.

    Examples
    --------
    >>> blocks = [("ann", "intra")] * 4 + [("ben", "inter")] * 6
    >>> batch = pack_blocks(blocks, 2, must_hold=["ann", "ben", "intra"])
    >>> sorted(batch.tolist())
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    """
    if not 1 <= n_batches <= len(groups):
        raise InputError(
            f"n_batches = {n_batches}: expected 1 to the number of blocks, {len(groups)}"
        )
    members = {name: np.array([name in block for block in groups]) for name in must_hold}
    for name, inside in members.items():
        if inside.sum() < n_batches:
            raise InputError(
                f"each of {n_batches:,} batches shall hold a block of {name}, which has "
                f"{int(inside.sum()):,} blocks: make at most so many batches"
            )
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(groups))
    order = sorted(shuffled.tolist(), key=lambda block: tuple(reversed(groups[block])))
    batch = np.empty(len(groups), dtype=np.int64)
    batch[order] = np.arange(len(groups)) % n_batches
    _exchange(batch, members, n_batches)
    renamed: NDArray[np.int64] = rng.permutation(n_batches)[batch]
    return renamed


def _exchange(
    batch: NDArray[np.int64], members: dict[str, NDArray[np.bool_]], n_batches: int
) -> None:
    """Exchange blocks until each batch holds each group."""
    if not members:
        return
    table = np.array(list(members.values()))
    counts = np.array([np.bincount(batch[row], minlength=n_batches) for row in table])
    for group, name in enumerate(members):
        for empty in np.flatnonzero(counts[group] == 0):
            if not _exchange_into(batch, table, counts, group, int(empty)):
                raise InputError(
                    f"no exchange of blocks brings one of {name} into every batch together with "
                    f"the other groups; make fewer than {n_batches:,} batches"
                )


def _exchange_into(
    batch: NDArray[np.int64],
    table: NDArray[np.bool_],
    counts: NDArray[np.int64],
    group: int,
    empty: int,
) -> bool:
    """Give a batch a block of a group, taking one that it can spare; False when nobody can."""
    spared = [
        block
        for block in np.flatnonzero(batch == empty)
        if (counts[table[:, block], empty] > 1).all()
    ]
    for block in np.flatnonzero(table[group]):
        giver = batch[block]
        if counts[group, giver] < 2:
            continue
        for other in spared:
            after = counts[:, giver] - table[:, block] + table[:, other]
            lost = (counts[:, giver] > 0) & (after == 0)
            if not lost.any():
                counts[:, empty] += table[:, block].astype(int) - table[:, other]
                counts[:, giver] = after
                batch[block], batch[other] = empty, giver
                return True
    return False
