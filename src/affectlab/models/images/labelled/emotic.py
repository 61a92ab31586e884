"""Lists in the manner of EMOTIC (Kosti et al., 2019): several of 26 categories to each person."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.words import plural, shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.labelled.source_files import Found, image_at, read_json, split_name
from affectlab.taxonomy import Taxonomy

__all__ = ["EMOTIC_CATEGORIES", "CategoryList", "is_emotic_list", "of_emotic", "read_categories"]

EMOTIC_CATEGORIES = (
    *("Affection", "Anger", "Annoyance", "Anticipation", "Aversion", "Confidence"),
    *("Disapproval", "Disconnection", "Disquietment", "Doubt/Confusion", "Embarrassment"),
    *("Engagement", "Esteem", "Excitement", "Fatigue", "Fear", "Happiness", "Pain", "Peace"),
    *("Pleasure", "Sadness", "Sensitivity", "Suffering", "Surprise", "Sympathy", "Yearning"),
)
"""The categories of EMOTIC by name, in the order of the alphabet."""

_CATEGORIES = ("categories", "Categorical_Labels", "categorical_labels")
_FILES = ("file", "image", "path", "Filename", "filename")
_FOLDERS = ("folder", "Folder")
_SPLIT = ("split", "Split")


@dataclass(frozen=True)
class CategoryList:
    """Images with several categories each; see :func:`read_categories`."""

    files: tuple[ImageFile, ...]
    categories: tuple[tuple[str, ...], ...]
    """Of each image, by name, each once, in the order in which they are listed."""
    splits: tuple[str, ...] | None

    def table(self) -> dict[str, list[str]]:
        """Give the categories of each stimulus."""
        return {
            file.stimulus: list(names)
            for file, names in zip(self.files, self.categories, strict=True)
        }


def is_emotic_list(path: Path) -> bool:
    """Say whether a file is a list of images with categories: any JSON, or a table of that header.

    A table that has one label for each image as well is no such list.
    """
    if path.suffix.lower() == ".json":
        return True
    if path.suffix.lower() not in (".csv", ".parquet") or not path.is_file():
        return False
    columns = read_table(path, "images").columns
    return "label" not in columns and any(name in columns for name in _CATEGORIES)


def read_categories(path: str | Path) -> CategoryList:
    """Read images with several categories each, by name.

    Parameters
    ----------
    path
        A CSV or Parquet table or a JSON list of objects with ``file`` (or ``image``, ``path``,
        ``filename``), perhaps ``folder``, with ``categories`` (or ``categorical_labels``), and
        perhaps ``split``; capitals as in the tables that are made of EMOTIC's annotations are
        understood. Categories are a list, a list written out such as ``['Anger', 'Fear']``, or
        names with ``|``, ``;`` or ``,`` between. Rows of one file are persons in one picture:
        they become one image, with the categories of all of them. Without a column of splits the
        name of the file says it: ``train.csv``, ``val.csv``, ``test.csv``.

    Returns
    -------
    CategoryList
        One row for each image, in the order of the list.

    Raises
    ------
    InputError
        When a column, file or category is missing, or rows of one image are in several splits.

    Notes
    -----
    Source: R. Kosti, J. M. Alvarez, A. Recasens and A. Lapedriza (2019), Context based emotion
    recognition using EMOTIC dataset.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("RGB", (8, 8)).save(Path(folder) / "a.png")
    ...     table = Path(folder) / "list.csv"
    ...     _ = table.write_text('file,categories\\na.png,"Anger, Pain"\\na.png,Anger\\n')
    ...     read_categories(table).table()
    {'a': ['Anger', 'Pain']}
    """
    place = Path(path)
    rows = _rows(place)
    known: dict[str, tuple[ImageFile, list[str], str]] = {}
    own = split_name(place.stem)
    splitted = False
    for at, row in enumerate(rows, start=1):
        where = f"{shown(place)}, row {at}"
        file = _file(place.parent, row, where)
        names = _names(_first(row, _CATEGORIES), where)
        said = _first(row, _SPLIT)
        split = own if said in (None, "") else split_name(said)
        if said not in (None, "") and split is None:
            raise InputError(f"{where}: split is {said!r}; expected train, dev or test")
        splitted = splitted or split is not None
        _, before, other = known.setdefault(file.stimulus, (file, [], split or ""))
        if other != (split or ""):
            raise InputError(
                f"{where}: {shown(file.stimulus, 60)!r} is in split {split or 'none'}, and in "
                f"{other or 'none'} before; expected one"
            )
        before += [name for name in names if name not in before]
    if not known:
        raise InputError(f"{shown(place)}: a list without rows; expected images with categories")
    splits = tuple(split for _, _, split in known.values())
    if splitted and not all(splits):
        missing = next(file for file, _, split in known.values() if not split)
        raise InputError(
            f"{shown(place)}: {shown(missing.stimulus, 60)!r} has no split, as others have"
        )
    return CategoryList(
        tuple(file for file, _, _ in known.values()),
        tuple(tuple(names) for _, names, _ in known.values()),
        splits if splitted else None,
    )


def of_emotic(path: Path, taxonomy: Taxonomy) -> Found:
    """Keep the images of which the taxonomy knows exactly one category."""
    listed = read_categories(path)
    kept, labels = [], []
    none = several = 0
    for at, names in enumerate(listed.categories):
        known = {label for label in map(_lookup(taxonomy), names) if label is not None}
        if len(known) == 1:
            kept.append(at)
            labels.append(known.pop())
        elif known:
            several += 1
        else:
            none += 1
    aside = []
    if none:
        said = plural(none, "image has", "images have")
        aside.append(f"{said} no category that taxonomy {taxonomy.name} knows")
    if several:
        said = plural(several, "image has", "images have")
        aside.append(f"{said} several categories of it, and not one label")
    splits = listed.splits
    return Found(
        tuple(listed.files[at] for at in kept),
        tuple(labels),
        None if splits is None else tuple(splits[at] for at in kept),
        set_aside=tuple(aside),
    )


def _lookup(taxonomy: Taxonomy) -> Any:
    known: dict[str, str | None] = {}

    def find(name: str) -> str | None:
        if name not in known:
            try:
                known[name] = taxonomy.name_of(name)
            except InputError:
                known[name] = None
        return known[name]

    return find


def _rows(place: Path) -> list[dict[str, Any]]:
    if place.suffix.lower() == ".json":
        found = read_json(place)
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise InputError(f"{shown(place)}: expected a list of objects, one for each image")
        return found
    if place.suffix.lower() in (".jsonl", ".ndjson"):
        try:
            return pl.read_ndjson(place, infer_schema_length=None).to_dicts()
        except (pl.exceptions.PolarsError, OSError) as error:
            first = " ".join(str(error).split())[:120]
            raise InputError(f"{shown(place)}: not a list of images ({first})") from None
    return read_table(place, "images").to_dicts()


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _file(folder: Path, row: dict[str, Any], where: str) -> ImageFile:
    name = _first(row, _FILES)
    if not isinstance(name, str) or not name:
        raise InputError(f"{where}: expected a column 'file' (or 'image', 'path', 'Filename')")
    inside = _first(row, _FOLDERS)
    if isinstance(inside, str) and inside:
        name = str(PurePosixPath(inside.replace("\\", "/")) / name)
    return image_at(folder, name, where)


def _names(given: Any, where: str) -> list[str]:
    """Read categories: a list, a list written out, or names with marks between."""
    found = given
    if isinstance(given, str) and given.lstrip().startswith(("[", "(", "{")):
        try:
            found = ast.literal_eval(given.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
    elif isinstance(given, str):
        for mark in ("|", ";", ","):
            if mark in given:
                found = given.split(mark)
                break
        else:
            found = [given]
    if not isinstance(found, list | tuple | set):
        raise InputError(f"{where}: categories are {shown(repr(given), 60)}; expected names")
    names = sorted(found) if isinstance(found, set) else list(found)
    for name in names:
        if not isinstance(name, str) or not name.strip() or name.strip().isdigit():
            raise InputError(
                f"{where}: category {shown(repr(name), 40)}; expected a name (numbers depend on "
                "an order that differs between data sets)"
            )
    if not names:
        raise InputError(f"{where}: no category; expected one or more names")
    return list(dict.fromkeys(name.strip() for name in names))
