"""Recruiting: who may take part, who comes from which platform, and paying them."""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
from affectlab.study.recruit.eligibility import (
    Check,
    Visitor as Visitor,
    check_eligibility,
    passes,
    verify,
)
from affectlab.study.recruit.filters import PlatformFilter, platform_filters, with_choices

if TYPE_CHECKING:
    from affectlab.study.recruit.approval import (
        Decision,
        approve_sessions,
        decisions,
        reject_sessions,
    )
    from affectlab.study.recruit.payments import (
        Outcome,
        carry_out,
        pay_bonuses,
        payments_table,
        study_at_prolific as study_at_prolific,
    )
    from affectlab.study.recruit.prolific import (
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

if not TYPE_CHECKING:
    # Load what needs more than the study file when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
