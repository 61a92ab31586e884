"""Correlations of the columns of a table, and of its bootstrap samples, from weighted moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from affectlab._resampling import draw_weights
from affectlab._types import Bools, Floats, Ints

__all__ = ["pearson", "spearman", "weight_blocks"]

_TOLERANCE = 1e-12
"""Spread, relative to the largest value, below which a column counts as constant."""
_BLOCK = 1 << 22
"""Entries of a matrix of products that are held at once."""


def weight_blocks(rng: np.random.Generator, counts: Ints, n_boot: int) -> Iterator[Floats]:
    """Draw how often each kind of stimulus enters each bootstrap sample of all stimuli.

    Parameters
    ----------
    counts
        Stimuli of each kind, shape (k,).

    Yields
    ------
    Blocks of shape (replicates, k), ``n_boot`` rows in all, that sum to the number of stimuli.
    """
    n = int(counts.sum())
    if n == counts.size:
        yield from draw_weights(rng, n, n_boot)
        return
    rows = max(1, _BLOCK // counts.size)
    for start in range(0, n_boot, rows):
        size = min(rows, n_boot - start)
        yield rng.multinomial(n, counts / n, size=size).astype(np.float64)


def pearson(values: Floats, weights: Floats, first: Ints, second: Ints) -> Floats:
    """Correlate pairs of columns over the rows that both have, for each row of weights.

    Parameters
    ----------
    values
        Shape (n, L), ``nan`` where missing.
    weights
        How often each row counts, shape (B, n).
    first, second
        Columns of each pair, shape (P,).

    Returns
    -------
    Shape (B, P), ``nan`` where a column is constant or fewer than two rows are shared.
    """
    present = ~np.isnan(values)
    sizes = np.nanmax(np.abs(values), axis=0, initial=0.0, where=present)
    centre = np.where(present, values, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    x = np.where(present, values - centre, 0.0)
    limit_a, limit_b = (_TOLERANCE * (1 + sizes[at]) ** 2 for at in (first, second))
    if present.all():
        n = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
        own = weights @ x
        squares = weights @ (x * x) - own**2 / n
        mean_a, mean_b = own[:, first], own[:, second]
        both = _products(weights, x, x, first, second) - mean_a * mean_b / n
        return _ratio(both, squares[:, first], squares[:, second], n, limit_a, limit_b)
    m = present.astype(np.float64)
    n = _products(weights, m, m, first, second)
    safe = np.maximum(n, 1.0)
    mean_a = _products(weights, x, m, first, second)
    mean_b = _products(weights, m, x, first, second)
    both = _products(weights, x, x, first, second) - mean_a * mean_b / safe
    square_a = _products(weights, x * x, m, first, second) - mean_a**2 / safe
    square_b = _products(weights, m, x * x, first, second) - mean_b**2 / safe
    return _ratio(both, square_a, square_b, n, limit_a, limit_b)


def _ratio(
    both: Floats, square_a: Floats, square_b: Floats, n: Floats, limit_a: Floats, limit_b: Floats
) -> Floats:
    defined = (square_a > limit_a * n) & (square_b > limit_b * n) & (n > 1.5)
    scale = np.sqrt(np.where(defined, square_a, 1.0)) * np.sqrt(np.where(defined, square_b, 1.0))
    return np.where(defined, np.clip(both / scale, -1, 1), np.nan)


def _products(weights: Floats, a: Floats, b: Floats, first: Ints, second: Ints) -> Floats:
    """Weighted sums of products of columns, a block of rows at a time."""
    total = np.zeros((weights.shape[0], first.size))
    rows = max(1, _BLOCK // max(first.size, 1))
    for start in range(0, a.shape[0], rows):
        part = slice(start, start + rows)
        total += weights[:, part] @ (a[part][:, first] * b[part][:, second])
    return total


def spearman(values: Floats, weights: Floats, first: Ints, second: Ints) -> Floats:
    """Correlate the ranks of pairs of columns, ranked anew for each row of weights.

    Takes and gives what :func:`pearson` does. Rows that a pair does not share are left out before
    ranking.
    """
    present = ~np.isnan(values)
    if present.all():
        return _rank_correlations(values, weights)[:, first, second]
    found = np.full((weights.shape[0], first.size), np.nan)
    for k in range(first.size):
        shared = present[:, first[k]] & present[:, second[k]]
        if shared.sum() > 1:
            pair = values[shared][:, [first[k], second[k]]]
            found[:, k] = _rank_correlations(pair, weights[:, shared])[:, 0, 1]
    return found


def _rank_correlations(values: Floats, weights: Floats) -> Floats:
    from affectlab._compiled import in_threads, n_threads
    from affectlab.analysis._kernels import weighted_ranks

    n, n_labels = values.shape
    order = np.ascontiguousarray(np.argsort(values, axis=0, kind="stable").T)
    rising = np.take_along_axis(values.T, order, axis=1)
    last: Bools = np.ones(order.shape, dtype=np.bool_)
    last[:, :-1] = rising[:, 1:] != rising[:, :-1]
    found = np.empty((weights.shape[0], n_labels, n_labels))

    def some(rows: slice) -> None:
        rank = np.empty((n, n_labels))
        for replicate in range(*rows.indices(weights.shape[0])):
            weight = np.ascontiguousarray(weights[replicate])
            weighted_ranks(order, last, weight, rank)
            product = (rank * weight[:, None]).T @ rank
            spread = np.sqrt(np.maximum(np.diagonal(product), 0.0))
            # Ranks are multiples of one half, so equal ranks give exactly no spread.
            spread = np.where(spread > 0, spread, np.nan)
            found[replicate] = np.clip(product / spread / spread[:, None], -1, 1)

    step = -(-weights.shape[0] // n_threads())
    in_threads(some, [slice(k, k + step) for k in range(0, weights.shape[0], step)])
    return found
