"""The steps of curation: what each looks at, which comments go, and why."""

from affectlab.stimuli.curation.steps.build import build_steps, read_decisions
from affectlab.stimuli.curation.steps.duplicates import Repeated
from affectlab.stimuli.curation.steps.groups import BigGroupsStep
from affectlab.stimuli.curation.steps.step import Step

__all__ = [
    "BigGroupsStep",
    "Repeated",
    "Step",
    "build_steps",
    "read_decisions",
]
