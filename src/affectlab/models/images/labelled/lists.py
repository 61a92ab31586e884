"""Folders named by labels with lists of splits, as FI is handed on."""

from __future__ import annotations

import re
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.images.files import is_image_name
from affectlab.models.images.labelled.source_files import Found, image_at, single_files, split_name

__all__ = ["has_lists", "of_lists"]

_LINE = re.compile(r"(?P<file>\S.*?\.\w+)(?:[\s,;]+(?P<label>\S.*))?")


def has_lists(folder: Path) -> bool:
    """Say whether a folder has text lists of splits."""
    return bool(_lists(folder))


def _lists(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.txt") if split_name(path.stem))


def of_lists(folder: Path) -> Found:
    """Read images by the lists of splits: a file on each line, and perhaps its label.

    A label that is a number is an order of labels that the list does not tell: the folder in which
    the image lies is its label then, and numbers and folders must go with each other one to one.
    """
    files, labels, splits, folders, places = [], [], [], [], []
    numbers: dict[str, tuple[str, str]] = {}
    owners: dict[str, tuple[str, str]] = {}
    for path in _lists(folder):
        for at, line in enumerate(_lines(path), start=1):
            if not line:
                continue
            where = f"{shown(path)}, line {at}"
            parts = _LINE.fullmatch(line)
            if parts is None or not is_image_name(parts["file"]):
                raise InputError(
                    f"{where}: {shown(line, 80)!r}; expected an image file and perhaps its label"
                )
            file = image_at(folder, parts["file"], where)
            # A file right within the folder has no folder named by a label.
            above = file.path.parent.name if file.path.parent != folder else ""
            label = parts["label"]
            if label is None or label.isdigit():
                if not above:
                    raise InputError(
                        f"{where}: {shown(line, 80)!r} says no name of a label; expected one, or a "
                        "folder that is named by it"
                    )
                if label is not None:
                    _agree(numbers, label, above, where)
                    _agree(owners, above, label, where)
                label = above
            files.append(file)
            labels.append(label)
            splits.append(split_name(path.stem) or "")
            folders.append(above)
            places.append(where)
    single_files(zip(files, places, strict=True))
    return Found(tuple(files), tuple(labels), tuple(splits), tuple(folders), "list")


def _agree(known: dict[str, tuple[str, str]], key: str, value: str, where: str) -> None:
    other, first = known.setdefault(key, (value, where))
    if other != value:
        raise InputError(
            f"{where}: {shown(key, 40)!r} goes with {shown(value, 40)!r}, and with "
            f"{shown(other, 40)!r} in {first}; expected one folder for each number"
        )


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown(path)} is not in UTF-8; expected a list of files") from None
    return [line.strip() for line in text.split("\n")]
