"""Who is asked what: tasks and batches, sessions, staircases, and answers as they come."""

from affectlab.study.delivery.answers import (
    Submission,
    recount,
    save_answer,
    save_quickly,
    skip_trial,
)
from affectlab.study.delivery.batches import BundleProgress, bundle_progress, weigh
from affectlab.study.delivery.claims import anything_left, expire, hold_tasks, release
from affectlab.study.delivery.completeness import completeness, enough
from affectlab.study.delivery.movement import travelled
from affectlab.study.delivery.options import option_columns, which_left
from affectlab.study.delivery.picture_addresses import find_picture
from affectlab.study.delivery.session import (
    advance,
    end,
    find_session,
    forget,
    forgotten_name,
    is_over,
    refresh,
    unjudged,
)
from affectlab.study.delivery.view import pending, view

__all__ = [
    "BundleProgress",
    "Submission",
    "advance",
    "anything_left",
    "bundle_progress",
    "completeness",
    "end",
    "enough",
    "expire",
    "find_picture",
    "find_session",
    "forget",
    "forgotten_name",
    "hold_tasks",
    "is_over",
    "option_columns",
    "pending",
    "recount",
    "refresh",
    "release",
    "save_answer",
    "save_quickly",
    "skip_trial",
    "travelled",
    "unjudged",
    "view",
    "weigh",
    "which_left",
]
