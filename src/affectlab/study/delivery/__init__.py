"""Who is asked what: tasks and batches, sessions, staircases, and answers as they come."""

from affectlab.study.delivery.answers import (
    Submission as Submission,
    recount as recount,
    save_answer as save_answer,
    save_quickly as save_quickly,
    skip_trial as skip_trial,
)
from affectlab.study.delivery.batches import (
    BundleProgress as BundleProgress,
    bundle_progress as bundle_progress,
    weigh as weigh,
)
from affectlab.study.delivery.claims import (
    anything_left as anything_left,
    expire as expire,
    hold_tasks as hold_tasks,
    release as release,
)
from affectlab.study.delivery.completeness import completeness as completeness, enough as enough
from affectlab.study.delivery.movement import travelled as travelled
from affectlab.study.delivery.options import (
    option_columns as option_columns,
    which_left as which_left,
)
from affectlab.study.delivery.picture_addresses import find_picture as find_picture
from affectlab.study.delivery.session import (
    advance as advance,
    end as end,
    find_session as find_session,
    forget as forget,
    forgotten_name as forgotten_name,
    is_over as is_over,
    refresh as refresh,
    unjudged as unjudged,
)
from affectlab.study.delivery.view import pending as pending, view as view
