"""Pictures as they are sent to a model: re-encoded, within limits, with nothing but pixels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Literal

from affectlab.core.errors import InputError
from affectlab.core.types import Image

__all__ = ["ImageLimits", "ImagePart", "image_part"]

MediaType = Literal["image/jpeg", "image/png"]
_SMALLEST_SIDE = 64
"""Pixels below which a picture is not made smaller to fit the limit of bytes."""


@dataclass(frozen=True)
class ImageLimits:
    """How pictures are encoded before they are sent.

    Raises
    ------
    InputError
        When a limit is out of range.
    """

    longest_side: int = 1024
    """Pixels; a larger picture is made smaller, a smaller one stays as it is."""
    bytes: int = 3_500_000
    """Most bytes of one encoded picture; a third more on the way, where 5 MB are a common limit."""
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 92
    """Of JPEG, from 1 to 95."""

    def __post_init__(self) -> None:
        if self.format not in ("jpeg", "png"):
            raise InputError(f"format {self.format!r}: expected 'jpeg' or 'png'")
        for name, value, low, high in (
            ("longest_side", self.longest_side, _SMALLEST_SIDE, 16_384),
            ("bytes", self.bytes, 10_000, 50_000_000),
            ("quality", self.quality, 1, 95),
        ):
            if not low <= value <= high:
                raise InputError(f"{name} {value}: expected {low} to {high}")

    def __str__(self) -> str:
        how = f"jpeg {self.quality}" if self.format == "jpeg" else "png"
        return f"{how}, at most {self.longest_side} pixels and {self.bytes} bytes"


@dataclass(frozen=True)
class ImagePart:
    """One picture of a prompt. It knows neither the name nor the place of its file."""

    data: bytes = field(repr=False)
    """The encoded picture, without metadata."""
    media_type: MediaType
    width: int
    """Pixels, as sent."""
    height: int
    sha256: str
    """Of the bytes of the file that it was made from; of the pixels where there was no file."""
    pixels: str
    """SHA-256 of the upright RGB pixels before they were made smaller: the same for two files that
    hold the same picture without loss."""
    encoding: str
    """How it was encoded."""


def image_part(
    source: str | Path | bytes | Image.Image, *, limits: ImageLimits | None = None
) -> ImagePart:
    """Make a picture ready to be sent: upright, RGB, within limits, re-encoded without metadata.

    EXIF data, comments, colour profiles and text chunks of the file are left behind, so that
    nothing in them tells a model what the picture is meant to show.

    Parameters
    ----------
    source
        A file, its bytes, or a picture that is loaded already.
    limits
        Size and encoding; the defaults of :class:`ImageLimits` when not given.

    Raises
    ------
    InputError
        When the file is broken or no picture, or cannot be made to fit the limit of bytes.

    Examples
    --------
    >>> from PIL import Image
    >>> part = image_part(Image.new("RGB", (40, 30), "white"))
    >>> part.media_type, part.width, part.height
    ('image/jpeg', 40, 30)
    """
    from affectlab.models.images import content_hash, load_image, read_bytes

    limits = limits or ImageLimits()
    picture = _bare(load_image(source))
    pixels = _pixel_hash(picture)
    if isinstance(source, bytes):
        sha256 = content_hash(source)
    elif isinstance(source, str | Path):
        sha256 = content_hash(read_bytes(Path(source)))
    else:
        sha256 = pixels
    data, sent = _encoded(picture, limits, source)
    return ImagePart(
        data,
        "image/jpeg" if limits.format == "jpeg" else "image/png",
        *sent.size,
        sha256=sha256,
        pixels=pixels,
        encoding=str(limits),
    )


def _bare(picture: Image.Image) -> Image.Image:
    """Give the pixels alone: encoders copy some of what a picture carries along."""
    from PIL import Image

    picture = picture.convert("RGB")
    return Image.frombytes("RGB", picture.size, picture.tobytes())


def _pixel_hash(picture: Image.Image) -> str:
    digest = hashlib.sha256(f"rgb {picture.width}x{picture.height}\n".encode())
    digest.update(picture.tobytes())
    return digest.hexdigest()


def _encoded(
    picture: Image.Image, limits: ImageLimits, source: object
) -> tuple[bytes, Image.Image]:
    """Encode a picture; it is made smaller until it fits."""
    from PIL import Image

    side = min(limits.longest_side, max(picture.size))
    while True:
        scale = side / max(picture.size)
        if scale < 1:
            size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
            sent = picture.resize(size, Image.Resampling.LANCZOS)
        else:
            sent = picture
        file = BytesIO()
        if limits.format == "jpeg":
            sent.save(file, "JPEG", quality=limits.quality, subsampling=0)
        else:
            sent.save(file, "PNG")
        if file.tell() <= limits.bytes:
            return file.getvalue(), sent
        if side <= _SMALLEST_SIDE:
            named = source if isinstance(source, str | Path) else "picture"
            raise InputError(f"{named}: does not fit {limits.bytes} bytes even at {side} pixels")
        side = max(_SMALLEST_SIDE, side * 3 // 4)
