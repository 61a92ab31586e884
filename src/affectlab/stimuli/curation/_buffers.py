"""Texts as one stretch of bytes, for compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["text_bytes"]


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
