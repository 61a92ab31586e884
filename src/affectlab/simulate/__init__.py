"""Raters and faces with known truth, for demonstrations, tests and planning.

Drawn faces (:func:`draw_face`) are invented people with an expression of known kind and intensity.
Simulated raters (:func:`simulate_raters`) answer about stimuli of known truth with known bias, care
and confusion, so that any statistic can be held against what it should find.

Drawn transitions (:func:`draw_transitions`) go from a peak to rest in a known time, so that the
true difference of any two frames is known (:func:`true_difference`); :func:`simulate_differences`
lets panels rate pairs of them.

Drawn scenes (:func:`simulate_scenes`) look the more alike the nearer their emotions are on a wheel.
"""

from affectlab.simulate._baseline import random_baseline
from affectlab.simulate._differences import (
    DifferenceSimulation,
    golden_differences,
    simulate_differences,
)
from affectlab.simulate._differences_draw import draw_transitions
from affectlab.simulate._differences_faces import TRANSITION_EXPRESSIONS, true_difference
from affectlab.simulate._differences_people import (
    CARELESS_KINDS,
    DifferencePeople,
    difference_people,
)
from affectlab.simulate._differences_transitions import DrawnTransition, DrawnTransitions
from affectlab.simulate._expressions import EXPRESSIONS, expression_parameters
from affectlab.simulate._face import draw_face, expression_sequence
from affectlab.simulate._gallery import FaceSpec, face_specs, face_table, save_faces
from affectlab.simulate._identity import Identity
from affectlab.simulate._parameters import FaceParameters
from affectlab.simulate._profiles import PRESETS, RaterProfile, panel, rater_profile
from affectlab.simulate._raters import Simulation, simulate_raters
from affectlab.simulate._recovery import Recovery, recovery
from affectlab.simulate._scene_parameters import SceneOrder
from affectlab.simulate._scenes import Scenes, simulate_scenes
from affectlab.simulate._study import DemoStudy, demo_study
from affectlab.simulate._truth import Truth, simulate_truth
from affectlab.simulate._verification import simulate_verification

__all__ = [
    "CARELESS_KINDS",
    "EXPRESSIONS",
    "PRESETS",
    "TRANSITION_EXPRESSIONS",
    "DemoStudy",
    "DifferencePeople",
    "DifferenceSimulation",
    "DrawnTransition",
    "DrawnTransitions",
    "FaceParameters",
    "FaceSpec",
    "Identity",
    "RaterProfile",
    "Recovery",
    "SceneOrder",
    "Scenes",
    "Simulation",
    "Truth",
    "demo_study",
    "difference_people",
    "draw_face",
    "draw_transitions",
    "expression_parameters",
    "expression_sequence",
    "face_specs",
    "face_table",
    "golden_differences",
    "panel",
    "random_baseline",
    "rater_profile",
    "recovery",
    "save_faces",
    "simulate_differences",
    "simulate_raters",
    "simulate_scenes",
    "simulate_truth",
    "simulate_verification",
    "true_difference",
]
