"""Drawing one face, or the frames of one expression coming up."""

from __future__ import annotations

from collections.abc import Iterator

from affectlab.core.errors import check_number
from affectlab.core.types import Image
from affectlab.simulate.faces.canvas import Canvas
from affectlab.simulate.faces.expressions import expression_parameters
from affectlab.simulate.faces.eyes import draw_brows, draw_eyes, draw_glasses
from affectlab.simulate.faces.hair import (
    draw_beard,
    draw_hair_behind,
    draw_hair_front,
    draw_scarf_drape,
)
from affectlab.simulate.faces.head import Sitter, draw_backdrop, draw_head, draw_neck
from affectlab.simulate.faces.identity import Identity
from affectlab.simulate.faces.mouth import draw_cheeks, draw_mouth, draw_nose
from affectlab.simulate.faces.palette import BACKDROPS
from affectlab.simulate.faces.parameters import FaceParameters

# Small pictures need more samples for smooth lines; large ones are smooth with fewer.
_SUPERSAMPLE, _SUPERSAMPLE_SMALL, _SMALL = 3, 4, 200


def draw_face(
    expression: str | FaceParameters,
    intensity: float = 1.0,
    identity: int | Identity = 0,
    *,
    size: int = 256,
) -> Image.Image:
    """Draw a face with a known expression.

    Parameters
    ----------
    expression
        A built-in name (see :data:`EXPRESSIONS`) or the :class:`FaceParameters` of a peak.
    intensity
        0 (the face at rest) to 1 (the peak).
    identity
        Who is drawn: a seed for :meth:`Identity.from_seed`, or an :class:`Identity`.
    size
        Side of the square picture in pixels, 32 to 2048.

    Returns
    -------
    PIL.Image.Image
        RGB, the same bytes for the same arguments.

    Raises
    ------
    InputError
        When the expression is not known, or a number is out of range.

    Examples
    --------
    >>> draw_face("awe", 0.8, identity=2, size=128).size
    (128, 128)
    """
    from PIL import Image

    check_number("size", size, 32, 2048, whole=True)
    face = expression_parameters(expression, intensity)
    person = identity if isinstance(identity, Identity) else Identity.from_seed(identity)
    side = size * (_SUPERSAMPLE_SMALL if size < _SMALL else _SUPERSAMPLE)
    large = Image.new("RGB", (side, side), BACKDROPS[person.backdrop])
    sitter = Sitter.seated(person, face, Canvas(large))
    for draw in _LAYERS:
        draw(sitter)
    # Hamming is as sharp as Lanczos here and leaves no bright rim around dark hair.
    return large.resize((size, size), Image.Resampling.HAMMING)


_LAYERS = (
    draw_backdrop,
    draw_hair_behind,
    draw_neck,
    draw_scarf_drape,
    draw_head,
    draw_cheeks,
    draw_beard,
    draw_nose,
    draw_mouth,
    draw_eyes,
    draw_hair_front,
    draw_brows,
    draw_glasses,
)


def expression_sequence(
    expression: str | FaceParameters,
    identity: int | Identity = 0,
    frames: int = 30,
    *,
    size: int = 256,
) -> Iterator[Image.Image]:
    """Draw an expression coming up from rest to its peak, frame by frame as they are asked for.

    Parameters
    ----------
    frames
        Number of pictures, at least 2; intensities are evenly spaced from 0 to 1.

    Examples
    --------
    >>> sum(1 for _ in expression_sequence("anger", frames=3, size=64))
    3
    """
    check_number("frames", frames, 2, whole=True)
    expression_parameters(expression)
    return (
        draw_face(expression, frame / (frames - 1), identity, size=size) for frame in range(frames)
    )
