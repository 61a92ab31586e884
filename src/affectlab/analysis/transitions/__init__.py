"""How expressions fall from their peak to rest, and how far the peak is from rest."""

from affectlab.analysis.transitions.curves import transition_curves as transition_curves
from affectlab.analysis.transitions.ranges import transition_ranges as transition_ranges
