"""Simulated raters with known bias, care and confusion, and what comes back of the truth."""

from affectlab.simulate.raters.answers import (
    Simulation as Simulation,
    simulate_raters as simulate_raters,
)
from affectlab.simulate.raters.baseline import random_baseline as random_baseline
from affectlab.simulate.raters.profiles import (
    POPULATIONS as POPULATIONS,
    PRESETS as PRESETS,
    RaterProfile as RaterProfile,
    panel as panel,
    person_attributes as person_attributes,
    population as population,
    rater_profile as rater_profile,
)
from affectlab.simulate.raters.recovery import Recovery as Recovery, recovery as recovery
from affectlab.simulate.raters.truth import Truth as Truth, simulate_truth as simulate_truth
from affectlab.simulate.raters.verification import simulate_verification as simulate_verification
