"""Bytes of a file in blocks, decompressed where needed, up to the place where it breaks off."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import MissingDependencyError

__all__ = ["COMPRESSIONS", "EndedEarly", "decompressed"]

COMPRESSIONS = (".zst", ".zstd", ".gz", ".bz2", ".xz")
"""Endings of compressed files."""

_MAGIC = {
    b"\x28\xb5\x2f\xfd": "zst",
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    # Frames that a zst file may begin with and that hold no data.
    **{bytes([0x50 + number]) + b"\x2a\x4d\x18": "zst" for number in range(16)},
}
_NAMES = {"zstd": "zst"}
_WINDOW = 2**31
"""Dumps of Reddit are compressed with windows of up to 2 GiB, above the usual limit of 128 MiB."""
_MOST = 2**20
"""Bytes that gz, bz2 and xz data are asked for at once, however few stand for more."""
_STEP = 8 * 1024
"""Compressed bytes that are given at once; where they are damaged, all of them are lost."""
_ZST_STEP = 2 * 1024
"""The same for zst, whose library has no limit on what it gives: 4 bytes can stand for 128 KiB, so
that these stand for 64 MiB at most."""
_XZ_MEMORY = 512 * 2**20
"""Bytes that xz data may ask for to be unpacked; the highest usual level takes 65 MiB."""
_BROKEN = (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError)


class EndedEarly(Exception):
    """The file cannot be read beyond this place."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


def decompressed(blocks: Iterator[bytes], ending: str) -> Iterator[bytes]:
    """Yield the content of a file; its first bytes say how it is compressed.

    Parameters
    ----------
    blocks
        The file as it is.
    ending
        Ending of its name, such as ``.zst``. A file so named that is not compressed is an error;
        one that is compressed under another name is decompressed.

    Raises
    ------
    EndedEarly
        After everything before it was given, where the data ends in the middle (``truncated``) or
        makes no sense (``unreadable``).
    """
    start = b""
    for block in blocks:
        start += block
        if len(start) >= max(map(len, _MAGIC)):
            break
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    expected = ending.removeprefix(".")
    if kind is None:
        if ending in COMPRESSIONS and start:
            named = _NAMES.get(expected, expected)
            raise EndedEarly("unreadable", f"the file is called {ending} but holds no {named} data")
        if start:
            yield start
        yield from blocks
        return
    yield from _decompressed(start, blocks, kind)


def _decompressed(start: bytes, blocks: Iterator[bytes], kind: str) -> Iterator[bytes]:
    new, broken = _decompressor(kind)
    current, begun = new(), False
    rest = start
    while True:
        step = _ZST_STEP if kind == "zst" else _STEP
        for at in range(0, len(rest), step):
            piece = rest[at : at + step]
            while piece:
                if current.eof:
                    # A new member begins; archives pad the last one with zeros.
                    piece = piece.lstrip(b"\x00") if kind == "gz" else piece
                    if not piece:
                        break
                    current = new()
                begun = True
                try:
                    yield from _content(current, piece, kind)
                except broken as problem:
                    what = "oversized" if "Memory usage limit" in str(problem) else "damaged"
                    raise EndedEarly("unreadable", f"{what} {kind} data ({problem})") from None
                piece = current.unused_data if current.eof else b""
        following = next(blocks, None)
        if following is None:
            break
        rest = following
    if begun and not current.eof:
        raise EndedEarly("truncated", f"the {kind} data ends in the middle")


def _content(current: Any, piece: bytes, kind: str) -> Iterator[bytes]:
    """What a piece of compressed data stands for, a limited number of bytes at a time."""
    if kind == "zst":
        content = current.decompress(piece)
    elif kind == "gz":
        content = current.decompress(piece, _MOST)
        while current.unconsumed_tail and not current.eof:
            yield content
            content = current.decompress(current.unconsumed_tail, _MOST)
    else:
        content = current.decompress(piece, _MOST)
        while not current.needs_input and not current.eof:
            yield content
            content = current.decompress(b"", _MOST)
    if content:
        yield content


def _decompressor(kind: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """What makes decompressors of this kind, and the errors that they raise on damaged data."""
    if kind == "gz":
        return lambda: zlib.decompressobj(wbits=31), _BROKEN
    if kind == "bz2":
        return bz2.BZ2Decompressor, _BROKEN
    if kind == "xz":
        return lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), _BROKEN
    try:
        import zstandard
    except ImportError:
        raise MissingDependencyError(
            f"a zst file needs the library zstandard: {install_line('scale')}"
        ) from None
    return (
        lambda: zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj(),
        (*_BROKEN, zstandard.ZstdError),
    )
