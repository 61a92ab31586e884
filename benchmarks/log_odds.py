"""Log odds of words for 28 labels, beside code with Counter and beside scikit-learn."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks._harness import Size, Workload, require_close

_SIZES = {"tiny": (40, 120, 60), "quick": (5_800, 21_000, 8_000), "full": (58_000, 211_000, 30_000)}
"""Different texts, rows, words."""
_N_LABELS = 28
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True)
class _Data:
    texts: list[str]
    """One per row; a text stands in one row per rater, as in the raw files of GoEmotions."""
    labels: list[list[str]]

    @cached_property
    def words(self) -> list[list[str]]:
        return [_WORD.findall(text.lower()) for text in self.texts]

    @cached_property
    def tokens(self) -> Any:
        from affectlab.analysis import tokenize

        return tokenize(self.texts)


def make(size: Size) -> _Data:
    """Draw texts of about 12 words by Zipf's law, some raters each, 1 to 3 labels a row."""
    n_texts, n_rows, n_words = _SIZES[size]
    rng = np.random.default_rng(8)
    names = np.array([_name(k) for k in range(n_words)])
    frequent = 1 / (np.arange(n_words) + 2.7)
    lengths = 3 + rng.poisson(9, n_texts)
    drawn = rng.choice(n_words, lengths.sum(), p=frequent / frequent.sum())
    # Every word occurs, as the vocabulary of a corpus is made of what occurs in it.
    drawn[rng.choice(drawn.size, n_words, replace=False)] = np.arange(n_words)
    ends = np.cumsum(lengths)
    texts = [
        " ".join(names[drawn[end - length : end]])
        for end, length in zip(ends, lengths, strict=True)
    ]
    row = np.sort(np.concatenate([np.arange(n_texts), rng.integers(0, n_texts, n_rows - n_texts)]))
    share = 1 / np.arange(1, _N_LABELS + 1)
    size_of = rng.choice([1, 2, 3], n_rows, p=[0.83, 0.15, 0.02])
    label = rng.choice(_N_LABELS, (n_rows, 3), p=share / share.sum())
    labels = [
        sorted({f"label {k:02d}" for k in own[:many]})
        for own, many in zip(label.tolist(), size_of.tolist(), strict=True)
    ]
    return _Data([texts[k] for k in row], labels)


def make_cut(size: Size) -> _Data:
    """Cut the texts into words before time is taken, for both sides."""
    data = make(size)
    assert len(data.words) == len(data.tokens)
    return data


def _name(number: int) -> str:
    """Write a number in letters."""
    letters = ""
    while True:
        number, letter = divmod(number, 26)
        letters = chr(97 + letter) + letters
        if not number:
            return letters + "x"


def ours(data: _Data) -> Any:
    """Cut, count, score."""
    from affectlab.analysis import log_odds

    found = log_odds(data.texts, data.labels)
    return found, found.z


def ours_cut(data: _Data) -> Any:
    """Count and score."""
    from affectlab.analysis import log_odds

    found = log_odds(data.tokens, data.labels)
    return found, found.z


def counters(data: _Data) -> dict[str, dict[str, float]]:
    """Cut into words once, then count and score label by label."""
    return _count_and_score([_WORD.findall(text.lower()) for text in data.texts], data.labels)


def counters_cut(data: _Data) -> dict[str, dict[str, float]]:
    """Count and score label by label."""
    return _count_and_score(data.words, data.labels)


def _count_and_score(
    words: list[list[str]], labels: list[list[str]]
) -> dict[str, dict[str, float]]:
    found = {}
    for label in sorted({name for own in labels for name in own}):
        inside: Counter[str] = Counter()
        outside: Counter[str] = Counter()
        for own, names in zip(words, labels, strict=True):
            (inside if label in names else outside).update(own)
        found[label] = _scores(inside, outside)
    return found


def _scores(inside: Counter[str], outside: Counter[str]) -> dict[str, float]:
    prior = inside + outside
    n1, n2, a0 = sum(inside.values()), sum(outside.values()), sum(prior.values())
    z = {}
    for word, a in prior.items():
        one, two = inside[word] + a, outside[word] + a
        delta = math.log(one / (n1 + a0 - one)) - math.log(two / (n2 + a0 - two))
        z[word] = delta / math.sqrt(1 / one + 1 / two)
    return z


def vectorizer(data: _Data) -> dict[str, dict[str, float]]:
    """Count with scikit-learn, add up by label with one sparse product, score arrays."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import MultiLabelBinarizer

    counting = CountVectorizer(token_pattern=_WORD.pattern)
    table = counting.fit_transform(data.texts)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    members = binarizer.fit_transform(data.labels)
    inside = (members.T @ table).toarray().astype(float)
    prior = np.asarray(table.sum(axis=0), dtype=float).ravel()
    outside = prior - inside
    n1, n2, a0 = inside.sum(1, keepdims=True), outside.sum(1, keepdims=True), prior.sum()
    one, two = inside + prior, outside + prior
    delta = np.log(one / (n1 + a0 - one)) - np.log(two / (n2 + a0 - two))
    z = delta / np.sqrt(1 / one + 1 / two)
    words = counting.get_feature_names_out().tolist()
    return {
        label: dict(zip(words, row, strict=True))
        for label, row in zip(binarizer.classes_, z.tolist(), strict=True)
    }


def vectorizers(data: _Data) -> dict[str, dict[str, float]]:
    """Fit the vectorizer for every contrast, as small log-odds scripts do; for some labels."""
    from sklearn.feature_extraction.text import CountVectorizer

    found = {}
    for label in _some_labels(data):
        counting = CountVectorizer(token_pattern=_WORD.pattern)
        table = counting.fit_transform(data.texts)
        has = np.array([label in own for own in data.labels])
        inside = np.asarray(table[has].sum(axis=0), dtype=float).ravel()
        outside = np.asarray(table[~has].sum(axis=0), dtype=float).ravel()
        prior = inside + outside
        n1, n2, a0 = inside.sum(), outside.sum(), prior.sum()
        one, two = inside + prior, outside + prior
        delta = np.log(one / (n1 + a0 - one)) - np.log(two / (n2 + a0 - two))
        z = delta / np.sqrt(1 / one + 1 / two)
        found[label] = dict(zip(counting.get_feature_names_out().tolist(), z.tolist(), strict=True))
    return found


def _some_labels(data: _Data) -> list[str]:
    return sorted({name for own in data.labels for name in own})[:4]


def check_some(_: _Data, mine: Any, peer: dict[str, dict[str, float]]) -> str:
    """Compare z of all words for the labels that the peer did."""
    found, z = mine
    at = [found.labels.index(label) for label in peer]
    theirs = [[of_label[word] for word in found.words] for of_label in peer.values()]
    return require_close(z[at], theirs, 1e-8, "z")


def check(_: _Data, mine: Any, peer: dict[str, dict[str, float]]) -> str:
    """Compare z of all words and labels."""
    found, z = mine
    theirs = [[peer[label][word] for word in found.words] for label in found.labels]
    return require_close(z, theirs, 1e-8, "z")


_SHAPE = "28 labels x 211,000 rows (58,000 different texts) x 30,000 words"
_SAME = "Data are simulated with a fixed seed, since the raw rows of GoEmotions are not at hand. "
_COUNTER = "collections.Counter, label by label"

WORKLOADS = (
    Workload(
        name=f"log odds of words cut before, {_SHAPE}",
        peer=_COUNTER,
        make=make_cut,
        ours=ours_cut,
        theirs=counters_cut,
        check=check,
        faster=50,
        note=_SAME
        + "Texts are cut into words before, on both sides: this is counting and scoring.",
    ),
    Workload(
        name=f"log odds from raw texts, {_SHAPE}",
        peer=_COUNTER,
        make=make,
        ours=ours,
        theirs=counters,
        check=check,
        faster=40,
        note=_SAME + "Both sides cut each text into words; ours cuts equal texts once.",
    ),
    Workload(
        name=f"log odds from raw texts, {_SHAPE}",
        peer="scikit-learn's CountVectorizer, fitted label by label",
        make=make,
        ours=ours,
        theirs=vectorizers,
        check=check_some,
        faster=50,
        scale=lambda data: (
            len({name for own in data.labels for name in own}) / len(_some_labels(data))
        ),
        extrapolated="from 4 of 28 labels",
        packages=("scikit-learn",),
        note=_SAME + "Log-odds scripts for two groups of texts do this for each pair of groups.",
    ),
    Workload(
        name=f"log odds from raw texts, {_SHAPE}",
        peer="scikit-learn's CountVectorizer, once, and a sparse product",
        make=make,
        ours=ours,
        theirs=vectorizer,
        check=check,
        faster=3,
        packages=("scikit-learn",),
        note=_SAME + "Nearly all of the peer's time is cutting texts into words.",
    ),
)
