"""Texts as the search for near-duplicates sees them: normalised, hashed, cut into n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.stimuli.curation._words import fold

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["bands_named", "bytes_of", "look_at", "looked_at", "normalised"]


def bands_named(n_bands: int) -> list[str]:
    """Names of the columns with bands."""
    return [f"band{number}" for number in range(n_bands)]


def look_at(texts: Any, salts: NDArray[np.uint32], n_bands: int, ngram: int) -> Any:
    """Normalise Arrow texts; give them with their hash, their n-grams in short, and their bands."""
    import polars as pl
    import pyarrow as pa

    from affectlab.stimuli.curation._near_kernels import sign

    plain = normalised(pl.Series(texts))
    data, offsets = bytes_of(plain)
    keys, sizes = np.empty(len(plain), np.uint64), np.empty(len(plain), np.uint32)
    bits = np.empty((len(plain), 2), np.uint64)
    bands = np.empty((len(plain), n_bands), np.uint32)
    sign(data, offsets, ngram, salts, keys, sizes, bits, bands)
    numbers = [keys, sizes, *bits.T, *bands.T]
    columns = [plain.to_arrow(), *(pa.array(np.ascontiguousarray(one)) for one in numbers)]
    return pa.StructArray.from_arrays(columns, ["plain", *looked_at(n_bands)])


def looked_at(n_bands: int) -> dict[str, str]:
    """Columns with numbers that :func:`look_at` gives, and their Daft types."""
    bands = dict.fromkeys(bands_named(n_bands), "uint32")
    return {"key": "uint64", "size": "uint32", "bits0": "uint64", "bits1": "uint64", **bands}


def normalised(texts: pl.Series) -> pl.Series:
    """Write texts as :func:`fold` does, with single spaces."""
    return fold(texts).str.replace_all(r"\s+", " ").str.strip_chars()


def bytes_of(texts: pl.Series) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 of all texts in one array, and where each begins and ends."""
    import pyarrow as pa

    array = texts.to_arrow().cast(pa.large_string())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", np.uint8), ends
