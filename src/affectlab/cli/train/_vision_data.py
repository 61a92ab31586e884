"""Images with one label each, from a table, from folders, or from a published data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.words import plural, shown

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
    from affectlab.models.images import ImageFile
    from affectlab.taxonomy import Taxonomy

__all__ = ["Labelled", "Sides", "read_labelled", "split_sides", "table_of"]


@dataclass(frozen=True)
class Labelled:
    """Images with their labels."""

    files: tuple[ImageFile, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...] | None
    """``train``, ``dev`` or ``test`` for each; None where nothing says."""
    set_aside: tuple[str, ...] = ()
    """Sentences on images that have not one label."""

    def rows(self, split: str) -> Sides:
        """Give those of a split."""
        kept = [at for at, name in enumerate(self.splits or ()) if name == split]
        return Sides([self.files[at] for at in kept], [self.labels[at] for at in kept])


@dataclass(frozen=True)
class Sides:
    """One side of a split."""

    files: list[ImageFile] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def images(self, embeddings: Embeddings | None) -> Any:
        """Give images, or the embeddings of their stimuli."""
        if embeddings is None:
            return self.files
        return embeddings.subset([file.stimulus for file in self.files])


def table_of(labelled: Sides) -> dict[str, int]:
    """Count labels, the most frequent first."""
    names, counts = np.unique(np.array(labelled.labels), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {str(names[at]): int(counts[at]) for at in order}


def read_labelled(place: Path, column: str | None, taxonomy: Taxonomy) -> Labelled:
    """Read images and their labels; see :func:`affectlab.models.images.read_labelled_images`.

    Raises
    ------
    InputError
        When a label is missing, or the taxonomy does not know it.
    """
    from affectlab.models.images import read_labelled_images

    if place.is_dir() and column is not None:
        raise InputError(f"--label-column is for a table, and {shown(place)} is a folder")
    found = read_labelled_images(place, taxonomy, column)
    return Labelled(found.files, found.labels, found.splits, found.set_aside)


def split_sides(found: Labelled, share: float, seed: int) -> tuple[Sides, Sides, Sides]:
    """Give images to learn from, to choose the epoch by, and to judge by at the end.

    Where nothing says which are which, a share of each label is drawn for dev, and where a split
    has no dev, of its train part.
    """
    if found.splits is None:
        pool, test = Sides(list(found.files), list(found.labels)), Sides()
    else:
        pool, dev, test = found.rows("train"), found.rows("dev"), found.rows("test")
        if not pool.files:
            raise InputError("no image is in split train; expected some to learn from")
        if dev.files:
            return pool, dev, test
    aside = np.zeros(len(pool.files), dtype=bool)
    names = np.array(pool.labels)
    random = np.random.default_rng([seed, 11])
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        wanted = min(max(round(share * len(rows)), 1), len(rows) - 1)
        aside[random.permutation(rows)[:wanted]] = True
    if not aside.any():
        raise InputError(
            f"{plural(len(pool.files), 'image', 'images')} of as many labels leave none for dev; "
            "expected two of a label at least"
        )

    def side(kept: bool) -> Sides:
        rows = np.flatnonzero(aside == kept).tolist()
        return Sides([pool.files[at] for at in rows], [pool.labels[at] for at in rows])

    return side(False), side(True), test
