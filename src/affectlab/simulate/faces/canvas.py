"""Smooth shapes on a supersampled Pillow image, in design units (the picture is 256 by 256)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL import Image

    from affectlab.simulate.faces.palette import Colour

Points = npt.NDArray[np.float64]
"""Points in design units, shape (n, 2)."""

UNITS = 256.0
"""Side of the picture in design units; x = 128 is its middle, y points down."""

_FAINTEST = 0.004
"""Share of a colour below which nothing is drawn."""
_TURN = np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
_CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN)])


class Canvas:
    """An image to draw on; `turned` gives the same image seen through a rotation."""

    def __init__(self, image: Image.Image) -> None:
        from PIL import ImageDraw

        self.image = image
        self._draw = ImageDraw.Draw(image, "RGBA")
        self._scale = image.width / UNITS
        self._linear = np.eye(2) * self._scale
        self._shift = np.zeros(2)

    def turned(self, degrees: float, pivot: tuple[float, float], drop: float) -> Canvas:
        """Give this canvas rotated clockwise about `pivot` and moved down by `drop` units."""
        other = Canvas.__new__(Canvas)
        other.image, other._draw, other._scale = self.image, self._draw, self._scale
        angle = math.radians(degrees)
        rotation = np.array(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        )
        centre = np.array(pivot)
        other._linear = rotation * self._scale
        other._shift = (centre + np.array([0.0, drop]) - centre @ rotation) * self._scale
        return other

    def pixels(self, points: Points) -> list[float]:
        """Give points as the flat list of pixel coordinates that Pillow draws."""
        placed: list[float] = (points @ self._linear + self._shift).ravel().tolist()
        return placed

    def fill(self, points: Points, colour: Colour, alpha: float = 1.0) -> None:
        """Fill a polygon."""
        if alpha > _FAINTEST:
            self._draw.polygon(self.pixels(points), fill=(*colour, round(255 * alpha)))

    def stroke(
        self, points: Points, width: float | Points, colour: Colour, alpha: float = 1.0
    ) -> None:
        """Draw a line through points whose width (one number, or one per point) tapers to ends.

        A single number is the width at the middle; the ends then taper to a point.
        """
        if alpha <= _FAINTEST:
            return
        n = len(points)
        if isinstance(width, np.ndarray):
            half = 0.5 * width
        else:
            half = 0.5 * width * np.sqrt(np.sin(np.linspace(0.0, np.pi, n)) + 0.02)
        along = np.gradient(points, axis=0)
        along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
        across = np.column_stack([-along[:, 1], along[:, 0]]) * half[:, None]
        self.fill(np.concatenate([points + across, (points - across)[::-1]]), colour, alpha)

    def glow(
        self, centre: tuple[float, float], radius: tuple[float, float], colour: Colour, alpha: float
    ) -> None:
        """Lay a soft spot of colour that fades outwards; not rotated, only moved."""
        if alpha <= _FAINTEST:
            return
        x, y = self.pixels(np.array([centre]))
        half_x, half_y = round(radius[0] * self._scale), round(radius[1] * self._scale)
        mask = _spot(2 * half_x, 2 * half_y, round(255 * alpha))
        self.image.paste(colour, (round(x) - half_x, round(y) - half_y), mask)


@lru_cache(maxsize=256)
def _spot(width: int, height: int, peak: int) -> Image.Image:
    from PIL import Image

    x = np.linspace(-1.0, 1.0, width)[None, :]
    y = np.linspace(-1.0, 1.0, height)[:, None]
    fade = np.clip(1.0 - (x**2 + y**2), 0.0, 1.0) ** 2
    return Image.fromarray(np.round(peak * fade).astype(np.uint8))


@lru_cache(maxsize=16)
def _catmull_rom(steps: int) -> Points:
    t = np.arange(steps) / steps
    return 0.5 * np.column_stack(
        [-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2]
    )


def smooth(points: Points | list[tuple[float, float]], *, closed: bool, steps: int = 7) -> Points:
    """Pass a Catmull-Rom curve through points, shape (n, 2) to (about n * steps, 2)."""
    knots = np.asarray(points, dtype=np.float64)
    if closed:
        padded = np.concatenate([knots[-1:], knots, knots[:2]])
    else:
        padded = np.concatenate([knots[:1], knots, knots[-1:]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 4, axis=0)
    curve = np.einsum("sk,ndk->nsd", _catmull_rom(steps), windows).reshape(-1, 2)
    whole: Points = curve if closed else np.concatenate([curve, knots[-1:]])
    return whole


def band(x: Points, top: Points, bottom: Points) -> Points:
    """Give the outline of what lies between two lines over the same places."""
    return np.concatenate([np.column_stack([x, top]), np.column_stack([x, bottom])[::-1]])


def ellipse(x: float, y: float, rx: float, ry: float) -> Points:
    """Give the outline of an ellipse."""
    outline: Points = np.array([x, y]) + _CIRCLE * np.array([rx, ry])
    return outline


def mirror(points: Points) -> Points:
    """Reflect points at the middle of the picture, in reversed order."""
    reflected: Points = (points * np.array([-1.0, 1.0]) + np.array([UNITS, 0.0]))[::-1]
    return reflected


def both(right: Points) -> Points:
    """Complete the right half of a shape with its mirror image."""
    return np.concatenate([right, mirror(right)])
