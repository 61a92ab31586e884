"""Zip files that hold answers, one file of them for each person or each question."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.ratings.files import BadJson, Peek, parse_json
from affectlab.ratings.formats.records import Rejects

_MARK = b"PK\x03\x04"
_ZSTANDARD = 93
_LOCAL_HEADER = 30
_BROKEN = (BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, UnicodeError)
_BROKEN_OR_OTHER = (*_BROKEN, InputError, OSError, ValueError)


def names_in(head: Peek) -> tuple[str, ...]:
    """Name the files in a zip file; none where it is no zip file."""
    if not head.head.startswith(_MARK):
        return ()
    try:
        with ZipFile(head.path) as archive:
            return tuple(archive.namelist())
    except _BROKEN_OR_OTHER:
        return ()


def first_in(head: Peek, suffixes: tuple[str, ...]) -> Peek | None:
    """Look at the first file of some kinds in a zip file; None where there is none."""
    names = [name for name in names_in(head) if name.endswith(suffixes)]
    try:
        return Peek(Path(names[0]), next(files_in(head, (names[0],)))[1])
    except (IndexError, StopIteration, *_BROKEN_OR_OTHER):
        return None


def files_in(head: Peek, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files in a zip file whose names end so, by name.

    Raises
    ------
    InputError
        When the zip file is broken, or packed by zstandard and that library is missing.
    """
    try:
        with head.path.open("rb") as file, ZipFile(file) as archive:
            for info in sorted(archive.infolist(), key=lambda one: one.filename):
                if info.filename.endswith(endings):
                    packed = info.compress_type == _ZSTANDARD
                    content = _unpacked(head, file, info) if packed else archive.read(info)
                    yield info.filename, content
    except _BROKEN as error:
        said = " ".join(str(error).split())
        raise InputError(f"{head.path}: the zip file cannot be read ({said})") from None


def _unpacked(head: Peek, file: IO[bytes], info: ZipInfo) -> bytes:
    """Unpack a file that is packed by zstandard, which Python's own reader may not know."""
    try:
        import zstandard
    except ImportError:
        raise MissingDependencyError(
            f"{head.path} is packed by zstandard; expected the library zstandard: "
            f"{install_line('scale')}"
        ) from None
    file.seek(info.header_offset)
    local = file.read(_LOCAL_HEADER)
    sizes = [int.from_bytes(local[at : at + 2], "little") for at in (26, 28)]
    file.seek(sum(sizes), 1)
    try:
        content = (
            zstandard.ZstdDecompressor().decompressobj().decompress(file.read(info.compress_size))
        )
    except zstandard.ZstdError as error:
        raise BadZipFile(str(error)) from None
    if zlib.crc32(content) != info.CRC:
        raise BadZipFile(f"{info.filename} is damaged")
    return content


def json_in(head: Peek, rejects: Rejects, endings: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield (file and place, value) of the entries of all JSON files whose names end so."""
    for name, content in files_in(head, endings):
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            rejects.reject(name, "not UTF-8", "a byte is not UTF-8; expected text", unit="row")
            continue
        for place, value in _entries(text, name, rejects):
            yield f"{name}, {place}", value


def _entries(content: str, name: str, rejects: Rejects) -> Iterator[tuple[str, Any]]:
    """Yield the entries of one JSON list or object, or of JSON Lines."""
    lines = [("entry", content)]
    if name.endswith(".jsonl"):
        numbered = enumerate(content.split("\n"), start=1)
        lines = [(f"line {number}", line) for number, line in numbered if line.strip()]
    for place, line in lines:
        try:
            found = parse_json(line)
        except BadJson as error:
            rejects.reject(f"{name}, {place}", error.reason, str(error))
            continue
        if place == "entry" and isinstance(found, list):
            yield from ((f"entry {number}", entry) for number, entry in enumerate(found, start=1))
        else:
            yield place, found
