"""A synthetic pool of Reddit-like comments: JSONL parts, each from its own seed.

Forums have sizes by Zipf's law and each its own share of profanity and mix of sentiments. Comments
have log-normal lengths; some are deleted, foreign, profane, of identity or religion, start with a
name, or are copies. Emotions stand in a column, as a pilot model would predict them. A part is the
same whatever the size of the pool, so a smaller pool is the beginning of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._curation_words import CLASSES, FOREIGN, SENTENCES, SHORT, TEMPLATE

__all__ = ["PART_ROWS", "make_pool"]

PART_ROWS = 250_000
_GROUPS = 2000
_SENTIMENTS = ("positive", "negative", "ambiguous", "neutral")
_SEED = 7
_NAMES = ("Sarah", "Michael", "Emma", "David", "Laura", "Thomas")

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class _Vocabulary:
    """All words by number, and where each kind begins and ends."""

    words: NDArray[Any]
    spans: dict[str, tuple[int, int]]

    def draw(self, rng: np.random.Generator, kind: str, n: int) -> Ids:
        """Words of a kind; the first ones of the list are the likelier."""
        first, last = self.spans[kind]
        numbers: Ids = first + np.floor((last - first) * rng.random(n) ** 1.6).astype(np.int64)
        return numbers


@dataclass(frozen=True)
class _Forums:
    """What is known of each forum, the largest first."""

    names: NDArray[Any]
    share: NDArray[np.float64]
    profane: NDArray[np.float64]
    sentiments: NDArray[np.float64]
    """Cumulative shares of sentiments, shape (forums, 4)."""


@cache
def _vocabulary() -> _Vocabulary:
    from affectlab.stimuli.curation.texts.words import WordLists

    lists = WordLists.load()
    kinds: dict[str, tuple[str, ...]] = {
        name: tuple(word.replace("_", " ") for word in words.split(" "))
        for name, words in (CLASSES | FOREIGN).items()
    }
    for name in ("offensive", "vulgar", "identity", "religion"):
        terms = sorted(term for term in getattr(lists, name) if "*" not in term)
        kinds[name] = tuple(terms[:25])
    kinds["name"] = _NAMES
    spans: dict[str, tuple[int, int]] = {}
    words: list[str] = []
    for name, own in kinds.items():
        spans[name] = (len(words), len(words) + len(own))
        words += own
    return _Vocabulary(np.array(words, dtype=object), spans)


@cache
def _forums() -> _Forums:
    from affectlab.stimuli.curation.texts.words import WordLists

    rng = np.random.default_rng(_SEED)
    rank = np.arange(1, _GROUPS + 1)
    names = np.array([f"forum{number:04d}" for number in rank], dtype=object)
    adult = sorted(term for term in WordLists.load().adult_groups if "*" not in term)[:8]
    names[rng.choice(np.arange(10, 120), len(adult), replace=False)] = adult
    share = rank**-1.0
    profane = rng.beta(1.2, 25, _GROUPS)
    mixes = rng.dirichlet(40 * np.array([0.29, 0.26, 0.26, 0.19]), _GROUPS)
    return _Forums(names, share / share.sum(), profane, mixes.cumsum(axis=1))


def _sentences(rng: np.random.Generator, n: int) -> Ids:
    """At least ``n`` words of sentences, one after another."""
    vocabulary = _vocabulary()
    kinds = list(CLASSES)
    patterns = [[kinds.index(kind) for kind in sentence.split()] for sentence in SENTENCES]
    width = max(map(len, patterns))
    table = np.array([pattern + [-1] * (width - len(pattern)) for pattern in patterns])
    least = min(map(len, patterns))
    tape = table[rng.integers(len(patterns), size=n // least + 1)].ravel()
    tape = tape[tape >= 0][:n]
    words = np.empty(n, dtype=np.int64)
    for number, kind in enumerate(kinds):
        places = np.flatnonzero(tape == number)
        words[places] = vocabulary.draw(rng, kind, places.size)
    return words


def _emotions(rng: np.random.Generator, forum: Ids) -> list[str]:
    """Predicted emotions, one or two with ``;`` between; the sentiment is drawn by forum."""
    from affectlab.taxonomy import load_taxonomy

    polarity = load_taxonomy("goemotions").polarity
    by_sentiment = [
        [name for name, own in polarity.items() if own == sentiment] for sentiment in _SENTIMENTS
    ]
    names = np.array([name for own in by_sentiment for name in own], dtype=object)
    sizes = np.array([len(own) for own in by_sentiment])
    firsts = np.concatenate([[0], sizes.cumsum()[:-1]])

    def drawn() -> Ids:
        places = rng.random(forum.size)[:, None] > _forums().sentiments[forum]
        sentiment = np.minimum(places.sum(axis=1), len(_SENTIMENTS) - 1)
        within = (sizes[sentiment] * rng.random(forum.size) ** 1.8).astype(np.int64)
        return np.asarray(firsts[sentiment] + within)

    first, second = drawn(), drawn()
    two = (rng.random(forum.size) < 0.12) & (first != second)
    texts = names[first]
    texts[two] += ";" + names[second[two]]
    found: list[str] = texts.tolist()
    return found


def _bodies(rng: np.random.Generator, forum: Ids) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    vocabulary, n = _vocabulary(), forum.size
    lengths = np.clip(np.exp(rng.normal(np.log(11), 0.75, n)).astype(np.int64), 1, 120)
    starts = np.concatenate([[0], lengths.cumsum()])
    words = _sentences(rng, int(starts[-1]))
    kind = rng.random(n)
    for number, language in enumerate(FOREIGN):
        rows = np.flatnonzero((kind >= 0.01 * number) & (kind < 0.01 * (number + 1)))
        places = np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows])
        words[places] = vocabulary.draw(rng, language, places.size)
    profane = rng.random(n) < _forums().profane[forum]
    rough = {
        "offensive": profane & (rng.random(n) < 0.4),
        "vulgar": profane,
        "identity": rng.random(n) < 0.01,
        "religion": rng.random(n) < 0.01,
        "name": rng.random(n) < 0.02,
    }
    for name, chosen in rough.items():
        rows = np.flatnonzero(chosen)
        places = starts[rows] + (lengths[rows] * rng.random(rows.size)).astype(np.int64)
        words[places] = vocabulary.draw(rng, name, rows.size)
    pieces = pa.array(vocabulary.words.tolist(), pa.string()).take(pa.array(words))
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pieces), " ")
    texts = np.array(joined.to_pylist(), dtype=object)
    for low, text in ((0.10, "[deleted]"), (0.14, "[removed]"), (0.16, "")):
        texts[(kind >= low) & (kind < low + 0.02)] = text
    short = np.flatnonzero((kind >= 0.2) & (kind < 0.23))
    texts[short] = np.array(SHORT, dtype=object)[rng.integers(len(SHORT), size=short.size)]
    sent = np.flatnonzero((kind >= 0.23) & (kind < 0.233))
    texts[sent] = [TEMPLATE.format(number) for number in rng.integers(1000, size=sent.size)]
    copied = np.flatnonzero((kind >= 0.24) & (kind < 0.25))
    texts[copied] = texts[rng.integers(n, size=copied.size)]
    found: list[str] = texts.tolist()
    return found


def _write_part(path: Path, part: int, rows: int) -> None:
    import polars as pl

    rng = np.random.default_rng([_SEED, part])
    forums = _forums()
    forum = rng.choice(_GROUPS, size=PART_ROWS, p=forums.share)
    first = part * PART_ROWS
    frame = pl.DataFrame(
        {
            "id": [f"c{number:08x}" for number in range(first, first + PART_ROWS)],
            "subreddit": forums.names[forum].tolist(),
            "body": _bodies(rng, forum),
            "emotions": _emotions(rng, forum),
        }
    )
    unfinished = path.with_suffix(".unfinished")
    frame.head(rows).write_ndjson(unfinished)
    unfinished.rename(path)


def make_pool(folder: Path, n: int) -> list[Path]:
    """Give the files of a pool of ``n`` comments; parts that lie in the folder are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part in range(-(-n // PART_ROWS)):
        rows = min(PART_ROWS, n - part * PART_ROWS)
        path = folder / f"comments-{part:03d}-{rows}.jsonl"
        if not path.exists():
            _write_part(path, part, rows)
        paths.append(path)
    return paths
