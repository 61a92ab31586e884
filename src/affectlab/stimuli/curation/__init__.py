"""Curation of comments: from a dump to a corpus that is fit to be annotated.

:func:`curate` takes the twelve steps of GoEmotions (section 3.1), each with a count and a reason
for every comment that goes. :class:`CurationPlan` holds the thresholds, :class:`Step` is the base
of steps of your own, and :func:`stage`, :func:`text_features`, :func:`mask_texts` and
:func:`near_duplicates` are the parts that can be used alone.
"""

from affectlab.core.runner import use_runner
from affectlab.stimuli.curation.curate import curate
from affectlab.stimuli.curation.input import Columns, StagedPool, stage
from affectlab.stimuli.curation.plan import STEPS, CurationPlan, load_curation_plan
from affectlab.stimuli.curation.pool import Pool
from affectlab.stimuli.curation.result import Curation
from affectlab.stimuli.curation.steps import Step
from affectlab.stimuli.curation.texts import (
    TextSettings,
    WordLists,
    mask_texts,
    near_duplicates,
    text_features,
)

__all__ = [
    "STEPS",
    "Columns",
    "Curation",
    "CurationPlan",
    "Pool",
    "StagedPool",
    "Step",
    "TextSettings",
    "WordLists",
    "curate",
    "load_curation_plan",
    "mask_texts",
    "near_duplicates",
    "stage",
    "text_features",
    "use_runner",
]
