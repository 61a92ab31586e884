"""Free emotion words as labels of a taxonomy: by which route, how surely, and which of them not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.lexicon import synonym_groups
from affectlab.analysis.reactions.wording import Route
from affectlab.analysis.reactions.words import EmotionWords
from affectlab.core.errors import InputError, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.types import Floats
from affectlab.taxonomy import Taxonomy, emotion_key, told_words

# The routes that lead from a word to a label, from the surest on.


_GRADES = {Route.NAME: 1.0, Route.ALIAS: 0.95, Route.DESCRIPTOR: 0.85}
_FORM = 0.05
_SYNONYM = 0.6
_OTHER = 0.7
_FIRM = 0.8
"""Grade that a label of another taxonomy must have for its mapping to be followed."""
_SOURCES = ("goemotions", "emonet_face", "mikels")


class Found(NamedTuple):
    """What a route leads to."""

    label: str | None
    confidence: float
    route: Route
    via: str = ""
    """What the route leads by: a form, a synonym, a label of another taxonomy, or the labels
    between which it does not decide."""
    open: bool = True
    """Whether a weaker route may still be tried."""


class LabelIndex:
    """The words by which the labels of a taxonomy are found."""

    def __init__(self, taxonomy: Taxonomy, *, others: bool = True) -> None:
        self.labels = taxonomy.labels
        # Labels by kind of word and word as it is written; and by what forms of a word have in
        # common, with the first word that leads there.
        self._exact: dict[tuple[Route, str], dict[str, str]] = {}
        self._forms: dict[tuple[Route, str], dict[str, str]] = {}
        for entry in taxonomy.entries:
            parts = entry.name.split("/") if "/" in entry.name else []
            known = {
                Route.NAME: (entry.name, *parts),
                Route.ALIAS: entry.aliases,
                Route.DESCRIPTOR: entry.words,
            }
            for kind, word in ((kind, word) for kind, own in known.items() for word in own):
                plain = word.casefold().strip()
                self._exact.setdefault((kind, plain), {}).setdefault(entry.name, plain)
                key = kind, emotion_key(word)
                self._forms.setdefault(key, {}).setdefault(entry.name, plain)
        # Other taxonomies whose labels are mapped to those of this one.
        self._others = _others(taxonomy) if others else ()

    def find(self, word: str) -> Found:
        """Follow the routes until one leads to a single label."""
        found = self.own(word)
        if found.label is None and found.open:
            synonym = self._synonym(word)
            if synonym.label is not None:
                return synonym
            other = self._other(word)
            if other is not None:
                return other
            return synonym if synonym.route is not Route.UNKNOWN else found
        return found

    def own(self, word: str) -> Found:
        """Find a word among those of the taxonomy itself."""
        plain, key = " ".join(word.casefold().split()), emotion_key(word)
        doubtful = None
        for kind, grade in _GRADES.items():
            labels = tuple(self._exact.get((kind, plain), ()))
            if len(labels) == 1:
                return Found(labels[0], grade, kind)
            doubtful = doubtful or _doubtful(labels)
        for kind, grade in _GRADES.items():
            forms = self._forms.get((kind, key), {})
            if len(forms) == 1 and doubtful is None:
                ((label, form),) = forms.items()
                return Found(label, round(grade - _FORM, 3), Route.FORM, form)
            doubtful = doubtful or _doubtful(tuple(forms))
        return doubtful or Found(None, 0.0, Route.UNKNOWN)

    def _synonym(self, word: str) -> Found:
        """The label of the groups of synonyms that the word is in.

        The heads of groups say what they are about: a label that is a head comes before one that is
        only another word of a group.
        """
        groups = _groups().get(emotion_key(word), ())
        heads = self._labels([(group[0],) for _, group in groups], _FIRM)
        members = heads or self._labels([group for _, group in groups], 1 - _FORM, named=True)
        labels = tuple(members)
        if len(labels) == 1:
            return Found(labels[0], _SYNONYM, Route.SYNONYM, members[labels[0]])
        return _doubtful(labels) or Found(None, 0.0, Route.UNKNOWN)

    def _labels(
        self, groups: Iterable[tuple[str, ...]], least: float, *, named: bool = False
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for group in groups:
            for other in group:
                own = self.own(other)
                # An alias of a label, such as fun, is further from the rest of a group.
                if (
                    own.label is not None
                    and own.confidence >= least
                    and not (named and own.route is Route.ALIAS)
                ):
                    found.setdefault(own.label, other)
        return found

    def _other(self, word: str) -> Found | None:
        for name, index, targets in self._others:
            there = index.own(word)
            if there.label is not None and there.confidence >= _FIRM and there.label in targets:
                confidence = round(_OTHER * there.confidence, 3)
                via = f"{name} {there.label}"
                return Found(targets[there.label], confidence, Route.TAXONOMY, via)
        return None


def _doubtful(labels: tuple[str, ...]) -> Found | None:
    if len(labels) < 2:
        return None
    return Found(None, 0.0, Route.DOUBTFUL, " or ".join(labels))


@lru_cache(maxsize=1)
def _groups() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Groups of synonyms that a word is in, by what its forms have in common."""
    groups: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for head, group in synonym_groups():
        for key in dict.fromkeys(map(emotion_key, group)):
            groups.setdefault(key, []).append((head, group))
    return groups


def _others(taxonomy: Taxonomy) -> tuple[tuple[str, LabelIndex, Mapping[str, str]], ...]:
    from affectlab.taxonomy import load_taxonomy, map_labels

    found = []
    for name in _SOURCES:
        if name == taxonomy.name:
            continue
        source = load_taxonomy(name)
        try:
            mapping = map_labels(source, taxonomy)
        except InputError:
            # There is no built-in mapping between the two, or this is another taxonomy of the name.
            continue
        found.append((name, LabelIndex(source, others=False), mapping.targets))
    return tuple(found)


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
    route: Route
    """How the label was found, or why there is none."""
    via: str
    """By which form, synonym or label of another taxonomy, or between which labels; often empty."""
    n: int
    """How often the emotion was named."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EmotionMap(Result):
    """Emotions as labels of a taxonomy; made by :func:`map_emotions`.

    The table has a row per emotion: ``word``, ``label``, ``confidence``, ``route``, ``via`` and
    ``n``.
    """

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

    def routes(self) -> pl.DataFrame:
        """How much each route mapped: ``route``, ``n_words`` and ``n_answers``."""
        return self.to_frame("routes")


_COLUMNS = (
    Key("word"),
    Count("n"),
    Text("label"),
    Number("confidence", spare=True),
    Text("route"),
    Text("via"),
)
_ROUTES = (Key("route"), Count("n_words"), Count("n_answers"))
_SHOWN = 10
"""Words without a label that are named."""
_TYPES = {
    "word": pl.String,
    "label": pl.String,
    "confidence": pl.Float64,
    "route": pl.String,
    "via": pl.String,
    "n": pl.Int64,
}


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

        ``label_of`` gives the label of each emotion, ``entries`` a (word, label,
        confidence, route, via, n) for each; ``unmapped``, ``unmapped_words`` and
        ``unmapped_answers`` say what has none, ``routes()`` how words were mapped.

    Raises
    ------
    InputError
        When the taxonomy is not known, a label that is given is not one of its labels, or the
        similarity has another shape.

    Examples
    --------
    >>> found = map_emotions(["sadness", "happily", "glad", "not happy", "schmaltzy"], "ekman")
    >>> [(one.label, one.route.value, one.via) for one in found.entries[:3]]
    [('sadness', 'name', ''), ('joy', 'form', 'happiness'), ('joy', 'synonym', 'joy')]
    >>> found.unmapped
    ('not happy', 'schmaltzy')
    """
    from affectlab.taxonomy import load_taxonomy

    target = load_taxonomy(taxonomy)
    for name, value in (("min_similarity", min_similarity), ("min_confidence", min_confidence)):
        check_number(name, value, 0, 1)
    counts = _counts(words)
    own = {word.casefold(): target.name_of(label) for word, label in (given or {}).items()}
    index = LabelIndex(target)
    found = {word: _find(word, own, index) for word in counts}
    left = [word for word, one in found.items() if one.label is None and one.open]
    if similarity is not None and left:
        found |= _similar(left, index.labels, similarity, min_similarity, min_margin)
    entries = []
    for word, one in found.items():
        if one.label is not None and one.confidence < min_confidence:
            via = f"{one.label} ({one.confidence:.2f})"
            one = Found(None, 0.0, Route.LOW_CONFIDENCE, via)
        entries.append(
            MappedWord(word, one.label, one.confidence, one.route, one.via, counts[word])
        )
    frame = pl.DataFrame(entries, _TYPES, orient="row")
    frame = frame.sort("n", "word", descending=[True, False])
    kind = pl.when(pl.col("label").is_null()).then(pl.lit("unmapped")).otherwise(pl.col("route"))
    routes = frame.group_by(kind.alias("route")).agg(
        pl.len().cast(pl.Int64).alias("n_words"), pl.col("n").sum().alias("n_answers")
    )
    order = {
        route: place for place, route in enumerate((*(one.value for one in Route), "unmapped"))
    }
    routes = routes.sort(pl.col("route").replace_strict(order, return_dtype=pl.Int64))
    found_map = EmotionMap(
        (
            Table("emotions", "Labels of emotions.", frame, _COLUMNS),
            Table("routes", "Routes to labels.", routes, _ROUTES, limit=0),
        ),
        taxonomy=target,
        entries=tuple(entries),
    )
    return replace(found_map, sentences=_sentences(found_map))


def _sentences(mapped: EmotionMap) -> tuple[str, ...]:
    """Say how many emotions have a label, and which have none."""
    sentence = wording.mapped_text(
        1 - mapped.unmapped_words, 1 - mapped.unmapped_answers, mapped.taxonomy.name
    )
    if not mapped.unmapped:
        return (sentence,)
    return sentence, wording.unmapped_text(mapped.unmapped[:_SHOWN])


def _counts(words: EmotionWords | Sequence[str] | Mapping[str, int]) -> dict[str, int]:
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
        return Found(own[word.casefold()], 1.0, Route.GIVEN)
    found = index.find(word)
    if found.label is not None:
        return found
    told = told_words(word)
    if len(told) > 1:
        if _NEGATIONS & set(told):
            return Found(None, 0.0, Route.NEGATED, open=False)
        parts = [index.find(one).label for one in told if one not in _BETWEEN]
        if len({label for label in parts if label is not None}) > 1:
            return Found(None, 0.0, Route.SEVERAL, open=False)
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
            found[word] = Found(labels[order[0]], float(min(best, 1.0)), Route.SIMILARITY)
    return found
