"""Cutting posts into words, marks and emoji, for back ends that count them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._types import Ints

__all__ = ["EDGES", "MASKS", "TokenIds", "cut", "token_ids"]

MASKS = ("[NAME]", "[RELIGION]")
"""Tokens that stand where GoEmotions hid a name or a religion."""
EDGES = ("<s>", "</s>")
"""What stands before the first and behind the last token; no token is written like this."""

_PICTURE = "[\U0001f000-\U0001faff\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff]"
_TONE = "[\ufe0f\U0001f3fb-\U0001f3ff]*"
_TOKEN = re.compile(
    "|".join(
        (
            r"\[(?:name|religion)\]",
            r"https?://\S+",
            r"\b[ur]/\w+",
            r"[^\W\d_]+(?:'[^\W\d_]+)*",
            r"\d+(?:[.,:]\d+)*",
            # Faces such as :-) and xD, and hearts; a letter behind them makes them a word.
            r"[:;=8][-']?[)(\]\[dpo/\\|3*]+(?!\w)",
            r"<3+",
            f"{_PICTURE}{_TONE}(?:\u200d{_PICTURE}{_TONE})*",
            r"([!?.])\1*",
            r"[^\w\s\u200d\ufe0f]",
        )
    )
)
_LONG = re.compile(r"(.)\1{3,}")


def cut(text: str) -> list[str]:
    """Cut a text into tokens.

    Text is lower-cased and curly apostrophes made straight; what is repeated four times or more is
    kept three times (``soooooo`` and ``soooo`` are one word, and not ``so``). Tokens are words with
    the apostrophes inside them, numbers, ``[name]`` and ``[religion]``, addresses, faces, emoji
    with their tones, runs of ``!``, ``?`` and ``.``, and any other single mark.

    Examples
    --------
    >>> cut("Sooooo happy for [NAME]!!! Don’t cry :-) 👍🏽")
    ['sooo', 'happy', 'for', '[name]', '!!!', "don't", 'cry', ':-)', '👍🏽']
    """
    plain = _LONG.sub(r"\1\1\1", text.lower().replace("\u2019", "'"))
    return [found.group() for found in _TOKEN.finditer(plain)]


@dataclass(frozen=True)
class TokenIds:
    """The tokens of n texts as numbers."""

    types: tuple[str, ...]
    """The different tokens, in order of first use."""
    token: Ints
    """Tokens of all texts, one after the other, as positions in ``types``."""
    end: Ints
    """Where each text starts and ends in ``token``, shape (n + 1,)."""


def token_ids(texts: Sequence[str]) -> TokenIds:
    """Cut texts, and number their tokens."""
    known: dict[str, int] = {}
    flat: list[int] = []
    end = np.zeros(len(texts) + 1, dtype=np.int64)
    for place, text in enumerate(texts):
        flat += [known.setdefault(token, len(known)) for token in cut(text)]
        end[place + 1] = len(flat)
    return TokenIds(tuple(known), np.array(flat, dtype=np.int64), end)
