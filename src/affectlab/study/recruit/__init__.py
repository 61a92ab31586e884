"""Recruiting: who may take part, who comes from which platform, and paying them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.study.recruit._eligibility import Check, check_eligibility, passes
from affectlab.study.recruit._filters import PlatformFilter, platform_filters, with_choices
from affectlab.study.recruit._verify import verify

if TYPE_CHECKING:
    from affectlab.study.recruit._by_hand import payments_table
    from affectlab.study.recruit._decisions import (
        Decision,
        approve_sessions,
        decisions,
        reject_sessions,
    )
    from affectlab.study.recruit._payments import Outcome, carry_out, pay_bonuses
    from affectlab.study.recruit._prolific import (
        CATEGORIES,
        Payment,
        ProlificClient,
        ProlificError,
        Submission,
        UnclearError,
    )

__all__ = [
    "CATEGORIES",
    "Check",
    "Decision",
    "Outcome",
    "Payment",
    "PlatformFilter",
    "ProlificClient",
    "ProlificError",
    "Submission",
    "UnclearError",
    "approve_sessions",
    "carry_out",
    "check_eligibility",
    "decisions",
    "passes",
    "pay_bonuses",
    "payments_table",
    "platform_filters",
    "reject_sessions",
    "verify",
    "with_choices",
]

# These need the store or the network; entering a study does not.
_NAMES = {
    "CATEGORIES": "_prolific",
    "Decision": "_decisions",
    "Outcome": "_payments",
    "Payment": "_prolific",
    "ProlificClient": "_prolific",
    "ProlificError": "_prolific",
    "Submission": "_prolific",
    "UnclearError": "_prolific",
    "approve_sessions": "_decisions",
    "carry_out": "_payments",
    "decisions": "_decisions",
    "pay_bonuses": "_payments",
    "payments_table": "_by_hand",
    "reject_sessions": "_decisions",
}


def __getattr__(name: str) -> Any:
    """Load what needs more than the study file when it is first used."""
    if name in _NAMES:
        return getattr(import_module(f"affectlab.study.recruit.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'affectlab.study.recruit' has no attribute {name!r}")
