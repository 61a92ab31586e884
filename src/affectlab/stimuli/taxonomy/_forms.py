"""Regular forms of English nouns, adjectives and verbs, made by rule from the form one looks up.

Forms are generated rather than cut off: a generated form that does not exist finds nothing, while a
stem that is cut too short takes two words for one.
"""

from __future__ import annotations

import re

__all__ = ["adjective_forms", "noun_forms", "verb_forms"]

_VOWEL_Y = re.compile(r"[^aeiou]y$")
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_DOUBLES = re.compile(r"^[^aeiou]*[aeiou][bdgmnprt]$")
"""One syllable with one vowel before one consonant: "hug" gives "hugged"."""


def noun_forms(noun: str) -> frozenset[str]:
    """Give a noun and its plural.

    Examples
    --------
    >>> sorted(noun_forms("worry")), sorted(noun_forms("joy"))
    (['worries', 'worry'], ['joy', 'joys'])
    """
    return frozenset({noun, _with_s(noun)})


def adjective_forms(adjective: str) -> frozenset[str]:
    """Give an adjective with its comparatives, its adverb and its noun in -ness.

    Examples
    --------
    >>> sorted(adjective_forms("happy"))
    ['happier', 'happiest', 'happily', 'happiness', 'happy']
    """
    forms = {adjective}
    if " " in adjective:
        return frozenset(forms)
    if _VOWEL_Y.search(adjective):
        stem = f"{adjective[:-1]}i"
        forms |= {f"{stem}er", f"{stem}est", f"{stem}ly", f"{stem}ness"}
    elif len(adjective) <= 5 and not adjective.endswith("ed"):
        stem = adjective + adjective[-1] if _DOUBLES.match(adjective) else adjective
        stem = stem.removesuffix("e")
        forms |= {f"{stem}er", f"{stem}est", f"{adjective}ness", _adverb(adjective)}
    else:
        forms |= {f"{adjective}ness", _adverb(adjective)}
    return frozenset(forms)


def verb_forms(verb: str) -> frozenset[str]:
    """Give a verb with -s, -ed and -ing.

    Examples
    --------
    >>> sorted(verb_forms("worry"))
    ['worried', 'worries', 'worry', 'worrying']
    >>> sorted(verb_forms("adore"))
    ['adore', 'adored', 'adores', 'adoring']
    """
    forms = {verb, _with_s(verb)}
    if _VOWEL_Y.search(verb):
        forms |= {f"{verb[:-1]}ied", f"{verb}ing"}
    elif verb.endswith("e"):
        forms |= {f"{verb}d", f"{verb[:-1]}ing"}
    else:
        stem = verb + verb[-1] if _DOUBLES.match(verb) else verb
        forms |= {f"{stem}ed", f"{stem}ing"}
    return frozenset(forms)


def _with_s(word: str) -> str:
    if _VOWEL_Y.search(word):
        return f"{word[:-1]}ies"
    return f"{word}es" if _SIBILANT.search(word) else f"{word}s"


def _adverb(adjective: str) -> str:
    if adjective.endswith("ic"):
        return f"{adjective}ally"
    if adjective.endswith("le") and adjective[-3:-2] not in tuple("aeiou"):
        return f"{adjective[:-1]}y"
    return f"{adjective}y" if adjective.endswith("ll") else f"{adjective}ly"
