"""Means, ranks and correlations within groups, for many groups at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from affectlab.core.arrays import distinct, ratio, with_few_gaps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from affectlab.core.types import Floats, Ints


_TABLE = 1 << 24
_CONSTANT = 1e-12


def rounding_digits(largest: float) -> int:
    """Decimals that are kept of means of the others: 12 significant digits of the largest value.

    Equal means then tie exactly: ranks would otherwise be ordered by rounding noise.
    """
    return 12 - (int(np.floor(np.log10(largest))) + 1 if largest > 0 else 0)


def grouped_means(value: Floats, group: Ints, n_groups: int) -> tuple[Ints, Floats, Floats]:
    """Compute number, mean and standard deviation (divisor n - 1) within each group.

    Where there is no value, or one, what is not defined is ``nan``.

    Examples
    --------
    >>> n, mean, sd = grouped_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), 3)
    >>> n.tolist(), mean.tolist(), sd.round(3).tolist()
    ([2, 1, 0], [2.0, 5.0, nan], [1.414, nan, nan])
    """
    n = np.bincount(group, minlength=n_groups)
    total = np.bincount(group, value, n_groups)
    mean = ratio(total, n)
    squares = np.bincount(group, (value - mean[group]) ** 2, n_groups)
    sd = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
    return n, mean, sd


def sums_of_others(cell: Ints, rater: Ints, value: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Sum weights, and weighted answers, of other raters to the same cell, for every answer.

    Examples
    --------
    >>> cell, rater = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0])
    >>> n, total = sums_of_others(cell, rater, np.array([1.0, 2.0, 4.0, 3.0]), np.ones(4))
    >>> n.tolist(), total.tolist()
    ([2.0, 1.0, 1.0, 0.0], [6.0, 1.0, 1.0, 0.0])
    """
    n_raters = int(rater.max(initial=0)) + 1
    pair = with_few_gaps(cell * n_raters + rater, (int(cell.max(initial=0)) + 1) * n_raters)
    once = bool(np.bincount(pair).max(initial=0) <= 1)

    def of_others(part: Floats) -> Floats:
        own = part if once else np.bincount(pair, part)[pair]
        return np.asarray(np.bincount(cell, part)[cell] - own, dtype=np.float64)

    return of_others(weight), of_others(weight * value)


def grouped_midranks(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Rank values within each group, ties sharing their average rank.

    Few distinct values are ranked by counting; otherwise by one sort.

    Parameters
    ----------
    values, group
        Shape (n,); group codes below ``n_groups``.

    Returns
    -------
    Ranks from 1, shape (n,).
    """
    known, code = distinct(values)
    if known.size * n_groups <= max(_TABLE, values.size):
        counts = np.bincount(group * known.size + code, minlength=n_groups * known.size).reshape(
            n_groups, known.size
        )
        midranks = np.cumsum(counts, axis=1) - (counts - 1) / 2
        ranks: Floats = midranks[group, code]
        return ranks
    order = np.lexsort((code, group))
    sorted_group, sorted_code = group[order], code[order]
    new = np.concatenate([[True], (np.diff(sorted_group) != 0) | (np.diff(sorted_code) != 0)])
    start = np.flatnonzero(new)
    end = np.append(start[1:], values.size)
    of_group = np.searchsorted(sorted_group, np.arange(n_groups))
    midrank = (start + 1 + end) / 2 - of_group[sorted_group[start]]
    out = np.empty(values.size)
    out[order] = midrank[np.cumsum(new) - 1]
    return out


def grouped_pearson(x: Floats, y: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Compute the correlation of x and y within each group.

    Returns
    -------
    Correlations, ``nan`` where a group has fewer than two pairs or a constant side; and the number
    of pairs; both of shape (n_groups,).
    """
    n = np.bincount(group, minlength=n_groups)
    size = np.maximum(n, 1)
    a, b = (side - (np.bincount(group, side, n_groups) / size)[group] for side in (x, y))
    saa, sbb, sab = (np.bincount(group, product, n_groups) for product in (a * a, b * b, a * b))
    scale = np.sqrt(saa * sbb)
    value = np.divide(sab, scale, out=np.full(n_groups, np.nan), where=scale > _CONSTANT)
    return np.clip(value, -1, 1), n


def grouped_spearman(x: Floats, y: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Compute Spearman's correlation within each group, as :func:`grouped_pearson` does."""
    a, b = (grouped_midranks(side, group, n_groups) for side in (x, y))
    return grouped_pearson(a, b, group, n_groups)


def spearman_of_counts(tables: Floats | NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Compute Spearman's correlation of tables of counts, whose rows and columns ascend.

    Parameters
    ----------
    tables
        Shape (rows, columns, k).

    Returns
    -------
    Correlations, ``nan`` where a side is constant; and sums of counts; both of shape (k,).
    """
    n: Floats = np.asarray(tables.sum(axis=(0, 1)), dtype=np.float64)
    ranks, squares = [], []
    for counts in (tables.sum(axis=1), tables.sum(axis=0)):
        rank = np.cumsum(counts, axis=0) - (counts - 1) / 2 - (n + 1) / 2
        ranks.append(rank)
        squares.append((counts * rank**2).sum(axis=0))
    products = (np.einsum("ijk,jk->ik", tables, ranks[1]) * ranks[0]).sum(axis=0)
    size = np.sqrt(squares[0] * squares[1])
    rho = ratio(products, size)
    return np.clip(rho, -1, 1), n


# Interval of a rank correlation on Fisher's z scale.


def fisher_interval(value: Floats, n: Ints, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Standard error and interval of Spearman correlations.

    On the z scale the variance is (1 + rho^2 / 2) / (n - 3) (Bonett and Wright 2000,
    Psychometrika 65). With three pairs or fewer it is not known. For a correlation of -1 or 1 it is
    0, which :class:`~affectlab.core.estimates.Estimates` take for what it is.

    Returns
    -------
    Standard error (1 - rho^2 times that of z), lower and upper end; ``nan`` where not known.
    """
    known = (n > 3) & ~np.isnan(value)
    perfect = known & (np.abs(value) >= 1)
    rho = np.where(known & ~perfect, value, 0.0)
    se_z = np.sqrt((1 + rho**2 / 2) / np.maximum(n - 3, 1))
    z, half = np.arctanh(rho), ndtri((1 + confidence) / 2) * se_z
    ends = (1 - rho**2) * se_z, np.tanh(z - half), np.tanh(z + half)
    exact = np.zeros(value.shape), value, value
    se, low, high = (
        np.where(perfect, none, np.where(known, end, np.nan))
        for end, none in zip(ends, exact, strict=True)
    )
    return se, low, high
