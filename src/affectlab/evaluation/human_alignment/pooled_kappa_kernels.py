"""Disagreement of raters, observed and by chance, summed over all pairs in every replicate.

Sums of squared differences follow from counts, sums and sums of squares, so that no pair of
answers is visited. By chance means: between two people *and* two stimuli. Answers of one person,
and answers to one stimulus, are taken out of the sums of all pairs of answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints


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
