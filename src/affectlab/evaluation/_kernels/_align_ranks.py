"""Spearman correlations with the median of the other people, in every replicate.

The answers of a person are coded as bytes "at most this level", eight to a word, so that one
weighted sum of words counts the panel on all levels at once, and leaving a person out is one
subtraction. Twice a rank is a whole number and so are all sums below, hence they are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab._compiled import kernel
from affectlab._types import Bools, Floats, Ints

__all__ = ["MOST_DRAWN", "correlate_any", "correlate_words"]

MOST_DRAWN = 127
"""Answers to one stimulus that a byte can count, with the bit that comparisons need."""

Words = NDArray[np.uint64]


@kernel
def _ones(word: np.uint64) -> np.uint64:
    """Count the bits that are set; compilers know this form and use the instruction for it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def _medians(counts: Words, own: Words, copies: int, middle: NDArray[np.int32]) -> None:
    """Find the median of every panel without one person, as the sum of its two middle levels.

    Parameters
    ----------
    counts
        Weighted sums of words, shape (words, items); the last byte holds the size of the panel.
    own
        Words of the person, shape (words, items), counted `copies` times.
    middle
        Overwritten: shape (items,); without meaning where nobody is left.
    """
    one, top = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
    several = np.uint64(copies)
    n_words, n = counts.shape
    sizes, own_sizes = counts[n_words - 1], own[n_words - 1]
    for q in range(n_words):
        counted, theirs = counts[q], own[q]
        for s in range(n):
            size = (sizes[s] - several * own_sizes[s]) >> np.uint64(56)
            left = (counted[s] - several * theirs[s]) | top
            lower = ((size + np.uint64(1)) >> np.uint64(1)) * one
            upper = ((size >> np.uint64(1)) + np.uint64(1)) * one
            reached = _ones((left - lower) & top) + _ones((left - upper) & top)
            # Bytes that count fewer than half of the answers stand for levels below the median.
            below = np.int32(16) - np.int32(reached)
            middle[s] = below if q == 0 else middle[s] + below


@kernel
def _midranks(table: Ints, rank: Floats) -> tuple[float, float]:
    """Give midranks from counts per level, their number, and the sum of their squares."""
    n, squares = 0.0, 0.0
    for m in range(table.shape[1]):
        total = 0.0
        for k in range(table.shape[0]):
            total += table[k, m]
        rank[m] = n + 0.5 * (total + 1.0)
        squares += total * rank[m] * rank[m]
        n += total
    return n, squares


@kernel
def _rho(products: float, n: float, squares_a: float, squares_b: float) -> float:
    centre = n * (0.5 * (n + 1.0)) ** 2
    size = (squares_a - centre) * (squares_b - centre)
    return (products - centre) / np.sqrt(size) if size > 0.0 else np.nan


@kernel
def _correlate_panel(
    middle: NDArray[np.int32],
    n_middles: int,
    code: NDArray[np.int32],
    n_levels: int,
    weight: Ints,
    group: NDArray[np.int32],
    answered: Bools,
    order: NDArray[np.int32],
    last: Bools,
    own: Floats,
    models: Floats,
) -> None:
    """Correlate one person, and the models, with the medians of that person's items.

    Parameters
    ----------
    middle
        Code of the median, in its order, shape (items,).
    code
        Level of the person, shape (items,).
    weight
        How often an item counts, shape (items,): 0 where there is no median.
    group
        Set of items of each model, shape (models,).
    answered
        The sets, shape (sets, items).
    order, last
        Items by rising answer of each model, shape (models, items), -1 where there are no more.
    own
        Overwritten: the person's correlation on each set, shape (sets,).
    models
        Overwritten: each model's correlation on its set, shape (models,).
    """
    n = middle.size
    middles = np.empty((1, n_middles), np.int64)
    levels = np.empty((1, n_levels), np.int64)
    middle_rank, level_rank = np.empty(n_middles), np.empty(n_levels)
    for g in range(answered.shape[0]):
        middles[:] = 0
        levels[:] = 0
        for t in range(n):
            if weight[t] > 0 and answered[g, t]:
                middles[0, middle[t]] += weight[t]
                levels[0, code[t]] += weight[t]
        total, of_medians = _midranks(middles, middle_rank)
        total, of_person = _midranks(levels, level_rank)
        products = 0.0
        for t in range(n):
            if weight[t] > 0 and answered[g, t]:
                products += weight[t] * level_rank[code[t]] * middle_rank[middle[t]]
        own[g] = _rho(products, total, of_medians, of_person)
        for f in range(group.size):
            if group[f] != g:
                continue
            before, tied, summed = 0.0, 0.0, 0.0
            products, squares = 0.0, 0.0
            for k in range(n):
                t = order[f, k]
                if t < 0:
                    break
                if weight[t] > 0:
                    tied += weight[t]
                    summed += weight[t] * middle_rank[middle[t]]
                if last[f, k] and tied > 0:
                    rank = before + 0.5 * (tied + 1.0)
                    products += rank * summed
                    squares += tied * rank * rank
                    before += tied
                    tied, summed = 0.0, 0.0
            models[f] = _rho(products, total, of_medians, squares)


@kernel
def correlate_words(
    start: Ints,
    item: NDArray[np.int32],
    words: Words,
    code: NDArray[np.int32],
    n_levels: int,
    group: NDArray[np.int32],
    answered: Bools,
    order: NDArray[np.int32],
    last: Bools,
    weights: NDArray[np.uint8],
    copies: NDArray[np.int32],
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Everybody is compared on the items of the person who is left out, and of the model.

    Parameters
    ----------
    start
        Where the answers of each person start, shape (people + 1,).
    item, code
        Item and level of each answer, shape (answers,), person after person.
    words
        Shape (words, answers).
    group
        Set of items of each model, shape (models,).
    answered
        The sets, by answer of people: shape (sets, answers).
    order, last
        For each model, the answers of a person by rising answer of the model to the same item,
        counted from the start of that person: shape (models, answers); -1 behind the last.
    weights
        How often each item counts, shape (replicates, items).
    copies
        How often each person was drawn, shape (replicates, people).
    own
        Shape (replicates, people, sets).
    models
        Shape (replicates, people, models).
    """
    n_people, n_words, n = start.size - 1, words.shape[0], weights.shape[1]
    counts = np.empty((n_words, n), np.uint64)
    most = 0
    for i in range(n_people):
        most = max(most, start[i + 1] - start[i])
    theirs = np.empty((n_words, most), np.uint64)
    middle = np.empty(most, np.int32)
    weight = np.empty(most, np.int64)
    for b in range(weights.shape[0]):
        counts[:] = 0
        for j in range(n_people):
            if copies[b, j] > 0:
                several = np.uint64(copies[b, j])
                for q in range(n_words):
                    for k in range(start[j], start[j + 1]):
                        counts[q, item[k]] += several * words[q, k]
        for i in range(n_people):
            size = start[i + 1] - start[i]
            if copies[b, i] == 0 or size == 0:
                continue
            here = slice(start[i], start[i + 1])
            for q in range(n_words):
                for t in range(size):
                    theirs[q, t] = counts[q, item[start[i] + t]]
            _medians(theirs[:, :size], words[:, here], copies[b, i], middle[:size])
            for t in range(size):
                # The person alone answered where the count is their own copies.
                alone = (theirs[n_words - 1, t] >> np.uint64(56)) == np.uint64(copies[b, i])
                weight[t] = 0 if alone else weights[b, item[start[i] + t]]
            _correlate_panel(
                middle[:size],
                16 * n_words + 1,
                code[here],
                n_levels,
                weight[:size],
                group,
                answered[:, here],
                order[:, here],
                last[:, here],
                own[b, i],
                models[b, i],
            )


@kernel
def correlate_any(
    cell: Ints,
    person: NDArray[np.int32],
    value: Floats,
    start: Ints,
    item: NDArray[np.int32],
    code: NDArray[np.int32],
    n_levels: int,
    group: NDArray[np.int32],
    answered: Bools,
    order: NDArray[np.int32],
    last: Bools,
    weights: NDArray[np.uint8],
    copies: NDArray[np.int32],
    own: Floats,
    models: Floats,
) -> None:
    """Do what :func:`correlate_words` does for any values and any number of people.

    Parameters
    ----------
    cell
        Where the answers to each item start in ``person`` and ``value``, shape (items + 1,).
    person, value
        Who answered and what, shape (answers,), by rising value within an item.
    start, item, code, n_levels, group, answered, order, last, weights, copies, own, models
        As for :func:`correlate_words`.
    """
    n_people = start.size - 1
    most = 0
    for i in range(n_people):
        most = max(most, start[i + 1] - start[i])
    median = np.empty(most)
    middle = np.empty(most, np.int32)
    weight = np.empty(most, np.int64)
    size_of = np.empty(cell.size - 1, np.int64)
    for b in range(weights.shape[0]):
        for s in range(cell.size - 1):
            size_of[s] = 0
            for k in range(cell[s], cell[s + 1]):
                size_of[s] += copies[b, person[k]]
        for i in range(n_people):
            n = start[i + 1] - start[i]
            if copies[b, i] == 0 or n == 0:
                continue
            for t in range(n):
                s = item[start[i] + t]
                size = size_of[s] - copies[b, i]
                median[t] = np.inf
                weight[t] = weights[b, s] if size > 0 else 0
                if weight[t] == 0:
                    continue
                seen, lower = 0, np.nan
                for k in range(cell[s], cell[s + 1]):
                    if person[k] == i:
                        continue
                    seen += copies[b, person[k]]
                    if lower != lower and 2 * seen >= size:
                        lower = value[k]
                    if 2 * seen > size:
                        median[t] = (lower + value[k]) / 2
                        break
            by_median = np.argsort(median[:n])
            n_middles = 0
            for k in range(n):
                t = by_median[k]
                if k > 0 and median[t] > median[by_median[k - 1]]:
                    n_middles += 1
                middle[t] = n_middles
            here = slice(start[i], start[i + 1])
            _correlate_panel(
                middle[:n],
                n_middles + 1,
                code[here],
                n_levels,
                weight[:n],
                group,
                answered[:, here],
                order[:, here],
                last[:, here],
                own[b, i],
                models[b, i],
            )
