"""Misspelt emotion words: what was meant, and on what grounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from affectlab.analysis.reactions.lexicon import (
    Dictionary,
    confused_words,
    dictionary,
    emotion_lexicon,
    lexicon_keys,
)
from affectlab.analysis.reactions.wording import Step
from affectlab.taxonomy import emotion_key

_LONG = 7
"""Letters from which on a word may have two mistakes."""
_SHORTEST = 4
"""Letters of the shortest word that is corrected."""
_DOMINANT = 10
"""How many times as often as all others the one word must be written that stands for a misspelt one
that names no known emotion."""


class Correction(NamedTuple):
    """What a misspelt word is taken for."""

    word: str
    reason: Step


class Speller:
    """Corrects words that are in no dictionary, and a few that are confused with emotion words.

    A word of the dictionary, of a taxonomy or of the words that are given as known is never
    changed, but for the confusions (*exited* for *excited*), in which what is written names no
    feeling.

    Parameters
    ----------
    counts
        How often each word stands in the answers.
    known
        Words that are right as they are.
    language
        Language of the dictionary.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        *,
        known: frozenset[str] = frozenset(),
        language: str = "en",
    ) -> None:
        self._dictionary: Dictionary = dictionary(language)
        self._searched = frozenset(self._dictionary.words)
        self._counts = counts
        self._known = known
        self._english = language == "en"
        self._lexicon = known | (emotion_lexicon() if self._english else frozenset())
        self._keys = frozenset(map(emotion_key, known)) | (
            lexicon_keys() if self._english else frozenset()
        )
        self._found: dict[str, Correction | None] = {}

    def correct(self, word: str) -> Correction | None:
        """Say what a word is taken for; None when it stays as it is."""
        if word not in self._found:
            self._found[word] = self._correct(word)
        return self._found[word]

    def is_emotion(self, word: str) -> bool:
        """Whether a word, or a form of it, is known to name an emotion."""
        return word in self._lexicon or emotion_key(word) in self._keys

    def is_known(self, word: str) -> bool:
        """Whether a word is in the dictionary, or is a known emotion word."""
        return word in self._lexicon or word in self._dictionary.counts

    def _correct(self, word: str) -> Correction | None:
        if word in self._known or len(word) < _SHORTEST or not word.isalpha():
            return None
        if self._english and word in confused_words():
            return Correction(confused_words()[word], Step.CONFUSED)
        if self.is_known(word):
            return None
        near = self._dictionary.near(word, 2 if len(word) >= _LONG else 1)
        near += self._near_lexicon(word)
        # People seldom miss the first letter; empathic and apathetic are two edits apart.
        near = [(other, edits) for other, edits in near if edits < 2 or other[0] == word[0]]
        return self._emotion(word, near) or self._plain(word, near)

    def _near_lexicon(self, word: str) -> list[tuple[str, int]]:
        from rapidfuzz.distance import OSA

        most = 2 if len(word) >= _LONG else 1
        # The short ones of the dictionary, such as sad, are not among those it searches.
        extra = (one for one in self._lexicon if one not in self._searched)
        found = ((one, int(OSA.distance(word, one, score_cutoff=most))) for one in extra)
        return [(one, edits) for one, edits in found if edits <= most]

    def _emotion(self, word: str, near: list[tuple[str, int]]) -> Correction | None:
        """The nearest emotion word, when all that are as near are forms of one."""
        # A form that is no known word itself, such as sham of shame, must begin alike.
        feelings = [
            (one, edits)
            for one, edits in near
            if one in self._lexicon or (one[0] == word[0] and self.is_emotion(one))
        ]
        if not feelings:
            return None
        least = min(edits for _, edits in feelings)
        nearest = [one for one, edits in feelings if edits == least]
        weight = {one: self._weight(one) for one in nearest}
        best = max(nearest, key=lambda one: (weight[one], one))
        others = [one for one in nearest if emotion_key(one) != emotion_key(best)]
        if sum(weight[one] for one in others) * _DOMINANT > weight[best]:
            return None
        # At two edits nearly every word is near some emotion; a plain word that is nearer and
        # common is as likely what was meant.
        plain = [one for one, edits in near if edits < least]
        if any(self._weight(one) > weight[best] for one in plain):
            return None
        return Correction(best, Step.MISSPELT)

    def _plain(self, word: str, near: list[tuple[str, int]]) -> Correction | None:
        """The word a single edit away, with the same first letter, far more common than others."""
        close = sorted(
            {one for one, edits in near if edits == 1 and one[0] == word[0]},
            key=lambda one: (-self._weight(one), one),
        )
        if not close or any(self.is_emotion(one) for one, _ in near):
            return None
        rest = sum(self._weight(one) for one in close[1:])
        return (
            Correction(close[0], Step.MISSPELT)
            if self._weight(close[0]) > _DOMINANT * rest
            else None
        )

    def _weight(self, word: str) -> float:
        """How likely a word is meant: what others answered counts most, then the language."""
        answered = 1e6 * self._counts.get(word, 0)
        listed = 1e5 * (word in self._lexicon)
        return answered + listed + self._dictionary.counts.get(word, 0) + 1
