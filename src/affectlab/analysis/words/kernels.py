"""Compiled loops of the room. Import from here inside the function that needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.compiled import kernel
from affectlab.core.types import Bools, Floats, Ints


@kernel
def first_in_text(word: NDArray[np.int32], end: Ints, n_words: int) -> Bools:
    """Say which tokens are the first of their word in their text."""
    seen = np.full(n_words, -1, dtype=np.int64)
    first = np.zeros(word.size, dtype=np.bool_)
    start = 0
    for text in range(end.size):
        for k in range(start, end[text]):
            if seen[word[k]] != text:
                seen[word[k]] = text
                first[k] = True
        start = end[text]
    return first


@kernel
def count_words(
    word: NDArray[np.int32],
    end: Ints,
    counted: Bools,
    text: Ints,
    label: Ints,
    label_end: Ints,
    weight: Ints,
    count: Ints,
) -> None:
    """Add up how often each word occurs under each label.

    Parameters
    ----------
    word, end
        Words of all texts one after the other, and where each text ends.
    counted
        Which of the words count, or an empty array when all do.
    text
        Text of each row, shape (n,).
    label, label_end
        Labels of all rows one after the other, and where each row ends.
    weight
        How often each row counts, shape (n,).
    count
        Zero before, shape (labels, words).
    """
    everything = counted.size == 0
    begin = 0
    for row in range(text.size):
        stop = label_end[row]
        place = text[row]
        start = 0 if place == 0 else end[place - 1]
        for k in range(begin, stop):
            own = count[label[k]]
            for token in range(start, end[place]):
                if everything or counted[token]:
                    own[word[token]] += weight[row]
        begin = stop


@kernel
def score_words(count: Ints, total: Ints, delta: Floats, z: Floats) -> None:
    """Fill in the log odds ratio of every word for one label, and its z.

    Parameters
    ----------
    count, total
        Uses of each word with the label, and in all, shape (words,).
    """
    n1 = 0.0
    a0 = 0.0
    for k in range(total.size):
        n1 += count[k]
        a0 += total[k]
    n2 = a0 - n1
    for k in range(total.size):
        with_label = float(count[k] + total[k])
        without = float(2 * total[k] - count[k])
        if total[k] == 0:
            delta[k] = np.nan
            z[k] = np.nan
            continue
        odds = np.log(with_label / (n1 + a0 - with_label) * (n2 + a0 - without) / without)
        delta[k] = odds
        z[k] = odds / np.sqrt(1 / with_label + 1 / without)
