"""Raters and faces with known truth, for demonstrations, tests and planning.

Drawn faces (:func:`draw_face`) are invented people with an expression of known kind and intensity.
Simulated raters (:func:`simulate_raters`) answer about stimuli of known truth with known bias, care
and confusion, so that any statistic can be held against what it should find.

Drawn transitions (:func:`draw_transitions`) go from a peak to rest in a known time, so that the
true difference of any two frames is known (:func:`true_difference`); :func:`simulate_differences`
lets panels rate pairs of them.

Drawn scenes (:func:`simulate_scenes`) look the more alike the nearer their emotions are on a wheel.
"""

from affectlab.simulate.demo import demo_study
from affectlab.simulate.differences import difference_people, simulate_differences
from affectlab.simulate.faces import (
    EXPRESSIONS,
    Identity,
    draw_face,
    draw_transitions,
    face_specs,
    save_faces,
    true_difference,
)
from affectlab.simulate.raters import (
    panel,
    population,
    random_baseline,
    recovery,
    simulate_raters,
    simulate_truth,
    simulate_verification,
)
from affectlab.simulate.scenes import Scenes as Scenes, simulate_scenes

__all__ = [
    "EXPRESSIONS",
    "Identity",
    "demo_study",
    "difference_people",
    "draw_face",
    "draw_transitions",
    "face_specs",
    "panel",
    "population",
    "random_baseline",
    "recovery",
    "save_faces",
    "simulate_differences",
    "simulate_raters",
    "simulate_scenes",
    "simulate_truth",
    "simulate_verification",
    "true_difference",
]
