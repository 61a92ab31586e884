"""The images, or other files, of a folder, of a table, or of a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import IMAGE_SUFFIXES, MEDIA
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile

__all__ = ["find_files", "find_images"]

_TABLES = (".csv", ".parquet", ".jsonl", ".ndjson")
_FILE_COLUMNS = ("file", "image", "path", "audio")


@dataclass(frozen=True)
class _Kind:
    """What is looked for."""

    name: str
    suffixes: tuple[str, ...]

    def matches(self, name: str) -> bool:
        return Path(name).suffix.lower() in self.suffixes


_KINDS = {
    "image": _Kind("image", IMAGE_SUFFIXES),
    "audio": _Kind("sound", MEDIA["audio"]),
}


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
    return find_files(path, "image")


def find_files(
    path: str | Path | Iterable[Any], kind: Literal["image", "audio"]
) -> tuple[ImageFile, ...]:
    """Find files of a kind, as :func:`find_images` does."""
    wanted = _KINDS[kind]
    if isinstance(path, str | Path):
        return _of_path(Path(path), wanted)
    if not isinstance(path, Iterable) or isinstance(path, bytes):
        raise InputError(
            f"{wanted.name}s: expected a folder, a table or a list of files, not "
            f"{type(path).__name__}"
        )
    entries = [_of_entry(entry, row, wanted) for row, entry in enumerate(path)]
    return _single(entries, "the list given", wanted)


def _of_path(path: Path, kind: _Kind) -> tuple[ImageFile, ...]:
    said = shown(path)
    if path.is_dir():
        files = sorted(_within(path, kind), key=lambda pair: pair[0])
        found = [ImageFile(name, file) for name, file in files]
        return _single(found, said, kind)
    if not path.exists():
        raise InputError(f"{said}: there is no such file or folder")
    if path.suffix.lower() in _TABLES:
        return _single(_of_table(path, kind), said, kind)
    if not kind.matches(path.name):
        a = "an" if kind.name == "image" else "a"
        raise InputError(
            f"{said}: expected a folder of {kind.name}s, a table ({', '.join(_TABLES)}) or {a} "
            f"{kind.name} ({', '.join(kind.suffixes[:5])}, …)"
        )
    return (ImageFile(_text(path.stem, path), path),)


def _within(folder: Path, kind: _Kind) -> Iterator[tuple[str, Path]]:
    """Give files in a folder and the folders in it, by name; links are followed."""
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
            elif kind.matches(entry.name):
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


def _of_table(path: Path, kind: _Kind) -> list[ImageFile]:
    said = shown(path)
    table = _read(path, kind)
    column = next((name for name in _FILE_COLUMNS if name in table.columns), None)
    if "stimulus" not in table.columns or column is None:
        raise InputError(
            f"{said}: columns {', '.join(table.columns) or '(none)'}; expected 'stimulus' and "
            "'file' (or 'image', or 'path')"
        )
    found = []
    # Ratings have a row for each answer about a file.
    names = (
        table.select("stimulus", pl.col(column).alias("file"))
        .with_row_index("row", offset=1)
        .unique(("stimulus", "file"), keep="first", maintain_order=True)
    )
    for row, stimulus, file in names.iter_rows():
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


def _read(path: Path, kind: _Kind) -> pl.DataFrame:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        try:
            return pl.read_ndjson(path, infer_schema_length=None)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = " ".join(str(error).split())[:120]
            raise InputError(f"{shown(path)}: not a table of {kind.name}s ({first})") from None
    return read_table(path, f"{kind.name}s")


def _of_entry(entry: object, row: int, kind: _Kind) -> ImageFile:
    if isinstance(entry, ImageFile):
        found = entry
    elif isinstance(entry, str | Path):
        found = ImageFile(_text(Path(entry).stem, Path(entry)), Path(entry))
    elif isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        stimulus, file = entry
        if not isinstance(file, str | Path):
            raise InputError(
                f"{kind.name} {row}, {shown(stimulus, 60)!r}: expected the path of a file"
            )
        found = ImageFile(stimulus, Path(file))
    else:
        raise InputError(
            f"{kind.name} {row}: expected a file, or a pair of stimulus and file, not "
            f"{type(entry).__name__}"
        )
    if not found.path.is_file():
        raise InputError(f"{shown(found.path)}: there is no such file")
    return found


def _single(found: list[ImageFile], where: str, kind: _Kind) -> tuple[ImageFile, ...]:
    if not found:
        raise InputError(
            f"{where} holds no {kind.name}; expected files such as {', '.join(kind.suffixes[:5])}"
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
