"""Log odds of words for 28 labels, beside scikit-learn."""

from __future__ import annotations

import re
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


def vectorizer(data: _Data) -> dict[str, dict[str, float]]:
    """Count with scikit-learn, add up by label with one sparse product, score arrays."""
    from sklearn.feature_extraction.text import CountVectorizer

    return _by_product(CountVectorizer(token_pattern=_WORD.pattern), data.texts, data.labels)


def vectorizer_cut(data: _Data) -> dict[str, dict[str, float]]:
    """Do the same with words that are there."""
    from sklearn.feature_extraction.text import CountVectorizer

    return _by_product(CountVectorizer(analyzer=list), data.words, data.labels)


def _by_product(counting: Any, texts: Any, labels: list[list[str]]) -> dict[str, dict[str, float]]:
    from sklearn.preprocessing import MultiLabelBinarizer

    table = counting.fit_transform(texts)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    members = binarizer.fit_transform(labels)
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


def check(_: _Data, mine: Any, peer: dict[str, dict[str, float]]) -> str:
    """Compare z of all words and labels."""
    found, z = mine
    theirs = [[peer[label][word] for word in found.words] for label in found.labels]
    return require_close(z, theirs, 1e-8, "z")


_SHAPE = "28 labels x 211,000 rows (58,000 different texts) x 30,000 words"
_SAME = "Data are simulated with a fixed seed, since the raw rows of GoEmotions are not at hand. "
_PEER = "scikit-learn's CountVectorizer, once, and a sparse product"
_BEST = (
    "All labels at once; a Counter, or a vectorizer fitted label by label, takes at least four "
    "times as long."
)

WORKLOADS = (
    Workload(
        name=f"log odds of words cut before, {_SHAPE}",
        peer=_PEER,
        make=make_cut,
        ours=ours_cut,
        theirs=vectorizer_cut,
        check=check,
        faster=5,
        packages=("scikit-learn",),
        best=_BEST,
        note=_SAME
        + "Texts are cut into words before, on both sides: this is counting and scoring.",
    ),
    Workload(
        name=f"log odds from raw texts, {_SHAPE}",
        peer=_PEER,
        make=make,
        ours=ours,
        theirs=vectorizer,
        check=check,
        faster=3,
        packages=("scikit-learn",),
        best=_BEST,
        note=_SAME + "Nearly all of the peer's time is cutting texts into words.",
    ),
)
