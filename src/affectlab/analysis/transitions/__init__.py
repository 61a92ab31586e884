"""How expressions fall from their peak to rest, and how far the peak is from rest."""

from affectlab.analysis.transitions.curves import TransitionCurves, transition_curves
from affectlab.analysis.transitions.ranges import TransitionRanges, transition_ranges

__all__ = [
    "TransitionCurves",
    "TransitionRanges",
    "transition_curves",
    "transition_ranges",
]
