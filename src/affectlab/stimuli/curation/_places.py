"""Folded text that knows where in the text its letters stood."""

from __future__ import annotations

import re
import unicodedata

from affectlab.stimuli.curation._words import APOSTROPHES, UNSEEN

__all__ = ["folded_spans"]


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
