"""Texts as rows of numbers, without weights and without a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from affectlab.models.embedding._encoder import Kind, digest
from affectlab.models.embedding._projection import DRAWS, mixed
from affectlab.models.text._features import pieces_of
from affectlab.models.text._tokens import EDGES, cut

__all__ = ["HashedTexts"]

_VERSION = 1
"""Raised whenever the numbers change."""
_BUCKETS = 2**20
_PIECES = (3, 5)
Counts = list[tuple[str, float]]


@dataclass(frozen=True)
class HashedTexts:
    """Words, pairs of words and pieces of words in a fixed random projection.

    Features are those of :class:`affectlab.models.text.TfidfFeatures` without weights by rarity,
    which need a corpus (:func:`fit_text_encoder` learns them): a feature that a text holds f times
    counts 1 + ln f; words and pairs are one block, pieces of 3 to 5 characters the other, each of
    unit length. Each feature adds to 4 places of the row, with signs, that a hash of it and of the
    seed chooses (Kane and Nelson 2014, sparser Johnson-Lindenstrauss transforms), so that inner
    products are kept on average. Numbers of a row have a mean square of 1; a text without any word
    is a row of zeros.

    Examples
    --------
    >>> rows = HashedTexts(256).encode(["I am so happy", "so happy I am", "the train was late"])
    >>> bool(rows[0] @ rows[1] > 2 * abs(rows[0] @ rows[2]))
    True
    """

    width: int = 512
    seed: int = 0
    name: ClassVar[str] = "texts"
    kind: ClassVar[Kind] = "text"
    batch: ClassVar[int] = 256

    @property
    def settings(self) -> Mapping[str, Any]:
        """Width and seed."""
        return {"width": self.width, "seed": self.seed}

    @property
    def fingerprint(self) -> str:
        """Hash of what decides on the numbers."""
        return digest("texts", _VERSION, self.width, self.seed)

    def encode(self, batch: Sequence[str]) -> NDArray[np.float32]:
        """Give one row per text, shape (n, width)."""
        found = np.zeros((len(batch), self.width))
        words, pieces = zip(*map(_counted, batch), strict=True) if len(batch) else ((), ())
        for block in (words, pieces):
            found += self._projected(block)
        # Two blocks of unit length: the mean square is 1.
        scaled: NDArray[np.float32] = (found * np.sqrt(self.width / 2)).astype(np.float32)
        return scaled

    def _projected(self, block: Sequence[Counts]) -> NDArray[np.float64]:
        from sklearn.feature_extraction import FeatureHasher

        found = np.zeros((len(block), self.width))
        if not len(block):
            return found
        hasher = FeatureHasher(_BUCKETS, input_type="pair", alternate_sign=False)
        counts = hasher.transform(block).tocoo()
        row = counts.row.astype(np.int64)
        value = counts.data / np.sqrt(DRAWS)
        for draw in range(DRAWS):
            bits = mixed(counts.col.astype(np.uint64), self.seed, draw)
            place = (bits >> np.uint64(1)) % np.uint64(self.width)
            sign = np.where(bits & np.uint64(1), 1.0, -1.0)
            np.add.at(found, (row, place.astype(np.int64)), sign * value)
        length = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(length > 0, length, 1.0)


def _counted(text: str) -> tuple[Counts, Counts]:
    """Count words and pairs, and pieces of words."""
    # Halves of characters, which no encoding knows, are one sign.
    tokens = cut(text.encode(errors="replace").decode())
    ends = [EDGES[0], *tokens, EDGES[1]] if tokens else []
    words = Counter(tokens)
    words.update(f"{first} {second}" for first, second in pairwise(ends))
    pieces: Counter[str] = Counter()
    for token, times in Counter(tokens).items():
        for piece in pieces_of(token, _PIECES):
            pieces[piece] += times
    return _weighted(words), _weighted(pieces)


def _weighted(counts: Mapping[str, int]) -> Counts:
    return [(name, 1 + float(np.log(times))) for name, times in counts.items()]
