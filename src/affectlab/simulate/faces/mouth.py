"""Nose, cheeks, mouth and chin."""

from __future__ import annotations

import numpy as np

from affectlab.simulate.faces.canvas import Points, band, ellipse, smooth
from affectlab.simulate.faces.head import MIDDLE, Sitter
from affectlab.simulate.faces.palette import mix

_U = np.linspace(-1.0, 1.0, 33)
_TEETH = (252, 250, 244)
_CAVITY = (92, 28, 36)


def draw_cheeks(sitter: Sitter) -> None:
    """Draw blush, freckles and the folds from nose to mouth."""
    face, canvas, skin, identity = sitter.face, sitter.canvas, sitter.skin, sitter.identity
    y = 160.0 + sitter.shift - 5.0 * face.cheek_raise
    for side in (-1.0, 1.0):
        x = MIDDLE + side * 37.0
        canvas.glow(
            (x, y),
            (21.0, 15.0),
            skin.blush,
            (0.3 + 0.4 * face.blush) * (1.05 - 0.07 * identity.skin_tone),
        )
        if face.cheek_raise > 0.0:
            canvas.glow((x - 1.0, y - 4.0), (13.0, 8.0), skin.light, 0.6 * face.cheek_raise)
    if identity.freckles:
        rng = np.random.default_rng(5)
        spots = rng.uniform((-46, 148), (46, 163), size=(26, 2))
        for dx, dy in spots.tolist():
            canvas.fill(ellipse(MIDDLE + dx, dy + sitter.shift, 1.0, 0.9), skin.deep, 0.45)
    depth = min(
        0.75 * face.cheek_raise
        + 0.55 * max(face.lip_corner, 0.0)
        + 0.8 * face.nose_wrinkle
        + 0.45 * face.upper_lip
        + 0.3 * face.mouth_square
        + 0.15 * identity.age,
        1.0,
    )
    if depth < 0.05:
        return
    wing = 153.0 + sitter.shift - 4.0 * face.nose_wrinkle
    for side in (-1.0, 1.0):
        half, corner = _corner(sitter, side)
        fold = smooth(
            [
                (MIDDLE + side * (14.0 * identity.nose_width + 1), wing),
                (MIDDLE + side * (half * 0.62 + 12.0), wing + 0.38 * (corner - wing)),
                (MIDDLE + side * (half + 7.5), corner - 1.0),
                (MIDDLE + side * (half + 6.0), corner + 6.0),
            ],
            closed=False,
        )
        canvas.stroke(fold, 2.3, skin.deep, 0.72 * depth)


def draw_nose(sitter: Sitter) -> None:
    """Draw the nose, with wrinkles across the bridge when it is pulled up."""
    face, canvas, skin = sitter.face, sitter.canvas, sitter.skin
    wide = sitter.identity.nose_width
    lift = 4.5 * face.nose_wrinkle
    y = 157.0 + sitter.shift - lift
    bridge = smooth(
        [
            (MIDDLE + 5.5, 121.0 + sitter.shift),
            (MIDDLE + 4.5, 136.0 + sitter.shift),
            (MIDDLE + 8.5 * wide, y - 7),
        ],
        closed=False,
    )
    canvas.stroke(bridge, 3.2, skin.shade, 0.75)
    canvas.glow((MIDDLE - 0.5, y - 6), (9.0, 9.0), skin.light, 0.75)
    canvas.glow((MIDDLE - 1.0, 136.0 + sitter.shift), (4.5, 19.0), skin.light, 0.5)
    under = smooth(
        [
            (MIDDLE - 9.5 * wide, y + 0.5),
            (MIDDLE - 4.0, y + 3.0),
            (MIDDLE, y + 4.6),
            (MIDDLE + 4.0, y + 3.0),
            (MIDDLE + 9.5 * wide, y + 0.5),
            (MIDDLE + 5.0, y + 5.4),
            (MIDDLE, y + 7.0),
            (MIDDLE - 5.0, y + 5.4),
        ],
        closed=True,
    )
    canvas.fill(under, skin.shade, 0.85)
    for side in (-1.0, 1.0):
        flare = 1.0 + 0.15 * face.nose_wrinkle
        wing = smooth(
            [
                (MIDDLE + side * 9.0 * wide * flare, y - 7.0 - 0.4 * lift),
                (MIDDLE + side * 12.2 * wide * flare, y - 2.0 - 0.4 * lift),
                (MIDDLE + side * 10.4 * wide * flare, y + 2.4),
            ],
            closed=False,
        )
        canvas.stroke(wing, 2.2, skin.deep, 0.9)
        canvas.fill(ellipse(MIDDLE + side * 5.4 * wide, y + 2.3, 3.1 * wide, 1.7), skin.line, 0.82)
        if face.nose_wrinkle > 0.0:
            for step in range(3):
                top = 127.0 + 6.0 * step + sitter.shift
                wrinkle = smooth(
                    [
                        (MIDDLE + side * 2.0, top + 1.5),
                        (MIDDLE + side * (6.0 + step), top - 1.0),
                        (MIDDLE + side * (9.5 + 1.6 * step), top + 3.2),
                    ],
                    closed=False,
                    steps=4,
                )
                canvas.stroke(wrinkle, 1.8, skin.deep, 0.85 * face.nose_wrinkle)


def _corner(sitter: Sitter, side: float) -> tuple[float, float]:
    """Half-width of the mouth and height of its corner at one side."""
    face = sitter.face
    pull = face.lip_corner + (face.corner_left if side > 0 else face.corner_right)
    pull = float(np.clip(pull, -1.0, 1.0))
    half = 23.0 * (1.0 + 0.34 * face.lip_stretch + 0.2 * max(pull, 0.0))
    height = _middle(sitter) - 1.9 - (9.0 if pull > 0 else 8.0) * pull
    return half, height


def _rounding(sitter: Sitter) -> float:
    """How far the mouth is from a slit (0) to an open ring (1)."""
    face = sitter.face
    return min(2.2 * max(-face.lip_stretch, 0.0), 1.0) * min(2.0 * face.mouth_open, 1.0)


def _middle(sitter: Sitter) -> float:
    face = sitter.face
    return 177.5 + sitter.shift + 1.0 * face.jaw_drop - 2.0 * face.chin_raise


def draw_mouth(sitter: Sitter) -> None:
    """Draw lips, teeth and tongue, and the chin below."""
    face, canvas, skin, identity = sitter.face, sitter.canvas, sitter.skin, sitter.identity
    (left, left_y), (right, right_y) = _corner(sitter, -1.0), _corner(sitter, 1.0)
    x = MIDDLE + np.where(_U < 0, left, right) * _U
    middle = _middle(sitter)
    pull = max(face.lip_corner, 0.0)
    corner = np.where(_U < 0, left_y, right_y)
    # Smiles bend the whole line, other mouths mainly near the corners.
    line = middle + 1.5 * pull + (corner - middle - 1.5 * pull) * np.abs(_U) ** (2.1 - 0.2 * pull)
    sharp = 2.0 + 5.0 * face.mouth_square
    # A rounded mouth opens as an ellipse, a smile as a half moon.
    rounded = _rounding(sitter)
    dome = (1.0 - np.abs(_U) ** sharp) ** (1.0 - 0.5 * rounded)
    gap = 10.0 * face.mouth_open + 15.0 * face.jaw_drop * min(1.0, 3.0 * face.mouth_open)
    upper_share = 0.18 + 0.26 * rounded + 0.25 * face.mouth_square
    raised = 5.5 * face.upper_lip * (1.0 - np.abs(_U) ** 2.6)
    upper = line - upper_share * gap * dome - raised
    lower = (
        line + (1.0 - upper_share) * gap * dome - 0.6 * raised * (1.0 - min(face.mouth_open, 1.0))
    )
    lower = np.maximum(lower, upper)

    thin = (1.0 - 0.65 * face.lip_press) * (1.0 - 0.25 * max(face.lip_stretch, 0.0))
    thin *= (1.0 - 0.22 * pull) * (1.0 - 0.08 * identity.age) * identity.lip_fullness
    taper = np.clip(1.0 - np.abs(_U) ** 2.2, 0.0, 1.0)
    bow = 1.0 - 0.22 * np.exp(-((_U / 0.17) ** 2))
    outer_top = upper - 5.4 * thin * taper * bow
    outer_low = lower + 7.2 * thin * taper**0.75

    feminine = identity.presentation == "feminine"
    lip = skin.lip if feminine else mix(skin.lip, skin.base, 0.4)
    canvas.fill(band(x, outer_top, upper), mix(lip, skin.line, 0.12))
    canvas.fill(band(x, lower, outer_low), lip)
    glossy = np.column_stack([x, lower + 3.4 * thin * taper])[11:-11]
    canvas.stroke(glossy, 2.4 * thin, skin.lip_light, 0.75)
    if gap > 0.6 or face.upper_lip > 0.2:
        canvas.fill(band(x, upper, lower), _CAVITY)
        _draw_inside(sitter, x, upper, lower)
    seam = np.column_stack([x, upper if gap > 0.6 else 0.5 * (upper + lower)])
    canvas.stroke(seam, 2.0 if gap < 2.0 else 1.3, mix(skin.line, _CAVITY, 0.4), 0.95)
    _draw_corners_and_chin(sitter, float(outer_low.max()), (left, left_y), (right, right_y))


def _draw_inside(sitter: Sitter, x: Points, upper: Points, lower: Points) -> None:
    face, canvas = sitter.face, sitter.canvas
    room = lower - upper

    depth = float(room.max())
    if depth > 9.0 and face.teeth_lower < 0.5:
        rise = np.clip(1.0 - (_U / 0.72) ** 2, 0.0, None) ** 0.5 * 0.32 * depth
        canvas.fill(band(x, np.maximum(lower - rise, upper), lower), (206, 96, 100))
    bow = 1.0 - 0.22 * _U**2
    if face.teeth_lower > 0.0:
        tall = np.minimum(0.46 * depth * face.teeth_lower * bow, 0.5 * room)
        canvas.fill(band(x, lower - tall, lower), _TEETH)
    if face.teeth_upper > 0.0:
        most = 0.52 if face.teeth_lower > 0.0 else (0.94 if depth < 9.0 else 0.6)
        tall = np.minimum(np.minimum(face.teeth_upper * 10.0, most * depth) * bow, most * room)
        canvas.fill(band(x, upper, upper + tall), _TEETH)
        canvas.fill(band(x, upper, upper + 0.3 * tall), (176, 160, 168), 0.35)
    if face.mouth_square > 0.4 and face.teeth_upper > 0.3:
        marks = np.linspace(-0.72, 0.72, 9)
        for mark in marks.tolist():
            at = float(np.interp(mark, _U, x))
            top, low = float(np.interp(mark, _U, upper)), float(np.interp(mark, _U, lower))
            canvas.stroke(
                np.array([(at, top), (at, low)]), np.array([0.7, 0.7]), (190, 176, 178), 0.7
            )


def _draw_corners_and_chin(
    sitter: Sitter, bottom: float, left: tuple[float, float], right: tuple[float, float]
) -> None:
    face, canvas, skin = sitter.face, sitter.canvas, sitter.skin
    for side, (half, y) in ((-1.0, left), (1.0, right)):
        x = MIDDLE + side * half
        tilt = float(np.clip(face.lip_corner, -1.0, 1.0))
        dimple = np.array(
            [
                (x - side * 1.0, y + 0.6),
                (x + side * 1.6, y - 0.2 * tilt),
                (x + side * 3.0, y - 2.2 * tilt),
            ]
        )
        canvas.stroke(dimple, 2.0, skin.line, 0.75 * (1.0 - _rounding(sitter)))
        if face.lip_corner < 0.0:
            droop = smooth(
                [(x + side * 1.6, y + 1.2), (x + side * 3.2, y + 4), (x + side * 3.4, y + 8)],
                closed=False,
                steps=4,
            )
            reach = sitter.half_width(y + 9.0) - 4.0
            droop[:, 0] = MIDDLE + np.clip(droop[:, 0] - MIDDLE, -reach, reach)
            canvas.stroke(droop, 1.8, skin.deep, -0.6 * face.lip_corner)
    dip = bottom + 4.0
    fold = smooth(
        [(MIDDLE - 9, dip), (MIDDLE, dip + 2.2 - 4.5 * face.chin_raise), (MIDDLE + 9, dip)],
        closed=False,
    )
    canvas.stroke(fold, 2.4, skin.deep, 0.45 + 0.45 * face.chin_raise)
    if face.chin_raise > 0.0 and sitter.identity.facial_hair != "beard":
        canvas.glow((MIDDLE, dip + 8.0), (12.0, 7.0), skin.shade, 0.7 * face.chin_raise)
