"""Words, pairs of words and pieces of words as weighted counts (TF-IDF)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints

__all__ = [
    "EDGES",
    "MASKS",
    "FeatureSettings",
    "TfidfFeatures",
    "TokenIds",
    "cut",
    "learn_features",
    "token_ids",
]

# Cutting posts into words, marks and emoji, for back ends that count them.


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


_MASKED = {mask.lower() for mask in MASKS}


@dataclass(frozen=True)
class FeatureSettings:
    """What is counted.

    Raises
    ------
    InputError
        When a number is below 1, or the lengths of pieces do not rise.
    """

    pairs: bool = True
    """Whether pairs of neighbouring tokens are counted, the edges of the text being tokens."""
    pieces: tuple[int, int] | None = (3, 5)
    """Shortest and longest piece of a word in characters, its edges counted as one; None: none."""
    min_texts: int = 2
    """Texts that must hold a token or pair."""
    min_texts_piece: int = 5
    """Texts that must hold a piece."""

    def __post_init__(self) -> None:
        for name in ("min_texts", "min_texts_piece"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} = {getattr(self, name)}: expected 1 or more")
        if self.pieces is not None and not 1 <= self.pieces[0] <= self.pieces[1]:
            raise InputError(
                f"pieces = {self.pieces}: expected the shortest and the longest length, such as "
                "(3, 5)"
            )


@dataclass(frozen=True, eq=False, repr=False)
class TfidfFeatures:
    """Features that were learned from texts: two blocks, each of unit length in every text.

    A feature that a text holds f times is (1 + ln f) idf, with idf = 1 + ln((1 + n) / (1 + n_j))
    for n texts of which n_j hold it; tokens and pairs are one block, pieces of words the other.
    """

    settings: FeatureSettings
    tokens: tuple[str, ...]
    """Tokens and pairs, the two tokens of a pair joined by a space; most frequent first."""
    pieces: tuple[str, ...]
    """Pieces of words, edges as spaces; most frequent first."""
    idf: Floats = field(repr=False)
    """Of tokens and pairs, then of pieces."""

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return len(self.tokens) + len(self.pieces)

    @cached_property
    def token_place(self) -> dict[str, int]:
        """Column of each token and pair."""
        return {name: place for place, name in enumerate(self.tokens)}

    @cached_property
    def piece_place(self) -> dict[str, int]:
        """Column of each piece among the pieces."""
        return {name: place for place, name in enumerate(self.pieces)}

    def transform(self, texts: Sequence[str]) -> csr_array:
        """Give the features of texts, shape (n, number of features), float32."""
        ids = token_ids(texts)
        width = len(self.tokens)
        single = _kept(_singles(ids), [self.token_place.get(t, -1) for t in ids.types], width)
        if self.settings.pairs:
            code, counts = _pairs(ids)
            names = _pair_names(code, ids.types)
            single = single + _kept(counts, [self.token_place.get(n, -1) for n in names], width)
        blocks = [single]
        if self.settings.pieces is not None:
            grams = _grams(ids.types, self.settings.pieces, self.piece_place)
            blocks.append(_singles(ids) @ grams)
        return _weighted(blocks, self.idf)


def learn_features(
    texts: Sequence[str], settings: FeatureSettings
) -> tuple[TfidfFeatures, csr_array]:
    """Choose the features that occur in enough texts, and give those of the texts.

    Raises
    ------
    InputError
        When nothing occurs often enough.
    """
    ids = token_ids(texts)
    n = len(texts)
    singles = _singles(ids)
    blocks, names, idf = [], [], []
    parts = [singles]
    words = list(ids.types)
    if settings.pairs:
        code, counts = _pairs(ids)
        held = _texts_with(counts)
        kept = np.flatnonzero(held >= settings.min_texts)
        # Pairs are many, and most occur once: only names of those that stay are made.
        parts.append(counts[:, kept])
        words += _pair_names(code[kept], ids.types)
    grams: list[tuple[Any, list[str], int]] = [(_joined(parts), words, settings.min_texts)]
    if settings.pieces is not None:
        known: dict[str, int] = {}
        table = _grams(ids.types, settings.pieces, known, grow=True)
        grams.append((singles @ table, list(known), settings.min_texts_piece))
    for counts, all_names, least in grams:
        held = _texts_with(counts)
        kept = np.flatnonzero(held >= least)
        # The most frequent first: what is read most lies together in memory.
        kept = kept[np.argsort(-held[kept], kind="stable")]
        blocks.append(counts.tocsc()[:, kept].tocsr())
        names.append(tuple(all_names[place] for place in kept))
        idf.append(1 + np.log((1 + n) / (1 + held[kept])))
    weights = np.concatenate(idf)
    if not weights.size:
        raise InputError(
            f"no word occurs in {settings.min_texts} of the {n} texts; expected more texts"
        )
    found = TfidfFeatures(settings, names[0], names[1] if len(names) > 1 else (), weights)
    return found, _weighted(blocks, weights)


def _matrix(row: Ints, column: Ints, shape: tuple[int, int]) -> csr_array:
    """Count pairs of row and column."""
    from scipy.sparse import coo_array

    ones = np.ones(len(row), dtype=np.float32)
    counts = coo_array((ones, (row, column)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def _singles(ids: TokenIds) -> csr_array:
    n = len(ids.end) - 1
    row = np.repeat(np.arange(n), np.diff(ids.end))
    return _matrix(row, ids.token, (n, len(ids.types)))


def _pairs(ids: TokenIds) -> tuple[Ints, csr_array]:
    """Codes of the different pairs of neighbours, and how often each text holds them.

    The edge of the text is a token of its own behind the others; an empty text has no pair.
    """
    n, edge = len(ids.end) - 1, len(ids.types)
    length = np.diff(ids.end)
    row = np.repeat(np.arange(n), np.where(length > 0, length + 1, 0))
    inner = np.full(len(row), edge, dtype=np.int64)
    first = np.full(len(row), edge, dtype=np.int64)
    # One place more than tokens: each token is the second of a pair once, and the first once.
    at = np.arange(len(ids.token)) + np.cumsum(length > 0)[np.repeat(np.arange(n), length)] - 1
    inner[at] = ids.token
    first[at + 1] = ids.token
    code, column = np.unique(first * (edge + 1) + inner, return_inverse=True)
    return code, _matrix(row, column, (n, len(code)))


def _pair_names(code: Ints, types: Sequence[str]) -> list[str]:
    edge = len(types)
    before, behind = np.divmod(code, edge + 1)
    start, end = [*types, EDGES[0]], [*types, EDGES[1]]
    return [f"{start[a]} {end[b]}" for a, b in zip(before.tolist(), behind.tolist(), strict=True)]


def pieces_of(token: str, lengths: tuple[int, int]) -> list[str]:
    """Give the pieces of a word, its edges counted as characters; masks have none."""
    if token in _MASKED:
        return []
    padded = f" {token} "
    low, high = lengths
    return [
        padded[start : start + size]
        for size in range(low, min(high, len(padded)) + 1)
        for start in range(len(padded) - size + 1)
        # An edge alone says nothing.
        if padded[start : start + size] != " "
    ]


def _grams(
    types: Sequence[str], lengths: tuple[int, int], known: dict[str, int], *, grow: bool = False
) -> csr_array:
    """Pieces that each token holds, shape (tokens, pieces); unknown ones are added with `grow`."""
    row: list[int] = []
    column: list[int] = []
    for place, token in enumerate(types):
        for piece in pieces_of(token, lengths):
            at = known.setdefault(piece, len(known)) if grow else known.get(piece, -1)
            if at >= 0:
                row.append(place)
                column.append(at)
    shape = (len(types), len(known))
    return _matrix(np.array(row, dtype=np.int64), np.array(column, dtype=np.int64), shape)


def _kept(counts: csr_array, column: list[int], width: int) -> csr_array:
    """Move columns to their places; those without one are left out."""
    from scipy.sparse import coo_array

    place = np.array(column, dtype=np.int64)
    given = counts.tocoo()
    at = place[given.col] if len(place) else np.zeros(0, dtype=np.int64)
    known = at >= 0
    return coo_array(
        (given.data[known], (given.row[known], at[known])), shape=(counts.shape[0], width)
    ).tocsr()


def _joined(parts: list[csr_array]) -> csr_array:
    from scipy.sparse import hstack

    return hstack(parts, format="csr")


def _texts_with(counts: csr_array) -> Ints:
    held: Ints = np.bincount(counts.indices, minlength=counts.shape[1])
    return held


def _weighted(blocks: list[csr_array], idf: Floats) -> csr_array:
    start = 0
    done = []
    for counts in blocks:
        width = counts.shape[1]
        scaled = counts.tocsr().astype(np.float32)
        scaled.sort_indices()
        weights = idf[start : start + width].astype(np.float32)
        scaled.data = (1 + np.log(scaled.data)) * weights[scaled.indices]
        squares = np.zeros(scaled.shape[0])
        row = np.repeat(np.arange(scaled.shape[0]), np.diff(scaled.indptr))
        np.add.at(squares, row, scaled.data.astype(np.float64) ** 2)
        length = np.sqrt(np.where(squares > 0, squares, 1.0))
        scaled.data = (scaled.data / length[row]).astype(np.float32)
        done.append(scaled)
        start += width
    return _joined(done)
