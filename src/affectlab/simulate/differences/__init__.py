"""Simulated studies of differences: panels of people on pairs whose true difference is known."""

from affectlab.simulate.differences.people import (
    CARELESS_KINDS as CARELESS_KINDS,
    DifferencePeople as DifferencePeople,
    difference_people as difference_people,
)
from affectlab.simulate.differences.simulation import (
    DifferenceSimulation as DifferenceSimulation,
    golden_differences as golden_differences,
    simulate_differences as simulate_differences,
)
