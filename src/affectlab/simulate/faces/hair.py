"""Hair over the forehead and temples: a table beside this module, and extras for a few styles."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from affectlab.simulate.faces.canvas import Points, both, ellipse, mirror, smooth
from affectlab.simulate.faces.head import MIDDLE, Sitter
from affectlab.simulate.faces.palette import CLOTHES, Colour, mix

# Shapes that hair styles are made of.


@cache
def knots(path: str) -> Points:
    """Read points written as ``"x,y x,y"``, x relative to the middle of the face.

    Examples
    --------
    >>> knots("0,33 34,38").tolist()
    [[128.0, 33.0], [162.0, 38.0]]
    """
    points = np.array([[float(part) for part in pair.split(",")] for pair in path.split()])
    points[:, 0] += MIDDLE
    points.setflags(write=False)
    return points


@cache
def curve(path: str) -> Points:
    """Pass a smooth open curve through the points of a path."""
    points = smooth(knots(path), closed=False)
    points.setflags(write=False)
    return points


def light_colour(sitter: Sitter) -> Colour:
    """Give the colour of strands that catch light."""
    share = 0.16 if sitter.identity.hair_colour in ("black", "dark brown") else 0.26
    return mix(sitter.hair, (255, 236, 214), share)


def deep_colour(sitter: Sitter) -> Colour:
    """Give the colour of hair in shade."""
    return mix(sitter.hair, (64, 24, 22), 0.26)


def curl_colour(sitter: Sitter) -> Colour:
    """Give the colour of the arcs that mark curls: shade on light hair, light on dark."""
    pale = sitter.identity.hair_colour in ("white", "grey")
    return deep_colour(sitter) if pale else light_colour(sitter)


def strands(sitter: Sitter, paths: Sequence[str], width: float = 2.6) -> None:
    """Draw strands, every third one in shade."""
    light, deep = light_colour(sitter), deep_colour(sitter)
    for index, path in enumerate(paths):
        sitter.canvas.stroke(curve(path), width, deep if index % 3 == 2 else light, 0.75)


def puffs(sitter: Sitter, centres: Points, radius: float) -> None:
    """Draw tufts of slightly different sizes."""
    sizes = radius * np.random.default_rng(len(centres)).uniform(0.85, 1.15, len(centres))
    for (x, y), size in zip(centres.tolist(), sizes.tolist(), strict=True):
        sitter.canvas.fill(ellipse(x, y, size, size), sitter.hair)


def ring(rx: float, ry: float, cy: float, half_turn: float, n: int) -> Points:
    """Give n points on an elliptic arc over the head, `half_turn` degrees to either side of up."""
    angle = np.radians(np.linspace(-half_turn, half_turn, n))
    return np.column_stack([MIDDLE + rx * np.sin(angle), cy - ry * np.cos(angle)])


# The headscarf.


_FALL = "0,36 34,41 60,66 70,110 70,160 62,196 70,226 92,262"
_DRAPE = "0,196 48,188 66,206 52,236 0,256"
_LIGHTS = ("-48,66 -60,100 -60,150", "-30,52 0,46 30,52", "52,78 61,110 58,160 30,208")
_FOLDS = ("-50,204 -16,234 30,232 50,214", "-44,216 -8,243 24,244")


def _colours(sitter: Sitter) -> tuple[Colour, Colour]:
    cloth = CLOTHES[(sitter.identity.clothes + 3) % len(CLOTHES)]
    return cloth, mix(cloth, (40, 30, 50), 0.32)


def draw_scarf_behind(sitter: Sitter) -> None:
    """Draw the cloth that falls behind the shoulders."""
    sitter.canvas.fill(both(curve(_FALL)), _colours(sitter)[0])


def draw_scarf_drape(sitter: Sitter) -> None:
    """Draw the cloth over the neck; the head comes on top of it."""
    if sitter.identity.hair != "headscarf":
        return
    cloth, dark = _colours(sitter)
    sitter.still.fill(both(curve(_DRAPE)), cloth)
    for path in _FOLDS:
        sitter.still.stroke(curve(path), 3.0, dark, 0.5)


def draw_scarf_front(sitter: Sitter) -> None:
    """Draw the cloth around the face."""
    cloth, dark = _colours(sitter)
    canvas, chin = sitter.canvas, sitter.chin
    outer = [(0, 36), (34, 41), (60, 66), (70, 110), (68, 160), (52, 200)]
    inner = [(0, 78), (26, 81), (44, 94), (52, 124), (49, 160), (38, 188)]
    edge = smooth([*outer, (26, chin + 18), (0, chin + 22)], closed=False)
    rim = smooth([*inner, (20, chin - 3), (0, chin + 1)], closed=False)
    for half in (edge, rim):
        half[:, 0] += MIDDLE
    side = np.concatenate([edge, rim[::-1]])
    canvas.fill(side, cloth)
    canvas.fill(mirror(side), cloth)
    around = both(rim)
    around = np.concatenate([around, around[:1]])
    canvas.stroke(around, np.full(len(around), 2.6), dark, 0.7)
    for path in _LIGHTS:
        canvas.stroke(curve(path), 3.0, mix(cloth, (255, 255, 255), 0.25), 0.5)


@dataclass(frozen=True, slots=True)
class _Cap:
    """Hair over the skull, open below the hairline."""

    lift: float
    """Height above the skull."""
    side: float
    """Thickness at the temples."""
    end: float
    """Where the outer edge ends at the sides."""
    width_at: float
    """Height at which the head is measured for the temples."""
    temples: str
    """Hairline at the temples from below: distance inside the head, height."""
    hairline: str
    """Hairline across the forehead, from the right of the picture to the left."""
    strands: Sequence[str] = ()
    """Lines that show how the hair falls."""


@cache
def _caps() -> MappingProxyType[str, _Cap]:
    source = files("affectlab.simulate.faces").joinpath("hair.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return MappingProxyType({name: _Cap(**cap) for name, cap in table.items()})


_AFRO = ("-1,106 4,94", "44,76 22,69 0,68 -22,69 -44,76")


def draw_hair_front(sitter: Sitter) -> None:
    """Draw the part of the style that covers the head."""
    style = sitter.identity.hair
    if style in _caps():
        _draw_cap(sitter, _caps()[style])
    if style in _EXTRAS_FRONT:
        _EXTRAS_FRONT[style](sitter)


def _draw_cap(sitter: Sitter, cap: _Cap) -> None:
    skull = sitter.outline[sitter.outline[:, 1] <= cap.end]
    share = np.clip((skull[:, 1] - 47.0) / 60.0, 0.0, 1.0)
    outer = skull.copy()
    outer[:, 1] -= cap.lift * (1.0 - share) ** 0.8
    outer[:, 0] += cap.side * np.sqrt(share) + 0.25 * cap.lift * np.sin(np.pi * share)
    # Over the top from left to right, then back along the hairline.
    edge = np.concatenate([mirror(outer), outer, _hairline(sitter, cap)])
    sitter.canvas.fill(edge, sitter.hair)
    strands(sitter, cap.strands)


def _hairline(sitter: Sitter, cap: _Cap) -> Points:
    inside = knots(cap.temples)
    right = inside.copy()
    right[:, 0] = 2.0 * MIDDLE + sitter.half_width(cap.width_at) - inside[:, 0]
    return smooth(np.concatenate([right, knots(cap.hairline), mirror(right)]), closed=False)


def _bald(sitter: Sitter) -> None:
    sitter.canvas.glow((MIDDLE - 16, 66.0), (22.0, 13.0), sitter.skin.light, 0.7)


def _curls_front(sitter: Sitter) -> None:
    puffs(sitter, ring(56, 40, 106, 78, 11), 12.0)
    puffs(sitter, ring(46, 48, 98, 62, 9), 12.5)
    colour = curl_colour(sitter)
    for x, y in ring(50, 45, 102, 68, 9).tolist():
        corners = [(x - 6, y + 3), (x - 3, y - 5), (x + 5, y - 4), (x + 6, y + 2)]
        sitter.canvas.stroke(smooth(corners, closed=False, steps=4), 2.2, colour, 0.7)


def _afro_front(sitter: Sitter) -> None:
    short = sitter.identity.presentation == "masculine"
    lift, side = (11.0, 3.0) if short else (26.0, 12.0)
    _draw_cap(sitter, _Cap(lift, side, 106.0, 106.0, *_AFRO))
    colour, rng = curl_colour(sitter), np.random.default_rng(3)
    reach, spread = (0.84, 0.85) if short else (1.0, 1.12)
    for _ in range(34):
        angle, radius = spread * rng.uniform(-1.0, 1.0), rng.uniform(0.62, 0.86) * reach
        x, y = MIDDLE + 82 * radius * np.sin(angle), 104 - 80 * radius * np.cos(angle)
        arc = smooth([(x - 2.6, y + 1.2), (x, y - 1.2), (x + 2.6, y + 1.2)], closed=False, steps=4)
        sitter.canvas.stroke(arc, 1.6, colour, 0.5)


_EXTRAS_FRONT: dict[str, Callable[[Sitter], None]] = {
    "bald": _bald,
    "curls": _curls_front,
    "afro": _afro_front,
    "headscarf": draw_scarf_front,
}

# Hair that lies behind head and shoulders.


# Right half of the mass of hair, from the crown to its lower edge.
_MASSES = {
    "bob": "0,33 34,38 62,62 73,104 76,150 71,186 56,199 38,196 0,190",
    "long": "0,35 34,40 61,64 70,108 74,160 80,210 78,246 56,258 30,240 0,230",
    "wavy": "0,31 38,36 67,62 72,92 82,116 77,140 88,166 81,192 88,218 72,238 50,234 28,222 0,216",
    "braids": "0,36 34,41 60,66 67,106 68,150 58,172 0,170",
}
_BUN = ("-12,36 -13,24 0,15", "-4,40 -4,26 9,19", "8,40 12,30 10,22")


def draw_hair_behind(sitter: Sitter) -> None:
    """Draw the part of the style that the head covers."""
    style = sitter.identity.hair
    if style in _MASSES:
        sitter.canvas.fill(both(curve(_MASSES[style])), deep_colour(sitter))
    if style in _EXTRAS_BEHIND:
        _EXTRAS_BEHIND[style](sitter)


def _bun(sitter: Sitter) -> None:
    sitter.canvas.fill(ellipse(MIDDLE, 30.0, 23.0, 20.0), deep_colour(sitter))
    sitter.canvas.fill(ellipse(MIDDLE - 1, 29.0, 21.0, 18.0), sitter.hair)
    strands(sitter, _BUN)


def _braids(sitter: Sitter) -> None:
    light, deep = light_colour(sitter), deep_colour(sitter)
    for side in (-1.0, 1.0):
        for step in range(9):
            x, y = MIDDLE + side * (65.0 + 0.9 * step), 158.0 + 11.0 * step
            sitter.canvas.fill(ellipse(x, y, 10.5 - 0.4 * step, 8.4), deep)
            sitter.canvas.fill(ellipse(x - 1.0, y - 1.0, 9.0 - 0.4 * step, 6.8), sitter.hair)
            notch = np.array([(x - 6.5, y - 2.0), (x, y + 3.0), (x + 6.5, y - 2.0)])
            sitter.canvas.stroke(notch, 1.8, light, 0.7)


def _curls_behind(sitter: Sitter) -> None:
    sitter.canvas.fill(ellipse(MIDDLE, 104.0, 62.0, 66.0), sitter.hair)
    if sitter.identity.presentation == "masculine":
        puffs(sitter, ring(63, 62, 104, 112, 17), 13.5)
    else:
        puffs(sitter, ring(63, 62, 104, 142, 23), 16.0)


def _afro_behind(sitter: Sitter) -> None:
    short = sitter.identity.presentation == "masculine"
    rx, ry, cy, size = (64.0, 60.0, 98.0, 8.0) if short else (84.0, 80.0, 100.0, 9.5)
    sitter.canvas.fill(ellipse(MIDDLE, cy, rx, ry), sitter.hair)
    puffs(sitter, ring(rx - 3, ry - 3, cy, 118, 30), size)


_EXTRAS_BEHIND: dict[str, Callable[[Sitter], None]] = {
    "bun": _bun,
    "braids": _braids,
    "curls": _curls_behind,
    "afro": _afro_behind,
    "headscarf": draw_scarf_behind,
}

# Facial hair.


def draw_beard(sitter: Sitter) -> None:
    """Draw facial hair; the mouth comes on top of it."""
    kind = sitter.identity.facial_hair
    if kind == "none":
        return
    canvas, shift = sitter.canvas, sitter.shift
    colour = mix(sitter.hair, sitter.skin.line, 0.25)
    lip = 166.0 + shift - 2.0 * max(sitter.face.lip_corner, 0.0) - 3.0 * sitter.face.upper_lip
    if kind in ("beard", "stubble"):
        jaw = sitter.outline[sitter.outline[:, 1] > 136.0]
        edge = jaw + (np.array([2.0, 0.0]) if kind == "beard" else np.array([-0.5, 0.0]))
        if kind == "beard":
            edge = edge + np.column_stack(
                [np.zeros(len(jaw)), np.clip((jaw[:, 1] - 170) / 8.0, 0, 4)]
            )
        top = smooth(
            [
                (MIDDLE, lip),
                (MIDDLE + 16, lip + 2),
                (MIDDLE + 30, lip + 9),
                (MIDDLE + 43, 170.0 + shift),
                (MIDDLE + sitter.half_width(150.0) - 4, 150.0),
                (float(jaw[0, 0]) - 1.5, 136.0),
            ],
            closed=False,
        )
        right = np.concatenate([top, edge])
        alpha = 0.92 if kind == "beard" else 0.2
        canvas.fill(both(right), colour, alpha)
    if kind == "moustache":
        right = smooth(
            [
                (MIDDLE, lip - 1),
                (MIDDLE + 12, lip - 1),
                (MIDDLE + 25, lip + 9),
                (MIDDLE + 12, lip + 7),
                (MIDDLE, lip + 6),
            ],
            closed=False,
        )
        canvas.fill(both(right), colour, 0.95)
