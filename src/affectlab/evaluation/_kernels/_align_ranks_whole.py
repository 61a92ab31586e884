"""Spearman correlations with the median of the other people, where everyone rated everything.

A correlation of ranks needs no more than a table of counts, of the levels of one side by those of
the other. So a person and a panel are counted into such a table in one pass over the stimuli that
were drawn; only the ranks of models, which may give any number, are multiplied one by one. Twice a
rank is a whole number, hence all sums are exact and do not depend on their order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab._compiled import kernel
from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._kernels._align_ranks import _medians, _midranks, _rho

__all__ = ["correlate_whole"]

Words = NDArray[np.uint64]
_MOST_JOINT = 1 << 11
"""Places of a table of counts up to which adding it up costs less than a pass over the stimuli."""


@kernel
def correlate_whole(
    words: Words,
    code: NDArray[np.int32],
    n_levels: int,
    order: NDArray[np.int32],
    last: Bools,
    weights: NDArray[np.uint8],
    copies: NDArray[np.int32],
    own: Floats,
    models: Floats,
) -> None:
    """Correlate people and models with the median of the other people.

    Parameters
    ----------
    words
        Answers of people, shape (people, words, items); see
        :func:`affectlab.evaluation._kernels._align_ranks._medians`.
    code
        Their levels from 0, shape (people, items).
    n_levels
        Number of levels.
    order
        Items by rising answer of each model, shape (models, items).
    last
        Whether the next item of ``order`` has a larger answer, or there is none.
    weights
        How often each item counts, shape (replicates, items).
    copies
        How often each person was drawn, shape (replicates, people).
    own
        Overwritten where a person was drawn: shape (replicates, people).
    models
        Overwritten likewise: shape (replicates, people, models), each model with the panel
        without that person.
    """
    n_people, n_words, n = words.shape
    n_models = order.shape[0]
    answer, n_answers = _answers(order, last)
    counts = np.empty((n_words, n), np.uint64)
    room = np.empty(n_models * n)
    squares = np.empty(n_models)
    tied, rank = np.empty((1, n), np.int64), np.empty(n)
    place, weight = np.empty(n, np.uint64), np.empty(n, np.int64)
    middle, cell = np.empty(n, np.int32), np.empty(n, np.int32)
    of_middle = np.empty(n)
    n_middles = 16 * n_words + 1
    table = np.empty(n_levels * n_middles, np.int64)
    middles, levels = np.empty((1, n_middles), np.int64), np.empty((1, n_levels), np.int64)
    middle_rank, level_rank = np.empty(n_middles), np.empty(n_levels)
    for b in range(weights.shape[0]):
        n_drawn = _drawn(weights[b], place, weight)
        drawn, times = place[:n_drawn], weight[:n_drawn]
        ranked = room[: n_models * n_drawn].reshape(n_models, n_drawn)
        for f in range(n_models):
            _tally(answer[f], drawn, times, tied[0, : n_answers[f]])
            _, squares[f] = _midranks(tied[:, : n_answers[f]], rank)
            _look_up(answer[f], drawn, rank, ranked[f])
            for t in range(n_drawn):
                ranked[f, t] *= times[t]
        counts[:] = 0
        everyone = 0
        for j in range(n_people):
            everyone += copies[b, j]
            if copies[b, j] > 0:
                for q in range(n_words):
                    _add(words[j, q], copies[b, j], counts[q])
        for i in range(n_people):
            if copies[b, i] == 0 or copies[b, i] == everyone:
                continue
            _medians(counts, words[i], copies[b, i], middle)
            if table.size <= _MOST_JOINT:
                _pair(code[i], middle, n_middles, cell)
                _tally(cell, drawn, times, table)
                _add_up(table.reshape(n_levels, n_middles), levels[0], middles[0])
            else:
                _tally(middle, drawn, times, middles[0])
                _tally(code[i], drawn, times, levels[0])
            total, of_medians = _midranks(middles, middle_rank)
            total, of_person = _midranks(levels, level_rank)
            _look_up(middle, drawn, middle_rank, of_middle)
            products = 0.0
            if table.size <= _MOST_JOINT:
                for level in range(n_levels):
                    part = 0.0
                    for m in range(n_middles):
                        part += table[level * n_middles + m] * middle_rank[m]
                    products += part * level_rank[level]
            else:
                for t in range(n_drawn):
                    products += times[t] * level_rank[code[i, drawn[t]]] * of_middle[t]
            own[b, i] = _rho(products, total, of_medians, of_person)
            together = np.dot(ranked, of_middle[:n_drawn])
            for f in range(n_models):
                models[b, i, f] = _rho(together[f], total, of_medians, squares[f])


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
def _drawn(weights: NDArray[np.uint8], place: Words, weight: Ints) -> int:
    """List the items that count, and how often; give their number."""
    n_drawn = 0
    for s in range(weights.size):
        place[n_drawn] = np.uint64(s)
        weight[n_drawn] = weights[s]
        n_drawn += weights[s] > 0
    return n_drawn


@kernel
def _add(words: Words, copies: int, counts: Words) -> None:
    several = np.uint64(copies)
    for s in range(counts.size):
        counts[s] += several * words[s]


# Unsigned places, here and below: signed ones are tested for counting from the end.


@kernel
def _tally(code: NDArray[np.int32], drawn: Words, weight: Ints, table: Ints) -> None:
    """Count the codes of the items that were drawn."""
    table[:] = 0
    for t in range(drawn.size):
        table[np.uint64(code[drawn[t]])] += weight[t]


@kernel
def _look_up(code: NDArray[np.int32], drawn: Words, rank: Floats, out: Floats) -> None:
    """Give the rank of every item that was drawn."""
    for t in range(drawn.size):
        out[t] = rank[np.uint64(code[drawn[t]])]


@kernel
def _pair(
    code: NDArray[np.int32], middle: NDArray[np.int32], n_middles: int, cell: NDArray[np.int32]
) -> None:
    """Give the place in a table of levels by medians of every item."""
    width = np.int32(n_middles)
    for s in range(cell.size):
        cell[s] = code[s] * width + middle[s]


@kernel
def _add_up(table: Ints, rows: Ints, columns: Ints) -> None:
    columns[:] = 0
    for i in range(table.shape[0]):
        total = 0
        for j in range(table.shape[1]):
            total += table[i, j]
            columns[j] += table[i, j]
        rows[i] = total
