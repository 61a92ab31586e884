"""Eyes, brows and glasses."""

from __future__ import annotations

import numpy as np

from affectlab.simulate.faces.canvas import Points, band, ellipse, smooth
from affectlab.simulate.faces.head import MIDDLE, Sitter
from affectlab.simulate.faces.palette import EYES, mix

_T = np.linspace(0.0, 1.0, 25)
_BUMP = 4.0 * _T * (1.0 - _T)
# Half-length, height of the upper lid, rise of the outer corner.
_EYES_OF = {"almond": (17.0, 9.6, 2.5), "round": (16.2, 10.4, 1.2), "monolid": (17.0, 8.6, 3.2)}


def draw_eyes(sitter: Sitter) -> None:
    """Draw both eyes."""
    for side in (-1.0, 1.0):
        _draw_eye(sitter, side)


def _draw_eye(sitter: Sitter, side: float) -> None:
    face, canvas, skin, identity = sitter.face, sitter.canvas, sitter.skin, sitter.identity
    length, height, rise = _EYES_OF[identity.eye_shape]
    length *= 0.96 if identity.presentation == "masculine" else 1.0
    cx = MIDDLE + side * (30.5 + identity.eye_gap)
    cy = 131.0 + sitter.shift
    wink = face.wink_left if side > 0 else face.wink_right
    closing = max(-face.eye_open, 0.0)
    closing = closing + (1.0 - closing) * wink
    opening = max(face.eye_open, 0.0) * (1.0 - wink)
    cheek = max(face.cheek_raise, 0.8 * wink)
    squint = face.eye_squint

    x = cx + side * (2.0 * _T - 1.0) * length
    corner = cy + 2.0 - (rise + 2.0) * _T + 2.4 * face.lid_droop * _T
    sag = height * (1.0 + 0.66 * opening) * (1.0 - 0.3 * squint - 0.12 * cheek)
    hang = 1.0 - face.lid_droop * (0.16 + 0.42 * _T)
    low = 7.0 * (1.0 + 0.3 * opening) - 5.4 * squint - 3.6 * cheek
    lower = corner + low * _BUMP**0.9
    # A closing lid meets the lower one; raised cheeks push that line into an upward arc.
    meeting = corner + (4.6 - 10.5 * cheek) * _BUMP**0.9
    lower = lower + (meeting - lower) * closing
    upper = corner - sag * hang * _BUMP**0.8
    upper = np.minimum(upper + (meeting - upper) * closing**0.9, lower)

    canvas.glow((cx, cy - 2.0), (21.0, 16.0), skin.shade, 0.34)
    lid_line = np.column_stack([x, upper])
    if closing < 0.93:
        _draw_ball(sitter, x, upper, lower, cx, cy)
    _draw_lids(sitter, side, x, upper, lower, corner, closing, cheek)
    tip = (float(x[-1]) + side * 2.2, float(upper[-3]) - 0.4)
    lash = np.concatenate([lid_line[:-2], [tip]])
    widths = 1.3 + 1.9 * np.sin(np.pi * (0.1 + 0.8 * _T[: len(lash)]))
    widths[-1] = 0.5
    canvas.stroke(lash, widths * (1.0 if identity.presentation == "feminine" else 0.82), skin.line)


def _draw_ball(
    sitter: Sitter, x: Points, upper: Points, lower: Points, cx: float, cy: float
) -> None:
    """Draw white, iris, pupil and light, all kept between the lids."""
    canvas, face = sitter.canvas, sitter.face
    canvas.fill(band(x, upper, lower), (251, 249, 246))
    order = np.argsort(x)
    lids_x, top, bottom = x[order], upper[order], lower[order]

    def kept(shape: Points) -> Points:
        inside = shape.copy()
        inside[:, 0] = np.clip(shape[:, 0], lids_x[0], lids_x[-1])
        inside[:, 1] = np.clip(
            shape[:, 1],
            np.interp(inside[:, 0], lids_x, top),
            np.interp(inside[:, 0], lids_x, bottom),
        )
        return inside

    canvas.fill(band(lids_x, top, np.minimum(top + 3.2, bottom)), (150, 140, 156), 0.35)
    iris_x = cx + 5.0 * face.gaze_x
    iris_y = cy - 1.2 - 4.6 * face.gaze_y
    iris = EYES[sitter.identity.eye_colour]
    # Widely opened eyes get a slightly smaller iris, so that the white shows all around.
    radius = 9.3 - 0.9 * max(face.eye_open, 0.0)
    canvas.fill(kept(ellipse(iris_x, iris_y, radius, radius)), mix(iris, (20, 14, 16), 0.45))
    canvas.fill(kept(ellipse(iris_x, iris_y + 0.3, radius - 1.1, radius - 1.1)), iris)
    canvas.fill(
        kept(ellipse(iris_x, iris_y + 3.6, 4.6, 3.0)), mix(iris, (255, 240, 210), 0.28), 0.8
    )
    canvas.fill(kept(ellipse(iris_x, iris_y, 0.47 * radius, 0.47 * radius)), (20, 15, 18))
    canvas.fill(kept(ellipse(iris_x - 3.0, iris_y - 3.2, 2.1, 2.1)), (255, 255, 255), 0.95)
    canvas.fill(kept(ellipse(iris_x + 3.2, iris_y + 3.2, 1.0, 1.0)), (255, 255, 255), 0.6)


def _draw_lids(
    sitter: Sitter,
    side: float,
    x: Points,
    upper: Points,
    lower: Points,
    corner: Points,
    closing: float,
    cheek: float,
) -> None:
    """Draw the crease, the lower lid, the bag and the crow's feet."""
    canvas, face, skin, identity = sitter.canvas, sitter.face, sitter.skin, sitter.identity
    if identity.eye_shape != "monolid":
        lift = 3.0 + 1.2 * max(face.eye_open, 0.0) + 1.6 * closing
        crease = np.column_stack([x, upper - lift - 1.0 * _BUMP])[3:]
        canvas.stroke(crease, 1.5, skin.deep, 0.75)
    if face.lid_droop > 0.0:
        fold = np.column_stack([x, upper - 4.6 + 6.0 * _T * face.lid_droop])[6:]
        canvas.stroke(fold, 2.2, skin.deep, 0.7 * face.lid_droop)
    if closing < 0.93:
        canvas.stroke(np.column_stack([x, lower])[4:], 1.3, skin.deep, 0.8)
    pouch = 0.75 * cheek + 0.5 * face.eye_squint + 0.16 * identity.age
    bag = np.column_stack([x, corner + (9.5 - 3.0 * cheek) * _BUMP**0.8 + 1.5])[3:-3]
    canvas.stroke(bag, 1.8, skin.deep, 0.62 * min(pouch, 1.0))
    feet = min(cheek * (0.35 + 0.25 * identity.age) + 0.12 * max(identity.age - 1, 0), 1.0)
    if feet > 0.1:
        ex, ey = float(x[-1]), float(corner[-1])
        for rise in (-4.5, 0.5, 5.0):
            foot = smooth(
                [
                    (ex + side * 4, ey + 0.5 * rise),
                    (ex + side * 8, ey + 0.9 * rise),
                    (ex + side * 11, ey + 1.5 * rise),
                ],
                closed=False,
                steps=4,
            )
            canvas.stroke(foot, 1.4, skin.deep, 0.65 * feet)


def draw_brows(sitter: Sitter) -> None:
    """Draw both brows and the lines they make in the forehead."""
    face, canvas, skin, identity = sitter.face, sitter.canvas, sitter.skin, sitter.identity
    tone = skin.line if identity.hair_colour in ("black", "dark brown") else sitter.hair
    colour = mix(tone, skin.line, 0.4)
    if identity.hair_colour == "white":
        colour = mix((150, 144, 140), skin.line, 0.25)
    for side in (-1.0, 1.0):
        raised = face.brow_raise + (face.brow_left if side > 0 else face.brow_right)
        raised = float(np.clip(raised, -1.0, 1.0))
        base = 108.5 + sitter.shift - (11.0 if raised > 0 else 7.5) * raised
        gap = identity.eye_gap
        inner_y = (
            base
            + 1.0
            - 9.5 * face.brow_inner
            + 2.5 * face.brow_pinch * (1.0 if face.brow_inner <= 0.0 else 0.0)
        )
        knots = [
            (MIDDLE + side * (13.0 - 5.5 * face.brow_pinch + 0.6 * gap), inner_y),
            (
                MIDDLE + side * (23.0 - 3.0 * face.brow_pinch + gap),
                base - 2.6 - 5.0 * face.brow_inner,
            ),
            (
                MIDDLE + side * (36.0 - face.brow_pinch + gap),
                base - 4.2 - 0.5 * face.brow_inner - 2.5 * face.brow_outer,
            ),
            (MIDDLE + side * (50.0 + gap), base + 2.8 - 8.5 * face.brow_outer),
        ]
        line = smooth(knots, closed=False)
        t = np.linspace(0.0, 1.0, len(line))
        thick = identity.brow_weight * 6.0 * (1.0 - 0.82 * t**1.7) * np.clip(0.72 + 6.0 * t, 0, 1)
        canvas.stroke(line, thick, colour, 0.96)
    _draw_forehead(sitter)


def _draw_forehead(sitter: Sitter) -> None:
    face, canvas, skin, age = sitter.face, sitter.canvas, sitter.skin, sitter.identity.age
    if face.brow_pinch > 0.05:
        for side in (-1.0, 1.0):
            top = 101.0 + sitter.shift - 4.0 * max(face.brow_inner, 0.0)
            furrow = smooth(
                [
                    (MIDDLE + side * 3.6, top),
                    (MIDDLE + side * 4.6, top + 7),
                    (MIDDLE + side * 3.4, top + 14),
                ],
                closed=False,
                steps=4,
            )
            canvas.stroke(furrow, 1.9, skin.deep, 0.85 * face.brow_pinch)
    lines = (
        0.6 * max(face.brow_raise, 0.0) + 0.45 * max(face.brow_inner, 0.0) + 0.17 * max(age - 1, 0)
    )
    if sitter.identity.hair in ("bob", "headscarf") or lines < 0.05:
        return
    for y, half in ((84.0, 17.0), (91.0, 21.0)):
        bow = -2.0 + 3.5 * max(face.brow_inner, 0.0) * (face.brow_raise < 0.3)
        crease = smooth(
            [
                (MIDDLE - half, y + sitter.shift),
                (MIDDLE, y + bow + sitter.shift),
                (MIDDLE + half, y + sitter.shift),
            ],
            closed=False,
        )
        canvas.stroke(crease, 1.6, skin.deep, 0.5 * min(lines, 1.0))


def draw_glasses(sitter: Sitter) -> None:
    """Draw thin round glasses that leave the eyes visible."""
    if not sitter.identity.glasses:
        return
    canvas, frame = sitter.canvas, (58, 48, 52)
    y = 132.0 + sitter.shift
    gap = 30.5 + sitter.identity.eye_gap
    for side in (-1.0, 1.0):
        x = MIDDLE + side * gap
        ring = ellipse(x, y, 22.0, 19.5)
        ring = np.concatenate([ring, ring[:1]])
        canvas.stroke(ring, np.full(len(ring), 2.1), frame, 0.92)
        temple = np.array(
            [(x + side * 22.0, y - 3), (MIDDLE + side * (sitter.half_width(y) + 1), y - 5)]
        )
        canvas.stroke(temple, np.array([2.1, 2.1]), frame, 0.92)
    bridge = smooth(
        [(MIDDLE - gap + 22, y - 2), (MIDDLE, y - 5), (MIDDLE + gap - 22, y - 2)], closed=False
    )
    canvas.stroke(bridge, np.full(len(bridge), 2.1), frame, 0.92)
