"""Screening of raters by policies: rules, verdicts and evidence; golden items."""

from affectlab.reliability.screening.golden import (
    GoldenItems,
    Overlap,
    batch_overlap,
    choose_golden,
)
from affectlab.reliability.screening.outliers import (
    Apart,
    EqualTrials,
    agreement_with_others,
    equal_trials,
)
from affectlab.reliability.screening.policy import Policy, list_policies, load_policy
from affectlab.reliability.screening.screen import Screening, screen

__all__ = [
    "Apart",
    "EqualTrials",
    "GoldenItems",
    "Overlap",
    "Policy",
    "Screening",
    "agreement_with_others",
    "batch_overlap",
    "choose_golden",
    "equal_trials",
    "list_policies",
    "load_policy",
    "screen",
]
