"""Head, ears, neck and shoulders, and the geometry that hair and features share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.simulate.faces.canvas import Canvas, Points, both, ellipse, mirror, smooth
from affectlab.simulate.faces.identity import Identity
from affectlab.simulate.faces.palette import BACKDROPS, CLOTHES, HAIR, Colour, SkinColours, mix
from affectlab.simulate.faces.parameters import FaceParameters

MIDDLE = 128.0

_COVERS_EARS = frozenset({"bob", "braids", "long", "wavy", "headscarf"})

# Half-widths at temple, cheekbone, lower cheek, jaw and chin, and the height of the chin.
_SHAPES: dict[str, tuple[float, float, float, float, float, float]] = {
    "oval": (58, 58, 53, 41, 19, 207),
    "round": (60, 62, 59, 47, 23, 203),
    "square": (58, 59, 57, 50, 27, 205),
    "heart": (60, 59, 52, 40, 18, 206),
    "long": (55, 55, 51, 41, 20, 213),
}


@dataclass(frozen=True, slots=True)
class Sitter:
    """One person with one expression, ready to draw."""

    identity: Identity
    face: FaceParameters
    still: Canvas
    """Canvas for what does not move with the head."""
    canvas: Canvas
    """Canvas turned with the head."""
    skin: SkinColours
    hair: Colour
    outline: Points
    """Right half of the head (picture side), from the crown to the chin."""
    shift: float
    """How far the features move down (negative: up) as the head pitches."""

    @classmethod
    def seated(cls, identity: Identity, face: FaceParameters, canvas: Canvas) -> Sitter:
        """Work out colours and geometry."""
        turned = canvas.turned(12.0 * face.head_tilt, (MIDDLE, 215.0), -2.0 * face.head_pitch)
        return cls(
            identity=identity,
            face=face,
            still=canvas,
            canvas=turned,
            skin=SkinColours.of(identity.skin_tone),
            hair=HAIR[identity.hair_colour],
            outline=_half_outline(identity, face),
            shift=-4.0 * face.head_pitch,
        )

    def half_width(self, y: float) -> float:
        """Half the width of the head at a height."""
        return float(np.interp(y, self.outline[:, 1], self.outline[:, 0] - MIDDLE))

    @property
    def chin(self) -> float:
        """Height of the chin."""
        return float(self.outline[-1, 1])


def _half_outline(identity: Identity, face: FaceParameters) -> Points:
    temple, cheek, lower, jaw, chin, bottom = _SHAPES[identity.face_shape]
    if identity.presentation == "masculine":
        jaw, chin, bottom = jaw + 3.5, chin + 3.0, bottom + 2.0
    lower += 1.5 * identity.age / 3
    drop = 11.0 * face.jaw_drop - 1.5 * face.chin_raise
    fuller = 2.5 * face.cheek_raise - 1.5 * face.jaw_drop
    knots = np.array(
        [
            (0.0, 47.0),
            (26.0, 51.0),
            (47.0, 68.0),
            (temple - 1.0, 98.0),
            (cheek, 130.0),
            (lower + fuller, 157.0 + 0.25 * drop),
            (jaw, 183.0 + 0.6 * drop),
            (chin, bottom - 6.5 + drop),
            (0.0, bottom + drop),
        ]
    )
    knots[:, 0] += MIDDLE
    left = mirror(knots[1:-1])
    loop = smooth(np.concatenate([knots, left]), closed=True)
    return loop[: 7 * (len(knots) - 1) + 1]


def draw_backdrop(sitter: Sitter) -> None:
    """Draw the soft ground behind the person."""
    colour = BACKDROPS[sitter.identity.backdrop]
    sitter.still.glow((128.0, 118.0), (165.0, 165.0), mix(colour, (255, 255, 255), 0.75), 0.9)


def draw_neck(sitter: Sitter) -> None:
    """Draw neck, shoulders and clothes."""
    canvas, skin, identity = sitter.still, sitter.skin, sitter.identity
    masculine = identity.presentation == "masculine"
    half = 27.0 if masculine else 21.5
    width = 112.0 if masculine else 98.0
    cloth = CLOTHES[identity.clothes]
    slope = 218.0 if masculine else 222.0
    shoulder = [
        (MIDDLE + half - 2, 211.0),
        (MIDDLE + half + 9, slope + 3),
        (MIDDLE + 0.62 * width, slope + 12),
        (MIDDLE + 0.9 * width, slope + 24),
        (MIDDLE + width + 3, 262.0),
    ]
    right = smooth(shoulder, closed=False)
    canvas.fill(both(right), cloth)
    canvas.glow((MIDDLE, 262.0), (62.0, 34.0), mix(cloth, (30, 26, 40), 0.3), 0.35)

    column = smooth(
        [
            (MIDDLE + half, 168.0),
            (MIDDLE + half - 1, 196.0),
            (MIDDLE + half + 0.5, 213.0),
            (MIDDLE + half + 8, 224.0),
            (MIDDLE + 0.62 * half, 240.0),
            (MIDDLE, 246.0),
        ],
        closed=False,
    )
    neck = both(column)
    canvas.fill(neck, skin.base)
    # The shadow that the chin throws: the lower face moved down and kept inside the neck.
    shadow = both(sitter.outline)
    shadow = shadow[shadow[:, 1] > 150.0] + np.array([0.0, 11.0])
    inside = half - 0.2 + np.clip(shadow[:, 1] - 213.0, 0.0, 9.0) * 0.7
    shadow[:, 0] = MIDDLE + np.clip(shadow[:, 0] - MIDDLE, -inside, inside)
    shadow[:, 1] = np.minimum(shadow[:, 1], 238.0)
    canvas.fill(shadow, skin.shade, 0.85)
    collar = smooth(
        [
            (MIDDLE + half + 9, 220.5),
            (MIDDLE + half + 4, 230.0),
            (MIDDLE + 0.6 * half, 242.0),
            (MIDDLE, 247.0),
        ],
        closed=False,
    )
    canvas.stroke(both(collar), 5.0, mix(cloth, (255, 255, 255), 0.22))


def draw_head(sitter: Sitter) -> None:
    """Draw ears and the head with soft modelling."""
    canvas, skin = sitter.canvas, sitter.skin
    _draw_ears(sitter)
    outline = both(sitter.outline)
    canvas.fill(outline, skin.base)
    # A crescent of shade on one side and under the jaw models the head.
    right = sitter.outline[sitter.outline[:, 1] > 84.0]
    for depth, alpha in ((15.0, 0.16), (9.5, 0.2), (4.5, 0.24)):
        y = right[:, 1]
        inset = depth * np.clip((y - 84.0) / 40.0, 0.0, 1.0) ** 0.7
        inner = right.copy()
        inner[:, 0] = np.maximum(right[:, 0] - inset, MIDDLE - 20.0)
        inner[:, 1] -= 0.45 * depth * np.clip((y - 150.0) / 55.0, 0.0, 1.0)
        canvas.fill(np.concatenate([right, inner[::-1]]), skin.shade, alpha)
    canvas.glow((112.0, 84.0 + sitter.shift), (40.0, 26.0), skin.light, 0.55)


def _draw_ears(sitter: Sitter) -> None:
    if sitter.identity.hair in _COVERS_EARS:
        return
    canvas, skin = sitter.canvas, sitter.skin
    y = 134.0 + 0.5 * sitter.shift
    reach = sitter.half_width(y)
    for side in (-1.0, 1.0):
        x = MIDDLE + side * (reach + 2.5)
        canvas.fill(
            ellipse(x, y, 8.5, 14.5), skin.base if side < 0 else mix(skin.base, skin.shade, 0.5)
        )
        inner = smooth(
            [(x + side * 2, y - 9), (x + side * 5, y - 2), (x + side * 2, y + 8)], closed=False
        )
        canvas.stroke(inner, 3.0, skin.shade, 0.9)
        if sitter.identity.earrings:
            canvas.fill(ellipse(x + side * 1.0, y + 16.0, 2.9, 2.9), (226, 184, 92))
            canvas.fill(ellipse(x + side * 1.0 - 0.8, y + 15.2, 1.0, 1.0), (255, 240, 200))
