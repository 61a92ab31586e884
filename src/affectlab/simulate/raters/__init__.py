"""Simulated raters with known bias, care and confusion, and what comes back of the truth."""

from affectlab.simulate.raters.answers import Simulation, simulate_raters
from affectlab.simulate.raters.baseline import random_baseline
from affectlab.simulate.raters.profiles import (
    PRESETS,
    RaterProfile,
    panel,
    person_attributes,
    rater_profile,
)
from affectlab.simulate.raters.recovery import Recovery, recovery
from affectlab.simulate.raters.truth import Truth, simulate_truth
from affectlab.simulate.raters.verification import simulate_verification

__all__ = [
    "PRESETS",
    "RaterProfile",
    "Recovery",
    "Simulation",
    "Truth",
    "panel",
    "person_attributes",
    "random_baseline",
    "rater_profile",
    "recovery",
    "simulate_raters",
    "simulate_truth",
    "simulate_verification",
]
