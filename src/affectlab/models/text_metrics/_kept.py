"""Rows of numbers by what they are of, in memory and in a folder."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from uuid import uuid4
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from affectlab._words import shown
from affectlab.errors import InputError

__all__ = ["KeptRows"]

_NOT_ROWS = (
    *(ValueError, TypeError, OSError, EOFError, KeyError, AttributeError, NotImplementedError),
    *(MemoryError, BadZipFile, zlib.error),
)


class KeptRows:
    """Rows that were computed, by a hash of what they are of.

    Parameters
    ----------
    folder
        Where they are kept from run to run; several processes may share it. None: in memory alone.
    fingerprint
        Of all that decides on a row but what it is of; rows of another one are not seen.
    """

    def __init__(self, folder: str | Path | None, fingerprint: str) -> None:
        self._rows: dict[str, NDArray[np.float32]] = {}
        self._folder = None if folder is None else Path(folder) / fingerprint
        if self._folder is not None and self._folder.is_dir():
            for file in sorted(self._folder.glob("*.npz")):
                self._read(file)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Give the different keys without a row, in their order."""
        return [key for key in dict.fromkeys(keys) if key not in self._rows]

    def take(self, keys: Iterable[str]) -> NDArray[np.float32]:
        """Give the rows of keys, shape (n, width)."""
        return np.stack([self._rows[key] for key in keys])

    def add(self, new: Mapping[str, NDArray[np.float32]]) -> None:
        """Add rows, and write them where there is a folder.

        Raises
        ------
        InputError
            When they cannot be written, or rows of another width are in the folder.
        """
        if not self._as_wide(new.values()):
            raise InputError(
                f"cache {shown(self._folder)} holds rows of another width; delete it, and it is "
                "made again"
            )
        self._rows.update(new)
        if self._folder is None or not new:
            return
        # Written beside and renamed: a run that is stopped leaves no half of a file.
        beside = self._folder / f".{uuid4().hex}.tmp"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as file:
                np.savez(file, keys=np.array(list(new)), rows=np.stack(list(new.values())))
            beside.replace(self._folder / f"{_digest(new)}.npz")
        except OSError as error:
            raise InputError(
                f"cache {shown(self._folder)} cannot be written ({error.strerror})"
            ) from None

    def _as_wide(self, rows: Iterable[NDArray[np.float32]]) -> bool:
        """Say whether rows are as wide as those that there are."""
        return len({row.shape for row in (*islice(self._rows.values(), 1), *rows)}) < 2

    def _read(self, file: Path) -> None:
        try:
            with file.open("rb") as opened, np.load(opened, allow_pickle=False) as held:
                keys, rows = held["keys"], held["rows"].astype(np.float32, casting="same_kind")
        # A file that is no archive, an archive with other parts, or one that is cut off or that
        # says to hold more than there is memory.
        except _NOT_ROWS:
            keys, rows = np.zeros(0), np.zeros((1, 1), dtype=np.float32)
        shaped = rows.ndim == 2 and keys.shape == rows.shape[:1] and keys.dtype.kind == "U"
        if not shaped or not self._as_wide(rows) or not np.isfinite(rows).all():
            raise InputError(f"{shown(file)} cannot be read; delete it, and it is made again")
        self._rows.update(zip(map(str, keys), rows, strict=True))


def _digest(keys: Iterable[str]) -> str:
    return blake2b("\n".join(sorted(keys)).encode(), digest_size=16).hexdigest()
