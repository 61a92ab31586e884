"""What a study file says: its tables, its stimuli, and how much work it is."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.study.design.batches import (
    bundles_of as bundles_of,
    can_be_shown as can_be_shown,
    set_wanted as set_wanted,
)
from affectlab.study.design.consent import check_consent as check_consent
from affectlab.study.design.options import (
    BETWEEN as BETWEEN,
    asks_for_options as asks_for_options,
    content_of as content_of,
    files_of as files_of,
    sides_of as sides_of,
    systems_of as systems_of,
)
from affectlab.study.design.policy import live_policy as live_policy
from affectlab.study.design.sequences import block_of as block_of
from affectlab.study.design.stages import (
    STAGES as STAGES,
    drops_on_withdrawal as drops_on_withdrawal,
    first_stage as first_stage,
    stage_after as stage_after,
)
from affectlab.study.design.stimuli import (
    draw_faces as draw_faces,
    nothing_to_ask as nothing_to_ask,
    stimuli_of as stimuli_of,
)
from affectlab.study.design.stimulus import Option as Option, Stimulus as Stimulus
from affectlab.study.design.study_file import (
    FRAMES as FRAMES,
    TYPES as TYPES,
    Demographic as Demographic,
    Design as Design,
    Eligibility as Eligibility,
    Pilot as Pilot,
    Recruitment as Recruitment,
    Study as Study,
    frame_files as frame_files,
    frame_fingerprint as frame_fingerprint,
    load_study as load_study,
)
from affectlab.study.design.templates.error_study import (
    ErrorStudy as ErrorStudy,
    kept_items as kept_items,
    reviewed_items as reviewed_items,
    write_error_study as write_error_study,
)
from affectlab.study.design.templates.template import write_template as write_template
from affectlab.study.design.workload import Workload as Workload, workload as workload

if TYPE_CHECKING:
    from affectlab.study.design.templates.pilot_study import write_pilot_study as write_pilot_study


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, [])
