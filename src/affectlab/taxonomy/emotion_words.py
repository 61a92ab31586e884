"""Free emotion words, brought together where they are forms of one word.

Inflection is taken off modestly: "happy" and "Happiness!" are one word, and so are "excited" and
"exciting". Words that only mean the same, such as "glad" and "happy", stay apart, and so do
opposites, such as "hopeful" and "hopeless".
"""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FILLERS = re.compile(
    "an?|the|i|am|is|it|feel|feels|feeling|felt|very|so|really|quite|rather|somewhat|bit|little|"
    "extremely|pretty"
)
"""Words that say how strongly, or nothing."""

_IRREGULAR = {
    "anger": "angry",
    "anxiety": "anxious",
    "awed": "awe",
    "belief": "believe",
    "envy": "envious",
    "fury": "furious",
    "grief": "grieve",
    "hate": "hatred",
    "hated": "hatred",
    "hunger": "hungry",
    "pride": "proud",
    "prideful": "proud",
    "relief": "relieve",
    "sorrowful": "sorrow",
}
_WHOLE = frozenset({"awful", "careful", "content", "scarred", "wonderful"})
"""Words whose ending is part of them, or changes what they mean."""

_ENDINGS = (
    ("iness", "y"),
    ("ness", ""),
    ("osity", "ous"),
    ("ousy", "ous"),
    ("iful", "y"),
    ("ily", "y"),
    ("ly", ""),
    ("ied", "y"),
    ("ies", "y"),
    ("ement", ""),
    ("ment", ""),
    ("ance", ""),
    ("dom", ""),
    ("ful", ""),
    ("ous", ""),
    ("ing", ""),
    ("ion", ""),
    ("ed", ""),
    ("s", ""),
)
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_SHORTEST = 3
"""Letters that must be left of a word, a vowel among them."""


def emotion_key(word: str) -> str:
    """Give what all forms of an emotion word have in common; it is no word itself.

    Examples
    --------
    >>> emotion_key("Happiness!") == emotion_key("very happy")
    True
    >>> emotion_key("excitement") == emotion_key("Excited")
    True
    >>> emotion_key("hopeful") == emotion_key("hopeless")
    False
    """
    told = told_words(word)
    if not told:
        return unicodedata.normalize("NFKC", word).casefold().strip()
    return " ".join([*told[:-1], _stem(told[-1])])


def told_words(word: str) -> list[str]:
    """Give the words of an answer in small letters, without those that say how strongly.

    Examples
    --------
    >>> told_words("I feel a bit SAD!"), told_words("not so happy")
    (['sad'], ['not', 'happy'])
    """
    plain = unicodedata.normalize("NFKC", word).casefold()
    words = [one.replace("’", "'") for one in _WORDS.findall(plain)]
    return [one for one in words if not _FILLERS.fullmatch(one)] or words


def _stem(word: str) -> str:
    word = _IRREGULAR.get(word, word)
    endings: tuple[tuple[str, str], ...] = _ENDINGS
    while word not in _WHOLE:
        shorter = _without_ending(word, endings)
        if shorter == word:
            break
        word = _IRREGULAR.get(shorter, shorter)
        # An s that stands before another ending is no plural.
        endings = _ENDINGS[:-1]
    # What is left of "hope" and "hoping", of "angry" and "angrily".
    if len(word) > _SHORTEST and (word[-1] == "e" or (word[-1] == "y" and not _vowel(word[-2]))):
        word = word[:-1]
    return word


def _without_ending(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in endings:
        if not word.endswith(ending) or (ending == "s" and word.endswith(("ss", "us", "is"))):
            continue
        rest = word[: -len(ending)]
        if len(rest) < _SHORTEST or not any(map(_vowel, rest)):
            continue
        if not instead:
            rest = _DOUBLED.sub(r"\1", rest)
            if rest.endswith("at") and len(rest) > 5:
                # Of "frustrated" and "inspiration" as of "inspired".
                rest = rest[:-2]
        return rest + instead
    return word


def _vowel(letter: str) -> bool:
    return letter in "aeiouy"
