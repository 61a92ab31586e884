"""Variance components of crossed designs: stimuli, raters, sessions, labels, what is left."""

from affectlab.reliability.components.components import (
    MOST_PROFILED as MOST_PROFILED,
    variance_components,
)
from affectlab.reliability.components.designs import (
    MOST_LEVELS as MOST_LEVELS,
    RATER as RATER,
    crossed as crossed,
)
from affectlab.reliability.components.generalizability import signal_to_noise as signal_to_noise
from affectlab.reliability.components.restricted_likelihood import (
    Solution as Solution,
    fit as fit,
)

__all__ = ["variance_components"]
