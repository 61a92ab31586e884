"""Images of which few have labels: from a table with gaps, or by hiding labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.cli.train._vision_data import Labelled, Sides, read_labelled, split_sides
from affectlab.core.errors import InputError
from affectlab.core.words import shown

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
    from affectlab.models.images import ImageFile
    from affectlab.taxonomy import Taxonomy

__all__ = ["SemiSides", "semi_sides"]

_LABELS = ("label", "emotion", "class")


@dataclass(frozen=True)
class SemiSides:
    """Images to learn from with labels and without, to choose the epoch by, and to judge by."""

    learned: Sides
    unlabelled: list[ImageFile]
    truth: list[str] | None
    """Labels of the unlabelled ones, where they were hidden."""
    judged: Sides
    """Empty: the last epoch is kept."""
    test: Sides
    set_aside: tuple[str, ...] = field(default=())

    def images(self, embeddings: Embeddings | None) -> Any:
        """Give the unlabelled images, or their embeddings."""
        return Sides(self.unlabelled).images(embeddings)


def semi_sides(
    place: Path,
    unlabelled: Path | None,
    column: str | None,
    taxonomy: Taxonomy,
    *,
    fraction: float | None,
    dev: Path | None,
    dev_share: float,
    seed: int,
) -> SemiSides:
    """Read images, and say which are learned from with their labels.

    Parameters
    ----------
    place
        As for :func:`read_labelled`; in a table, a label may be missing.
    unlabelled
        Further images without labels.
    fraction
        Share of each label that keeps it; the truth of the others is then known.
    dev
        Images that choose the epoch; without them, and without a split of that name, a share
        `dev_share` of those that keep their labels is.

    Raises
    ------
    InputError
        When labels are hidden and missing at once, or no image is without a label.
    """
    from affectlab.models.images import find_images, label_fraction

    found, gaps = _with_gaps(place, column, taxonomy)
    others = [*gaps, *(() if unlabelled is None else find_images(unlabelled))]
    truth: list[str] | None = None
    if fraction is not None and others:
        raise InputError(
            "--labelled-fraction hides labels, and there are images without any: expected one or "
            "the other"
        )
    kept, held, test = _splits(found)
    if fraction is not None:
        chosen = label_fraction(kept.labels, fraction, seed=seed)
        hidden = np.flatnonzero(~chosen).tolist()
        others = [kept.files[at] for at in hidden]
        truth = [kept.labels[at] for at in hidden]
        rows = np.flatnonzero(chosen).tolist()
        kept = Sides([kept.files[at] for at in rows], [kept.labels[at] for at in rows])
    if not others:
        raise InputError(
            f"{shown(place)}: every image has a label; expected some without one (an empty cell "
            "in the table), --unlabelled, or --labelled-fraction"
        )
    if dev is not None:
        beside = read_labelled(dev, column if dev.is_file() else None, taxonomy)
        held = Sides(list(beside.files), list(beside.labels))
    elif not held.files and dev_share:
        whole = Labelled(tuple(kept.files), tuple(kept.labels), None)
        kept, held, _ = split_sides(whole, dev_share, seed)
    return SemiSides(kept, others, truth, held, test, found.set_aside)


def _splits(found: Labelled) -> tuple[Sides, Sides, Sides]:
    if found.splits is None:
        return Sides(list(found.files), list(found.labels)), Sides(), Sides()
    kept = found.rows("train")
    if not kept.files:
        raise InputError("no labelled image is in split train; expected some to learn from")
    return kept, found.rows("dev"), found.rows("test")


def _with_gaps(
    place: Path, column: str | None, taxonomy: Taxonomy
) -> tuple[Labelled, list[ImageFile]]:
    """Read labels, and the images of rows that have none; those must be for training."""
    if place.is_dir():
        return read_labelled(place, column, taxonomy), []
    from affectlab.models.images import find_images
    from affectlab.models.images.labelled.source_files import split_name
    from affectlab.models.images.labelled.tables import table_of_images

    table = table_of_images(place)
    names = _LABELS if column is None else (column,)
    name = next((name for name in names if name in table.columns), None)
    if name is None or table[name].dtype.is_nested():
        return read_labelled(place, column, taxonomy), []
    given = [None if cell is None else str(cell).strip() for cell in table[name].to_list()]
    if all(given):
        return read_labelled(place, column, taxonomy), []
    files = find_images(place)
    splits = None
    if "split" in table.columns:
        splits = [split_name(cell) for cell in table["split"].to_list()]
    for row, label in enumerate(given):
        split = "train" if splits is None else splits[row]
        if split is None or (not label and split != "train"):
            raise InputError(
                f"{shown(place)}, row {row + 1}: split {table['split'][row]!r} and label "
                f"{label or ''!r}; expected train, dev or test, and a label outside of train"
            )
    known: dict[str, str] = {}
    for row, label in enumerate(given):
        if label and label not in known:
            try:
                known[label] = taxonomy.name_of(label)
            except InputError as error:
                raise InputError(f"{shown(place)}, row {row + 1}: {error}") from None
    rows = [row for row, label in enumerate(given) if label]
    if not rows:
        raise InputError(f"{shown(place)}: no image has a label; expected a few of each")
    labelled = Labelled(
        tuple(files[row] for row in rows),
        tuple(known[given[row] or ""] for row in rows),
        None if splits is None else tuple(splits[row] or "" for row in rows),
    )
    return labelled, [files[row] for row, label in enumerate(given) if not label]
