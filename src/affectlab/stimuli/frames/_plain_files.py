"""Whether a picture file says anything but its picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["only_a_picture"]

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_PARTS = frozenset(
    {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT"}
    | {b"pHYs", b"bKGD", b"cICP"}
)
_WEBP_PARTS = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP"})

_EOI, _SOS = 0xD9, 0xDA
_RESTARTS = range(0xD0, 0xD8)
_JPEG_TABLES = frozenset({*range(0xC0, 0xD0), 0xDB, 0xDC, 0xDD})
"""Sizes, Huffman and quantisation tables, lines and restart intervals: markers C0-CF, DB-DD."""
_JFIF_BYTES = 14
"""Of a JFIF header without a thumbnail, which may show another picture than the file."""


def only_a_picture(file: Path) -> bool:
    """Say whether a PNG, JPEG or WebP file holds nothing that is not needed to show it.

    The parts of the file are looked at, not what a library makes of them, so that comments, EXIF,
    XMP, notes of makers, thumbnails, times and whatever follows the picture are all seen. Colour
    profiles and resolutions may stay.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> with TemporaryDirectory() as folder:
    ...     plain, noted = Path(folder, "a.jpg"), Path(folder, "b.jpg")
    ...     Image.new("RGB", (8, 8)).save(plain)
    ...     Image.new("RGB", (8, 8)).save(noted, comment=b"at home")
    ...     only_a_picture(plain), only_a_picture(noted)
    (True, False)
    """
    data = file.read_bytes()
    look: Callable[[bytes], bool]
    if data.startswith(_PNG_START):
        look = _png
    elif data.startswith(b"\xff\xd8"):
        look = _jpeg
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        look = _webp
    else:
        return False
    try:
        return look(data)
    except IndexError:
        # The file ends within a part; it is not copied, and opening it says what is wrong.
        return False


def _png(data: bytes) -> bool:
    place, name = len(_PNG_START), b""
    while name != b"IEND":
        length, name = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        if name not in _PNG_PARTS or (name == b"IEND" and length):
            return False
        place += 12 + length
    return place == len(data)


def _webp(data: bytes) -> bool:
    place, end = 12, 8 + int.from_bytes(data[4:8], "little")
    while place < end:
        length = int.from_bytes(data[place + 4 : place + 8], "little")
        if data[place : place + 4] not in _WEBP_PARTS:
            return False
        place += 8 + length + length % 2
    return place == end == len(data)


def _jpeg(data: bytes) -> bool:
    place = 2
    while True:
        if data[place] != 0xFF:
            return False
        marker = data[place + 1]
        if marker == _EOI:
            return place + 2 == len(data)
        length = (data[place + 2] << 8) + data[place + 3]
        content = data[place + 4 : place + 2 + length]
        if not (marker == _SOS or marker in _JPEG_TABLES or _needed(marker, content)):
            return False
        place += 2 + length
        if marker == _SOS:
            place = _after_scan(data, place)


def _needed(marker: int, content: bytes) -> bool:
    """Say whether an application's part is one that says how to show the picture."""
    return (
        (marker == 0xE0 and content.startswith(b"JFIF\0") and len(content) == _JFIF_BYTES)
        or (marker == 0xE2 and content.startswith(b"ICC_PROFILE\0"))
        or (marker == 0xEE and content.startswith(b"Adobe") and len(content) == 12)
    )


def _after_scan(data: bytes, place: int) -> int:
    """Give the place of the first marker after coded pixels."""
    while True:
        place = data.find(b"\xff", place)
        if place < 0:
            return len(data)
        following = data[place + 1]
        if following and following not in _RESTARTS:
            return place
        place += 2
