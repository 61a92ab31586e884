"""Opening an image of any kind as upright RGB."""

from __future__ import annotations

import io
import struct
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, UnidentifiedImageError

from affectlab.core.errors import InputError
from affectlab.core.words import count, shown
from affectlab.models.images.files import read_bytes

__all__ = [
    "MOST_PIXELS",
    "AnimatedImageWarning",
    "as_rgb",
    "load_image",
]

# Colours of any mode as opaque sRGB.


_SPACES = {"RGB": "RGB", "CMYK": "CMYK", "L": "GRAY"}
"""Colour spaces of profiles, by the modes that they describe."""


def as_rgb(image: Image.Image, name: str) -> Image.Image:
    """Bring a decoded image to opaque RGB; the same object where it is that already.

    Raises
    ------
    InputError
        When it has values that no rule says how to show.
    """
    if image.mode == "RGB" and "icc_profile" not in image.info and not image.has_transparency_data:
        return image
    if image.mode == "F" or image.mode.startswith("I"):
        return _scaled(image, name).convert("RGB")
    alpha = None
    profile = image.info.get("icc_profile")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        alpha = image.getchannel("A")
        image = image.convert("RGB")
    elif image.mode in ("P", "1"):
        image = image.convert("RGB" if image.mode == "P" else "L")
    elif image.mode in ("LA", "La", "RGBX"):
        image = image.convert("L" if image.mode.startswith("L") else "RGB")
    plain = _by_profile(image, profile) if profile else image
    if plain.mode == "LAB":
        plain = _of_lab(plain)
    plain = plain.convert("RGB")
    if alpha is None:
        return plain
    return Image.composite(plain, Image.new("RGB", plain.size, "white"), alpha)


def _scaled(image: Image.Image, name: str) -> Image.Image:
    """Scale grey values of more than 8 bits; Pillow would cut them off at 255."""
    if image.mode == "F":
        raise InputError(f"{name}: values with fractions; expected 8 or 16 bits a pixel")
    values = np.asarray(image).astype(np.int64)
    if values.min() < 0 or values.max() > 65_535:
        raise InputError(f"{name}: values beyond 16 bits; expected 8 or 16 bits a pixel")
    return Image.fromarray(np.round(values / 257).astype(np.uint8))


def _by_profile(image: Image.Image, profile: object) -> Image.Image:
    """Bring colours to sRGB; a profile that cannot be read, or is of other colours, says nothing.

    Pixels without a usable profile are shown as they are, as in browsers.
    """
    if not isinstance(profile, bytes):
        return image
    try:
        held = ImageCms.getOpenProfile(io.BytesIO(profile))
        if held.profile.xcolor_space.strip() != _SPACES.get(image.mode):
            return image
        if "srgb" in (held.profile.profile_description or "").lower():
            return image
        found = ImageCms.profileToProfile(
            image, held, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image
    return image if found is None else found


def _of_lab(image: Image.Image) -> Image.Image:
    try:
        found = ImageCms.profileToProfile(
            image, ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except ImageCms.PyCMSError as error:
        raise ValueError(str(error)) from None
    return image if found is None else found


MOST_PIXELS = 80_000_000
"""Pixels of an image that are decoded: a small file can claim any number of them."""

# Only formats that Pillow decodes by itself: EPS, for example, would start another program.
_FORMATS = (
    *("PNG", "JPEG", "WEBP", "AVIF", "GIF", "BMP", "DIB", "TIFF", "JPEG2000", "PPM", "TGA"),
)
_MOVING = frozenset({"GIF", "WEBP", "PNG", "TIFF", "AVIF"})
"""Formats in which several pictures are a film; in others they are views of one moment."""
_EXPECTED = "expected an image such as PNG, JPEG, WebP, AVIF, GIF, BMP or TIFF"
_ORIENTATION = 0x0112
_TURNED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes an image upright, by what EXIF says."""
_DECODING_FAILS = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    Image.DecompressionBombError,
    # Where warnings are raised, as in tests, remarks on what is wrong with a file are as good.
    Warning,
)
"""What Pillow raises for files that are damaged or no images."""


class AnimatedImageWarning(UserWarning):
    """Of an animated image, the first frame is taken."""


def load_image(source: str | Path | bytes | Image.Image, *, name: str = "") -> Image.Image:
    """Open an image as models see it: RGB, upright, opaque.

    The image is turned as EXIF says, colours are brought to sRGB by the profile that it carries,
    what can be seen through is put on white, 16 bits are scaled to 8, and of an animated image the
    first frame is taken. EXIF data and profiles that cannot be read say nothing.

    Parameters
    ----------
    source
        A file, its bytes, or an image of Pillow.
    name
        What errors call it; by default the path of the file.

    Returns
    -------
    PIL.Image.Image
        Mode ``RGB``, a copy with pixels alone.

    Raises
    ------
    InputError
        When there is no such file, it is larger than 256 MiB or 80 million pixels, is cut off or
        damaged, or no image.

    Warns
    -----
    AnimatedImageWarning
        When there are more frames; Python shows it once.

    Examples
    --------
    >>> load_image(Image.new("LA", (3, 2), (0, 0))).getpixel((0, 0))
    (255, 255, 255)
    >>> load_image(b"no image")
    Traceback (most recent call last):
    affectlab.InputError: the image given as bytes cannot be read as an image; expected an
    image such as PNG, JPEG, WebP, AVIF, GIF, BMP or TIFF
    """
    if isinstance(source, Image.Image):
        return _converted(source, name or "the image given")
    if isinstance(source, bytes | bytearray | memoryview):
        return _decoded(bytes(source), name or "the image given as bytes")
    if not isinstance(source, str | Path):
        raise InputError(
            f"image: expected a file, its bytes or an image, not {type(source).__name__}"
        )
    path = Path(source)
    return _decoded(read_bytes(path), name or shown(path))


def _decoded(content: bytes, name: str) -> Image.Image:
    try:
        opened = Image.open(io.BytesIO(content), formats=_formats())
    except UnidentifiedImageError:
        raise InputError(f"{name} cannot be read as an image; {_EXPECTED}") from None
    except _DECODING_FAILS as error:
        raise _damaged(name, error) from None
    with opened:
        _check_size(opened, name)
        frames = _frames(opened)
        image = _converted(opened, name)
    if frames > 1:
        # The same sentence for all files, so that Python shows it once and not for each.
        warnings.warn(
            "an image is animated; its first frame is taken", AnimatedImageWarning, stacklevel=3
        )
    return image


def _converted(image: Image.Image, name: str) -> Image.Image:
    _check_size(image, name)
    try:
        image.load()
        turn = _TURNED.get(_orientation(image))
        plain = as_rgb(image, name)
        upright = plain if turn is None else plain.transpose(turn)
    except InputError:
        raise
    except _DECODING_FAILS as error:
        raise _damaged(name, error) from None
    found = upright.copy() if upright is image else upright
    found.info = {}
    return found


def _check_size(image: Image.Image, name: str) -> None:
    width, height = image.size
    if width < 1 or height < 1:
        raise InputError(f"{name}: an image of {width} by {height} pixels; {_EXPECTED}")
    if width * height > MOST_PIXELS:
        raise InputError(
            f"{name}: {count(width)} by {count(height)} pixels; expected at most "
            f"{count(MOST_PIXELS)} in all"
        )


def _frames(image: Image.Image) -> int:
    if image.format not in _MOVING:
        return 1
    try:
        return int(getattr(image, "n_frames", 1))
    except _DECODING_FAILS:
        # Later frames are damaged, and only the first is taken.
        return 2


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except _DECODING_FAILS:
        # EXIF data that nobody can read turn nothing, as in browsers.
        return 1


def _damaged(name: str, error: BaseException) -> InputError:
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return InputError(f"{name}: too many pixels; expected at most {count(MOST_PIXELS)} in all")
    reason = " ".join(str(error).split())[:120].rstrip(".")
    said = f" ({reason})" if reason else ""
    return InputError(f"{name} is damaged or cut off{said}; {_EXPECTED}")


@cache
def _formats() -> tuple[str, ...]:
    """Formats that this build of Pillow decodes."""
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)
