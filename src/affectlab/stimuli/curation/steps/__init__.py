"""The steps of curation: what each looks at, which comments go, and why."""

from affectlab.stimuli.curation.steps.build import (
    build_steps as build_steps,
    read_decisions as read_decisions,
)
from affectlab.stimuli.curation.steps.duplicates import Repeated as Repeated
from affectlab.stimuli.curation.steps.groups import BigGroupsStep as BigGroupsStep
from affectlab.stimuli.curation.steps.step import Step as Step
