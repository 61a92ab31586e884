"""Drawn faces of invented people: expressions, transitions, sets of pictures."""

from affectlab.simulate.faces.canvas import UNITS, Canvas, ellipse, smooth
from affectlab.simulate.faces.expressions import EXPRESSIONS, expression_parameters
from affectlab.simulate.faces.face import draw_face, expression_sequence
from affectlab.simulate.faces.gallery import FaceSpec, face_specs, face_table, save_faces
from affectlab.simulate.faces.identity import Identity
from affectlab.simulate.faces.palette import Colour, mix
from affectlab.simulate.faces.parameters import FaceParameters
from affectlab.simulate.faces.transitions import (
    TRANSITION_EXPRESSIONS,
    DrawnTransition,
    DrawnTransitions,
    draw_transitions,
    true_difference,
)

__all__ = [
    "EXPRESSIONS",
    "TRANSITION_EXPRESSIONS",
    "UNITS",
    "Canvas",
    "Colour",
    "DrawnTransition",
    "DrawnTransitions",
    "FaceParameters",
    "FaceSpec",
    "Identity",
    "draw_face",
    "draw_transitions",
    "ellipse",
    "expression_parameters",
    "expression_sequence",
    "face_specs",
    "face_table",
    "mix",
    "save_faces",
    "smooth",
    "true_difference",
]
