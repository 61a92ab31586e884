"""Screening of raters by policies: rules, verdicts and evidence; golden items."""

from affectlab.reliability.screening.golden import (
    GoldenItems,
    Overlap,
    batch_overlap,
    choose_golden,
)
from affectlab.reliability.screening.policy import Policy, list_policies, load_policy
from affectlab.reliability.screening.screen import Screening, screen

__all__ = [
    "GoldenItems",
    "Overlap",
    "Policy",
    "Screening",
    "batch_overlap",
    "choose_golden",
    "list_policies",
    "load_policy",
    "screen",
]
