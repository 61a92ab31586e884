r"""Spearman correlations with the median of the other people, where everyone rated everything.

A correlation of ranks needs no more than a table of counts, of the levels of one side by those of
the other. So a person and a panel are counted into such a table in one pass over the stimuli that
were drawn; only the ranks of models, which may give any number, are multiplied one by one. The
panel is counted in bytes, one for each level of each stimulus, which vector registers hold many of;
leaving a person out is one subtraction. Twice a rank is a whole number, hence all sums are exact
and do not depend on their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab._compiled import kernel
from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._kernels._align_ranks import _midranks, _rho

__all__ = ["correlate_whole"]

Bytes = NDArray[np.uint8]
Codes = NDArray[np.unsignedinteger[Any]]
Places = NDArray[np.uint32]
_MOST_JOINT = 1 << 11
"""Places of a table of counts up to which adding it up costs less than a pass over the stimuli."""


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
