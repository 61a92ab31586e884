"""Recruiting: who may take part, who comes from which platform, and paying them."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.study.recruit.eligibility import (
    Check as Check,
    Visitor as Visitor,
    check_eligibility as check_eligibility,
    passes as passes,
    verify as verify,
)
from affectlab.study.recruit.filters import (
    PlatformFilter as PlatformFilter,
    platform_filters as platform_filters,
    with_choices as with_choices,
)

if TYPE_CHECKING:
    from affectlab.study.recruit.approval import (
        Decision as Decision,
        approve_sessions as approve_sessions,
        decisions as decisions,
        reject_sessions as reject_sessions,
    )
    from affectlab.study.recruit.payments import (
        Outcome as Outcome,
        carry_out as carry_out,
        pay_bonuses as pay_bonuses,
        payments_table as payments_table,
        study_at_prolific as study_at_prolific,
    )
    from affectlab.study.recruit.prolific import (
        CATEGORIES as CATEGORIES,
        Payment as Payment,
        ProlificClient as ProlificClient,
        ProlificError as ProlificError,
        Submission as Submission,
        UnclearError as UnclearError,
    )


# These need the store or the network; entering a study does not.

if not TYPE_CHECKING:
    # Load what needs more than the study file when it is first used.
    __getattr__, __dir__ = lazily(__name__, [])
