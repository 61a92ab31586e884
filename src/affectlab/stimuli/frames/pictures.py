"""Pictures as they are to be seen: upright, in RGB, cut out and made smaller."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from affectlab.core.errors import InputError
from affectlab.core.files.media import IMAGE_FORMATS, WEB_IMAGES

__all__ = [
    "PictureFiles",
    "UnusableError",
    "View",
    "natural_key",
    "only_a_picture",
    "open_picture",
    "stamp",
]

# Whether a picture file says anything but its picture.


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


_SHOWN = {suffix: IMAGE_FORMATS[suffix] for suffix in WEB_IMAGES if suffix != ".gif"}
"""Suffixes of still pictures that every browser shows, and the format that the file must have."""
_NUMBERED = re.compile(r"(?P<text>.*?)(?P<number>\d+)", re.DOTALL)
_MOVING = frozenset({"GIF", "WEBP", "PNG", "TIFF"})
"""Formats in which several pictures make a film, not a second view of the same moment."""


class UnusableError(InputError):
    """A transition that cannot be used, while others may be."""


def natural_key(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Order names by the numbers in them: frame9 before frame10.

    Examples
    --------
    >>> sorted(["f10.png", "f9.png", "f1.png"], key=natural_key)
    ['f1.png', 'f9.png', 'f10.png']
    """
    parts = re.split(r"(\d+)", name)
    # Every second part is a number; text comes before numbers.
    key = ((int(part), "") if place % 2 else (-1, part) for place, part in enumerate(parts))
    return tuple(key), name


@dataclass(frozen=True)
class View:
    """What of a picture is used.

    Raises
    ------
    InputError
        When the box is empty or begins outside a picture, or the size is below 16.

    Examples
    --------
    >>> View(crop=(10, 0, 80, 60), size=40).of(Image.new("RGB", (100, 60))).size
    (40, 30)
    """

    crop: tuple[int, int, int, int] | None = None
    """Left, top, width and height in pixels of the upright picture; None for all of it."""
    size: int | None = None
    """Longer side in pixels; smaller pictures stay as they are. None keeps the size."""

    def __post_init__(self) -> None:
        if self.crop is not None:
            left, top, width, height = self.crop
            if left < 0 or top < 0 or width < 1 or height < 1:
                raise InputError(
                    f"crop {','.join(map(str, self.crop))}: expected left, top, width and height "
                    "in pixels, the last two at least 1"
                )
        if self.size is not None and self.size < 16:
            raise InputError(f"size {self.size}: expected at least 16 pixels")

    @property
    def whole(self) -> bool:
        """Whether pictures stay as they are."""
        return self.crop is None and self.size is None

    def of(self, image: Image.Image) -> Image.Image:
        """Cut out and scale a picture.

        Raises
        ------
        UnusableError
            When the box reaches beyond the picture.
        """
        if self.crop is not None:
            left, top, width, height = self.crop
            if left + width > image.width or top + height > image.height:
                raise UnusableError(
                    f"the box {left},{top},{width},{height} reaches beyond the picture of "
                    f"{image.width} x {image.height} pixels"
                )
            image = image.crop((left, top, left + width, top + height))
        longer = max(image.size)
        if self.size is not None and longer > self.size:
            width, height = (max(1, round(side * self.size / longer)) for side in image.size)
            image = image.resize((width, height), Image.Resampling.LANCZOS)
        return image


def open_picture(path: Path) -> Image.Image:
    """Open a picture as it is meant to be seen: turned as EXIF says, RGB, on white.

    Raises
    ------
    UnusableError
        When the file is no picture, is damaged, or holds several pictures.
    """
    try:
        with warnings.catch_warnings():
            # A picture so large is a mistake, or meant to exhaust the memory.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                _check_single(image, path)
                image.load()
                return _rgb(ImageOps.exif_transpose(image), path)
    except UnusableError:
        raise
    except (
        OSError,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as problem:
        raise UnusableError(f"{path.name} is no picture that can be read ({problem})") from None


def _check_single(image: Image.Image, path: Path) -> None:
    count = getattr(image, "n_frames", 1)
    if count > 1 and image.format in _MOVING:
        raise UnusableError(f"{path.name} holds {count} pictures; expected one frame in a file")


def _rgb(image: Image.Image, path: Path) -> Image.Image:
    if image.mode.startswith("I"):
        # 16 bits a pixel: Pillow would cut them off at 255.
        values = np.asarray(image).astype(np.int64)
        if values.min() < 0 or values.max() > 65_535:
            raise UnusableError(f"{path.name}: values beyond 16 bits; expected 8 or 16 a pixel")
        return Image.fromarray((values // 257).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        raise UnusableError(f"{path.name}: values with fractions; expected 8 or 16 bits a pixel")
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        white = Image.new("RGBA", seen.size, "white")
        return Image.alpha_composite(white, seen).convert("RGB")
    return image.convert("RGB")


@dataclass(frozen=True)
class PictureFiles:
    """Frames that are files of their own."""

    files: tuple[Path, ...]
    """In the order in which they were filmed."""
    fps: float | None = None
    """Frames per second. Where the names of the files are numbers that rise, a gap in the numbers
    is a gap in time, and their smallest step is one frame."""
    times: tuple[float | None, ...] | None = None
    """Times in milliseconds, where they do not follow from `fps`."""
    origins: tuple[tuple[str, int], ...] | None = None
    """Where the files come from, where that is not themselves."""

    def __post_init__(self) -> None:
        stems: dict[str, Path] = {}
        for file in self.files:
            other = stems.setdefault(f"{file.parent}/{file.stem}", file)
            if other != file:
                raise UnusableError(
                    f"frame {file.stem} is there twice, as {other.name} and {file.name}"
                )

    def __len__(self) -> int:
        return len(self.files)

    @property
    def times_ms(self) -> Sequence[float | None]:
        """Time of each frame after the first one, in milliseconds; None where nobody said."""
        if self.times is not None:
            return self.times
        if self.fps is None:
            return (None,) * len(self.files)
        fps = self.fps
        return tuple(1000 * tick / fps for tick in _ticks(self.files))

    def images(self, indices: Sequence[int]) -> Iterator[Image.Image]:
        """Open frames, upright and in RGB."""
        return (open_picture(self.files[index]) for index in indices)

    def copyable(self, index: int) -> Path | None:
        """Give the file if browsers show it, as it is, and it says nothing but the picture.

        What cameras and programs write beside it (EXIF, XMP, comments: the place, the owner) does
        not go to participants.
        """
        file = self.files[index]
        with Image.open(file) as image:
            shown = image.format == _SHOWN.get(file.suffix.lower()) and image.mode in ("RGB", "L")
        return file if shown and only_a_picture(file) else None

    def origin(self, index: int) -> tuple[str, int]:
        """Name the file of a frame, and its number in the sequence."""
        if self.origins is not None:
            return self.origins[index]
        return self.files[index].name, index

    def fingerprint(self) -> str:
        """Digest of names, sizes and times of the files."""
        return stamp(self.files)


def _ticks(files: Sequence[Path]) -> list[float]:
    """Give the time of each file after the first one, in frames."""
    found = [_NUMBERED.fullmatch(file.stem) for file in files]
    numbers = [int(match["number"]) for match in found if match is not None]
    same = len({match["text"] for match in found if match is not None}) == 1
    steps = [after - before for before, after in pairwise(numbers)]
    if len(numbers) < len(files) or not same or min(steps, default=0) < 1:
        return [float(index) for index in range(len(files))]
    return [(number - numbers[0]) / min(steps) for number in numbers]


def stamp(files: Sequence[Path]) -> str:
    """Digest names, sizes and modification times of files.

    Raises
    ------
    UnusableError
        When one is gone.
    """
    made = hashlib.sha256()
    for file in files:
        try:
            known = file.stat()
        except OSError as problem:
            raise UnusableError(f"{file.name} cannot be read ({problem.strerror})") from None
        made.update(f"{file.name}\0{known.st_size}\0{known.st_mtime_ns}\0".encode())
    return made.hexdigest()[:32]
