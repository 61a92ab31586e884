"""The images, or other files, of a folder, of a table, or of a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import IMAGE_SUFFIXES, MEDIA
from affectlab.core.words import shown
from affectlab.models.images.files import ImageFile
from affectlab.models.images.packed import inside, is_packed, packed_files

__all__ = ["find_files", "find_images", "kinds_of_files", "named_files"]

Named: TypeAlias = tuple[str, str]
"""Name of a stimulus, and the path of its file."""

_TABLES = (".csv", ".parquet", ".jsonl", ".ndjson")
_PACKED = (".tar", ".parquet")
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
        sought in the folder of the table. A shard of webdataset (``.tar``), a Parquet file with a
        column of bytes, a folder of ``datasets.Dataset.save_to_disk``, or a folder of such files:
        stimuli are the names in them, or ``row 0`` and so on; in a folder the name of the shard
        stands before. One image file, whose stimulus is its name without
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
    return tuple(ImageFile(name, Path(file)) for name, file in named_files(path, kind))


def named_files(path: str | Path | Iterable[Any], kind: Literal["image", "audio"]) -> list[Named]:
    """Find files as :func:`find_files` does; millions of them take little memory."""
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


def kinds_of_files(path: Path) -> set[str]:
    """Say whether a file or folder holds images, sounds, both or neither: ``image``, ``audio``."""

    def holds(kind: _Kind) -> bool:
        if is_packed(path):
            return bool(packed_files(path, kind.suffixes))
        return (
            next(_within(path, kind), None) is not None
            if path.is_dir()
            else kind.matches(path.name)
        )

    return {name for name, kind in _KINDS.items() if holds(kind)}


def _of_path(path: Path, kind: _Kind) -> list[Named]:
    said = shown(path)
    if is_packed(path):
        return _single(packed_files(path, kind.suffixes), said, kind)
    if path.is_dir():
        return _single(sorted(_within(path, kind)), said, kind)
    if not path.exists():
        raise InputError(f"{said}: there is no such file or folder")
    if path.suffix.lower() in _TABLES:
        return _single(_of_table(path, kind), said, kind)
    if not kind.matches(path.name):
        a = "an" if kind.name == "image" else "a"
        raise InputError(
            f"{said}: expected a folder of {kind.name}s, a table ({', '.join(_TABLES)}), a .tar or "
            f"{a} {kind.name} ({', '.join(kind.suffixes[:5])}, …)"
        )
    return [(_text(path.stem, str(path)), str(path))]


def _within(folder: Path, kind: _Kind) -> Iterator[Named]:
    """Give files in a folder and the folders in it; links are followed."""
    above: list[tuple[str, str, tuple[tuple[int, int], ...]]] = [(str(folder), "", ())]
    while above:
        place, before, parents = above.pop()
        known = Path(place).stat()
        own = (known.st_dev, known.st_ino)
        if own in parents:
            # A link that leads back into a folder around it: its images are there already.
            continue
        try:
            with os.scandir(place) as entries:
                visible = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            raise InputError(f"{shown(place)} cannot be read ({error.strerror})") from None
        for entry in visible:
            name = PurePath(entry.name)
            if entry.is_dir():
                above.append((entry.path, f"{before}{entry.name}/", (*parents, own)))
            elif name.suffix.lower() in _PACKED and is_packed(Path(entry.path)):
                for member, file in packed_files(Path(entry.path), kind.suffixes):
                    yield _text(f"{before}{name.stem}/{member}", file), file
            elif kind.matches(entry.name):
                if not entry.is_file() and not Path(entry.path).exists():
                    raise InputError(f"{shown(entry.path)} is a link to a file that is not there")
                yield _text(before + name.stem, entry.path), entry.path


def _text(name: str, path: str) -> str:
    """Refuse names that are not text: they could not be written into any table."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{os.fsencode(path)!r}: the name of this file is not in UTF-8; expected another name"
        ) from None
    return name


def _of_table(path: Path, kind: _Kind) -> list[Named]:
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
        if not target.is_file() and inside(target) is None:
            raise InputError(
                f"{said}, row {row}: stimulus {shown(stimulus, 60)!r}: {shown(target)}: there is "
                "no such file"
            )
        found.append((str(stimulus), str(target)))
    return found


def _read(path: Path, kind: _Kind) -> pl.DataFrame:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        try:
            return pl.read_ndjson(path, infer_schema_length=None)
        except (pl.exceptions.PolarsError, OSError) as error:
            first = " ".join(str(error).split())[:120]
            raise InputError(f"{shown(path)}: not a table of {kind.name}s ({first})") from None
    return read_table(path, f"{kind.name}s")


def _of_entry(entry: object, row: int, kind: _Kind) -> Named:
    if isinstance(entry, ImageFile):
        name, path = entry.stimulus, entry.path
    elif isinstance(entry, str | Path):
        name, path = _text(Path(entry).stem, str(entry)), Path(entry)
    elif isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        name, file = entry
        if not isinstance(file, str | Path):
            raise InputError(f"{kind.name} {row}, {shown(name, 60)!r}: expected the path of a file")
        path = Path(file)
    else:
        raise InputError(
            f"{kind.name} {row}: expected a file, or a pair of stimulus and file, not "
            f"{type(entry).__name__}"
        )
    if not path.is_file() and inside(path) is None:
        raise InputError(f"{shown(path)}: there is no such file")
    return name, str(path)


def _single(found: list[Named], where: str, kind: _Kind) -> list[Named]:
    if not found:
        raise InputError(
            f"{where} holds no {kind.name}; expected files such as {', '.join(kind.suffixes[:5])}"
        )
    first: dict[str, str] = {}
    for name, file in found:
        other = first.setdefault(name, file)
        if other is not file:
            raise InputError(
                f"stimulus {shown(name, 80)!r} has two files, {shown(other)} and {shown(file)}; "
                "expected one"
            )
    return found
