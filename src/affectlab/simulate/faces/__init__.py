"""Drawn faces of invented people: expressions, transitions, sets of pictures."""

from affectlab.simulate.faces.canvas import (
    UNITS as UNITS,
    Canvas as Canvas,
    ellipse as ellipse,
    smooth as smooth,
)
from affectlab.simulate.faces.expressions import (
    EXPRESSIONS as EXPRESSIONS,
    expression_parameters as expression_parameters,
)
from affectlab.simulate.faces.face import (
    draw_face as draw_face,
    expression_sequence as expression_sequence,
)
from affectlab.simulate.faces.gallery import (
    FaceSpec as FaceSpec,
    face_specs as face_specs,
    face_table as face_table,
    save_faces as save_faces,
)
from affectlab.simulate.faces.identity import Identity as Identity
from affectlab.simulate.faces.palette import Colour as Colour, mix as mix
from affectlab.simulate.faces.parameters import FaceParameters as FaceParameters
from affectlab.simulate.faces.transitions import (
    TRANSITION_EXPRESSIONS as TRANSITION_EXPRESSIONS,
    DrawnTransition as DrawnTransition,
    DrawnTransitions as DrawnTransitions,
    draw_transitions as draw_transitions,
    true_difference as true_difference,
)
