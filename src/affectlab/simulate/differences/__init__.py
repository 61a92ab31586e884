"""Simulated studies of differences: panels of people on pairs whose true difference is known."""

from affectlab.simulate.differences.people import (
    CARELESS_KINDS,
    DifferencePeople,
    difference_people,
)
from affectlab.simulate.differences.simulation import (
    DifferenceSimulation,
    golden_differences,
    simulate_differences,
)

__all__ = [
    "CARELESS_KINDS",
    "DifferencePeople",
    "DifferenceSimulation",
    "difference_people",
    "golden_differences",
    "simulate_differences",
]
