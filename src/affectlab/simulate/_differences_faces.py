"""How different two drawn faces truly are: a metric on what can be seen of their parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.simulate._expressions import EXPRESSIONS, expression_parameters
from affectlab.simulate._parameters import FaceParameters

__all__ = [
    "PARAMETERS",
    "TRANSITION_EXPRESSIONS",
    "apart",
    "parameter_rows",
    "peak_parameters",
    "seen",
    "true_difference",
]

PARAMETERS: tuple[str, ...] = tuple(field.name for field in fields(FaceParameters))
"""Names of the parameters of a drawn face, in the order of the columns of an array of faces."""

TRANSITION_EXPRESSIONS: tuple[str, ...] = (
    *(name for name in EXPRESSIONS if name != "neutral"),
    "brows-up", "brows-down", "inner-brows-up", "outer-brows-up", "brow-up-left", "brow-up-right",
    "eyes-wide", "eyes-closed", "eyes-squeezed", "squint", "wink-left", "wink-right", "look-left",
    "look-right", "look-up", "look-down", "lids-drooping", "cheeks-up", "nose-wrinkled",
    "upper-lip-up", "smile-closed", "smile-teeth", "smile-huge", "mouth-left", "mouth-right",
    "mouth-left-open", "mouth-right-open", "corners-down", "corner-down-left", "corner-down-right",
    "lips-stretched", "lips-stretched-teeth", "lips-rounded", "lips-rounded-open", "lips-pressed",
    "lips-parted", "mouth-open", "jaw-down", "jaw-down-brows-up", "jaw-down-eyes-closed",
    "jaw-clenched", "chin-up", "chin-up-corners-down", "all-teeth", "scream",
    "scream-eyes-closed", "face-scrunched", "head-left", "head-right", "head-up", "head-down",
)  # fmt: skip
"""Expressions of drawn transitions: ten emotions and 51 movements of parts of the face."""

_MOST, _SCALE = 85.0, 0.38
"""Largest difference of two faces, and how far faces lie apart that have 63 % of it."""

# How much each visible feature changes the look of a drawn face when it moves by 1: the mouth and
# the jaw most, lids, chin and colour least.
_WEIGHTS: dict[str, float] = {
    "brow_left": 0.55, "brow_right": 0.55, "brow_inner": 0.5, "brow_outer": 0.4,
    "brow_pinch": 0.45, "eye_left": 0.6, "eye_right": 0.6, "eye_squint": 0.45, "lid_droop": 0.35,
    "gaze_x": 0.5, "gaze_y": 0.5, "cheek_raise": 0.35, "nose_wrinkle": 0.6, "upper_lip": 0.5,
    "corner_left": 0.65, "corner_right": 0.65, "lip_stretch": 0.7, "lip_press": 0.45,
    "mouth_open": 0.9, "jaw_drop": 0.9, "mouth_square": 0.5, "teeth_upper": 0.5,
    "teeth_lower": 0.5, "chin_raise": 0.45, "blush": 0.3, "head_tilt": 0.8, "head_pitch": 0.7,
}  # fmt: skip


def true_difference(
    first: FaceParameters | Sequence[FaceParameters],
    second: FaceParameters | Sequence[FaceParameters],
) -> float | Floats:
    r"""Say how different drawn faces of one person truly are, on a scale from 0 to 100.

    .. math:: D(a, b) = 85 \left(1 - e^{-\lVert \varphi(a) - \varphi(b) \rVert / \tau}\right),
        \qquad \tau = 0.38

    where :math:`\varphi` holds what can be seen of the parameters, each with a weight: both eyes
    and both corners of the mouth on their own, teeth only as far as the mouth is open, the gaze
    only as far as the eyes are. Large differences saturate, as answers on a slider do. Two faces
    that look the same have the difference 0, and the triangle inequality holds. The weights are
    ours: this is the truth of a simulation, not a model of perception.

    Parameters
    ----------
    first, second
        Parameters of a face each, or as many of both.

    Returns
    -------
    A number, or an array of shape (n,), in [0, 85).

    Raises
    ------
    InputError
        When there are not as many faces on both sides.

    Examples
    --------
    >>> from affectlab.simulate import expression_parameters
    >>> rest, joy = FaceParameters(), expression_parameters("joy")
    >>> [round(true_difference(rest, expression_parameters("joy", part))) for part in (0.1, 0.5, 1)]
    [20, 63, 80]
    >>> true_difference(joy, joy)
    0.0
    """
    one = isinstance(first, FaceParameters) and isinstance(second, FaceParameters)
    sides = [
        seen(parameter_rows([side] if isinstance(side, FaceParameters) else side))
        for side in (first, second)
    ]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{len(sides[0])} and {len(sides[1])} faces; expected as many on both sides"
        )
    found = apart(*sides)
    return float(found[0]) if one else found


def parameter_rows(faces: Sequence[FaceParameters]) -> Floats:
    """Put faces into an array of shape (n, parameters), see :data:`PARAMETERS`."""
    rows = [[getattr(face, name) for name in PARAMETERS] for face in faces]
    return np.array(rows, dtype=np.float64).reshape(len(faces), len(PARAMETERS))


def seen(rows: Floats) -> Floats:
    """Give what can be seen of parameters of shape (n, parameters), weighted: (n, features)."""
    of = {name: rows[:, column] for column, name in enumerate(PARAMETERS)}
    shut = np.maximum(-of["eye_open"], 0.0)
    wide = np.maximum(of["eye_open"], 0.0)
    closed = {side: shut + (1.0 - shut) * of[f"wink_{side}"] for side in ("left", "right")}
    looking = 1.0 - 0.5 * (closed["left"] + closed["right"])
    derived = {
        **{f"eye_{side}": wide * (1.0 - of[f"wink_{side}"]) - closed[side] for side in closed},
        **{f"brow_{side}": of["brow_raise"] + of[f"brow_{side}"] for side in closed},
        **{f"corner_{side}": of["lip_corner"] + of[f"corner_{side}"] for side in closed},
        **{name: of[name] * looking for name in ("gaze_x", "gaze_y")},
        **{
            name: of[name] * of["mouth_open"]
            for name in ("mouth_square", "teeth_upper", "teeth_lower")
        },
    }
    visible = of | derived
    columns = [weight * visible[name] for name, weight in _WEIGHTS.items()]
    return np.stack(columns, axis=1)


def apart(first: Floats, second: Floats) -> Floats:
    """Give the true difference of each row of features to the same row of others, shape (n,)."""
    length = np.sqrt(((first - second) ** 2).sum(axis=-1))
    found: Floats = -_MOST * np.expm1(-length / _SCALE)
    return found


def peak_parameters(expression: str) -> FaceParameters:
    """Give the peak of an expression of :data:`TRANSITION_EXPRESSIONS`.

    Raises
    ------
    InputError
        When the name is not known.
    """
    if expression not in TRANSITION_EXPRESSIONS:
        raise unknown_name("expression", expression, TRANSITION_EXPRESSIONS)
    if expression in EXPRESSIONS:
        return expression_parameters(expression)
    return _movements()[expression]


@cache
def _movements() -> MappingProxyType[str, FaceParameters]:
    source = files("affectlab.simulate").joinpath("movements.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: FaceParameters.from_mapping(values, where=f"movements.toml: {name}")
            for name, values in table.items()
        }
    )
