"""Strong augmentation: a few operations drawn by chance, and a part cut out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from affectlab.core.errors import InputError, check_choices

__all__ = [
    "OPERATIONS",
    "Operation",
    "Strong",
    "Weak",
]

# Weak augmentation: mirrored or not, and moved a little.


@dataclass(frozen=True)
class Weak:
    """Flip a picture left to right, and crop it out of itself with mirrored borders.

    Examples
    --------
    >>> picture = Image.new("RGB", (40, 30), (200, 10, 10))
    >>> Weak()(picture, np.random.default_rng(0)).size
    (40, 30)
    """

    flip: float = 0.5
    """Probability that it is mirrored."""
    padding: float = 0.125
    """How far it moves at most, as a share of width and of height; below 1."""

    def __post_init__(self) -> None:
        """Check the settings.

        Raises
        ------
        InputError
            When a share is not one.
        """
        if not 0 <= self.flip <= 1:
            raise InputError(f"flip = {self.flip}: expected a probability from 0 to 1")
        if not 0 <= self.padding < 1:
            raise InputError(f"padding = {self.padding}: expected a share from 0 to below 1")

    def __call__(self, image: Image.Image, random: np.random.Generator) -> Image.Image:
        """Change a picture; see :class:`Augmentation`."""
        # Always three numbers, so that what comes next does not hang on what was drawn here.
        mirrored = random.random() < self.flip
        across, down = random.random(2) * 2 - 1
        pixels = np.asarray(image)
        if mirrored:
            pixels = pixels[:, ::-1]
        height, width = pixels.shape[:2]
        rows = _moved(height, round(down * self.padding * height))
        columns = _moved(width, round(across * self.padding * width))
        return Image.fromarray(np.ascontiguousarray(pixels[rows[:, None], columns]))


def _moved(length: int, by: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Places of the pixels of a line that was moved, mirrored at its ends."""
    place = np.abs(np.arange(length) + by)
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.where(
        place >= length, 2 * (length - 1) - place, place
    )
    return found


# The fourteen changes that strong augmentation chooses from, each from nothing to much.


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


@dataclass(frozen=True)
class Strong:
    """Change a picture weakly, then by `operations` drawn from fourteen, then cut a square out.

    The strength of each operation is drawn evenly from 0 to `magnitude`. Equalising and stretching
    contrast, which have no strength of their own, are mixed in by that share.

    Some operations change colour and light, which carry emotion; `among` leaves them out.

    References
    ----------
    Cubuk et al. (2020), RandAugment; Sohn et al. (2020), FixMatch, section 2.3, which draws the
    strength anew for each picture and cuts a square out at the end.

    Examples
    --------
    >>> picture = Image.new("RGB", (40, 30), (200, 10, 10))
    >>> Strong(operations=3)(picture, np.random.default_rng(0)).size
    (40, 30)
    """

    operations: int = 2
    """How many, one after another; the same may be drawn twice."""
    magnitude: float = 1.0
    """Largest strength, 0 (hardly anything) to 1."""
    cutout: float = 0.5
    """Largest side of the square that is cut out, as a share of the shorter side; 0: none."""
    flip: float = 0.5
    """Probability that the picture is mirrored first; see :class:`Weak`."""
    padding: float = 0.125
    """How far it is moved at most first; see :class:`Weak`."""
    among: tuple[str, ...] = tuple(OPERATIONS)
    """Names of the operations to draw from."""
    _weak: Weak = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the settings.

        Raises
        ------
        InputError
            When a share is not one, `operations` is no whole number from 0 on, or a name is not
            known.
        """
        if not isinstance(self.operations, int) or self.operations < 0:
            raise InputError(f"operations = {self.operations}: expected a whole number from 0 on")
        for name in ("magnitude", "cutout"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} = {getattr(self, name)}: expected a share from 0 to 1")
        object.__setattr__(self, "among", tuple(self.among))
        if not self.among:
            raise InputError("among: no operation to draw from; expected one at least")
        check_choices("operation", self.among, OPERATIONS)
        object.__setattr__(self, "_weak", Weak(self.flip, self.padding))

    def __call__(self, image: Image.Image, random: np.random.Generator) -> Image.Image:
        """Change a picture; see :class:`Augmentation`."""
        found = self._weak(image, random)
        for _ in range(self.operations):
            name = self.among[int(random.integers(len(self.among)))]
            strength, sign = (
                self.magnitude * random.random(),
                1.0 if random.random() < 0.5 else -1.0,
            )
            found = OPERATIONS[name](found, strength, sign)
        # Always drawn, so that what comes next does not hang on the settings here.
        share, across, down = random.random(3)
        side = round(self.cutout * share * min(found.size))
        if side:
            # Its middle lies anywhere, so a part of the square may be outside.
            left = round(across * found.width - side / 2)
            top = round(down * found.height - side / 2)
            found = found.copy()
            found.paste(_GREY, (left, top, left + side, top + side))
        return found
