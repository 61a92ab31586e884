"""Spearman correlations with the median of the other people, in every replicate.

Twice a rank is a whole number and so are all sums below, hence they are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats, Ints

Bytes = NDArray[np.uint8]
Codes = NDArray[np.unsignedinteger[Any]]
MOST_DRAWN = 127
"""Answers to one stimulus that a byte counts."""


@kernel
def _midranks(table: Ints, rank: Floats) -> tuple[float, float]:
    """Give midranks from counts per level, their number, and the sum of their squares."""
    n, squares = 0.0, 0.0
    for m in range(table.size):
        total = float(table[m])
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
def _correlate_codes(
    first: NDArray[np.int32],
    n_first: int,
    second: NDArray[np.int32],
    n_second: int,
    kind: NDArray[np.int32],
    weights: Bytes,
    changes: int,
    rho: Floats,
    ranks: Floats,
    squares: Floats,
) -> None:
    """Correlate the ranks of two codes of the same items, in every replicate.

    Parameters
    ----------
    first, n_first, second, n_second
        Codes of the items in the order of values, shape (items,), and how many codes there are.
    kind
        Kind of each item: those of one kind count alike in every replicate.
    weights
        How often the items of a kind count, shape (replicates, kinds).
    changes
        Places of ``weights`` that are not 1.
    rho
        Overwritten, shape (replicates,).
    ranks, squares
        Overwritten: the rank of each second code, shape (replicates, codes), and the sum of their
        squares over the items, shape (replicates,).
    """
    n_rows, n_kinds = weights.shape
    n_cells = n_first * n_second
    # Tables of counts add up. Else two passes over the items count, and one multiplies ranks.
    joint = (n_kinds + changes + 3 * n_rows) * n_cells <= 3 * n_rows * first.size
    tables = np.zeros((n_kinds, n_cells if joint else 0), np.int64)
    whole = np.zeros(n_cells if joint else 0, np.int64)
    if joint:
        for t in range(first.size):
            tables[np.uint64(kind[t]), np.uint64(first[t] * n_second + second[t])] += 1
        for k in range(n_kinds):
            for c in range(n_cells):
                whole[c] += tables[k, c]
    table = np.empty(whole.size, np.int64)
    rows, columns = np.empty(n_first, np.int64), np.empty(n_second, np.int64)
    row_rank = np.empty(n_first)
    for b in range(n_rows):
        weight, column_rank = weights[b], ranks[b]
        products = 0.0
        if joint:
            # A loop: `table[:] = whole` takes numba a second to compile.
            for c in range(n_cells):
                table[c] = whole[c]
            for k in range(n_kinds):
                if weight[k] != 1:
                    more = np.int64(weight[k]) - 1
                    for c in range(n_cells):
                        table[c] += more * tables[k, c]
            columns[:] = 0
            for i in range(n_first):
                several = 0
                for j in range(n_second):
                    several += table[i * n_second + j]
                    columns[j] += table[i * n_second + j]
                rows[i] = several
        else:
            _tally(first, kind, weight, rows)
            _tally(second, kind, weight, columns)
        total, of_rows = _midranks(rows, row_rank)
        total, squares[b] = _midranks(columns, column_rank)
        if joint:
            for i in range(n_first):
                part = 0.0
                for j in range(n_second):
                    part += table[i * n_second + j] * column_rank[j]
                products += part * row_rank[i]
        else:
            for t in range(first.size):
                products += (
                    weight[np.uint64(kind[t])]
                    * row_rank[np.uint64(first[t])]
                    * column_rank[np.uint64(second[t])]
                )
        rho[b] = _rho(products, total, of_rows, squares[b])


@kernel
def medians_of_others(
    cell: Ints,
    listed: Ints,
    person: NDArray[np.int32],
    value: Floats,
    copies: NDArray[np.int32],
    median: Floats,
    met: Bools,
) -> None:
    """Give twice the median of the other people's answers to each item, and whether there is one.

    Only a few steps lead from the median of all answers to that without one of them.

    Parameters
    ----------
    cell, listed
        Where the items start in the list of answers, and the answers by rising value in an item.
    person, value
        Who gave each answer, and what, shape (answers,).
    copies
        How often each person was drawn.
    median, met
        Overwritten, shape (answers,): of those drawn, whether anybody else answered.
    """
    reached = np.empty(listed.size, np.int64)
    for s in range(cell.size - 1):
        first, end = cell[s], cell[s + 1]
        total, middle = 0, first
        for k in range(first, end):
            total += copies[person[listed[k]]]
            reached[k] = total
        while middle < end and 2 * reached[middle] < total:
            middle += 1
        for k in range(first, end):
            answer = listed[k]
            several = copies[person[answer]]
            size = total - several
            met[answer] = size > 0 and several > 0
            if not met[answer]:
                continue
            j = middle
            while j > first and 2 * (reached[j - 1] - (several if j > k else 0)) >= size:
                j -= 1
            while 2 * (reached[j] - (several if j >= k else 0)) < size:
                j += 1
            lower = value[listed[j]]
            while 2 * (reached[j] - (several if j >= k else 0)) <= size:
                j += 1
            median[answer] = lower + value[listed[j]]


@kernel
def correlate_lists(
    start: Ints,
    item: NDArray[np.int32],
    code: NDArray[np.int32],
    n_levels: int,
    middle: NDArray[np.int32],
    n_middles: Ints,
    met: Bools,
    group: NDArray[np.int32],
    answered: Bools,
    answer: NDArray[np.int32],
    n_answers: Ints,
    kind: NDArray[np.int32],
    weights: Bytes,
    changes: int,
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Everybody is compared on the items of the person who is left out, and of the model. Replicates
    have the same people, and so the same medians.

    Parameters
    ----------
    start, item
        Where the answers of each person start, shape (people + 1,), and what each is about.
    code
        Level of each answer, shape (answers,), person after person.
    n_levels
        How many there are.
    middle, n_middles
        Medians of the others, numbered in their order, shape (answers,), and how many there are for
        each person, shape (people,).
    met
        Whether anybody else answered, shape (answers,).
    group
        Set of items of each model, shape (models,).
    answered
        The sets, shape (sets, items).
    answer, n_answers
        Codes of the answers of each model in their order, shape (models, items), and how many.
    kind, weights, changes
        As for :func:`_correlate_codes`, of all items.
    own
        Overwritten: shape (replicates, people, sets).
    models
        Overwritten: shape (replicates, people, models).
    """
    place, about = np.empty(item.size, np.int64), np.empty(item.size, np.int32)
    of_kind = np.empty(item.size, np.int32)
    first, second = np.empty(item.size, np.int32), np.empty(item.size, np.int32)
    for i in range(n_middles.size):
        n = 0
        for t in range(start[i], start[i + 1]):
            if met[t]:
                place[n] = t
                n += 1
        for g in range(answered.shape[0]):
            size = 0
            # What is not in the set is overwritten by the next, which costs less than a branch.
            for k in range(n):
                s = np.uint64(item[place[k]])
                about[size], of_kind[size] = s, kind[s]
                first[size], second[size] = code[place[k]], middle[place[k]]
                size += answered[g, s]
            ranks = np.empty((weights.shape[0], n_middles[i]))
            squares = np.empty(weights.shape[0])
            # The person, then models: with two calls the loops would be compiled twice.
            for f in range(-1, group.size):
                if f >= 0:
                    if group[f] != g:
                        continue
                    for k in range(size):
                        first[k] = answer[f, about[k]]
                _correlate_codes(
                    first[:size],
                    n_answers[f] if f >= 0 else n_levels,
                    second[:size],
                    n_middles[i],
                    of_kind[:size],
                    weights,
                    changes,
                    models[:, i, f] if f >= 0 else own[:, i, g],
                    ranks,
                    squares,
                )


# Spearman correlations with the median of the other people, where everyone rated everything.
#
# The panel is counted in bytes, one for each level of each stimulus, which vector registers hold
# many of; leaving a person out is one subtraction. Models, which may give any number, have the same
# ranks beside every person, so that one product of matrices correlates them. Twice a rank is a
# whole number, hence all sums are exact and do not depend on their order.


@kernel
def correlate_whole(
    reached: Bytes,
    code: NDArray[np.int32],
    order: NDArray[np.int32],
    last: Bools,
    kind: NDArray[np.int32],
    weights: Bytes,
    changes: int,
    copies: NDArray[np.int32],
    met: Ints,
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Replicates have the same people, and so the same medians.

    Parameters
    ----------
    reached
        Whether the answer of a person is at most each level but the highest, 0 or 1: shape
        (people, levels - 1, items).
    code
        Levels of people from 0, shape (people, items).
    order
        Items by rising answer of each model, shape (models, items).
    last
        Whether the next item of ``order`` has a larger answer, or there is none.
    kind, weights, changes
        As for :func:`_correlate_codes`.
    copies
        How often each person was drawn, shape (people,); up to 127 in all.
    met
        People who were drawn, as others were.
    own
        Overwritten where a person was drawn: shape (replicates, people).
    models
        Overwritten likewise, where any item counts: shape (replicates, people, models), each model
        with the panel without that person.
    """
    n_steps, n = reached.shape[1:]
    n_rows, n_models = weights.shape[0], order.shape[0]
    n_middles = 2 * n_steps + 1
    middle, n_met = _medians_of_levels(reached, copies, met), met.size
    middle_rank = np.empty((n_met, n_rows, n_middles))
    of_medians = np.empty((n_met, n_rows))
    for k in range(n_met):
        i = met[k]
        panel = middle[k], n_middles, kind, weights, changes
        ranks = middle_rank[k], of_medians[k]
        _correlate_codes(code[i], n_steps + 1, *panel, own[:, i], *ranks)
    if n_met == 0 or n_models == 0 or n == 0:
        return
    answer, n_answers = _answers(order, last)
    ranked, panels = np.empty((n_models, n)), np.empty((n_met, n))
    tied, rank = np.empty(n, np.int64), np.empty(n)
    squares = np.empty(n_models)
    for b in range(n_rows):
        total = 0.0
        for f in range(n_models):
            counts = tied[: n_answers[f]]
            _tally(answer[f], kind, weights[b], counts)
            total, squares[f] = _midranks(counts, rank)
            _look_up(answer[f], kind, weights[b], rank, ranked[f])
        for k in range(n_met):
            _ranks(middle[k], middle_rank[k, b], panels[k])
        together = np.dot(panels, ranked.T)
        for k in range(n_met):
            for f in range(n_models):
                models[b, met[k], f] = _rho(together[k, f], total, of_medians[k, b], squares[f])


@kernel
def _medians_of_levels(reached: Bytes, copies: NDArray[np.int32], met: Ints) -> NDArray[np.int32]:
    """Give twice the median of the others of those who have any, shape (met, items)."""
    n_people, n_steps, n = reached.shape
    counts, left = np.zeros((n_steps, n), np.uint8), np.empty(n, np.uint8)
    everyone = 0
    for j in range(n_people):
        everyone += copies[j]
        if copies[j] > 0:
            for k in range(n_steps):
                _add(reached[j, k], copies[j], counts[k])
    middles, middle = np.empty((met.size, n), np.int32), np.empty(n, np.uint16)
    for i in range(met.size):
        several = copies[met[i]]
        size = everyone - several
        middle[:] = 0
        for k in range(n_steps):
            _leave_out(counts[k], reached[met[i], k], several, left)
            _below(left, (size + 1) // 2, size // 2 + 1, middle)
        for s in range(n):
            middles[i, s] = middle[s]
    return middles


@kernel
def _answers(order: NDArray[np.int32], last: Bools) -> tuple[NDArray[np.int32], Ints]:
    """Number the distinct answers of each model from 0 in their order, and count them."""
    answer = np.empty(order.shape, np.int32)
    n_answers = np.zeros(order.shape[0], np.int64)
    for f in range(order.shape[0]):
        for k in range(order.shape[1]):
            answer[f, order[f, k]] = n_answers[f]
            n_answers[f] += last[f, k]
    return answer, n_answers


# One statement to a loop: then compilers keep to bytes, of which a register holds the most.


@kernel
def _add(reached: Bytes, copies: int, counts: Bytes) -> None:
    several = np.uint8(copies)
    for s in range(counts.size):
        counts[s] += several * reached[s]


@kernel
def _leave_out(counts: Bytes, reached: Bytes, copies: int, left: Bytes) -> None:
    several = np.uint8(copies)
    for s in range(counts.size):
        left[s] = counts[s] - several * reached[s]


@kernel
def _below(left: Bytes, lower: int, upper: int, middle: Codes) -> None:
    """Count the two middle answers that lie above a level, which fewer answers do not exceed."""
    first, second = np.uint8(lower), np.uint8(upper)
    for s in range(left.size):
        middle[s] += np.uint8(left[s] < first) + np.uint8(left[s] < second)


# Unsigned places, here and below: signed ones are tested for counting from the end.


@kernel
def _tally(code: NDArray[np.int32], kind: NDArray[np.int32], weight: Bytes, table: Ints) -> None:
    """Count the codes of the items."""
    table[:] = 0
    for s in range(code.size):
        table[np.uint64(code[s])] += weight[np.uint64(kind[s])]


@kernel
def _look_up(
    code: NDArray[np.int32], kind: NDArray[np.int32], weight: Bytes, rank: Floats, out: Floats
) -> None:
    """Give the rank of every item, times how often it counts."""
    for s in range(code.size):
        out[s] = rank[np.uint64(code[s])] * weight[np.uint64(kind[s])]


@kernel
def _ranks(code: NDArray[np.int32], rank: Floats, out: Floats) -> None:
    for s in range(code.size):
        out[s] = rank[np.uint64(code[s])]
