"""Folded text that knows where in the text its letters stood."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.features import TextSettings
from affectlab.stimuli.curation.texts.names import find_names
from affectlab.stimuli.curation.texts.words import (
    APOSTROPHES,
    UNSEEN,
    fold,
    has_term,
    search_pattern,
)

__all__ = [
    "NAME",
    "RELIGION",
    "folded_spans",
    "mask_texts",
]


def folded_spans(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Find a pattern in a text as :func:`fold` makes it; give the places in the text as written.

    Parameters
    ----------
    text
        Text as it was written.
    pattern
        Pattern of folded text that matches no empty text, with ``re.IGNORECASE``.

    Returns
    -------
    list of (int, int)
        First character, and the one after the last, of each match. A mark that is not seen and a
        letter of several, such as a ligature, go with the whole.

    Examples
    --------
    >>> text = "the ｍos\\u00adque, the Qur’an"
    >>> found = folded_spans(text, re.compile("mosque|qur'an", re.IGNORECASE))
    >>> [text[start:end] for start, end in found]
    ['ｍos\\xadque', 'Qur’an']
    """
    if text.isascii():
        return [match.span() for match in pattern.finditer(text)]
    letters: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for start, end in _pieces(text):
        folded = _folded(text[start:end])
        letters.append(folded)
        begins += [start] * len(folded)
        ends += [end] * len(folded)
    found = pattern.finditer("".join(letters))
    return [(begins[match.start()], ends[match.end() - 1]) for match in found]


def _folded(piece: str) -> str:
    plain = unicodedata.normalize("NFKC", piece.lower()).lower()
    return re.sub(APOSTROPHES, "'", re.sub(UNSEEN, "", plain))


def _pieces(text: str) -> list[tuple[int, int]]:
    """Cut a text where what is before and what is after do not become one letter."""
    found: list[tuple[int, int]] = []
    start = 0
    for at in range(1, len(text)):
        if text[at].isascii() or not _joins(text[start:at], text[at]):
            found.append((start, at))
            start = at
    return [*found, (start, len(text))]


def _joins(before: str, letter: str) -> bool:
    if unicodedata.combining(letter):
        return True
    apart = unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", letter)
    return unicodedata.normalize("NFKC", before + letter) != apart


# Names of people and words of religion, masked in texts.


NAME = "[NAME]"
RELIGION = "[RELIGION]"


def mask_texts(texts: Sequence[str], settings: TextSettings | None = None) -> list[str]:
    """Put ``[NAME]`` for names of people and ``[RELIGION]`` for words of religion.

    Models learn from masked texts, so that they do not learn what is felt about one person or one
    faith; raters see the texts as they were written (goemotions, section 3.1). Where a word is
    both, as *Christian* is, it is a word of religion unless the name finder takes more words than
    that, as in *Christian Bale*.

    Parameters
    ----------
    texts
        Shape (n,).
    settings
        Its ``names`` finds people: ``"gazetteer"`` goes by given names and what stands around
        them, and would rather miss a name than mask another word; ``"spacy:MODEL"`` and
        ``"transformers:FOLDER"`` load a model for named entities that is installed or lies in a
        folder; ``"none"`` finds none. Its ``words.religion`` are the words of religion.

    Returns
    -------
    list of str
        As many texts.

    Raises
    ------
    InputError
        When a text is no text, the library or the model of a name finder is absent, or it gives
        places that are not in the text.

    Examples
    --------
    >>> mask_texts(["My friend Sarah Miller is a Buddhist.", "I will be there in May."])
    ['My friend [NAME] is a [RELIGION].', 'I will be there in May.']
    """
    settings = TextSettings() if settings is None else settings
    given = list(texts)
    for k, text in enumerate(given):
        if not isinstance(text, str):
            raise InputError(f"texts[{k}] is {text!r:.60}; expected a text")
    import polars as pl

    names = find_names(given, settings.names)
    religious = has_term(fold(pl.Series(given, dtype=pl.String)), settings.words.religion)
    pattern = _religion(settings.words.religion)
    return [
        _masked(text, spans, pattern if holds else None) if spans or holds else text
        for text, spans, holds in zip(given, names, religious, strict=True)
    ]


@lru_cache(maxsize=8)
def _religion(terms: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile(search_pattern(terms), re.IGNORECASE) if terms else None


def _masked(text: str, names: Sequence[tuple[int, int]], religion: re.Pattern[str] | None) -> str:
    spans = [(start, end, NAME) for start, end in names]
    if religion is not None:
        spans += [(start, end, RELIGION) for start, end in folded_spans(text, religion)]
    # Longer ones first: a name of two words hides the word of religion in it, and of two alike
    # the word of religion stands.
    taken: list[tuple[int, int, str]] = []
    for start, end, mask in sorted(spans, key=lambda s: (s[0] - s[1], s[2] == NAME, s[0])):
        if all(end <= other[0] or start >= other[1] for other in taken):
            taken.append((start, end, mask))
    parts, at = [], 0
    for start, end, mask in sorted(taken):
        parts += [text[at:start], mask]
        at = end
    return "".join([*parts, text[at:]])
