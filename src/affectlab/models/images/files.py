"""Image files by the names of their stimuli."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.media import IMAGE_SUFFIXES
from affectlab.core.words import shown
from affectlab.models.images.packed import inside, read_packed

__all__ = [
    "LARGEST_FILE",
    "ImageFile",
    "content_hash",
    "image_within",
    "is_image_name",
    "read_bytes",
]

LARGEST_FILE = 256 * 2**20
"""Bytes of a file that are read."""


@dataclass(frozen=True)
class ImageFile:
    """One image file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import draw_face
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "joy.png"
    ...     draw_face("joy", size=32).save(place)
    ...     ImageFile("joy", place).sha256 == content_hash(place.read_bytes())
    True
    """

    stimulus: str
    """Name of the stimulus that it shows."""
    path: Path
    """Where it is; a file inside another one as ``shard.tar::0017.jpg``."""

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes of the file; see :func:`content_hash`."""
        return content_hash(self.read())

    def read(self) -> bytes:
        """Read the bytes of the file.

        Raises
        ------
        InputError
            When it is missing, cannot be read, or is larger than 256 MiB.
        """
        return read_bytes(self.path)


def content_hash(data: bytes) -> str:
    """Hash the bytes of a file: SHA-256 as 64 hexadecimal digits.

    Examples
    --------
    >>> content_hash(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(data).hexdigest()


def is_image_name(name: str) -> bool:
    """Say whether a file of that name is taken for an image.

    Examples
    --------
    >>> is_image_name("a.JPG"), is_image_name("a.txt"), is_image_name(".png")
    (True, False, False)
    """
    return Path(name).suffix.lower() in IMAGE_SUFFIXES


def read_bytes(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """Read a file of at most so many bytes.

    Raises
    ------
    InputError
        When it is missing, is no ordinary file, cannot be read, or is larger.
    """
    said = shown(path)
    packed = inside(path)
    try:
        content = _read(path, limit) if packed is None else read_packed(*packed, limit)
    except FileNotFoundError:
        raise InputError(f"{said}: there is no such file") from None
    # A name with a null byte is refused as a value.
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{said} cannot be read ({reason})") from None
    if content is None:
        raise InputError(f"{said} is larger than {limit / 2**20:,.0f} MiB; expected an image file")
    return content


def _read(path: Path, limit: int) -> bytes | None:
    """Read an ordinary file; None where it has more bytes than the limit."""
    known = path.stat()
    # Pipes and devices would wait for ever, or never end.
    if not stat.S_ISREG(known.st_mode):
        kind = "a folder" if stat.S_ISDIR(known.st_mode) else "no ordinary file"
        raise InputError(f"{shown(path)} is {kind}; expected an image file")
    if known.st_size > limit:
        return None
    with path.open("rb") as file:
        content = file.read(limit + 1)
    return content if len(content) <= limit else None


# Image files that tables of others name, in a folder of one's own.


def image_within(folder: str | Path, name: str, where: str) -> Path:
    """Give the file that a table names, which lies in a folder.

    A table that somebody else made must not choose files from all over the disk, which are then
    read, and may be sent to a provider.

    Parameters
    ----------
    folder
        Where images are.
    name
        As the table has it: below the folder, or a whole path into it.
    where
        How errors name the row.

    Raises
    ------
    InputError
        When it lies outside the folder, or cannot be the name of a file.

    Examples
    --------
    >>> image_within("images", "../secret.png", "pairs.csv, row 2")
    Traceback (most recent call last):
    affectlab.InputError: pairs.csv, row 2: image '../secret.png' lies outside 'images'; \
expected one in it (--images names the folder)
    """
    inside = Path(os.path.normpath(Path.cwd() / folder))
    said = shown(name, 120)
    if "\0" in name:
        raise InputError(f"{where}: image {said!r}: expected the name of a file")
    target = Path(os.path.normpath(inside / name))
    if not target.is_relative_to(inside):
        raise InputError(
            f"{where}: image {said!r} lies outside {shown(folder)!r}; expected one in it (--images "
            "names the folder)"
        )
    # Below the folder as it was given; a link before ``..`` would lead elsewhere.
    return Path(folder) / target.relative_to(inside)
