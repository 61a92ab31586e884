"""The hash by which comments are drawn: the same on every machine, in every part, at every size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


__all__ = [
    "DRAW_BITS",
    "draws",
    "id_keys",
    "salt_of",
    "text_bytes",
]

# Texts as one stretch of bytes, for compiled loops.


def text_bytes(texts: pl.Series) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the UTF-8 bytes of all texts, and where each text begins.

    Parameters
    ----------
    texts
        Strings without nulls, shape (n,).

    Returns
    -------
    Bytes, and places in them, shape (n + 1,): text k lies from place k to place k + 1.

    Examples
    --------
    >>> import polars as pl
    >>> data, starts = text_bytes(pl.Series(["no", "", "way"]))
    >>> bytes(data), starts.tolist()
    (b'noway', [0, 2, 2, 5])
    """
    import polars as pl

    if texts.is_empty():
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    array = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _, offsets, content = array.buffers()
    starts = np.frombuffer(offsets, np.int64, len(texts) + 1, array.offset * 8)
    data = np.empty(0, np.uint8) if content is None else np.frombuffer(content, np.uint8)
    return data, starts


DRAW_BITS = 63
"""Bits of a draw; one less than the hash has, so that a draw is a signed integer everywhere."""
_ALL = (1 << 64) - 1


def id_keys(ids: pl.Series) -> NDArray[np.int64]:
    """Hash each id: FNV-1a with 64 bits over its UTF-8 bytes.

    Parameters
    ----------
    ids
        Texts without nulls, shape (n,).

    Returns
    -------
    numpy.ndarray
        Shape (n,); the 64 bits, read as signed integers.

    Examples
    --------
    >>> import polars as pl
    >>> [hex(int(key) % 2**64) for key in id_keys(pl.Series(["", "a"]))]
    ['0xcbf29ce484222325', '0xaf63dc4c8601ec8c']
    """
    from affectlab.stimuli.curation.hash_kernels import hash_bytes

    found = np.empty(len(ids), np.uint64)
    data, starts = text_bytes(ids)
    hash_bytes(data, starts, found)
    return found.view(np.int64)


def salt_of(name: str, seed: int) -> int:
    """Salt of a draw: FNV-1a of its name and the seed, so that no two draws are alike."""
    value = 0xCBF29CE484222325
    for byte in f"{name} {seed}".encode():
        value = ((value ^ byte) * 0x100000001B3) & _ALL
    return value


def draws(keys: NDArray[np.int64], name: str, seed: int) -> NDArray[np.int64]:
    """Random numbers of comments: SplitMix64 of the key, salted with the draw's name and the seed.

    The lowest numbers are kept, so what is kept depends on ids and seed alone, not on the order of
    the comments or how they are split up.

    Parameters
    ----------
    keys
        From :func:`id_keys`, shape (n,).
    name, seed
        What is drawn, and the seed.

    Returns
    -------
    numpy.ndarray
        Shape (n,), 0 to 2**63 - 1.

    Examples
    --------
    >>> import polars as pl
    >>> keys = id_keys(pl.Series(["a", "b", "c"]))
    >>> (draws(keys, "sample", 0) / 2**63).round(2).tolist()
    [0.84, 0.42, 0.04]
    """
    from affectlab.stimuli.curation.hash_kernels import mix_keys

    found = np.empty(len(keys), np.int64)
    mix_keys(np.ascontiguousarray(keys).view(np.uint64), np.uint64(salt_of(name, seed)), found)
    return found
