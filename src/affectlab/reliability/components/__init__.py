"""Variance components of crossed designs, and differences in level with raters as random."""

from affectlab.reliability.components.components import variance_components
from affectlab.reliability.components.designs import (
    MOST_LEVELS as MOST_LEVELS,
    RATER as RATER,
    STIMULUS as STIMULUS,
    MixedDesign as MixedDesign,
    crossed as crossed,
    designs as designs,
    estimates_table as estimates_table,
)
from affectlab.reliability.components.fixed_effects import mixed_model
from affectlab.reliability.components.generalizability import (
    share_of_signal as share_of_signal,
    signal_to_noise as signal_to_noise,
)
from affectlab.reliability.components.group_differences import (
    FEWEST_IN_GROUP as FEWEST_IN_GROUP,
    MOST_GROUPS as MOST_GROUPS,
    NO_GROUPS as NO_GROUPS,
    group_differences,
)
from affectlab.reliability.components.restricted_likelihood import (
    MOST_PROFILED as MOST_PROFILED,
    Solution as Solution,
    fit as fit,
)
from affectlab.reliability.components.symmetric_sums import (
    CrossedSums as CrossedSums,
    far_from_normal as far_from_normal,
)

__all__ = ["group_differences", "mixed_model", "variance_components"]
