"""Reviews of pictures and comments before they are used: the study, and what was decided."""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
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

if TYPE_CHECKING:
    from affectlab.stimuli.review.comments import (
        comment_decisions as comment_decisions,
        queue_comments as queue_comments,
    )
    from affectlab.stimuli.review.rounds import (
        decisions_about as decisions_about,
        items_to_review as items_to_review,
        settled_decisions as settled_decisions,
    )


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


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
