"""Texts and images as rows of length 1, each different one encoded once."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import shown
from affectlab.models.devices import pick_device
from affectlab.models.embedding import Tower, digest, fingerprint_of_tower, read_checkpoint
from affectlab.models.images import content_hash, load_image, read_bytes
from affectlab.models.pretrained import check_place
from affectlab.models.text import TruncatedTextWarning
from affectlab.models.text.encoders import load_tokenizer
from affectlab.models.text_metrics.networks import CutTexts, batches, cut_texts, pick_dtype

__all__ = [
    "ImageRows",
    "KeptRows",
    "TextRows",
]

# Rows of numbers by what they are of, in memory and in a folder.


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


_PIXELS = 100_000_000
"""Of opened images, each of three bytes, that wait for others to be encoded with."""


class _Rows:
    """What both kinds share: a tower on a device, and rows that were computed."""

    def __init__(
        self, tower: Tower, device: torch.device, precision: str, batch_size: int, cache: Any
    ) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r}; expected a whole number from 1 on")
        self.tower, self.device, self.precision = tower, device, precision
        self.batch_size = batch_size
        tower.network.eval().requires_grad_(False).to(device)
        self._cache = cache
        self._fingerprint = ""
        self.kept = KeptRows(cache, self.fingerprint() if cache is not None else "")

    def fingerprint(self) -> str:
        """Hash weights, preparation, pooling and precision."""
        if not self._fingerprint:
            self._fingerprint = fingerprint_of_tower(self.tower, self.precision)
        return self._fingerprint

    @torch.inference_mode()
    def _encoded(self, given: Sequence[Any]) -> NDArray[np.float32]:
        dtype = next(self.tower.network.parameters()).dtype
        with warnings.catch_warnings():
            # What is too long is told once for all metrics, with the number of items.
            warnings.simplefilter("ignore", TruncatedTextWarning)
            prepared = self.tower.prepare(given)
        inputs = {
            name: part.to(self.device, dtype) if part.is_floating_point() else part.to(self.device)
            for name, part in prepared.items()
        }
        rows: NDArray[np.float32] = self.tower.pool(inputs).float().cpu().numpy()
        if not np.isfinite(rows).all():
            raise InputError(
                f"the {self.tower.kind} tower gave numbers that are not finite; expected finite "
                "ones (a wider precision, such as fp32, may help)"
            )
        return rows


def _of_length_one(rows: NDArray[np.float32]) -> Floats:
    wide = rows.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Floats = wide / np.where(length > 0, length, 1.0)
    return unit


class TextRows(_Rows):
    """Rows of texts by the text tower of a checkpoint.

    Parameters
    ----------
    place
        A folder, or the name of a checkpoint.
    pooling
        As for encoders of texts: ``"auto"``, ``"mean"``, ``"cls"``.
    """

    def __init__(
        self,
        place: str,
        *,
        pooling: str = "auto",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
        cache: str | Path | None = None,
    ) -> None:
        from affectlab.models.embedding import text_tower

        check_place(place)
        where = pick_device(device)
        chosen, dtype = pick_dtype(precision, where)
        tower = text_tower(read_checkpoint(place, "text"), pooling, dtype, max_tokens)
        self.tokenizer = load_tokenizer(place)
        self.limit = int(tower.told["max_tokens"])
        super().__init__(tower, where, chosen, batch_size, cache)

    def cut(self, texts: Sequence[str]) -> CutTexts:
        """Cut different texts into tokens, each once."""
        return cut_texts(self.tokenizer, texts, self.limit)

    def rows(self, texts: Sequence[str], cut: CutTexts) -> Floats:
        """Give rows of length 1 of texts that were cut, shape (n, width)."""
        if not len(texts):
            return np.zeros((0, 1))
        key = {text: digest(text) for text in dict.fromkeys(texts)}
        known = {hashed: text for text, hashed in key.items()}
        new = [known[hashed] for hashed in self.kept.missing(key.values())]
        found: dict[str, NDArray[np.float32]] = {}
        for batch in batches(cut.lengths[cut.rows(new)], self.batch_size, 4 * 4096):
            part = [new[row] for row in batch]
            found.update(zip((key[text] for text in part), self._encoded(part), strict=True))
        self.kept.add(found)
        return _of_length_one(self.kept.take(key[text] for text in texts))


class ImageRows(_Rows):
    """Rows of images by the image tower of a checkpoint."""

    def __init__(
        self,
        place: str,
        *,
        batch_size: int = 64,
        device: str = "auto",
        precision: str = "fp32",
        cache: str | Path | None = None,
    ) -> None:
        from affectlab.models.embedding import image_tower

        check_place(place)
        where = pick_device(device)
        chosen, dtype = pick_dtype(precision, where)
        tower = image_tower(read_checkpoint(place, "image"), "auto", dtype)
        super().__init__(tower, where, chosen, batch_size, cache)

    def rows(self, images: Sequence[Any], names: Sequence[str]) -> Floats:
        """Give rows of length 1, shape (n, width).

        Parameters
        ----------
        images
            Files, or images of Pillow.
        names
            How errors name what they are of.

        Raises
        ------
        InputError
            When a file is missing, damaged, or no image.
        """
        if not len(images):
            return np.zeros((0, 1))
        keys: list[str] = []
        of_source: dict[Any, str] = {}
        waiting: dict[str, Image.Image] = {}
        for image, name in zip(images, names, strict=True):
            source = id(image) if isinstance(image, Image.Image) else str(image)
            if source not in of_source:
                of_source[source] = self._opened(image, name, waiting)
            keys.append(of_source[source])
            pixels = sum(one.width * one.height for one in waiting.values())
            if len(waiting) >= self.batch_size or pixels >= _PIXELS:
                self._flush(waiting)
        self._flush(waiting)
        return _of_length_one(self.kept.take(keys))

    def _opened(self, image: Any, name: str, waiting: dict[str, Image.Image]) -> str:
        """Give the key of an image, and open it where it has no row."""
        try:
            if isinstance(image, Image.Image):
                opened = load_image(image)
                key = digest(opened.size, opened.tobytes())
            elif isinstance(image, str | Path):
                content = read_bytes(Path(image))
                key = content_hash(content)
                opened = None
            else:
                raise InputError(
                    f"an image of type {type(image).__name__}; expected a file, or an image of "
                    "Pillow"
                )
            if key not in waiting and self.kept.missing([key]):
                waiting[key] = opened or load_image(content, name=shown(image))
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        return key

    def _flush(self, waiting: dict[str, Image.Image]) -> None:
        if waiting:
            rows = self._encoded(list(waiting.values()))
            self.kept.add(dict(zip(waiting, rows, strict=True)))
            waiting.clear()
