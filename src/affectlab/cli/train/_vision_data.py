"""Images with one label each, from a table or from folders that are named by labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._words import plural, shown
from affectlab.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from affectlab.models.embedding import Embeddings
    from affectlab.models.images import ImageFile
    from affectlab.taxonomy import Taxonomy

__all__ = ["Labelled", "Sides", "read_labelled", "split_sides", "table_of"]

_LABELS = ("label", "emotion", "class")
_SPLITS = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
    "testing": "test",
}
"""Names of splits, in columns and of folders."""


@dataclass(frozen=True)
class Labelled:
    """Images with their labels."""

    files: tuple[ImageFile, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...] | None
    """``train``, ``dev`` or ``test`` for each; None where nothing says."""

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
    """Read images and their labels.

    Parameters
    ----------
    place
        A table with the columns ``stimulus``, ``file`` and a label, and perhaps ``split``; or a
        folder whose folders are named by labels, perhaps within folders train, dev and test.
    column
        Column of labels; by default label, emotion or class.

    Raises
    ------
    InputError
        When a label is missing, or the taxonomy does not know it.
    """
    from affectlab.models.images import find_images

    files = find_images(place)
    if place.is_dir():
        if column is not None:
            raise InputError(f"--label-column is for a table, and {shown(place)} is a folder")
        given, splits = _of_folders(place, files)
    else:
        given, splits = _of_columns(place, column)
    known: dict[str, str] = {}
    for file, name in zip(files, given, strict=True):
        if name not in known:
            try:
                known[name] = taxonomy.name_of(name)
            except InputError as error:
                raise InputError(
                    f"{shown(place)}, stimulus {shown(file.stimulus, 60)!r}: {error}"
                ) from None
    return Labelled(files, tuple(known[name] for name in given), splits)


def _of_folders(
    place: Path, files: tuple[ImageFile, ...]
) -> tuple[list[str], tuple[str, ...] | None]:
    labels, splits = [], []
    for file in files:
        above = PurePosixPath(file.path.relative_to(place).as_posix()).parts[:-1]
        if not above:
            raise InputError(
                f"{shown(file.path)} lies in no folder named by a label; expected "
                f"{shown(place)}/LABEL/{file.path.name}"
            )
        labels.append(above[-1])
        splits.append(_SPLITS.get(above[0].lower(), "") if len(above) > 1 else "")
    if not any(splits):
        return labels, None
    if not all(splits):
        missing = files[splits.index("")]
        raise InputError(
            f"{shown(missing.path)} is in none of the folders train, dev and test, as others are"
        )
    return labels, tuple(splits)


def _of_columns(place: Path, column: str | None) -> tuple[list[str], tuple[str, ...] | None]:
    table = _table(place)
    names = _LABELS if column is None else (column,)
    found = next((name for name in names if name in table.columns), None)
    if found is None:
        raise InputError(
            f"{shown(place)}: columns {', '.join(table.columns)}; expected one of labels, "
            f"{' or '.join(repr(name) for name in names)}"
        )
    labels = table[found].to_list()
    for row, name in enumerate(labels, start=1):
        if not isinstance(name, str) or not name:
            raise InputError(f"{shown(place)}, row {row}: {found} is {name!r}; expected a label")
    if "split" not in table.columns:
        return labels, None
    splits = []
    for row, name in enumerate(table["split"].to_list(), start=1):
        known = _SPLITS.get(str(name).lower())
        if known is None:
            raise InputError(
                f"{shown(place)}, row {row}: split is {name!r}; expected train, dev or test"
            )
        splits.append(known)
    return labels, tuple(splits)


def _table(place: Path) -> pl.DataFrame:
    """Read a table in which images were found already."""
    import polars as pl

    from affectlab.stimuli._tables import read_table

    if place.suffix.lower() in (".jsonl", ".ndjson"):
        return pl.read_ndjson(place, infer_schema_length=None)
    return read_table(place, "images")


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
