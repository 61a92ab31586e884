"""Compiled loops of fastText's labels; imported where they are used, since numba loads slowly.

All sums are made in the order of the library and in its precision, so that no label differs. The
inner loops take single arrays: counting the users of many arrays costs more than the loops do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.stimuli.curation.texts.fasttext_model import BLOCK, Tables

__all__ = ["best_labels", "said_in"]

_OFFSET, _PRIME = np.uint32(2_166_136_261), np.uint32(16_777_619)
_SIGNED = np.uint32(0xFFFFFF00)
_BEGIN, _END = np.uint8(ord("<")), np.uint8(ord(">"))
_NO_WORD = np.frombuffer(b"</s>", np.uint8)
_LABEL = np.frombuffer(b"__label__", np.uint8)
_CACHED = 1 << 16
"""Places for words that were seen before."""
_CACHED_ROWS = 1 << 20
"""Rows of vectors that are kept of these words."""
_LONGEST = 64
"""Bytes of words that are kept."""
_TRIES = 8
_SMALLEST = 1e-5
"""What is added before a logarithm is taken."""


@kernel
def best_labels(
    model: Tables,
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    between: NDArray[np.bool_],
    floor: np.float32,
    labels: NDArray[np.int16],
    scores: NDArray[np.float32],
) -> None:
    """Find the likeliest labels of texts.

    Parameters
    ----------
    data, starts
        Texts as bytes, shape (n + 1,) places.
    between
        Bytes that stand between words, shape (256,).
    floor
        Logarithm of the probability that a label must have.
    labels, scores
        Are filled, shape (n, k): labels, the likeliest first, and the logarithms of their
        probabilities; -1 where there are fewer.
    """
    left, right, output = model.left, model.right, model.output
    hidden = np.empty(model.width, np.float32)
    nodes, sums = np.empty(len(left), np.int32), np.empty(len(left), np.float32)
    begins, told, rows = _no_words()
    for at in range(len(starts) - 1):
        labels[at, :] = -1
        first, last = starts[at], starts[at + 1]
        if _mean(model, data, first, last, between, hidden, begins, told, rows):
            _descend(left, right, output, hidden, floor, labels[at], scores[at], nodes, sums)


@kernel
def said_in(
    model: Tables,
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    between: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    paths: NDArray[np.int32],
    ends: NDArray[np.int64],
    k: int,
    floor: np.float32,
    sure: np.float32,
    found: NDArray[np.bool_],
) -> None:
    """Tell which texts have a wanted label among their `k` likeliest ones, or none at all.

    Parameters
    ----------
    chosen
        Texts that are looked at, shape (n,); true is found for the others.
    wanted
        Labels that are wanted, shape (labels,).
    paths, ends
        The ways to them, shape (2, steps), and where each ends: a label with a probability above
        `sure`, of which there are never more than `k`, is wanted without a look at the others.
    """
    left, right, output = model.left, model.right, model.output
    hidden = np.empty(model.width, np.float32)
    nodes, sums = np.empty(len(left), np.int32), np.empty(len(left), np.float32)
    labels, scores = np.empty(k, np.int16), np.empty(k, np.float32)
    begins, told, rows = _no_words()
    for at in range(len(starts) - 1):
        found[at] = True
        if not chosen[at]:
            continue
        first, last = starts[at], starts[at + 1]
        if not _mean(model, data, first, last, between, hidden, begins, told, rows):
            continue
        if _reached(output, hidden, paths, ends, sure):
            continue
        labels[:] = -1
        _descend(left, right, output, hidden, floor, labels, scores, nodes, sums)
        any_wanted = labels[0] < 0
        for place in range(k):
            if labels[place] >= 0 and wanted[labels[place]]:
                any_wanted = True
        found[at] = any_wanted


@kernel
def _no_words() -> Any:
    """An empty store of words: where each begins; its length, first row and rows; all rows."""
    # The last line holds the number of rows in all.
    told = np.zeros((_CACHED + 1, 3), np.int32)
    return np.full(_CACHED, -1, np.int64), told, np.empty(_CACHED_ROWS, np.int32)


@kernel
def _mean(
    model: Tables,
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    between: NDArray[np.bool_],
    hidden: NDArray[np.float32],
    begins: NDArray[np.int64],
    told: NDArray[np.int32],
    rows: NDArray[np.int32],
) -> int:
    """Mean vector of the words of a text and of their pieces; gives how many these are."""
    vectors, end = model.vectors, model.end
    hidden[:] = np.float32(0)
    n = 0
    at = start
    while at < stop:
        if between[data[at]]:
            at += 1
            continue
        first = at
        value = _OFFSET
        while at < stop and not between[data[at]]:
            value = _hashed(value, data[at])
            at += 1
        slot = _slot(data, first, at - first, value, begins, told)
        if slot >= 0 and begins[slot] >= 0:
            begin, number = told[slot, 1], told[slot, 2]
            for k in range(begin, begin + number):
                _add_row(vectors, rows[k], hidden)
            n += number
            continue
        if _is_end(data, first, at):
            # It ends a line wherever it stands.
            break
        used = told[_CACHED, 0]
        keeps = slot >= 0 and used + (at - first + 2) * model.longest < _CACHED_ROWS
        number = _look_up(model, data, first, at, value, hidden, rows, used if keeps else -1)
        n += number
        if keeps:
            begins[slot] = first
            told[slot, 0], told[slot, 1], told[slot, 2] = at - first, used, number
            told[_CACHED, 0] = used + number
    if end >= 0:
        _add_row(vectors, end, hidden)
        n += 1
    if n:
        part = np.float32(1.0 / n)
        for d in range(len(hidden)):
            hidden[d] *= part
    return n


@kernel
def _hashed(value: np.uint32, byte: np.uint8) -> np.uint32:
    """Take one more byte into FNV-1a; bytes are signed, as the library has them."""
    wide = np.uint32(byte)
    if wide > np.uint32(127):
        wide = wide | _SIGNED
    return np.uint32(np.uint32(value ^ wide) * _PRIME)


@kernel
def _slot(
    data: NDArray[np.uint8],
    first: int,
    size: int,
    value: np.uint32,
    begins: NDArray[np.int64],
    told: NDArray[np.int32],
) -> int:
    """Place of a word in the store, be it there or not; -1 where there is none for it."""
    if size > _LONGEST:
        return -1
    slot = np.int64(value ^ (value >> np.uint32(15))) & (_CACHED - 1)
    for _ in range(_TRIES):
        begin = begins[slot]
        if begin < 0:
            return int(slot)
        if told[slot, 0] == size:
            same = True
            for k in range(size):
                if data[begin + k] != data[first + k]:
                    same = False
                    break
            if same:
                return int(slot)
        slot = (slot + 1) & (_CACHED - 1)
    return -1


@kernel
def _add_row(vectors: NDArray[np.float32], row: int, hidden: NDArray[np.float32]) -> None:
    # Unsigned places need no look whether they count from the end, and blocks become one addition.
    at = np.uint64(row) * np.uint64(len(hidden))
    for begin in range(0, len(hidden), BLOCK):
        for d in range(BLOCK):
            place = np.uint64(begin + d)
            hidden[place] += vectors[at + place]


@kernel
def _look_up(
    model: Tables,
    data: NDArray[np.uint8],
    first: int,
    last: int,
    value: np.uint32,
    hidden: NDArray[np.float32],
    rows: NDArray[np.int32],
    used: int,
) -> int:
    """Add the vectors of a word and of its pieces; their rows are kept from `used` on, if >= 0."""
    vectors, keys, kept = model.vectors, model.piece_keys, model.piece_rows
    number = _entry(model.text, model.starts, model.slots, data, first, last, value)
    if number >= model.n_words or (number < 0 and _is_label(data, first, last)):
        return 0
    n = 0
    if number >= 0:
        _add_row(vectors, number, hidden)
        if used >= 0:
            rows[used] = number
        n = 1
    # The word with a mark before it and one behind it.
    size = last - first + 2
    for begin in range(size):
        if _continues(data, first, begin, size):
            continue
        piece = _OFFSET
        at = begin
        for length in range(1, model.longest + 1):
            if at >= size:
                break
            piece = _hashed(piece, _byte(data, first, at, size))
            at += 1
            while at < size and _continues(data, first, at, size):
                piece = _hashed(piece, _byte(data, first, at, size))
                at += 1
            if length < model.shortest or (length == 1 and (begin == 0 or at == size)):
                continue
            row = _piece_row(keys, kept, int(np.int64(piece) % model.bucket))
            if row >= 0:
                _add_row(vectors, row, hidden)
                if used >= 0:
                    rows[used + n] = row
                n += 1
    return n


@kernel
def _entry(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    slots: NDArray[np.int32],
    data: NDArray[np.uint8],
    first: int,
    last: int,
    value: np.uint32,
) -> int:
    """Number of a word in the dictionary; -1 where it is not there."""
    slot = np.int64(value) & (len(slots) - 1)
    while slots[slot] >= 0:
        number = slots[slot]
        begin = starts[number]
        same = starts[number + 1] - begin == last - first
        if same:
            for k in range(last - first):
                if text[begin + k] != data[first + k]:
                    same = False
                    break
        if same:
            return int(number)
        slot = (slot + 1) & (len(slots) - 1)
    return -1


@kernel
def _byte(data: NDArray[np.uint8], first: int, at: int, size: int) -> np.uint8:
    if at == 0:
        return _BEGIN
    if at == size - 1:
        return _END
    return np.uint8(data[first + at - 1])


@kernel
def _continues(data: NDArray[np.uint8], first: int, at: int, size: int) -> bool:
    """Whether a byte goes on with the character before it."""
    return bool((_byte(data, first, at, size) & np.uint8(0xC0)) == np.uint8(0x80))


@kernel
def _is_end(data: NDArray[np.uint8], first: int, last: int) -> bool:
    """Whether a word is that which stands for the end of a line."""
    return last - first == len(_NO_WORD) and _n_alike(data, first, _NO_WORD) == len(_NO_WORD)


@kernel
def _is_label(data: NDArray[np.uint8], first: int, last: int) -> bool:
    """Whether a word begins with what marks labels."""
    return last - first >= len(_LABEL) and _n_alike(data, first, _LABEL) == len(_LABEL)


@kernel
def _n_alike(data: NDArray[np.uint8], first: int, mark: NDArray[np.uint8]) -> int:
    """How many bytes are those of a mark, before the first one that is not."""
    n = 0
    while n < len(mark) and data[first + n] == mark[n]:
        n += 1
    return n


@kernel
def _piece_row(keys: NDArray[np.int32], rows: NDArray[np.int32], key: int) -> int:
    """Row of the piece of a word with a hash; -1 where it was not kept."""
    slot = key & (len(keys) - 1)
    while keys[slot] >= 0:
        if keys[slot] == key:
            return int(rows[slot])
        slot = (slot + 1) & (len(keys) - 1)
    return -1


@kernel
def _goes_right(output: NDArray[np.float32], row: int, hidden: NDArray[np.float32]) -> np.float32:
    """Probability with which the way goes right at an inner node of the tree."""
    at = np.int64(row) * len(hidden)
    total = np.float32(0)
    for d in range(len(hidden)):
        total += output[at + d] * hidden[d]
    return np.float32(1.0 / np.float64(np.float32(1) + np.float32(math.exp(-total))))


@kernel
def _log(value: np.float32) -> np.float32:
    return np.float32(math.log(np.float64(value) + _SMALLEST))


@kernel
def _reached(
    output: NDArray[np.float32],
    hidden: NDArray[np.float32],
    paths: NDArray[np.int32],
    ends: NDArray[np.int64],
    sure: np.float32,
) -> bool:
    """Whether one of some labels has a score of at least `sure`."""
    step = 0
    for end in ends:
        score = np.float32(0)
        while step < end and score >= sure:
            right = _goes_right(output, paths[0, step], hidden)
            if paths[1, step]:
                score += _log(right)
            else:
                score += _log(np.float32(1.0 - np.float64(right)))
            step += 1
        if score >= sure:
            return True
        step = end
    return False


@kernel
def _descend(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    output: NDArray[np.float32],
    hidden: NDArray[np.float32],
    floor: np.float32,
    labels: NDArray[np.int16],
    scores: NDArray[np.float32],
    nodes: NDArray[np.int32],
    sums: NDArray[np.float32],
) -> None:
    """Walk down the tree wherever `floor` is not passed, and keep the best leaves in order."""
    k, leaves = len(labels), (len(left) + 1) // 2
    found = 0
    waiting = 1
    nodes[0], sums[0] = len(left) - 1, np.float32(0)
    while waiting:
        waiting -= 1
        node, score = nodes[waiting], sums[waiting]
        if score < floor or (found == k and score < scores[k - 1]):
            continue
        if node < leaves:
            place = min(found, k - 1)
            while place > 0 and scores[place - 1] < score:
                labels[place], scores[place] = labels[place - 1], scores[place - 1]
                place -= 1
            labels[place], scores[place] = node, score
            found = min(found + 1, k)
            continue
        goes_right = _goes_right(output, node - leaves, hidden)
        nodes[waiting], sums[waiting] = right[node], score + _log(goes_right)
        goes_left = _log(np.float32(1.0 - np.float64(goes_right)))
        nodes[waiting + 1], sums[waiting + 1] = left[node], score + goes_left
        waiting += 2
