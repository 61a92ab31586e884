"""Weak augmentation: mirrored or not, and moved a little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from affectlab.errors import InputError

__all__ = ["Weak"]


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
