"""What is known of emotion words: those of all taxonomies, synonyms, words that are confused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError
from affectlab.taxonomy import emotion_key, told_words

_TAXONOMIES = ("ekman", "plutchik", "mikels", "goemotions", "emonet_face")
_LANGUAGES = ("en", "es", "fr", "pt", "de", "it", "nl")


@lru_cache(maxsize=1)
def synonym_groups() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Groups of near synonyms as (head, all words with the head first)."""
    groups = []
    for line in _lines("emotion_synonyms.txt"):
        head, _, rest = line.partition(":")
        words = [head.strip(), *(word.strip() for word in rest.split(","))]
        groups.append((words[0], tuple(dict.fromkeys(word for word in words if word))))
    return tuple(groups)


@lru_cache(maxsize=1)
def confused_words() -> dict[str, str]:
    """Words that name no feeling, and the emotion word that is meant by them."""
    pairs = (line.split() for line in _lines("confused_words.txt"))
    return {written: meant for written, meant in pairs}  # noqa: C416


@lru_cache(maxsize=1)
def emotion_lexicon() -> frozenset[str]:
    """Single words that are known to name emotions: of the built-in taxonomies and synonyms."""
    from affectlab.taxonomy import load_taxonomy

    found: set[str] = set()
    for name in _TAXONOMIES:
        for entry in load_taxonomy(name).entries:
            for text in (*entry.name.split("/"), *entry.aliases, *entry.words):
                words = told_words(text)
                # Words of a phrase, as in "having a crush", need not be emotions.
                if len(words) == 1:
                    found.add(words[0])
    for _, group in synonym_groups():
        found.update(words[0] for words in map(told_words, group) if len(words) == 1)
    return frozenset(found)


@dataclass(frozen=True)
class Dictionary:
    """Words of a language with how often they are written."""

    counts: dict[str, int]
    words: tuple[str, ...]
    """Words long enough to be what a misspelt one stands for."""

    def near(self, word: str, distance: int) -> list[tuple[str, int]]:
        """Words within a distance of edits and swaps of neighbours, nearest first."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        found = extract(word, self.words, scorer=OSA.distance, score_cutoff=distance, limit=None)
        return [(str(other), int(edits)) for other, edits, _ in found]


@lru_cache(maxsize=2)
def dictionary(language: str) -> Dictionary:
    """Load the word counts of a language.

    Raises
    ------
    InputError
        When the language is not known, or the library of spellings is absent.
    """
    if language not in _LANGUAGES:
        raise InputError(
            f"language {language!r} has no dictionary; expected one of: {', '.join(_LANGUAGES)}"
        )
    spellchecker = _imported("spellchecker")
    _imported("rapidfuzz")
    counts = dict(spellchecker.SpellChecker(language=language).word_frequency.dictionary)
    return Dictionary(counts, tuple(word for word in counts if len(word) > 3))


@lru_cache(maxsize=1)
def lexicon_keys() -> frozenset[str]:
    """What the forms of all known emotion words have in common."""
    return frozenset(map(emotion_key, emotion_lexicon()))


def _imported(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError as error:
        raise InputError(
            f"correcting the spelling of words needs {library}; install it with: "
            f"{install_line('reactions')}, or leave the spelling as it is "
            "(spelling=False, --no-spelling)"
        ) from error


def _lines(name: str) -> list[str]:
    text = (files("affectlab.analysis.reactions") / "data" / name).read_text(encoding="utf-8")
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in lines if line]
