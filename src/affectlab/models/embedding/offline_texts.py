"""Texts as rows of numbers, by words and directions that were learned from texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.words import count
from affectlab.models.embedding.encoder import Kind, digest
from affectlab.models.embedding.projections import DRAWS, mixed
from affectlab.models.runs import (
    META,
    load_arrays,
    read_json,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.text import (
    EDGES,
    FeatureSettings,
    TfidfFeatures,
    cut,
    learn_features,
    pieces_of,
)

__all__ = [
    "FittedTexts",
    "HashedTexts",
    "fit_text_encoder",
    "load_text_encoder",
]

_SCHEMA = "affectlab/text-encoder/1"
_FEATURES, _ARRAYS = "features.json", "arrays.npz"
_KIND = "fitted encoder of texts"


@dataclass(frozen=True, eq=False)
class FittedTexts:
    """Weighted counts of words, cut to their main directions (latent semantic analysis)."""

    name: str
    features: TfidfFeatures = field(repr=False)
    directions: NDArray[np.float32] = field(repr=False)
    """Shape (number of features, width)."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Number of texts and seed."""
    kind: ClassVar[Kind] = "text"
    batch: ClassVar[int] = 1024

    @property
    def width(self) -> int:
        """Numbers per text."""
        return int(self.directions.shape[1])

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was fitted on."""
        return {"width": self.width, "features": self.features.n_features, **self.told}

    @property
    def fingerprint(self) -> str:
        """Hash of words, weights and directions."""
        return digest(
            _SCHEMA,
            *(self.features.tokens, self.features.pieces, self.features.settings),
            *(self.features.idf.tobytes(), self.directions.tobytes()),
        )

    def encode(self, batch: Sequence[str]) -> NDArray[np.float32]:
        """Give one row per text, shape (n, width)."""
        if not len(batch):
            return np.zeros((0, self.width), dtype=np.float32)
        found: NDArray[np.float32] = np.asarray(
            self.features.transform(_whole(batch)) @ self.directions, dtype=np.float32
        )
        return found


def fit_text_encoder(
    texts: Sequence[str], path: str | Path, *, width: int = 256, seed: int = 0, min_texts: int = 2
) -> FittedTexts:
    """Learn an encoder of texts from texts: TF-IDF, and its main directions by SVD.

    Parameters
    ----------
    texts
        At least as many as `width`.
    path
        Folder that it is saved in; ``texts:FOLDER`` is its name for :func:`load_encoder`.
    width
        Numbers per text.
    seed
        Of the randomised SVD.
    min_texts
        Texts that must hold a word for it to count.

    Returns
    -------
    FittedTexts
        Rows of the texts that it was fitted on have a mean square of 1.

    Raises
    ------
    InputError
        When there are too few texts or words, or the folder is in use.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> said = ["so happy", "so sad", "a happy day", "a sad day"]
    >>> with TemporaryDirectory() as folder:
    ...     fitted = fit_text_encoder(said, Path(folder) / "words", width=2, min_texts=1)
    >>> fitted.encode(["happy"]).shape
    (1, 2)
    """
    from sklearn.utils.extmath import randomized_svd

    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {row} is of type {type(text).__name__}; expected a text")
    if width < 1:
        raise InputError(f"width = {width}: expected 1 or more")
    settings = FeatureSettings(min_texts=min_texts, min_texts_piece=max(min_texts, 2))
    features, matrix = learn_features(_whole(texts), settings)
    least = min(len(texts), features.n_features)
    if width > least:
        raise InputError(
            f"width = {width}: {count(len(texts))} texts with {count(features.n_features)} "
            f"features have at most {count(least)} directions; expected a smaller width"
        )
    _, strength, turned = randomized_svd(
        matrix.astype(np.float64), width, n_iter=7, random_state=seed
    )
    size = float(np.sqrt((strength**2).sum() / (len(texts) * width))) or 1.0
    directions = np.ascontiguousarray(turned.T / size, dtype=np.float32)
    folder = Path(path)
    fitted = FittedTexts(
        f"texts:{folder}", features, directions, {"texts": len(texts), "seed": seed}
    )
    _save(fitted, folder)
    return fitted


def _whole(texts: Sequence[str]) -> list[str]:
    """Replace halves of characters, which no encoding knows."""
    return [text.encode(errors="replace").decode() for text in texts]


def _save(fitted: FittedTexts, folder: Path) -> None:
    features = fitted.features
    try:
        with replacing(folder) as place:
            save_arrays(place / _ARRAYS, {"idf": features.idf, "directions": fitted.directions})
            write_json(place / _FEATURES, [*features.tokens, None, *features.pieces], lines=True)
            write_json(
                place / META,
                {
                    "schema": _SCHEMA,
                    "affectlab": __version__,
                    "min_texts": features.settings.min_texts,
                    "min_texts_piece": features.settings.min_texts_piece,
                    **fitted.told,
                },
            )
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None


def load_text_encoder(folder: Path) -> FittedTexts:
    """Load an encoder that :func:`fit_text_encoder` saved.

    Raises
    ------
    InputError
        When there is none, or its parts do not fit each other.
    """
    keys = ("min_texts", "min_texts_piece", "texts", "seed")
    meta = read_meta(folder, _SCHEMA, keys, _KIND)
    arrays, names = load_arrays(folder / _ARRAYS), read_json(folder / _FEATURES)
    try:
        gap = names.index(None)
        idf, directions = arrays["idf"], arrays["directions"]
        fits = directions.ndim == 2 and directions.shape[0] == len(names) - 1 == idf.shape[0]
        fits &= directions.shape[1] > 0 and idf.ndim == 1
        fits &= all(isinstance(name, str) for name in (*names[:gap], *names[gap + 1 :]))
        settings = FeatureSettings(
            min_texts=int(meta["min_texts"]), min_texts_piece=int(meta["min_texts_piece"])
        )
    except (ValueError, KeyError, AttributeError, TypeError):
        fits = False
    if not fits:
        raise InputError(f"{folder / _ARRAYS} does not fit {_FEATURES}; the folder is not complete")
    features = TfidfFeatures(settings, tuple(names[:gap]), tuple(names[gap + 1 :]), idf)
    told = {"texts": meta["texts"], "seed": meta["seed"]}
    return FittedTexts(f"texts:{folder}", features, directions.astype(np.float32), told)


# Texts as rows of numbers, without weights and without a corpus.


_VERSION = 1
"""Raised whenever the numbers change."""
_BUCKETS = 2**20
_PIECES = (3, 5)
Counts = list[tuple[str, float]]


@dataclass(frozen=True)
class HashedTexts:
    """Words, pairs of words and pieces of words in a fixed random projection.

    Features are those of :class:`~affectlab.models.text.features.TfidfFeatures` without weights
    by rarity, which need a corpus (:func:`fit_text_encoder` learns them): a feature that a text
    holds f times counts 1 + ln f; words and pairs are one block, pieces of 3 to 5 characters the
    other, each of unit length. Each feature adds to 4 places of the row, with signs, that a hash of
    it and of the seed chooses (Kane and Nelson 2014, sparser Johnson-Lindenstrauss transforms), so
    that inner products are kept on average. Numbers of a row have a mean square of 1; a text
    without any word is a row of zeros.

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
