"""Whole numbers for shares, and values dealt so that every part of a list has its share of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError

__all__ = ["deal", "largest_remainder"]


def largest_remainder(weights: ArrayLike, total: int) -> NDArray[np.int64]:
    """Share out a whole number in proportion to weights (Hamilton's method).

    Each share is rounded down; what is left goes to the largest remainders, of equal ones to the
    first.

    Parameters
    ----------
    weights
        Shape (k,): not negative, with a positive sum.
    total
        What is shared out, 0 or more.

    Returns
    -------
    numpy.ndarray
        Shape (k,): whole numbers that add up to `total`, each within 1 of its exact share.

    Raises
    ------
    InputError
        When there are no weights, one is negative or not a number, or all are 0.

    Examples
    --------
    >>> largest_remainder([0.45, 0.45, 0.10], 1_700).tolist()
    [765, 765, 170]
    >>> largest_remainder([1, 1, 1], 203_201).tolist()
    [67734, 67734, 67733]
    """
    given = np.atleast_1d(np.asarray(weights, dtype=float))
    if given.ndim != 1 or not given.size or not (given >= 0).all() or not 0 < given.sum() < np.inf:
        raise InputError(
            f"weights {np.asarray(weights).tolist()}: expected numbers of 0 or more with a sum "
            "above 0"
        )
    if total < 0:
        raise InputError(f"total = {total}: expected 0 or more")
    exact = given / given.sum() * total
    # Shares such as 0.45 are not exact in binary: a remainder of almost 1 is a whole one.
    floor = np.floor(exact + 1e-9)
    quotas: NDArray[np.int64] = floor.astype(np.int64)
    rest = np.round(exact - floor, 9)
    quotas[np.argsort(-rest, kind="stable")[: total - int(quotas.sum())]] += 1
    return quotas


def deal(quotas: Sequence[int] | NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Spread values over a list, each as often as its quota says and as evenly as can be.

    Each value takes places at equal distances, those of different values beside each other in
    random order. So any stretch of the list has nearly its share of every value.

    Parameters
    ----------
    quotas
        Shape (k,): how often each value occurs.
    rng
        Draws where each value begins.

    Returns
    -------
    numpy.ndarray
        Shape (sum of quotas,): values 0 to k - 1.

    Examples
    --------
    >>> import numpy as np
    >>> dealt = deal([6, 3], np.random.default_rng(0))
    >>> [np.bincount(part, minlength=2).tolist() for part in dealt.reshape(3, 3)]
    [[2, 1], [2, 1], [2, 1]]
    """
    counts = np.asarray(quotas, dtype=np.int64)
    value = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    # Midpoints of equal stretches; a little shift, the same for all of a value, parts the equal.
    shift = rng.uniform(-0.01, 0.01, len(counts))
    at = (number + 0.5 + shift[value]) / counts[value]
    dealt: NDArray[np.int64] = value[np.argsort(at, kind="stable")]
    return dealt
