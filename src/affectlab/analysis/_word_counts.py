"""Counting words by label, and p-values of many words at once."""

from __future__ import annotations

import numpy as np

from affectlab._multiple_tests import benjamini_hochberg, holm
from affectlab._types import Floats, Ints
from affectlab.analysis._membership import Membership
from affectlab.analysis._tokens import Tokens

__all__ = ["corrected", "counts_of", "texts_with"]


def counts_of(
    tokens: Tokens, members: Membership, n_labels: int, *, once: bool = False
) -> tuple[Ints, Ints]:
    """Count the uses of each word with each label, and in all; or the texts that hold it."""
    from affectlab._compiled import in_threads
    from affectlab.analysis._kernels import count_words

    n_words, n = len(tokens.words), members.text.size
    counted = tokens.first if once else np.empty(0, dtype=np.bool_)
    weight = np.ones_like(members.weight) if once else members.weight
    text = tokens.text[members.text]
    all_of_it = np.zeros(n, dtype=np.int64), np.arange(1, n + 1)
    counts = np.zeros((len(members.labels), n_words), dtype=np.int64)
    total = np.zeros((1, n_words), dtype=np.int64)

    def some(part: tuple[Ints, Ints, Ints]) -> None:
        label, end, out = part
        count_words(tokens.word, tokens.end, counted, text, label, end, weight, out)

    in_threads(some, [(members.label, members.end, counts), (*all_of_it, total)])
    return counts[:n_labels], total[0]


def texts_with(members: Membership, n_labels: int) -> Ints:
    weight = members.weight[members.row].astype(np.float64)
    found = np.bincount(members.label, weight, minlength=len(members.labels))
    return np.rint(found).astype(np.int64)[:n_labels]


def corrected(p: Floats, how: str) -> Floats:
    """Correct p-values for their number, ``nan`` left out."""
    adjust = holm if how == "holm" else benjamini_hochberg
    return adjust(p.ravel()).reshape(p.shape)
