"""Kappa of pairs of raters in every replicate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints


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
    start
        Where the answers of each rater start, shape (raters + 1,).
    item, value
        Items, rising within a rater, and answers, shape (answers,).
    first, second
        The raters of each pair, shape (pairs,).
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


# Disagreement of raters, observed and by chance, summed over all pairs in every replicate.
#
# Sums of squared differences follow from counts, sums and sums of squares, so that no pair of
# answers is visited. By chance means: between two people *and* two stimuli. Answers of one person,
# and answers to one stimulus, are taken out of the sums of all pairs of answers.


@kernel
def pooled_disagreement(
    start: Ints,
    person: Ints,
    value: Floats,
    judged: Floats,
    weights: NDArray[np.uint8],
    copies: NDArray[np.int32],
    among: Floats,
    persons: Floats,
    models: Floats,
) -> None:
    """Compute mean squared differences of two raters on one stimulus, and on two.

    Parameters
    ----------
    start
        Where the answers to each stimulus start, shape (stimuli + 1,); each has two or more.
    person, value
        Person and answer, stimulus after stimulus, shape (answers,).
    judged
        Answers of models, shape (models, stimuli).
    weights
        How often each stimulus counts, shape (replicates, stimuli).
    copies
        How often each person counts, shape (replicates, people).
    among
        Overwritten: observed and by chance between people, shape (2, replicates).
    persons
        Overwritten: between each person and the others, shape (2, replicates, people).
    models
        Overwritten: between each model and people, shape (2, replicates, models).
    """
    n_items, n_people = start.size - 1, copies.shape[1]
    m, s, q = np.empty(n_items), np.empty(n_items), np.empty(n_items)
    of_person = np.empty((3, n_people))
    own = np.empty((6, n_people))
    for b in range(weights.shape[0]):
        of_person[:] = 0.0
        own[:] = 0.0
        observed, pairs, same, same_n = 0.0, 0.0, 0.0, 0.0
        for i in range(n_items):
            w = float(weights[b, i])
            size, total, squares, copied = 0.0, 0.0, 0.0, 0.0
            if w > 0.0:
                for a in range(start[i], start[i + 1]):
                    c, x = float(copies[b, person[a]]), value[a]
                    size += c
                    total += c * x
                    squares += c * x * x
                    copied += c * c
                    of_person[0, person[a]] += w * c
                    of_person[1, person[a]] += w * c * x
                    of_person[2, person[a]] += w * c * x * x
            m[i], s[i], q[i] = size, total, squares
            # Of k answers each has k - 1 others: a stimulus counts with its answers, not its pairs.
            others = start[i + 1] - start[i] - 1.0
            spread = 2.0 * (size * squares - total * total)
            observed += w * spread / others
            pairs += w * (size * size - copied) / others
            same += w * w * spread
            same_n += w * w * (size * size - copied)
        u, v, z = of_person[0].sum(), of_person[1].sum(), of_person[2].sum()
        # Everything with everything, less what one person gave, less what one stimulus got.
        chance = 2.0 * (u * z - v * v) - same
        chance_n = u * u - same_n
        for j in range(n_people):
            of_j = of_person[0, j] * of_person[2, j] - of_person[1, j] * of_person[1, j]
            chance -= 2.0 * of_j
            chance_n -= of_person[0, j] * of_person[0, j]
        among[0, b] = observed / pairs if pairs > 0.0 else np.nan
        among[1, b] = chance / chance_n if chance_n > 0.0 else np.nan
        for f in range(judged.shape[0]):
            observed, same, same_n, sums, squares = 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(n_items):
                x, w = judged[f, i], float(weights[b, i])
                apart = w * (m[i] * x * x - 2.0 * x * s[i] + q[i])
                g = w * m[i]
                observed += apart
                same += g * apart
                same_n += g * g
                sums += g * x
                squares += g * x * x
            room = u * u - same_n
            chance = u * squares + u * z - 2.0 * sums * v - same
            models[0, b, f] = observed / u if u > 0.0 else np.nan
            models[1, b, f] = chance / room if room > 0.0 else np.nan
        for i in range(n_items):
            w = float(weights[b, i])
            if w == 0.0:
                continue
            for a in range(start[i], start[i + 1]):
                j, x = person[a], value[a]
                c = float(copies[b, j])
                left = m[i] - c
                apart = w * (left * x * x - 2.0 * x * (s[i] - c * x) + q[i] - c * x * x)
                g = w * left
                own[0, j] += apart
                own[1, j] += g
                own[2, j] += g * x
                own[3, j] += g * x * x
                own[4, j] += g * apart
                own[5, j] += g * g
        for j in range(n_people):
            left, total = u - of_person[0, j], v - of_person[1, j]
            squares = z - of_person[2, j]
            room = own[1, j] * left - own[5, j]
            chance = left * own[3, j] + own[1, j] * squares - 2.0 * own[2, j] * total - own[4, j]
            persons[0, b, j] = own[0, j] / own[1, j] if own[1, j] > 0.0 else np.nan
            persons[1, b, j] = chance / room if room > 0.0 else np.nan
