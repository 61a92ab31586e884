"""A table of images with a label for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.find import find_images
from affectlab.models.images.labelled.source_files import Found, split_name

__all__ = ["of_table", "table_of_images"]

_LABELS = ("label", "emotion", "class")


def of_table(place: Path, column: str | None, *, gaps: bool = False) -> Found:
    """Read a table with ``stimulus``, ``file``, a label, and perhaps ``split``."""
    files = find_images(place)
    table = table_of_images(place)
    names = _LABELS if column is None else (column,)
    found = next((name for name in names if name in table.columns), None)
    if found is None:
        raise InputError(
            f"{shown(place)}: columns {', '.join(table.columns)}; expected one of labels, "
            f"{' or '.join(repr(name) for name in names)}"
        )
    labels = table[found].to_list()
    has_splits = "split" in table.columns
    cells = table["split"].to_list() if has_splits else ["train"] * len(files)
    rows, without, splits = [], [], []
    for row, (name, cell) in enumerate(zip(labels, cells, strict=True)):
        split = split_name(cell)
        if split is None:
            raise InputError(
                f"{shown(place)}, row {row + 1}: split is {cell!r}; expected train, dev or test"
            )
        if gaps and (name is None or not str(name).strip()):
            if split != "train":
                raise InputError(
                    f"{shown(place)}, row {row + 1}: split is {cell!r}, and there is no label; "
                    "expected a label outside of train"
                )
            without.append(files[row])
            continue
        if not isinstance(name, str) or not name:
            raise InputError(
                f"{shown(place)}, row {row + 1}: {found} is {name!r}; expected a label"
            )
        rows.append(row)
        splits.append(split)
    if not rows:
        raise InputError(f"{shown(place)}: no image has a label; expected a few of each")
    _agree(place, files, rows, [labels[row] for row in rows], found)
    _agree(place, files, rows, splits, "split")
    return Found(
        tuple(files[row] for row in rows),
        tuple(labels[row] for row in rows),
        tuple(splits) if has_splits else None,
        unlabelled=tuple(without),
    )


def _agree(
    place: Path,
    files: Sequence[ImageFile],
    rows: Sequence[int],
    values: Sequence[str],
    column: str,
) -> None:
    """Refuse one file of which rows say different things, under whatever name of a stimulus."""
    first: dict[Path, tuple[int, str]] = {}
    for row, value in zip(rows, values, strict=True):
        file = files[row]
        other_row, other = first.setdefault(file.path.resolve(), (row + 1, value))
        if other != value:
            raise InputError(
                f"{shown(place)}, row {row + 1}: {column} of {shown(file.path)} is {value!r}, and "
                f"{other!r} in row {other_row}; expected one for each file"
            )


def table_of_images(place: Path) -> pl.DataFrame:
    """Read a table in which images were found already."""
    if place.suffix.lower() in (".jsonl", ".ndjson"):
        return pl.read_ndjson(place, infer_schema_length=None)
    return read_table(place, "images")
