"""What every statistic does with arrays: read numbers, divide, find names, split replicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints


def as_floats(given: ArrayLike, expected: str) -> Floats:
    """Read numbers as floats; an array of floats is given back as it is.

    Raises
    ------
    InputError
        With the sentence `expected`, when they are not numbers.

    Examples
    --------
    >>> as_floats([1, 2], "weights: expected numbers")
    array([1., 2.])
    >>> as_floats(["a"], "weights: expected numbers")
    Traceback (most recent call last):
    affectlab.InputError: weights: expected numbers
    """
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(expected) from None


def ratio(above: Floats | Ints, below: Floats | Ints, otherwise: float = np.nan) -> Floats:
    """Divide; `otherwise` where the denominator is not above 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 2.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    shape = np.broadcast_shapes(above.shape, below.shape)
    value: Floats = np.divide(above, below, out=np.full(shape, otherwise), where=below > 0)
    return value


def places_in(known: Iterable[str], names: Iterable[str]) -> Ints:
    """Give the place of every name among the known ones, -1 where it is none of them.

    Examples
    --------
    >>> places_in(("joy", "fear"), ["fear", "awe"])
    array([ 1, -1])
    """
    place = {name: k for k, name in enumerate(known)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def names_of(what: str, names: Iterable[str] | None, n: int, each: str = "") -> tuple[str, ...]:
    """Give the names of n things, by default their numbers.

    Raises
    ------
    InputError
        When there are not n different ones; `what` they are called, and what `each` stands for.

    Examples
    --------
    >>> names_of("labels", None, 2), names_of("labels", ["joy", "awe"], 2)
    (('0', '1'), ('joy', 'awe'))
    >>> names_of("labels", ["joy", "joy"], 2, "one per column")
    Traceback (most recent call last):
    affectlab.InputError: labels ['joy', 'joy']: expected 2 different names, one per column
    """
    found = tuple(map(str, range(n) if names is None else names))
    if len(found) != n or len(set(found)) != n:
        more = f", {each}" if each else ""
        raise InputError(f"{what} {list(found)!r}: expected {n} different names{more}")
    return found


def rising(values: Floats, least: float = 0.0) -> tuple[NDArray[np.int32], Bools]:
    """Give the places of values by rising value, and where the next one is larger, or none is.

    Values that differ by no more than `least` count as equal.

    Examples
    --------
    >>> [part.tolist() for part in rising(np.array([3.0, 1.0, 3.0]))]
    [[1, 0, 2], [True, False, True]]
    """
    order = np.argsort(values, kind="stable").astype(np.int32)
    ordered = values[order]
    last = np.ones(order.size, dtype=np.bool_)
    last[:-1] = ordered[1:] > ordered[:-1] + least
    return order, last


def mean_of_defined(values: Floats, axis: int = 0, weights: Floats | None = None) -> Floats:
    """Average along an axis the values that are defined; ``nan`` where none is, or weighs anything.

    Examples
    --------
    >>> mean_of_defined(np.array([[1.0, np.nan], [3.0, np.nan]]))
    array([ 2., nan])
    """
    defined = ~np.isnan(values)
    used = defined if weights is None else weights * defined
    return ratio((used * np.where(defined, values, 0.0)).sum(axis=axis), used.sum(axis=axis))


def pearson(x: Floats, y: Floats) -> float:
    """Correlate two rows of numbers; ``nan`` for fewer than three pairs, or where one is constant.

    Examples
    --------
    >>> round(pearson(np.array([1.0, 2.0, 4.0]), np.array([2.0, 4.0, 8.0])), 6)
    1.0
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def weighted_quantile(values: Floats, weights: Floats, share: float) -> Floats:
    """Give a quantile of values, each counted as often as its weight says.

    Parameters
    ----------
    values
        Shape (n,).
    weights
        Whole numbers, shape (replicates, n).
    share
        In (0, 1); between two values the mean of both is taken.

    Returns
    -------
    Shape (replicates,), ``nan`` where all weights are 0.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([[1, 1, 1], [1, 1, 0]]), 0.5)
    array([2., 2.])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    below = np.cumsum(weights[:, order], axis=1)
    target = share * below[:, -1:]
    # Sums of whole numbers are exact; a share of them is so up to rounding.
    slack = 1e-9 * np.maximum(target, 1.0)
    last = ordered.size - 1
    lower = np.minimum((below < target - slack).sum(axis=1), last)
    upper = np.minimum((below <= target + slack).sum(axis=1), last)
    middle = (ordered[lower] + ordered[upper]) / 2
    found: Floats = np.where(below[:, -1] > 0, middle, np.nan)
    return found


def mixed_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of each word of 64 over all of it, as SplitMix64 does last.

    Examples
    --------
    >>> mixed_bits(np.array([0x9E3779B97F4A7C15], dtype=np.uint64))
    array([16294208416658607535], dtype=uint64)
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


_MOST_GAPS = 4
"""Possible codes per code up to which marking each in a table beats sorting."""


def distinct_codes(code: NDArray[np.integer[Any]], n: int) -> Ints:
    """Give the different codes, below `n`, rising; faster than sorting where most of them occur.

    Examples
    --------
    >>> distinct_codes(np.array([3, 0, 3]), 4)
    array([0, 3])
    """
    if n > _MOST_GAPS * code.size:
        return np.unique(code).astype(np.int64)
    seen = np.zeros(n, dtype=np.bool_)
    seen[code] = True
    return np.flatnonzero(seen)


def counted(code: Ints, n: int) -> tuple[Ints, Ints]:
    """Give the different codes, below `n`, rising, and how often each occurs.

    Examples
    --------
    >>> counted(np.array([3, 0, 3]), 4)
    (array([0, 3]), array([1, 2]))
    """
    if n > _MOST_GAPS * code.size:
        codes, times = np.unique(code, return_counts=True)
        return codes, times.astype(np.int64)
    times = np.bincount(code, minlength=n)
    codes = np.flatnonzero(times)
    return codes, times[codes]


def with_few_gaps(code: Ints, n: int) -> Ints:
    """Number codes anew where few of those below `n` occur, so that tables of them stay small.

    Examples
    --------
    >>> with_few_gaps(np.array([3, 0, 3]), 4), with_few_gaps(np.array([90, 0, 90]), 100)
    (array([3, 0, 3]), array([1, 0, 1]))
    """
    if n <= _MOST_GAPS * code.size:
        return code
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


_CLOSE = 256
"""Width within which whole numbers lie close together."""


def distinct(values: Floats) -> tuple[Floats, Ints]:
    """Distinct values, ascending, and the position of each value among them.

    Whole numbers that lie close together need no sort.
    """
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if values.size and high - low < _CLOSE:
        code = (values - low).astype(np.int64)
        if (code == values - low).all():
            there = np.bincount(code) > 0
            return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[code]
    known, code = np.unique(values, return_inverse=True)
    return known, code.astype(np.int64)


def blocks_of(total: int, width: int, most: int = 1 << 22) -> Iterator[int]:
    """Split a number of rows of this width into blocks of at most about `most` entries.

    Yields
    ------
    Rows of each block, one row at least.

    Examples
    --------
    >>> list(blocks_of(5, 10, most=20))
    [2, 2, 1]
    """
    rows = max(1, most // max(width, 1))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def sums_of_groups(values: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Add up the rows of each group, and count them, where they are defined.

    Parameters
    ----------
    values
        Shape (rows, columns), ``nan`` where there is nothing.
    group
        Code of the group of each row, shape (rows,).

    Returns
    -------
    Sums and counts, shape (groups, columns) each.

    Examples
    --------
    >>> rows = np.array([[1.0, np.nan], [2.0, 3.0]])
    >>> [part.tolist() for part in sums_of_groups(rows, np.array([0, 0]), 2)]
    [[[3.0, 3.0], [0.0, 0.0]], [[2, 1], [0, 0]]]
    """
    shape = (n_groups, values.shape[1])
    cell = (group[:, None] * shape[1] + np.arange(shape[1])).ravel()
    known = ~np.isnan(values).ravel()
    total = np.bincount(cell[known], values.ravel()[known], minlength=shape[0] * shape[1])
    count = np.bincount(cell[known], minlength=shape[0] * shape[1])
    return total.astype(np.float64).reshape(shape), count.astype(np.int64).reshape(shape)
