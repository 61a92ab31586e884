"""Free emotion words as labels of a taxonomy: by which route, how surely, and which of them not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from affectlab._emotion_words import told_words
from affectlab._types import Floats
from affectlab._words import percent, plural
from affectlab.analysis.reactions._routes import ROUTES, Found, LabelIndex
from affectlab.analysis.reactions._words import EmotionWords
from affectlab.errors import InputError
from affectlab.taxonomy import Taxonomy

__all__ = ["EmotionMap", "MappedWord", "Similarity", "map_emotions"]

Similarity = Callable[[list[str], list[str]], Floats]
"""Takes words and labels, and gives how alike they are, shape (words, labels), 1 for equal."""

_NEGATIONS = frozenset(["not", "no", "never", "isn't", "don't", "nothing", "without", "un", "non"])
_BETWEEN = frozenset(["and", "or", "but", "yet", "with"])


class MappedWord(NamedTuple):
    """Where one emotion belongs in a taxonomy."""

    word: str
    label: str | None
    """None when it is unmapped."""
    confidence: float
    """Grade of the route, 0 to 1; 0 when unmapped. It is no probability."""
    route: str
    """How the label was found, or why there is none."""
    n: int
    """How often the emotion was named."""


@dataclass(frozen=True, repr=False)
class EmotionMap:
    """Emotions as labels of a taxonomy; made by :func:`map_emotions`."""

    taxonomy: Taxonomy
    entries: tuple[MappedWord, ...]
    """One per emotion, in the order of the words given."""

    @cached_property
    def label_of(self) -> dict[str, str | None]:
        """Label of each emotion; None when unmapped."""
        return {entry.word: entry.label for entry in self.entries}

    @cached_property
    def unmapped(self) -> tuple[str, ...]:
        """Emotions without a label, those named most often first."""
        left = [entry for entry in self.entries if entry.label is None]
        return tuple(one.word for one in sorted(left, key=lambda one: (-one.n, one.word)))

    @property
    def unmapped_words(self) -> float:
        """Share of the emotions that have no label; ``nan`` without emotions."""
        return len(self.unmapped) / len(self.entries) if self.entries else math.nan

    @property
    def unmapped_answers(self) -> float:
        """Share of the answers whose emotion has no label; ``nan`` without answers."""
        total = sum(entry.n for entry in self.entries)
        left = sum(entry.n for entry in self.entries if entry.label is None)
        return left / total if total else math.nan

    def polarity(self, word: str) -> str | None:
        """Polarity of the label of an emotion; None when it has none."""
        label = self.label_of[word]
        return None if label is None else self.taxonomy.polarity.get(label)

    def to_frame(self) -> pl.DataFrame:
        """One row per emotion: ``word``, ``label``, ``confidence``, ``route``, ``n``."""
        return pl.DataFrame(
            list(self.entries),
            schema={
                "word": pl.String,
                "label": pl.String,
                "confidence": pl.Float64,
                "route": pl.String,
                "n": pl.Int64,
            },
            orient="row",
        ).sort("n", "word", descending=[True, False])

    def routes(self) -> pl.DataFrame:
        """How much each route mapped: ``route``, ``n_words`` and ``n_answers``."""
        words: Counter[str] = Counter()
        answers: Counter[str] = Counter()
        for entry in self.entries:
            kind = "unmapped" if entry.label is None else entry.route.split(":", 1)[0]
            words[kind] += 1
            answers[kind] += entry.n
        order = [route for route in (*ROUTES, "unmapped") if words[route]]
        return pl.DataFrame(
            {
                "route": order,
                "n_words": [words[route] for route in order],
                "n_answers": [answers[route] for route in order],
            },
            schema={"route": pl.String, "n_words": pl.Int64, "n_answers": pl.Int64},
        )

    def __repr__(self) -> str:
        return (
            f"EmotionMap({self.taxonomy.name}: {plural(len(self.entries), 'word', 'words')}, "
            f"{percent(self.unmapped_words)} unmapped)"
        )


def map_emotions(
    words: EmotionWords | Sequence[str] | Mapping[str, int],
    taxonomy: str | Taxonomy,
    *,
    given: Mapping[str, str] | None = None,
    similarity: Similarity | None = None,
    min_similarity: float = 0.6,
    min_margin: float = 0.05,
    min_confidence: float = 0.0,
) -> EmotionMap:
    """Find the label of a taxonomy for each free emotion word, where there is one.

    The routes are tried from the surest on, and the first that leads to a single label is taken:
    what you give, the name of a label, an alias, a descriptor word of the taxonomy, a form of one
    of these (*happily* of *happy*), a near synonym from affectlab's list, a built-in mapping
    from another taxonomy, and last your own measure of similarity. A word with a negation or of
    several emotions (*happy and sad*) is left unmapped, and so is one that a route leads to two
    labels: nothing is guessed.

    Parameters
    ----------
    words
        Emotions brought together by :func:`normalise_emotions`, or words, each with how often it
        was named where a mapping is given.
    taxonomy
        The taxonomy or its name.
    given
        Labels for words of your own choice.
    similarity
        Measure for the words that no other route maps, such as the cosine of embeddings; see
        :data:`Similarity`.
    min_similarity, min_margin
        Least similarity that is taken for the same meaning, and how far the second label must be
        behind. The similarity is the confidence.
    min_confidence
        Leave words unmapped whose route is graded lower.

    Returns
    -------
    EmotionMap
        Per word the label, the confidence and the route. Confidences grade routes (name 1, alias
        0.95, descriptor 0.85, their forms 0.05 less, synonym 0.6, by way of another taxonomy 0.7
        of the grade there); they are no probabilities.

    Raises
    ------
    InputError
        When the taxonomy is not known, a label that is given is not one of its labels, or the
        similarity has another shape.

    Examples
    --------
    >>> found = map_emotions(["sadness", "happily", "glad", "not happy", "schmaltzy"], "ekman")
    >>> [(one.label, one.route) for one in found.entries[:3]]
    [('sadness', 'name'), ('joy', 'form: of happiness'), ('joy', 'synonym: joy')]
    >>> found.unmapped
    ('not happy', 'schmaltzy')
    """
    from affectlab.taxonomy import load_taxonomy

    target = load_taxonomy(taxonomy)
    for name, value in (("min_similarity", min_similarity), ("min_confidence", min_confidence)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} = {value!r}: expected 0 to 1")
    counts = _counts(words)
    own = {word.casefold(): target.name_of(label) for word, label in (given or {}).items()}
    index = LabelIndex.of(target)
    found = {word: _find(word, own, index) for word in counts}
    left = [word for word, one in found.items() if one.label is None and one.open]
    if similarity is not None and left:
        found |= _similar(left, index.labels, similarity, min_similarity, min_margin)
    entries = []
    for word, one in found.items():
        if one.label is not None and one.confidence < min_confidence:
            one = Found(None, 0.0, f"confidence {one.confidence:.2f} of {one.label}: too low")
        entries.append(MappedWord(word, one.label, one.confidence, one.route, counts[word]))
    return EmotionMap(target, tuple(entries))


def _counts(words: EmotionWords | Sequence[str] | Mapping[str, int]) -> dict[str, int]:
    from affectlab.analysis.reactions._words import EmotionWords

    if isinstance(words, EmotionWords):
        return words.emotions
    if isinstance(words, str):
        raise InputError("words: expected a list of words, not one text")
    counts = dict(words) if isinstance(words, Mapping) else dict(Counter(words))
    wrong = next((word for word in counts if not isinstance(word, str) or not word.strip()), None)
    if wrong is not None or "" in counts:
        raise InputError(f"words hold {wrong!r:.60}; expected emotion words")
    return counts


def _find(word: str, own: Mapping[str, str], index: LabelIndex) -> Found:
    if word.casefold() in own:
        return Found(own[word.casefold()], 1.0, "given")
    found = index.find(word)
    if found.label is not None:
        return found
    told = told_words(word)
    if len(told) > 1:
        if _NEGATIONS & set(told):
            return Found(None, 0.0, "negated", open=False)
        parts = [index.find(one).label for one in told if one not in _BETWEEN]
        if len({label for label in parts if label is not None}) > 1:
            return Found(None, 0.0, "several emotions", open=False)
    return found


def _similar(
    words: list[str],
    labels: tuple[str, ...],
    similarity: Similarity,
    least: float,
    margin: float,
) -> dict[str, Found]:
    values = np.asarray(similarity(words, list(labels)), dtype=np.float64)
    if values.shape != (len(words), len(labels)):
        raise InputError(
            f"similarity: gave shape {values.shape}; expected {(len(words), len(labels))}, one row "
            "per word and one column per label"
        )
    if not np.isfinite(values).all():
        raise InputError("similarity: gave values that are no finite numbers")
    found = {}
    for word, row in zip(words, values, strict=True):
        order = np.argsort(-row, kind="stable")
        best = row[order[0]]
        behind = best - row[order[1]] if len(order) > 1 else math.inf
        if best >= least and behind >= margin:
            found[word] = Found(labels[order[0]], float(min(best, 1.0)), "similarity")
    return found
