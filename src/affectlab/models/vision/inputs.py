"""What a network is fed with: images read when they are needed, or rows of embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Ints
from affectlab.core.words import plural, shown
from affectlab.models.augment import Augmentation
from affectlab.models.embedding import Embeddings
from affectlab.models.images import ImageFile, find_images, load_image
from affectlab.taxonomy import Taxonomy

__all__ = ["Feed", "Pictures", "Rows", "codes_of", "feed_of", "names_of_labels"]

_KEPT = 2**28
"""Bytes of decoded pictures that are kept from epoch to epoch."""
_SPARE = 2
"""How many times the side that a network looks at is left for changes to work on."""


class Feed(Protocol):
    """Stimuli, and how a batch of them becomes tensors."""

    names: tuple[str, ...]

    def batch(self, rows: Ints, draw: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Make the inputs of some rows; `draw` seeds what is changed by chance, None: nothing."""
        ...

    def told(self) -> list[Any]:
        """Give plain values that differ where what is fed differs."""
        ...


class Rows:
    """Rows of embeddings."""

    def __init__(self, embeddings: Embeddings) -> None:
        self.names, self.embeddings = embeddings.stimuli, embeddings

    def batch(self, rows: Ints, draw: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Make a batch, shape (n, width); nothing is changed."""
        del draw
        held = np.asarray(self.embeddings.values[rows], dtype=np.float32)
        return {"embedding": torch.from_numpy(held)}

    def told(self) -> list[Any]:
        """Give names and the hashes of what was embedded."""
        return [self.names, self.embeddings.hashes, self.embeddings.encoder.fingerprint]

    def marks(self) -> NDArray[np.uint64]:
        """Hash each row, as the half precision that embeddings are stored in, to recognise it."""
        with np.errstate(over="ignore"):
            return _marks(row.astype(np.float16).tobytes() for row in self.embeddings.values)


class _Decoded:
    """Decoded pictures, as many as there is room for; threads and feeds share them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bool], Image.Image] = {}
        self._room, self._lock = _KEPT, Lock()

    def get(self, key: tuple[int, bool]) -> Image.Image | None:
        """Give a picture that is kept."""
        return self._kept.get(key)

    def keep(self, key: tuple[int, bool], image: Image.Image) -> None:
        """Keep a picture where there is room."""
        size = image.width * image.height * 3
        with self._lock:
            if size <= self._room and key not in self._kept:
                self._room -= size
                self._kept[key] = image


def _shrunk(image: Image.Image, side: int) -> Image.Image:
    """Bring the shorter side of a large picture to `side`; smaller ones stay as they are."""
    shorter = min(image.size)
    if shorter <= side:
        return image
    width, height = (max(round(length * side / shorter), 1) for length in image.size)
    return image.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=2.0)


class Pictures:
    """Pictures of files or from memory, prepared for a network.

    Where `side` says how large a picture the network looks at, those that are changed by chance are
    brought near it first: changing all pixels of a photograph takes longer than learning from it.
    """

    def __init__(
        self,
        names: Sequence[str],
        sources: Sequence[ImageFile | Image.Image],
        prepare: Callable[[list[Image.Image]], dict[str, Tensor]],
        augmentation: Augmentation | None = None,
        workers: int = 4,
        side: int | None = None,
    ) -> None:
        self.names, self.sources, self.prepare = tuple(names), tuple(sources), prepare
        self.augmentation, self.workers, self.side = augmentation, workers, side
        self._decoded = _Decoded()

    def changed_by(self, augmentation: Augmentation | None) -> Pictures:
        """Give the same pictures, changed in another way; what was decoded is shared."""
        found = copy(self)
        found.augmentation = augmentation
        return found

    def batch(self, rows: Ints, draw: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Make a batch; where `draw` is given, each picture is changed by a seed of its own."""

        def one(row: int) -> Image.Image:
            if draw is None or self.augmentation is None:
                return self._open(row, shrunk=False)
            found = self._open(row, shrunk=True)
            return self.augmentation(found, np.random.default_rng([*draw, row]))

        if self.workers > 1 and len(rows) > 1:
            with ThreadPoolExecutor(min(self.workers, len(rows))) as pool:
                return self.prepare(list(pool.map(one, rows.tolist())))
        return self.prepare([one(row) for row in rows.tolist()])

    def _open(self, row: int, *, shrunk: bool) -> Image.Image:
        shrunk = shrunk and self.side is not None
        kept = self._decoded.get((row, shrunk))
        if kept is not None:
            return kept
        source = self.sources[row]
        image = load_image(source.path if isinstance(source, ImageFile) else source)
        if shrunk and self.side is not None:
            image = _shrunk(image, _SPARE * self.side)
        self._decoded.keep((row, shrunk), image)
        return image

    def told(self) -> list[Any]:
        """Give names, and sizes of files or the pixels of pictures."""
        return [
            self.names,
            [
                _size(source) if isinstance(source, ImageFile) else source.tobytes()
                for source in self.sources
            ],
        ]

    def marks(self) -> NDArray[np.uint64]:
        """Hash each file, or the pixels of each picture, to recognise it."""
        return _marks(
            source.read() if isinstance(source, ImageFile) else source.tobytes()
            for source in self.sources
        )


def _size(file: ImageFile) -> int | str:
    # A file inside another one is known by its path.
    return file.path.stat().st_size if file.path.is_file() else str(file.path)


def _marks(contents: Iterable[bytes]) -> NDArray[np.uint64]:
    hashes = (blake2b(content, digest_size=8).digest() for content in contents)
    return np.array([int.from_bytes(one, "little") for one in hashes], dtype=np.uint64)


def feed_of(
    images: Any,
    prepare: Callable[[list[Image.Image]], dict[str, Tensor]],
    augmentation: Augmentation | None = None,
    workers: int = 4,
    side: int | None = None,
) -> Pictures:
    """Find images: whatever :func:`find_images` takes, or a list or mapping of pictures.

    Raises
    ------
    InputError
        When nothing is found, or it is something else.
    """
    if isinstance(images, Embeddings):
        raise InputError(
            "a network that looks at images takes no embeddings; expected images, or "
            "backbone='embedding:NAME'"
        )
    named = dict(images) if isinstance(images, Mapping) else None
    entries = list(named.values()) if named is not None else images
    pictures = isinstance(entries, list | tuple) and any(
        isinstance(entry, Image.Image) for entry in entries
    )
    if not pictures:
        place = images if named is None else list(named.items())
        found = find_images(place)
        return Pictures([f.stimulus for f in found], found, prepare, augmentation, workers, side)
    for at, entry in enumerate(entries):
        if not isinstance(entry, Image.Image):
            raise InputError(f"image {at}: {type(entry).__name__}; expected a picture, as others")
    names = list(named) if named is not None else [f"image {at + 1}" for at in range(len(entries))]
    return Pictures(names, entries, prepare, augmentation, workers, side)


def names_of_labels(
    labels: Sequence[str] | Mapping[str, str], feed: Sequence[str], taxonomy: Taxonomy, what: str
) -> list[str]:
    """Give the true label of each stimulus, as the taxonomy names it.

    Parameters
    ----------
    labels
        One for each stimulus in order, or by name of stimulus.
    feed
        Names of stimuli.
    what
        Which they are, for errors.

    Raises
    ------
    InputError
        When one is missing, or the taxonomy does not know it.
    """
    if isinstance(labels, Mapping):
        missing = [name for name in feed if name not in labels]
        if missing:
            raise InputError(
                f"{what}: {plural(len(missing), 'stimulus', 'stimuli')} without a label, such as "
                f"{shown(missing[0], 60)!r}"
            )
        given = [labels[name] for name in feed]
    else:
        given = [labels] if isinstance(labels, str | Path) else list(labels)
    if len(given) != len(feed):
        raise InputError(
            f"{what}: {len(given)} labels for {plural(len(feed), 'image', 'images')}; expected one "
            "for each"
        )
    found: dict[Any, str] = {}
    for at, name in enumerate(given):
        if not isinstance(name, str):
            raise InputError(f"{what}, row {at}: {name!r} is no label; expected its name")
        if name not in found:
            found[name] = taxonomy.name_of(name)
    return [found[name] for name in given]


def codes_of(names: Sequence[str], labels: Sequence[str], what: str) -> Ints:
    """Give the places of labels; raises where one is not among those of the model."""
    places = {name: place for place, name in enumerate(labels)}
    for name in names:
        if name not in places:
            raise unknown_name("label", name, labels, what)
    return np.array([places[name] for name in names], dtype=np.int64)
