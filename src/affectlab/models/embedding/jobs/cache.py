"""Rows that were computed before, by the hash of what they were computed from.

A folder holds one folder for each encoder, with pairs of files: rows as a plain array, and beside
them their keys. A pair appears when its keys do, under a name that nobody else takes, and is never
changed. So any number of processes may read and write at once, and whatever kills one of them
leaves at most a file that nobody reads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import file_part
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.embeddings import synced
from affectlab.models.runs import read_json, write_json

__all__ = ["RowCache"]

_CARD = "encoder.json"
_KEY = 32
"""Bytes of a key, a SHA-256."""
_SMALL, _MANY, _LARGE = 8192, 32, 65536
"""Pairs with fewer rows than the first are put together once there are so many, to so many rows."""
_STALE = 86_400.0
"""Seconds after which a file without keys belongs to nobody."""


@dataclass
class RowCache:
    """Rows of one encoder; keys are SHA-256 as 64 hexadecimal digits."""

    folder: Path
    width: int
    damaged: set[str] = field(default_factory=set)
    """Names of files that could not be used."""
    looked: set[str] = field(default_factory=set)
    """Pairs that are known: looked through by :meth:`known` and :meth:`later`, or written here."""
    _others: set[bytes] = field(default_factory=set)

    @classmethod
    def of(cls, place: Path, encoder: EncoderCard) -> RowCache:
        """Open the part of a cache that belongs to an encoder; it is made where there is none.

        Raises
        ------
        InputError
            When the folder cannot be made, or belongs to another encoder.
        """
        made_from = repr((encoder.kind, encoder.width, encoder.fingerprint)).encode()
        name = f"{file_part(encoder.name)[:40]}-{blake2b(made_from, digest_size=8).hexdigest()}"
        folder = place / name
        card = folder / _CARD
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not card.is_file():
                unfinished = folder / f".{uuid4().hex}.tmp"
                write_json(unfinished, encoder.to_dict())
                synced(unfinished)
                unfinished.replace(card)
        except OSError as problem:
            raise InputError(
                f"cache: {folder} cannot be made: {problem.strerror or problem}"
            ) from None
        held = EncoderCard.from_dict(read_json(card), str(card))
        if not held.same(encoder):
            raise InputError(f"cache: {folder} holds rows of encoder {held}; expected {encoder}")
        return cls(folder, encoder.width)

    def known(self, keys: Container[str]) -> set[str]:
        """Tell which of these keys have rows."""
        found: set[str] = set()
        for name in self._names():
            self.looked.add(name)
            hits = [key for held in self._keys(name) if (key := held.hex()) in keys]
            if hits and self._rows(name) is not None:
                found.update(hits)
        return found

    def later(self, keys: Collection[str]) -> set[str]:
        """Tell which of these keys got rows from another process since all was looked through.

        Each pair is read once, however often it is asked.
        """
        for name in self._names():
            if name not in self.looked:
                self.looked.add(name)
                if self._rows(name) is not None:
                    self._others.update(self._keys(name))
        return (
            {key for key in keys if bytes.fromhex(key) in self._others} if self._others else set()
        )

    def take(self, missing: dict[str, int], target: NDArray[np.float16]) -> None:
        """Copy rows to their places in an array, and take their keys out of what is missing.

        Parameters
        ----------
        missing
            Key to the row of the array that it is for.
        """
        while missing:
            names, before = self._names(), len(missing)
            for name in names:
                self._copy(name, missing, target)
            # Otherwise another process may just have put files together.
            if len(missing) == before and names == self._names():
                break

    def add(self, keys: Sequence[str], rows: NDArray[np.float16]) -> None:
        """Keep rows; they are on the disk when this returns.

        Raises
        ------
        InputError
            When they cannot be written.
        """
        if rows.shape != (len(keys), self.width) or rows.dtype != np.float16:
            raise ValueError(f"{rows.dtype} of shape {rows.shape} for {len(keys)} keys")
        if keys:
            self._write(b"".join(map(bytes.fromhex, keys)), np.ascontiguousarray(rows))

    def tidy(self) -> None:
        """Put small files together, and remove what killed processes have left.

        Files are removed when all that was in them is on the disk elsewhere.
        """
        small = [name for name in self._names() if 0 < len(self._keys(name)) < _SMALL]
        if len(small) >= _MANY:
            self._merge(small)
        before = time.time() - _STALE
        for path in [*self.folder.glob(".*.tmp"), *self.folder.glob("rows-*.npy")]:
            if path.suffix == ".tmp" or not path.with_suffix(".keys").exists():
                _remove(path, before)

    def _copy(self, name: str, missing: dict[str, int], target: NDArray[np.float16]) -> None:
        keys = [key.hex() for key in self._keys(name)]
        rows = self._rows(name) if not missing.keys().isdisjoint(keys) else None
        if rows is not None:
            hits = [(row, missing.pop(key)) for row, key in enumerate(keys) if key in missing]
            sources, places = zip(*hits, strict=True)
            target[list(places)] = rows[list(sources)]

    def _names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("rows-*.keys"))

    def _keys(self, name: str) -> list[bytes]:
        """Read the keys of a pair; none where another process has just removed it."""
        try:
            held = (self.folder / f"{name}.keys").read_bytes()
        except FileNotFoundError:
            return []
        if len(held) % _KEY:
            self.damaged.add(f"{name}.keys")
            return []
        return [held[start : start + _KEY] for start in range(0, len(held), _KEY)]

    def _rows(self, name: str) -> NDArray[np.float16] | None:
        """Map the rows of a pair; None where they are gone, or do not fit the keys."""
        path = self.folder / f"{name}.npy"
        try:
            n = (self.folder / f"{name}.keys").stat().st_size // _KEY
            rows = np.load(path, mmap_mode="r", allow_pickle=False)
            whole = rows.offset + rows.nbytes == path.stat().st_size
        except FileNotFoundError:
            if (self.folder / f"{name}.keys").exists():
                self.damaged.add(f"{name}.npy")
            return None
        except (OSError, ValueError, EOFError, AttributeError):
            self.damaged.add(f"{name}.npy")
            return None
        if rows.dtype != np.float16 or rows.shape != (n, self.width) or not whole:
            self.damaged.add(f"{name}.npy")
            return None
        return np.asarray(rows)

    def _write(self, keys: bytes, rows: NDArray[np.float16]) -> None:
        name = f"rows-{uuid4().hex}"
        try:
            for suffix in (".npy", ".keys"):
                # Keys come last: rows without keys are not there.
                unfinished = self.folder / f".{name}{suffix}.tmp"
                with unfinished.open("wb") as file:
                    if suffix == ".npy":
                        np.save(file, rows, allow_pickle=False)
                    else:
                        file.write(keys)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(self.folder / f"{name}{suffix}")
            self.looked.add(name)
        except OSError as problem:
            raise InputError(
                f"cache: {self.folder} cannot be written: {problem.strerror or problem}"
            ) from None

    def _merge(self, names: Sequence[str]) -> None:
        held: dict[bytes, NDArray[np.float16]] = {}
        merged: list[str] = []
        for name in names:
            keys, rows = self._keys(name), self._rows(name)
            if rows is not None and len(keys) == len(rows):
                held |= zip(keys, rows, strict=True)
                merged.append(name)
        entries = list(held.items())
        for start in range(0, len(entries), _LARGE):
            part = entries[start : start + _LARGE]
            self._write(b"".join(key for key, _ in part), np.stack([row for _, row in part]))
        for name in merged:
            for suffix in (".keys", ".npy"):
                _remove(self.folder / f"{name}{suffix}")


def _remove(path: Path, before: float | None = None) -> None:
    """Remove a file, or only one that was last changed before that time.

    One that another process has removed, or on Windows still reads, is left to that process.
    """
    with suppress(FileNotFoundError, PermissionError):
        if before is None or path.stat().st_mtime < before:
            path.unlink()
