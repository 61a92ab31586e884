"""Kappa of pairs of raters who share few items, in every replicate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab._compiled import kernel
from affectlab._types import Floats, Ints

__all__ = ["count_shared", "list_shared", "nominal_lanes", "quadratic_lanes"]


@kernel
def count_shared(
    start: Ints,
    item: NDArray[np.int32],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    shared: Ints,
) -> None:
    """Count the items that both raters of each pair answered.

    Parameters
    ----------
    start
        Where the answers of each rater start, shape (raters + 1,).
    item
        Items, rising within a rater, shape (answers,).
    first, second
        The raters of each pair, shape (pairs,).
    shared
        Overwritten, shape (pairs,).
    """
    for p in range(first.size):
        a, b = start[first[p]], start[second[p]]
        end_a, end_b = start[first[p] + 1], start[second[p] + 1]
        n = 0
        while a < end_a and b < end_b:
            if item[a] == item[b]:
                n += 1
                a += 1
                b += 1
            elif item[a] < item[b]:
                a += 1
            else:
                b += 1
        shared[p] = n


@kernel
def list_shared(
    start: Ints,
    item: NDArray[np.int32],
    value: Floats,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    where: Ints,
    out_item: NDArray[np.int32],
    out_first: Floats,
    out_second: Floats,
) -> None:
    """List the items that both raters of each pair answered, with the two answers.

    Parameters
    ----------
    start, item, first, second
        As for :func:`count_shared`.
    value
        Answers, shape (answers,).
    where
        Where the list of each pair starts, shape (pairs + 1,).
    out_item, out_first, out_second
        Overwritten, shape (all shared,).
    """
    for p in range(first.size):
        a, b = start[first[p]], start[second[p]]
        end_a, end_b = start[first[p] + 1], start[second[p] + 1]
        at = where[p]
        while a < end_a and b < end_b:
            if item[a] == item[b]:
                out_item[at] = item[a]
                out_first[at] = value[a]
                out_second[at] = value[b]
                at += 1
                a += 1
                b += 1
            elif item[a] < item[b]:
                a += 1
            else:
                b += 1


@kernel
def quadratic_lanes(
    where: Ints,
    item: NDArray[np.int32],
    x: Floats,
    y: Floats,
    weights: Floats,
    kappa: Floats,
) -> None:
    """Compute quadratic kappa of every pair from lists of shared items, one replicate per lane.

    Parameters
    ----------
    where, item, x, y
        What :func:`list_shared` gave.
    weights
        Shape (items, lanes).
    kappa
        Overwritten: shape (pairs, lanes), ``nan`` where both raters are constant and equal.
    """
    lanes = weights.shape[1]
    n, sx, sy = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    squares, products = np.empty(lanes), np.empty(lanes)
    for p in range(where.size - 1):
        n[:] = 0.0
        sx[:] = 0.0
        sy[:] = 0.0
        squares[:] = 0.0
        products[:] = 0.0
        for k in range(where[p], where[p + 1]):
            row = weights[item[k]]
            a, b = x[k], y[k]
            both, product = a * a + b * b, a * b
            for lane in range(lanes):
                w = row[lane]
                n[lane] += w
                sx[lane] += w * a
                sy[lane] += w * b
                squares[lane] += w * both
                products[lane] += w * product
        for lane in range(lanes):
            cross = 2.0 * sx[lane] * sy[lane]
            spread = n[lane] * squares[lane] - cross
            shared = 2.0 * n[lane] * products[lane] - cross
            tiny = 1e-12 * n[lane] * squares[lane]
            kappa[p, lane] = shared / spread if spread > tiny else np.nan


@kernel
def nominal_lanes(
    where: Ints,
    item: NDArray[np.int32],
    x: Floats,
    y: Floats,
    n_levels: int,
    weights: Floats,
    kappa: Floats,
) -> None:
    """Compute unweighted kappa of every pair from lists of shared items, one replicate per lane.

    Parameters are those of :func:`quadratic_lanes`; answers are levels from 0.
    """
    lanes = weights.shape[1]
    of_x, of_y = np.empty((n_levels, lanes)), np.empty((n_levels, lanes))
    n, agreed = np.empty(lanes), np.empty(lanes)
    for p in range(where.size - 1):
        n[:] = 0.0
        agreed[:] = 0.0
        of_x[:] = 0.0
        of_y[:] = 0.0
        for k in range(where[p], where[p + 1]):
            row = weights[item[k]]
            a, b = int(x[k]), int(y[k])
            for lane in range(lanes):
                w = row[lane]
                n[lane] += w
                of_x[a, lane] += w
                of_y[b, lane] += w
            if a == b:
                for lane in range(lanes):
                    agreed[lane] += row[lane]
        for lane in range(lanes):
            chance = 0.0
            for level in range(n_levels):
                chance += of_x[level, lane] * of_y[level, lane]
            room = n[lane] * n[lane] - chance
            kappa[p, lane] = (n[lane] * agreed[lane] - chance) / room if room > 0.0 else np.nan
