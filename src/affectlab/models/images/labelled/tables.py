"""A table of images with a label for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from affectlab.core.csv import read_table
from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.find import find_images
from affectlab.models.images.labelled.source_files import Found, split_name

__all__ = ["of_table", "table_of_images"]

_LABELS = ("label", "emotion", "class")


def of_table(place: Path, column: str | None) -> Found:
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
    for row, name in enumerate(labels, start=1):
        if not isinstance(name, str) or not name:
            raise InputError(f"{shown(place)}, row {row}: {found} is {name!r}; expected a label")
    _agree(place, files, labels, found)
    if "split" not in table.columns:
        return Found(files, tuple(labels), None)
    splits = []
    for row, name in enumerate(table["split"].to_list(), start=1):
        known = split_name(name)
        if known is None:
            raise InputError(
                f"{shown(place)}, row {row}: split is {name!r}; expected train, dev or test"
            )
        splits.append(known)
    _agree(place, files, splits, "split")
    return Found(files, tuple(labels), tuple(splits))


def _agree(place: Path, files: Sequence[ImageFile], values: Sequence[str], column: str) -> None:
    """Refuse one file of which rows say different things, under whatever name of a stimulus."""
    first: dict[Path, tuple[int, str]] = {}
    for row, (file, value) in enumerate(zip(files, values, strict=True), start=1):
        other_row, other = first.setdefault(file.path.resolve(), (row, value))
        if other != value:
            raise InputError(
                f"{shown(place)}, row {row}: {column} of {shown(file.path)} is {value!r}, and "
                f"{other!r} in row {other_row}; expected one for each file"
            )


def table_of_images(place: Path) -> pl.DataFrame:
    """Read a table in which images were found already."""
    if place.suffix.lower() in (".jsonl", ".ndjson"):
        return pl.read_ndjson(place, infer_schema_length=None)
    return read_table(place, "images")
