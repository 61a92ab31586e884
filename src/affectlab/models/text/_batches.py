"""Batches of texts of about the same length."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Ints

__all__ = ["by_length", "shuffled_batches"]

_POOL = 64
"""Batches that are sorted by length together: enough to save padding, and still well mixed."""


def shuffled_batches(lengths: ArrayLike, size: int, rng: np.random.Generator) -> list[Ints]:
    """Cut n texts into random batches of texts of about the same length.

    Texts are shuffled and cut into pools of 64 batches, each pool is sorted by length and cut into
    batches, and the batches are shuffled.

    Parameters
    ----------
    lengths
        Shape (n,).
    size
        Texts in a batch; the last pool may leave one smaller batch.

    Examples
    --------
    >>> found = shuffled_batches([3, 9, 3, 8], 2, np.random.default_rng(0))
    >>> sorted(sorted(batch.tolist()) for batch in found)
    [[0, 2], [1, 3]]
    """
    given = np.asarray(lengths)
    order = rng.permutation(len(given))
    pool = size * _POOL
    found: list[Ints] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(given[part], kind="stable")]
        found += [part[at : at + size] for at in range(0, len(part), size)]
    return [found[place] for place in rng.permutation(len(found))]


def by_length(lengths: ArrayLike, size: int) -> list[Ints]:
    """Cut texts into batches, the longest first, so that memory runs out at once or never."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    return [order[at : at + size] for at in range(0, len(order), size)]
