"""What the readers of labelled images share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile
from affectlab.ratings.files import BadJson, parse_json

__all__ = ["Found", "image_at", "read_json", "single_files", "split_name"]

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
"""Names of splits, in columns, of files and of folders."""
_LARGEST = 2**28


@dataclass(frozen=True)
class Found:
    """Images with their labels, as a data set names them."""

    files: tuple[ImageFile, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...] | None
    folders: tuple[str, ...] | None = None
    """Folder in which each image lies, where something else says its label."""
    said_by: str = ""
    """What says the label."""
    set_aside: tuple[str, ...] = ()
    unlabelled: tuple[ImageFile, ...] = ()


def split_name(name: Any) -> str | None:
    """Give ``train``, ``dev`` or ``test`` for any of their names, None for another."""
    return _SPLITS.get(str(name).strip().lower())


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises
    ------
    InputError
        When it cannot be read, is no JSON, or is larger than 256 MiB.
    """
    said = shown(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{said} is larger than {_LARGEST // 2**20} MiB; expected a list")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{said} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{said} is not in UTF-8; expected JSON") from None
    try:
        return parse_json(text)
    except BadJson as error:
        raise InputError(f"{said}: {error}") from None


def image_at(folder: Path, name: str, where: str) -> ImageFile:
    """Find an image that a list names, within the folder of the list.

    The stimulus is the path within the folder without suffix, as
    :func:`affectlab.models.images.find_images` names it.

    Raises
    ------
    InputError
        When the path leads out of the folder, or there is no such file.
    """
    inside = PurePosixPath(name.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts or "\0" in name:
        raise InputError(
            f"{where}: {shown(name, 80)!r} leads out of the folder; expected a path within it"
        )
    path = folder / inside
    if not path.is_file():
        raise InputError(f"{where}: {shown(path)}: there is no such file")
    return ImageFile(str(inside.with_suffix("")), path)


def single_files(files: Iterable[tuple[ImageFile, str]]) -> None:
    """Refuse an image that is listed twice; each comes with the place where it is listed.

    Raises
    ------
    InputError
        For the first.
    """
    first: dict[str, str] = {}
    for file, where in files:
        other = first.setdefault(file.stimulus, where)
        if other != where:
            raise InputError(
                f"{where}: {shown(file.stimulus, 80)!r} is listed in {other} as well; expected "
                "each image once"
            )
