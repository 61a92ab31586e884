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
Places = NDArray[np.uint32]
MOST_DRAWN = 127
"""Answers to one stimulus that a byte counts."""
_MOST_JOINT = 1 << 11
"""Places of a table of counts up to which adding it up costs less than a pass over the stimuli."""


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
def _correlate_codes(
    first: NDArray[np.int32],
    n_first: int,
    second: NDArray[np.int32],
    n_second: int,
    kind: NDArray[np.int32],
    weights: Bytes,
    changes: int,
    rho: Floats,
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
    rows, columns = np.empty((1, n_first), np.int64), np.empty((1, n_second), np.int64)
    row_rank, column_rank = np.empty(n_first), np.empty(n_second)
    for b in range(n_rows):
        weight = weights[b]
        products = 0.0
        if joint:
            table[:] = whole
            for k in range(n_kinds):
                if weight[k] != 1:
                    more = np.int64(weight[k]) - 1
                    for c in range(n_cells):
                        table[c] += more * tables[k, c]
            _add_up(table.reshape(n_first, n_second), rows[0], columns[0])
        else:
            rows[:] = 0
            columns[:] = 0
            for t in range(first.size):
                several = weight[np.uint64(kind[t])]
                rows[0, np.uint64(first[t])] += several
                columns[0, np.uint64(second[t])] += several
        total, of_rows = _midranks(rows, row_rank)
        total, of_columns = _midranks(columns, column_rank)
        if joint:
            for i in range(n_first):
                part = 0.0
                for j in range(n_second):
                    part += table[i * n_second + j] * column_rank[j]
                products += part * row_rank[i]
        else:
            for t in range(first.size):
                several = weight[np.uint64(kind[t])]
                products += (
                    several * row_rank[np.uint64(first[t])] * column_rank[np.uint64(second[t])]
                )
        rho[b] = _rho(products, total, of_rows, of_columns)


@kernel
def _medians(
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
    cell: Ints,
    listed: Ints,
    start: Ints,
    item: NDArray[np.int32],
    person: NDArray[np.int32],
    value: Floats,
    code: NDArray[np.int32],
    n_levels: int,
    regular: bool,
    group: NDArray[np.int32],
    answered: Bools,
    answer: NDArray[np.int32],
    n_answers: Ints,
    kind: NDArray[np.int32],
    weights: Bytes,
    copies: NDArray[np.int32],
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Everybody is compared on the items of the person who is left out, and of the model. Replicates
    have the same people, and so the same medians.

    Parameters
    ----------
    cell, listed, person, value
        As for :func:`_medians`.
    start, item
        Where the answers of each person start, shape (people + 1,), and what each is about.
    code
        Level of each answer, shape (answers,), person after person.
    n_levels
        How many there are.
    regular
        Whether ``value`` holds the levels, so that a sum of two of them is a place.
    group
        Set of items of each model, shape (models,).
    answered
        The sets, shape (sets, items).
    answer, n_answers
        Codes of the answers of each model in their order, shape (models, items), and how many.
    kind, weights
        As for :func:`_correlate_codes`, of all items.
    copies
        How often each person was drawn, shape (people,).
    own
        Overwritten: shape (replicates, people, sets).
    models
        Overwritten: shape (replicates, people, models).
    """
    median, met = np.empty(value.size), np.empty(value.size, np.bool_)
    _medians(cell, listed, person, value, copies, median, met)
    place, about = np.empty(item.size, np.int64), np.empty(item.size, np.int32)
    middle, of_kind = np.empty(item.size, np.int32), np.empty(item.size, np.int32)
    first, second = np.empty(item.size, np.int32), np.empty(item.size, np.int32)
    changes = np.sum(weights != 1)
    for i in range(copies.size):
        n = 0
        for t in range(start[i], start[i + 1]):
            if met[t]:
                place[n] = t
                n += 1
        n_middles = 2 * n_levels - 1
        if regular:
            for k in range(n):
                middle[k] = np.int32(median[place[k]])
        else:
            theirs = median[place[:n]]
            by_median = np.argsort(theirs)
            n_middles = 1
            for k in range(n):
                if k > 0 and theirs[by_median[k]] > theirs[by_median[k - 1]]:
                    n_middles += 1
                middle[by_median[k]] = n_middles - 1
        for g in range(answered.shape[0]):
            size = 0
            for k in range(n):
                s = item[place[k]]
                if answered[g, s]:
                    about[size], of_kind[size] = s, kind[s]
                    first[size], second[size] = code[place[k]], middle[k]
                    size += 1
            panel = second[:size], n_middles, of_kind[:size], weights, changes
            _correlate_codes(first[:size], n_levels, *panel, own[:, i, g])
            for f in range(group.size):
                if group[f] == g:
                    for k in range(size):
                        first[k] = answer[f, about[k]]
                    _correlate_codes(first[:size], n_answers[f], *panel, models[:, i, f])


# Spearman correlations with the median of the other people, where everyone rated everything.
#
# A correlation of ranks needs no more than a table of counts, of the levels of one side by those
# of the other. So a person and a panel are counted into such a table in one pass over the stimuli
# that were drawn; only the ranks of models, which may give any number, are multiplied one by one.
# The panel is counted in bytes, one for each level of each stimulus, which vector registers hold
# many of; leaving a person out is one subtraction. Twice a rank is a whole number, hence all sums
# are exact and do not depend on their order.


@kernel
def correlate_whole(
    reached: Bytes,
    code: Codes,
    order: NDArray[np.int32],
    last: Bools,
    weights: Bytes,
    copies: NDArray[np.int32],
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Parameters
    ----------
    reached
        Whether the answer of a person is at most each level but the highest, 0 or 1: shape
        (people, levels - 1, items).
    code
        Levels of people from 0, shape (people, items); a type that holds twice the highest.
    order
        Items by rising answer of each model, shape (models, items).
    last
        Whether the next item of ``order`` has a larger answer, or there is none.
    weights
        How often each item counts, shape (replicates, items).
    copies
        How often each person was drawn, shape (replicates, people); up to 127 in all.
    own
        Overwritten where a person was drawn: shape (replicates, people).
    models
        Overwritten likewise, where any item counts: shape (replicates, people, models), each model
        with the panel without that person.
    """
    n_people, n_steps, n = reached.shape
    n_models = order.shape[0]
    n_levels, n_middles = n_steps + 1, 2 * n_steps + 1
    answer, n_answers = _answers(order, last)
    counts, left = np.empty((n_steps, n), np.uint8), np.empty(n, np.uint8)
    middle, cell = np.empty(n, code.dtype), np.empty(n, np.uint32)
    room, more_room = np.empty(n_models * n), np.empty(n_people * n)
    squares = np.empty(n_models)
    tied, rank = np.empty((1, n), np.int64), np.empty(n)
    place, weight = np.empty(n, np.uint32), np.empty(n, np.int64)
    here, there = np.empty(n, np.uint32), np.empty(n, np.uint32)
    joint = n_levels * n_middles <= _MOST_JOINT
    n_cells = n_levels * n_middles if joint else 0
    table, rank_of = np.empty(n_cells, np.int64), np.empty(n_cells)
    middles, levels = np.empty((1, n_middles), np.int64), np.empty((1, n_levels), np.int64)
    middle_rank, level_rank = np.empty(n_middles), np.empty(n_levels)
    met, of_medians = np.empty(n_people, np.int64), np.empty(n_people)
    for b in range(weights.shape[0]):
        n_drawn = _drawn(weights[b], place, weight)
        drawn, times = place[:n_drawn], weight[:n_drawn]
        ranked = room[: n_models * n_drawn].reshape(n_models, n_drawn)
        for f in range(n_models):
            _tally(answer[f], drawn, times, tied[0, : n_answers[f]])
            _, squares[f] = _midranks(tied[:, : n_answers[f]], rank)
            _look_up(answer[f], drawn, times, rank, ranked[f])
        counts[:] = 0
        everyone = 0
        for j in range(n_people):
            everyone += copies[b, j]
            if copies[b, j] > 0:
                for k in range(n_steps):
                    _add(reached[j, k], copies[b, j], counts[k])
        n_met, total = 0, 0.0
        panels = more_room[: n_people * n_drawn].reshape(n_people, n_drawn)
        for i in range(n_people):
            if copies[b, i] == 0 or copies[b, i] == everyone:
                continue
            size = everyone - copies[b, i]
            middle[:] = 0
            for k in range(n_steps):
                _leave_out(counts[k], reached[i, k], copies[b, i], left)
                _below(left, (size + 1) // 2, size // 2 + 1, middle)
            ranks = panels[n_met]
            products = 0.0
            if joint:
                _pair(code[i], middle, n_middles, cell)
                _take(cell, drawn, here)
                _count(here[:n_drawn], times, table)
                _add_up(table.reshape(n_levels, n_middles), levels[0], middles[0])
            else:
                _take(code[i], drawn, there)
                _count(there[:n_drawn], times, levels[0])
                _take(middle, drawn, here)
                _count(here[:n_drawn], times, middles[0])
            total, of_medians[n_met] = _midranks(middles, middle_rank)
            total, of_person = _midranks(levels, level_rank)
            if joint:
                for level in range(n_levels):
                    part, row = 0.0, level * n_middles
                    for m in range(n_middles):
                        part += table[row + m] * middle_rank[m]
                        rank_of[row + m] = middle_rank[m]
                    products += part * level_rank[level]
                _ranks(here, rank_of, ranks)
            else:
                _ranks(here, middle_rank, ranks)
                for t in range(n_drawn):
                    products += times[t] * level_rank[there[t]] * ranks[t]
            own[b, i] = _rho(products, total, of_medians[n_met], of_person)
            met[n_met] = i
            n_met += 1
        if n_met == 0 or n_models == 0 or n_drawn == 0:
            continue
        together = np.dot(panels[:n_met], ranked.T)
        for k in range(n_met):
            for f in range(n_models):
                models[b, met[k], f] = _rho(together[k, f], total, of_medians[k], squares[f])


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


@kernel
def _drawn(weights: Bytes, place: Places, weight: Ints) -> int:
    """List the items that count, and how often; give their number."""
    n_drawn = 0
    for s in range(weights.size):
        place[n_drawn] = np.uint32(s)
        weight[n_drawn] = weights[s]
        n_drawn += weights[s] > 0
    return n_drawn


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
def _tally(code: NDArray[np.int32], drawn: Places, weight: Ints, table: Ints) -> None:
    """Count the codes of the items that were drawn."""
    table[:] = 0
    for t in range(drawn.size):
        table[np.uint64(code[drawn[t]])] += weight[t]


@kernel
def _look_up(
    code: NDArray[np.int32], drawn: Places, weight: Ints, rank: Floats, out: Floats
) -> None:
    """Give the rank of every item that was drawn, times how often it was."""
    for t in range(drawn.size):
        out[t] = rank[np.uint64(code[drawn[t]])] * weight[t]


@kernel
def _pair(code: Codes, middle: Codes, n_middles: int, cell: Places) -> None:
    """Give the place in a table of levels by medians of every item."""
    width = np.uint32(n_middles)
    for s in range(cell.size):
        cell[s] = np.uint32(code[s]) * width + middle[s]


@kernel
def _take(cell: Codes, drawn: Places, out: Places) -> None:
    for t in range(drawn.size):
        out[t] = cell[drawn[t]]


@kernel
def _count(cell: Places, weight: Ints, table: Ints) -> None:
    table[:] = 0
    for t in range(cell.size):
        table[cell[t]] += weight[t]


@kernel
def _ranks(cell: Places, rank: Floats, out: Floats) -> None:
    for t in range(out.size):
        out[t] = rank[cell[t]]


@kernel
def _add_up(table: Ints, rows: Ints, columns: Ints) -> None:
    columns[:] = 0
    for i in range(table.shape[0]):
        total = 0
        for j in range(table.shape[1]):
            total += table[i, j]
            columns[j] += table[i, j]
        rows[i] = total
