"""EmoSet (Yang et al., 2023): lists of splits, and an annotation for each image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile, is_image_name
from affectlab.models.images.find import find_images
from affectlab.models.images.labelled.source_files import (
    Found,
    image_at,
    read_json,
    single_files,
    split_name,
)

__all__ = ["has_emoset_lists", "of_annotations", "of_emoset"]


def has_emoset_lists(folder: Path) -> bool:
    """Say whether a folder has JSON lists of splits."""
    return bool(_lists(folder))


def _lists(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json") if split_name(path.stem))


def of_emoset(folder: Path) -> Found:
    """Read images by the lists of splits.

    An entry is a list: the emotion, then, wherever they stand, the path of the image and of its
    annotation within the folder, and perhaps its name. The lists say the emotion by name;
    ``info.json``, which numbers emotions, is not read.
    """
    files, labels, splits, folders, places = [], [], [], [], []
    for path in _lists(folder):
        entries = read_json(path)
        if not isinstance(entries, list):
            raise InputError(f"{shown(path)}: {type(entries).__name__}; expected a list of images")
        split = split_name(path.stem) or ""
        for at, entry in enumerate(entries, start=1):
            where = f"{shown(path)}, entry {at}"
            label, name = _entry(entry, where)
            file = image_at(folder, name, where)
            files.append(file)
            labels.append(label)
            splits.append(split)
            folders.append(file.path.parent.name)
            places.append(where)
    single_files(zip(files, places, strict=True))
    return Found(tuple(files), tuple(labels), tuple(splits), tuple(folders), "list")


def _entry(entry: Any, where: str) -> tuple[str, str]:
    parts = entry if isinstance(entry, list) else []
    images = [part for part in parts[1:] if isinstance(part, str) and is_image_name(part)]
    if not parts or not isinstance(parts[0], str) or not parts[0] or len(images) != 1:
        raise InputError(
            f"{where}: {shown(repr(entry), 80)}; expected a list of emotion, number, image and "
            "annotation"
        )
    return parts[0], images[0]


def of_annotations(folder: Path) -> Found:
    """Read images of ``image`` by the JSON files of ``annotation``, which have the same paths."""
    place = folder / "image"
    if not place.is_dir():
        raise InputError(
            f"{shown(folder)} has a folder annotation and none of the name image; expected the "
            "layout of EmoSet"
        )
    found = find_images(place)
    labels = []
    for file in found:
        path = folder / "annotation" / f"{file.stimulus}.json"
        if not path.is_file():
            raise InputError(f"{shown(file.path)} has no annotation; expected {shown(path)}")
        said = read_json(path)
        label = said.get("emotion") if isinstance(said, dict) else None
        if not isinstance(label, str) or not label:
            raise InputError(f"{shown(path)}: expected an object with the name of an emotion")
        labels.append(label)
    # Named as in the whole folder, as they are where there are lists.
    files = tuple(ImageFile(f"image/{file.stimulus}", file.path) for file in found)
    folders = tuple(file.path.parent.name for file in files)
    return Found(files, tuple(labels), None, folders, "annotation")
