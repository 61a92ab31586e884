"""Image files that tables of others name, in a folder of one's own."""

from __future__ import annotations

import os
from pathlib import Path

from affectlab._words import shown
from affectlab.errors import InputError

__all__ = ["image_within"]


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
    affectlab.errors.InputError: pairs.csv, row 2: image '../secret.png' lies outside 'images'; \
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
