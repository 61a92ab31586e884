"""Reviews of pictures and comments before they are used: the study, and what was decided."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.stimuli.review.decisions import (
    DECISIONS as DECISIONS,
    DIGEST as DIGEST,
    ReviewRule as ReviewRule,
    about as about,
    check_rule as check_rule,
    read_decisions as read_decisions,
    review_decisions as review_decisions,
    typed_decisions as typed_decisions,
)
from affectlab.stimuli.review.queue import (
    ReviewKind as ReviewKind,
    ReviewQueue as ReviewQueue,
    review_queue as review_queue,
)

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


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, [])
