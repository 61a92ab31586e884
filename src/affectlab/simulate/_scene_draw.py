"""Drawing a scene from how much there is of each of its parts."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.simulate._canvas import UNITS, Canvas, ellipse, smooth
from affectlab.simulate._palette import Colour, mix

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["draw_scene"]

_SMALLEST, _LARGEST = 16, 1024
_BRIGHT: tuple[Colour, ...] = (
    (240, 90, 100),
    (250, 190, 60),
    (90, 190, 120),
    (90, 150, 240),
    (200, 110, 220),
)


def draw_scene(parts: Mapping[str, float], random: np.random.Generator, size: int) -> Image.Image:
    """Draw a landscape under a sky.

    Parameters
    ----------
    parts
        How much there is of each part, 0 to 1.
    random
        Places everything that has no part in the emotion.
    size
        Side in pixels.

    Raises
    ------
    InputError
        When the size is out of range.
    """
    from PIL import Image

    if not isinstance(size, int) or not _SMALLEST <= size <= _LARGEST:
        raise InputError(f"size = {size}: expected from {_SMALLEST} to {_LARGEST} pixels")
    # Supersampled, so that edges are smooth.
    canvas = Canvas(Image.new("RGB", (2 * size, 2 * size)))
    horizon = float(random.uniform(135, 165))
    sky, ground = _sky(canvas, parts, horizon)
    _sun(canvas, parts, random, horizon)
    _clouds(canvas, parts, random, sky)
    _hills(canvas, parts, random, horizon, sky, ground)
    _waves(canvas, parts, random, ground)
    _murk(canvas, parts, random)
    _flowers(canvas, parts, random)
    _confetti(canvas, parts, random)
    _rain(canvas, parts, random)
    image = canvas.image.resize((size, size), Image.Resampling.LANCZOS)
    return _shaded(image, parts, random)


def _colour(hue: float, saturation: float, value: float) -> Colour:
    made = colorsys.hsv_to_rgb(hue % 1, np.clip(saturation, 0, 1), np.clip(value, 0, 1))
    red, green, blue = (round(255 * part) for part in made)
    return red, green, blue


def _sky(canvas: Canvas, parts: Mapping[str, float], horizon: float) -> tuple[Colour, Colour]:
    light, warmth, clear = parts["light"], parts["warmth"], parts["clear"]
    # From a cold grey blue to a clear one, and towards the colours of evening.
    top = _colour(0.60 - 0.04 * warmth, 0.25 + 0.45 * clear, 0.22 + 0.68 * light)
    low = _colour(0.62 - 0.53 * warmth, 0.12 + 0.35 * warmth, 0.34 + 0.64 * light)
    steps = 24
    for at in range(steps):
        edge = at * horizon / steps
        band = [(0.0, edge), (UNITS, edge), (UNITS, horizon + 2), (0.0, horizon + 2)]
        canvas.fill(np.array(band), mix(top, low, at / (steps - 1)))
    ground = _colour(0.12 + 0.18 * warmth, 0.25 + 0.35 * light, 0.20 + 0.52 * light)
    below = [(0.0, horizon), (UNITS, horizon), (UNITS, UNITS), (0.0, UNITS)]
    canvas.fill(np.array(below), ground)
    return mix(top, low, 0.5), ground


def _sun(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, horizon: float
) -> None:
    x, y = float(random.uniform(55, 200)), float(random.uniform(35, horizon - 55))
    colour = mix((214, 220, 230), (255, 214, 110), parts["warmth"])
    shine = 0.25 + 0.75 * parts["clear"]
    turn = float(random.uniform(0, 1))
    for at in range(14):
        angle = 2 * np.pi * (at + turn) / 14
        way = np.array([np.cos(angle), np.sin(angle)])
        side = np.array([-way[1], way[0]]) * 5
        tip = np.array([x, y]) + way * (20 + 170 * parts["rays"])
        base = np.array([x, y]) + way * 16
        canvas.fill(np.array([base - side, base + side, tip]), colour, 0.75 * parts["rays"])
    canvas.glow((x, y), (60, 60), colour, 0.5 * shine)
    canvas.fill(ellipse(x, y, 17, 17), colour, shine)


def _clouds(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, sky: Colour
) -> None:
    cover = 1 - parts["clear"]
    white = mix((86, 90, 104), (250, 250, 252), parts["light"])
    for _ in range(6):
        x, y, width = random.uniform((0, 15, 24), (UNITS, 95, 52))
        # One is always drawn, so that what is drawn by chance is the same for all parts.
        for shift in (-0.6, 0.0, 0.6):
            lift = 0.0 if shift else -7.0
            shape = ellipse(x + shift * width, y + lift, width * 0.62, width * 0.32)
            canvas.fill(shape, mix(sky, white, 0.75), 0.15 + 0.75 * cover)


def _hills(
    canvas: Canvas,
    parts: Mapping[str, float],
    random: np.random.Generator,
    horizon: float,
    sky: Colour,
    ground: Colour,
) -> None:
    """Draw two ranges, tall for awe; their lines go from round to jagged."""
    jagged = parts["spikes"]
    red = mix(ground, (150, 40, 34), 0.65 * jagged)
    for depth, base in ((0.6, horizon + 4), (0.0, horizon + 26)):
        knots = np.linspace(-20, UNITS + 20, 14)
        heights = random.uniform(0.25, 1.0, 14) * (14 + 92 * parts["peaks"] * (0.45 + depth))
        points = np.column_stack([knots, base - heights])
        line = smooth(points, closed=False)
        # Teeth stand on the line, the higher the more jagged it is.
        teeth = np.where(np.arange(len(line)) % 4 == 0, 1.0, 0.0) * random.uniform(
            0.4, 1.0, len(line)
        )
        line = np.column_stack([line[:, 0], line[:, 1] - 46 * jagged * teeth])
        shape = np.concatenate([line, [[UNITS + 20, UNITS], [-20, UNITS]]])
        canvas.fill(shape, mix(mix(red, sky, depth), (0, 0, 0), 0.12 * (1 - depth)))
        snow = np.concatenate([line, np.add(line, (0, 9 + 14 * parts["peaks"]))[::-1]])
        canvas.fill(snow, (250, 250, 255), 0.55 * parts["peaks"] * depth / 0.6)


def _waves(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, ground: Colour
) -> None:
    """Draw calm water with long lines."""
    calm = parts["waves"]
    water = mix(ground, (70, 150, 190), 0.35 + 0.4 * parts["light"])
    top = float(random.uniform(188, 204))
    shore = smooth(
        [(x, top + float(random.uniform(-5, 5))) for x in np.linspace(-20, UNITS + 20, 7)],
        closed=False,
    )
    canvas.fill(np.concatenate([shore, [[UNITS + 20, UNITS], [-20, UNITS]]]), water, calm)
    for row in range(6):
        x, length, phase = random.uniform((20, 60, 0), (160, 120, 6.28))
        along = np.linspace(0, 1, 24)
        y = top + 10 + 8 * row + 2.5 * np.sin(2 * np.pi * along + phase)
        line = np.column_stack([x - length / 2 + length * along, y])
        canvas.stroke(line, 3.2, (236, 246, 250), 0.8 * calm)


def _murk(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    """Draw blotches of slime and decay."""
    for _ in range(16):
        x, y, wide = random.uniform((0, 95, 8), (UNITS, UNITS, 26))
        shade = float(random.uniform(0, 1))
        colour = mix((104, 112, 30), (64, 46, 26), shade)
        canvas.fill(ellipse(x, y, wide, 0.7 * wide), colour, 0.75 * parts["murk"])
        canvas.fill(
            ellipse(x - 0.2 * wide, y - 0.2 * wide, 0.35 * wide, 0.25 * wide),
            (176, 188, 84),
            0.6 * parts["murk"],
        )


def _flowers(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    for at in range(14):
        x, y, radius = random.uniform((0, 196, 2.5), (UNITS, 250, 4.5))
        colour = _BRIGHT[at % len(_BRIGHT)]
        for turn in np.linspace(0, 2 * np.pi, 6)[:-1]:
            petal = ellipse(
                x + radius * np.cos(turn), y + radius * np.sin(turn), 0.8 * radius, 0.8 * radius
            )
            canvas.fill(petal, colour, parts["flowers"])
        canvas.fill(ellipse(x, y, 0.6 * radius, 0.6 * radius), (255, 236, 150), parts["flowers"])


def _confetti(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    """Draw balloons and confetti in the air."""
    for at in range(26):
        x, y, turn, side = random.uniform((0, 0, 0, 3.5), (UNITS, 180, 3.14, 6.5))
        way = np.array([np.cos(turn), np.sin(turn)]) * side
        across = np.array([-way[1], way[0]]) * 0.6
        corners = np.array([way + across, way - across, -way - across, -way + across])
        canvas.fill(np.add(corners, (x, y)), _BRIGHT[at % len(_BRIGHT)], 0.95 * parts["confetti"])
    for at in range(3):
        x, y = random.uniform((30, 40), (226, 130))
        canvas.fill(ellipse(x, y, 13, 16), _BRIGHT[(at + 2) % len(_BRIGHT)], parts["confetti"])
        string = np.column_stack([np.full(8, x), np.linspace(y + 16, y + 46, 8)])
        canvas.stroke(string, 1.6, (90, 90, 100), 0.8 * parts["confetti"])


def _rain(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    for _ in range(70):
        x, y, length = random.uniform((0, -10, 14), (UNITS + 40, UNITS, 30))
        line = np.column_stack([np.linspace(x, x - 0.3 * length, 5), np.linspace(y, y + length, 5)])
        canvas.stroke(line, 2.4, (178, 196, 220), 0.75 * parts["rain"])


def _shaded(
    image: Image.Image, parts: Mapping[str, float], random: np.random.Generator
) -> Image.Image:
    """Darken from the edges, as in a place where something lurks; add the grain of a photo."""
    from PIL import Image

    pixels: Floats = np.asarray(image, dtype=np.float64)
    side = np.linspace(-1, 1, image.width)
    far = np.hypot(side[None, :] - random.uniform(-0.3, 0.3), side[:, None])
    shade = 1 - 0.88 * parts["dark"] * np.clip(far - 0.15, 0, 1)
    grain = random.normal(scale=5.0, size=(*far.shape, 1))
    shown = pixels * shade[..., None] + grain
    return Image.fromarray(np.clip(np.rint(shown), 0, 255).astype(np.uint8))
