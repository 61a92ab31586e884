"""What a study file says: its tables, its stimuli, and how much work it is."""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
from affectlab.study.design.batches import bundles_of, can_be_shown, set_wanted
from affectlab.study.design.consent import check_consent
from affectlab.study.design.error_study import (
    ErrorStudy,
    kept_items,
    reviewed_items as reviewed_items,
    write_error_study,
)
from affectlab.study.design.options import (
    BETWEEN,
    asks_for_options,
    content_of,
    files_of,
    sides_of,
    systems_of,
)
from affectlab.study.design.policy import live_policy
from affectlab.study.design.sequences import block_of
from affectlab.study.design.stages import STAGES, drops_on_withdrawal, first_stage, stage_after
from affectlab.study.design.stimuli import draw_faces, nothing_to_ask, stimuli_of
from affectlab.study.design.stimulus import Option, Stimulus
from affectlab.study.design.study_file import (
    FRAMES,
    TYPES,
    Demographic,
    Design,
    Eligibility,
    Pilot,
    Recruitment,
    Study,
    frame_files,
    frame_fingerprint,
    load_study,
)
from affectlab.study.design.template import write_template
from affectlab.study.design.workload import Workload, workload

if TYPE_CHECKING:
    from affectlab.study.design.pilot_study import write_pilot_study as write_pilot_study


__all__ = [
    "BETWEEN",
    "FRAMES",
    "STAGES",
    "TYPES",
    "Demographic",
    "Design",
    "Eligibility",
    "ErrorStudy",
    "Option",
    "Pilot",
    "Recruitment",
    "Stimulus",
    "Study",
    "Workload",
    "asks_for_options",
    "block_of",
    "bundles_of",
    "can_be_shown",
    "check_consent",
    "content_of",
    "draw_faces",
    "drops_on_withdrawal",
    "files_of",
    "first_stage",
    "frame_files",
    "frame_fingerprint",
    "kept_items",
    "live_policy",
    "load_study",
    "nothing_to_ask",
    "set_wanted",
    "sides_of",
    "stage_after",
    "stimuli_of",
    "systems_of",
    "workload",
    "write_error_study",
    "write_template",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
