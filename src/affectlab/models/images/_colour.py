"""Colours of any mode as opaque sRGB."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

from affectlab.errors import InputError

__all__ = ["as_rgb"]

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
