"""Images to learn from, to choose the best epoch by, and to judge by at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.words import plural, shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.fractions import label_fraction
from affectlab.models.images.labelled.data_sets import LabelledImages

__all__ = ["ImageSplit", "split_images"]

_FEW = 2
"""Images of dev for each label, below which one image more or less decides."""


@dataclass(frozen=True)
class ImageSplit:
    """Images to learn from, to choose an epoch by, and to judge by; see :func:`split_images`."""

    train: LabelledImages
    dev: LabelledImages
    """Choose the epoch; empty: the last one is kept."""
    test: LabelledImages
    unlabelled: tuple[ImageFile, ...] = ()
    truth: tuple[str, ...] | None = None
    """Labels of the unlabelled images, where they were hidden."""
    embeddings: Any = None
    """:class:`~affectlab.models.embedding.Embeddings` of all images, which models take in their
    place; None: files are taken."""
    notes: tuple[str, ...] = ()
    """What cannot be used, which images are on two sides, and whether those of dev are few."""

    def __post_init__(self) -> None:
        """Check names.

        Raises
        ------
        InputError
            When embeddings are looked up by a name that two images have.
        """
        first: dict[str, ImageFile] = {}
        for file in self._files() if self.embeddings is not None else ():
            other = first.setdefault(file.stimulus, file)
            if other.path.resolve() != file.path.resolve() and other.sha256 != file.sha256:
                raise InputError(
                    f"embeddings: {shown(file.stimulus, 80)!r} names two images, "
                    f"{shown(other.path)} and {shown(file.path)}; expected a name of its own for "
                    "each"
                )

    def _files(self) -> Iterator[ImageFile]:
        for files in (self.train.files, self.unlabelled, self.dev.files, self.test.files):
            yield from files

    def inputs(self, side: Literal["train", "dev", "test"]) -> tuple[Any, tuple[str, ...]]:
        """Give images, or their embeddings, and labels as a model takes them."""
        images: LabelledImages = getattr(self, side)
        return self._inputs(images.files), images.labels

    def unlabelled_inputs(self) -> Any:
        """Give the unlabelled images, or their embeddings."""
        return self._inputs(self.unlabelled)

    def _inputs(self, files: Sequence[ImageFile]) -> Any:
        if self.embeddings is None:
            return list(files)
        return self.embeddings.subset([file.stimulus for file in files])


def split_images(
    images: LabelledImages,
    *,
    dev: LabelledImages | None = None,
    dev_share: float = 0.2,
    labelled_fraction: float | None = None,
    unlabelled: Sequence[ImageFile] = (),
    embeddings: Any = None,
    seed: int = 0,
) -> ImageSplit:
    """Split images by what their data set says, or draw those that choose the epoch.

    Parameters
    ----------
    images
        All images, or those of the splits train, dev and test.
    dev
        Other images that choose the epoch; None: those of split dev, or a share of train.
    dev_share
        Share of each label of train that is drawn where there is no dev, from 0 to below 1; at
        least one image of a label with two is drawn, and 0 draws none.
    labelled_fraction
        Hide the labels of all images of train but this share (see :func:`label_fraction`).
    unlabelled
        Images without labels, beside those of `images`.
    embeddings
        :class:`~affectlab.models.embedding.Embeddings` of all images; models are given these in
        place of files.
    seed
        Draws the shares.

    Raises
    ------
    InputError
        When labels are hidden and missing at once, no labelled image is in split train, labels are
        too few for dev, or embeddings are looked up by a name that two images have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.models.images import read_labelled_images
    >>> from affectlab.simulate import face_specs, save_faces
    >>> from affectlab.taxonomy import load_taxonomy
    >>> with TemporaryDirectory() as folder:
    ...     for label in ("awe", "fear"):
    ...         _ = save_faces(Path(folder) / label, face_specs(5, [label]), size=32)
    ...     split = split_images(read_labelled_images(folder, load_taxonomy("mikels")))
    >>> len(split.train), len(split.dev), len(split.test)
    (8, 2, 0)
    """
    none = images.subset(())
    others = (*images.unlabelled, *unlabelled)
    truth = None
    if labelled_fraction is not None and others:
        raise InputError(
            "labelled_fraction hides labels, and there are images without any: expected one or the "
            "other"
        )
    train, own_dev, test = images.subset(range(len(images))), none, none
    if images.splits is not None:
        train, own_dev, test = (images.part(name) for name in ("train", "dev", "test"))
        if not train.files:
            raise InputError("no labelled image is in split train; expected some to learn from")
    if labelled_fraction is not None:
        chosen = label_fraction(train.labels, labelled_fraction, seed=seed)
        hidden = train.subset(np.flatnonzero(~chosen).tolist())
        train = train.subset(np.flatnonzero(chosen).tolist())
        others, truth = hidden.files, hidden.labels
    if dev is not None:
        own_dev = dev.subset(range(len(dev)))
    elif not own_dev.files and dev_share:
        train, own_dev = _drawn(train, dev_share, seed)
    notes = (
        *images.set_aside,
        *_on_two_sides((*train.files, *others), {"dev": own_dev.files, "test": test.files}),
        *_few(train, own_dev),
    )
    return ImageSplit(train, own_dev, test, others, truth, embeddings, notes)


def _drawn(train: LabelledImages, share: float, seed: int) -> tuple[LabelledImages, LabelledImages]:
    """Draw a share of each label."""
    aside = np.zeros(len(train), dtype=bool)
    names = np.array(train.labels)
    random = np.random.default_rng([seed, 11])
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        wanted = min(max(round(share * len(rows)), 1), len(rows) - 1)
        aside[random.permutation(rows)[:wanted]] = True
    if not aside.any():
        raise InputError(
            f"{plural(len(train), 'image', 'images')} of as many labels leave none for dev; "
            "expected two of a label at least"
        )
    return tuple(train.subset(np.flatnonzero(aside == side).tolist()) for side in (False, True))  # type: ignore[return-value]


def _on_two_sides(
    learned: Sequence[ImageFile], judged: dict[str, tuple[ImageFile, ...]]
) -> Iterator[str]:
    """Say that images are learned from, with or without a label, and judged on; so are copies."""
    paths = {file.path.resolve() for file in learned}
    by_size = defaultdict(list)
    for file in learned:
        by_size[file.path.stat().st_size].append(file)
    for side, files in judged.items():
        both = sum(
            file.path.resolve() in paths
            # Few files are of the same size, so that few are read.
            or any(file.sha256 == other.sha256 for other in by_size[file.path.stat().st_size])
            for file in files
        )
        if both:
            yield (
                f"{plural(both, 'image', 'images')} of {side} are learned from as well: what is "
                "reached there says nothing of new images"
            )


def _few(train: LabelledImages, dev: LabelledImages) -> Iterator[str]:
    labels, there = set(train.labels), set(dev.labels)
    if dev.files and (len(dev) < _FEW * len(labels) or len(there) < len(labels)):
        yield (
            f"dev has {plural(len(dev), 'image', 'images')}, of {len(there)} of {len(labels)} "
            "labels: which epoch is best there is little more than chance; give other images for "
            "dev, or none, and the last epoch is kept"
        )
