"""Embeddings as rows that heads take: checked, named where they have names, never all in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Bools
from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.models.embedding import EncoderCard

__all__ = ["Rows", "marks_of", "rows_of", "same_encoder", "warn_of_seen"]

Numbers: TypeAlias = NDArray[np.floating[Any]]

_CHUNK = 8192
"""Rows that are read at a time."""


@dataclass(frozen=True)
class Rows:
    """Rows of embeddings."""

    values: Numbers
    """Shape (n, width), float16, float32 or float64; may be a memory map."""
    stimuli: tuple[str, ...] | None = None
    encoder: EncoderCard | None = None

    def __len__(self) -> int:
        return len(self.values)

    def chunks(self, size: int = _CHUNK) -> Iterator[tuple[int, Numbers]]:
        """Give the rows in parts, each with the place of its first row."""
        for start in range(0, len(self.values), size):
            yield start, self.values[start : start + size]


def rows_of(given: Any, width: int | None, encoder: EncoderCard | None, what: str = "X") -> Rows:
    """Take embeddings, or a plain array, for heads of an encoder.

    Parameters
    ----------
    given
        :class:`~affectlab.models.embedding.Embeddings`, or an array of shape (n, width).
    width, encoder
        What the heads were made for; None: not known yet.

    Raises
    ------
    InputError
        When the shape does not fit, or another encoder made the embeddings.
    """
    from affectlab.models.embedding import Embeddings

    if isinstance(given, Embeddings):
        same_encoder(given.encoder, encoder, what)
        rows = Rows(given.values, tuple(given.stimuli), given.encoder)
    else:
        values = given if isinstance(given, np.ndarray) else np.asarray(given)
        if values.dtype.kind in "iub":
            values = values.astype(np.float32)
        rows = Rows(values)
    values = rows.values
    if values.ndim != 2 or values.dtype.kind != "f" or not values.size:
        expected = "(n, width)" if width is None else f"(n, {width})"
        raise InputError(
            f"{what}: {values.dtype} of shape {values.shape}; expected embeddings, shape "
            f"{expected}, one row or more"
        )
    if width is not None and values.shape[1] != width:
        raise InputError(
            f"{what} has {values.shape[1]} numbers per row; the heads take {width}: expected "
            "embeddings of the encoder that they were trained on"
        )
    return rows


def same_encoder(found: EncoderCard, wanted: EncoderCard | None, what: str = "X") -> None:
    """Refuse embeddings of another encoder: their numbers mean something else to these heads.

    Raises
    ------
    InputError
        When kind, width or fingerprint differ.
    """
    if wanted is not None and not wanted.same(found):
        raise InputError(
            f"{what} come from encoder {found}, the heads were trained on {wanted}; embed the "
            "stimuli with the latter"
        )


def marks_of(rows: Rows) -> NDArray[np.uint64]:
    """Hash every row, so that it can be recognised but not read; shape (n,).

    Rows are hashed as float16, which is what embeddings are stored as; those with a number beyond
    its range as float64.
    """
    found = np.empty(len(rows), dtype="<u8")
    for start, part in rows.chunks():
        with np.errstate(over="ignore"):
            half = np.ascontiguousarray(part.astype(np.float16))
        fits: Bools = np.asarray(np.isfinite(half).all(axis=1))
        for place, row in enumerate(half):
            own = row if fits[place] else part[place].astype(np.float64)
            digest = blake2b(own.tobytes(), digest_size=8).digest()
            found[start + place] = int.from_bytes(digest, "little")
    return found


def warn_of_seen(marks: NDArray[np.uint64], seen: NDArray[np.uint64], what: str) -> None:
    """Warn when rows that something is calibrated on were used before."""
    from affectlab.models.text import SeenInTrainingWarning

    n = int(np.isin(marks, seen).sum())
    if n:
        warnings.warn(
            f"{what} on {plural(len(marks), 'stimulus', 'stimuli')}, of which {n:,} were used in "
            "training or in an earlier calibration: predictions are better there than on new ones; "
            "use stimuli that were kept aside",
            SeenInTrainingWarning,
            stacklevel=3,
        )
