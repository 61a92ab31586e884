"""Reviews of pictures and comments before they are used: the study, and what was decided."""

from affectlab.stimuli.review.decisions import (
    DECISIONS,
    DIGEST,
    ReviewRule,
    about,
    check_rule,
    read_decisions,
    review_decisions,
    typed_decisions,
)
from affectlab.stimuli.review.queue import ReviewKind, ReviewQueue, review_queue

__all__ = [
    "DECISIONS",
    "DIGEST",
    "ReviewKind",
    "ReviewQueue",
    "ReviewRule",
    "about",
    "check_rule",
    "read_decisions",
    "review_decisions",
    "review_queue",
    "typed_decisions",
]
