"""The images of a folder, of a table, or of a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import IMAGE_SUFFIXES
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile, is_image_name

__all__ = ["find_images"]

_TABLES = (".csv", ".parquet", ".jsonl", ".ndjson")
_FILE_COLUMNS = ("file", "image", "path")


def find_images(path: str | Path | Iterable[Any]) -> tuple[ImageFile, ...]:
    """Find images, and name their stimuli.

    Parameters
    ----------
    path
        A folder, which is searched through all folders in it (hidden ones, whose names begin with
        a dot, are left out): files with the suffix of an image, in the order of their names; the
        stimulus is the path within the folder without suffix. A table (CSV, Parquet or JSONL) with
        the columns ``stimulus`` and ``file`` (or ``image``, or ``path``), such as the manifest of
        :func:`affectlab.stimuli.generation.generate_images` and the table of drawn faces; files are
        sought in the folder of the table. One image file, whose stimulus is its name without
        suffix. Or a list of files, of pairs of stimulus and file, or of :class:`ImageFile`.

    Returns
    -------
    tuple of ImageFile
        Tables and lists keep their order.

    Raises
    ------
    InputError
        When nothing is found, a file is missing, or two files have the name of one stimulus.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import face_specs, save_faces
    >>> with TemporaryDirectory() as folder:
    ...     _ = save_faces(Path(folder) / "drawn", face_specs(2, ["joy"]), size=32)
    ...     [file.stimulus for file in find_images(folder)]
    ['drawn/person-000_joy_100', 'drawn/person-001_joy_100']
    """
    if isinstance(path, str | Path):
        return _of_path(Path(path))
    if not isinstance(path, Iterable) or isinstance(path, bytes):
        raise InputError(
            f"images: expected a folder, a table or a list of files, not {type(path).__name__}"
        )
    return _single([_of_entry(entry, row) for row, entry in enumerate(path)], "the list given")


def _of_path(path: Path) -> tuple[ImageFile, ...]:
    said = shown(path)
    if path.is_dir():
        files = sorted(_within(path), key=lambda pair: pair[0])
        found = [ImageFile(name, file) for name, file in files]
        return _single(found, said)
    if not path.exists():
        raise InputError(f"{said}: there is no such file or folder")
    if path.suffix.lower() in _TABLES:
        return _single(_of_table(path), said)
    if not is_image_name(path.name):
        raise InputError(
            f"{said}: expected a folder of images, a table ({', '.join(_TABLES)}) or an image "
            f"({', '.join(IMAGE_SUFFIXES[:5])}, …)"
        )
    return (ImageFile(_text(path.stem, path), path),)


def _within(folder: Path) -> Iterator[tuple[str, Path]]:
    """Give images in a folder and the folders in it, by name; links are followed."""
    above: list[tuple[Path, tuple[tuple[int, int], ...]]] = [(folder, ())]
    while above:
        place, parents = above.pop()
        known = place.stat()
        own = (known.st_dev, known.st_ino)
        if own in parents:
            # A link that leads back into a folder around it: its images are there already.
            continue
        try:
            entries = sorted(place.iterdir())
        except OSError as error:
            raise InputError(f"{shown(place)} cannot be read ({error.strerror})") from None
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                above.append((entry, (*parents, own)))
            elif is_image_name(entry.name):
                if not entry.exists():
                    raise InputError(f"{shown(entry)} is a link to a file that is not there")
                inside = PurePosixPath(entry.relative_to(folder).as_posix())
                yield _text(str(inside.with_suffix("")), entry), entry


def _text(name: str, path: Path) -> str:
    """Refuse names that are not text: they could not be written into any table."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{os.fsencode(path)!r}: the name of this file is not in UTF-8; expected another name"
        ) from None
    return name


def _of_table(path: Path) -> list[ImageFile]:
    said = shown(path)
    table = _read(path)
    column = next((name for name in _FILE_COLUMNS if name in table.columns), None)
    if "stimulus" not in table.columns or column is None:
        raise InputError(
            f"{said}: columns {', '.join(table.columns) or '(none)'}; expected 'stimulus' and "
            "'file' (or 'image', or 'path')"
        )
    found = []
    names = table.select("stimulus", pl.col(column).alias("file"))
    for row, (stimulus, file) in enumerate(names.iter_rows(), start=1):
        if stimulus is None or stimulus == "" or not isinstance(file, str) or not file:
            raise InputError(f"{said}, row {row}: expected a stimulus and its {column}")
        target = path.parent / file
        if not target.is_file():
            raise InputError(
                f"{said}, row {row}: stimulus {shown(stimulus, 60)!r}: {shown(target)}: there is "
                "no such file"
            )
        found.append(ImageFile(str(stimulus), target))
    return found


def _read(path: Path) -> pl.DataFrame:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        try:
            return pl.read_ndjson(path, infer_schema_length=None)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = " ".join(str(error).split())[:120]
            raise InputError(f"{shown(path)}: not a table of images ({first})") from None
    return read_table(path, "images")


def _of_entry(entry: object, row: int) -> ImageFile:
    if isinstance(entry, ImageFile):
        found = entry
    elif isinstance(entry, str | Path):
        found = ImageFile(_text(Path(entry).stem, Path(entry)), Path(entry))
    elif isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        stimulus, file = entry
        if not isinstance(file, str | Path):
            raise InputError(f"image {row}, {shown(stimulus, 60)!r}: expected the path of a file")
        found = ImageFile(stimulus, Path(file))
    else:
        raise InputError(
            f"image {row}: expected a file, or a pair of stimulus and file, not "
            f"{type(entry).__name__}"
        )
    if not found.path.is_file():
        raise InputError(f"{shown(found.path)}: there is no such file")
    return found


def _single(found: list[ImageFile], where: str) -> tuple[ImageFile, ...]:
    if not found:
        raise InputError(
            f"{where} holds no image; expected files such as {', '.join(IMAGE_SUFFIXES[:5])}"
        )
    first: dict[str, ImageFile] = {}
    for file in found:
        other = first.setdefault(file.stimulus, file)
        if other is not file:
            raise InputError(
                f"stimulus {shown(file.stimulus, 80)!r} has two files, {shown(other.path)} and "
                f"{shown(file.path)}; expected one"
            )
    return tuple(found)
