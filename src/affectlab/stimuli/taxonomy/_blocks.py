"""Texts, and the blocks of words that they are cut into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from affectlab.errors import InputError

__all__ = ["TextBlock", "text_blocks"]

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class TextBlock:
    """A piece of one text, or several short texts together."""

    number: int
    """From 1, in the order of the texts."""
    sources: tuple[str, ...]
    """Names of the texts it comes from."""
    texts: tuple[str, ...]
    """What it holds of each of them, in the same order."""
    n_words: int

    @property
    def text(self) -> str:
        """All of it, texts apart by an empty line."""
        return "\n\n".join(self.texts)


def text_blocks(
    texts: Mapping[str, str] | Iterable[str], *, words: int = 500, pack: bool = False
) -> tuple[TextBlock, ...]:
    """Cut texts into blocks of so many words (emonet-face, section 3).

    Parameters
    ----------
    texts
        Texts by name, or texts that are named by their number from 1.
    words
        Words in a block, told apart by white space; the last block of a text has what is left.
    pack
        Put short texts together until a block is full, which saves questions to a language model.
        A text that fits into a block is never cut then.

    Raises
    ------
    InputError
        When `words` is below 1, or there is no word in any text.

    Examples
    --------
    >>> [block.text for block in text_blocks(["one two three", "four"], words=2)]
    ['one two', 'three', 'four']
    >>> [block.sources for block in text_blocks(["one two three", "four"], words=4, pack=True)]
    [('1', '2')]
    """
    if words < 1:
        raise InputError(f"words = {words}: expected at least 1 word in a block")
    if isinstance(texts, str):
        raise InputError("texts: expected several texts or texts by name, not one text")
    named = texts if isinstance(texts, Mapping) else {str(k): t for k, t in enumerate(texts, 1)}
    pieces = ((name, piece, n) for name, text in named.items() for piece, n in _cut(text, words))
    made: list[TextBlock] = []
    held: list[tuple[str, str, int]] = []
    for piece in pieces:
        if held and (not pack or sum(n for *_, n in held) + piece[2] > words):
            made.append(_block(len(made) + 1, held))
            held = []
        held.append(piece)
    if held:
        made.append(_block(len(made) + 1, held))
    if not made:
        raise InputError(f"{len(named)} texts without a single word; expected some text")
    return tuple(made)


def _cut(text: str, words: int) -> Iterator[tuple[str, int]]:
    """Cut a text as it is written; line breaks within a block stay."""
    spans = [found.span() for found in _WORD.finditer(text)]
    for start in range(0, len(spans), words):
        part = spans[start : start + words]
        yield text[part[0][0] : part[-1][1]], len(part)


def _block(number: int, held: list[tuple[str, str, int]]) -> TextBlock:
    names, texts, sizes = zip(*held, strict=True)
    return TextBlock(number, names, texts, sum(sizes))
