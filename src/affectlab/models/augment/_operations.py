"""The fourteen changes that strong augmentation chooses from, each from nothing to much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PIL import Image, ImageEnhance, ImageOps

__all__ = ["OPERATIONS", "Operation"]

Operation = Callable[[Image.Image, float, float], Image.Image]
"""Takes an RGB picture, a strength from 0 (hardly anything) to 1, and a sign, -1 or 1."""

_GREY = (128, 128, 128)
"""Stands where a moved picture leaves nothing."""
_FACTOR = 0.9
"""By how much colour, contrast, brightness and sharpness rise or fall at most."""
_SHEAR = 0.3
_SHIFT = 0.3
"""At most, as a share of the side."""
_DEGREES = 30.0


def _identity(image: Image.Image, strength: float, sign: float) -> Image.Image:
    del strength, sign
    return image


def _mixed(change: Callable[[Image.Image], Image.Image]) -> Operation:
    """Make an operation of one that has no strength of its own: that share of it is mixed in."""

    def operation(image: Image.Image, strength: float, sign: float) -> Image.Image:
        del sign
        return Image.blend(image, change(image), strength)

    return operation


def _enhanced(kind: Callable[[Image.Image], ImageEnhance._Enhance]) -> Operation:
    def operation(image: Image.Image, strength: float, sign: float) -> Image.Image:
        return kind(image).enhance(1.0 + sign * _FACTOR * strength)

    return operation


def _affine(
    image: Image.Image, matrix: tuple[float, float, float, float, float, float]
) -> Image.Image:
    return image.transform(
        image.size,
        Image.Transform.AFFINE,
        matrix,
        resample=Image.Resampling.BILINEAR,
        fillcolor=_GREY,
    )


def _rotate(image: Image.Image, strength: float, sign: float) -> Image.Image:
    return image.rotate(
        sign * strength * _DEGREES, resample=Image.Resampling.BILINEAR, fillcolor=_GREY
    )


def _shear_x(image: Image.Image, strength: float, sign: float) -> Image.Image:
    by = sign * strength * _SHEAR
    # About the middle, so that the picture leans and does not wander.
    return _affine(image, (1, by, -by * image.height / 2, 0, 1, 0))


def _shear_y(image: Image.Image, strength: float, sign: float) -> Image.Image:
    by = sign * strength * _SHEAR
    return _affine(image, (1, 0, 0, by, 1, -by * image.width / 2))


def _translate_x(image: Image.Image, strength: float, sign: float) -> Image.Image:
    return _affine(image, (1, 0, sign * strength * _SHIFT * image.width, 0, 1, 0))


def _translate_y(image: Image.Image, strength: float, sign: float) -> Image.Image:
    return _affine(image, (1, 0, 0, 0, 1, sign * strength * _SHIFT * image.height))


def _posterize(image: Image.Image, strength: float, sign: float) -> Image.Image:
    del sign
    return ImageOps.posterize(image, 8 - round(4 * strength))


def _solarize(image: Image.Image, strength: float, sign: float) -> Image.Image:
    del sign
    return ImageOps.solarize(image, round(256 * (1 - strength)))


OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "identity": _identity,
        "autocontrast": _mixed(ImageOps.autocontrast),
        "equalize": _mixed(ImageOps.equalize),
        "rotate": _rotate,
        "solarize": _solarize,
        "color": _enhanced(ImageEnhance.Color),
        "posterize": _posterize,
        "contrast": _enhanced(ImageEnhance.Contrast),
        "brightness": _enhanced(ImageEnhance.Brightness),
        "sharpness": _enhanced(ImageEnhance.Sharpness),
        "shear_x": _shear_x,
        "shear_y": _shear_y,
        "translate_x": _translate_x,
        "translate_y": _translate_y,
    }
)
"""Operations by name."""
