"""Curation of comments: from a dump to a corpus that is fit to be annotated.

:func:`curate` takes the twelve steps of GoEmotions (section 3.1), each with a count and a reason
for every comment that goes. :class:`CurationPlan` holds the thresholds, :class:`Step` is the base
of steps of your own, and :func:`stage`, :func:`text_features`, :func:`mask_texts` and
:func:`near_duplicates` are the parts that can be used alone.
"""

from affectlab._runner import use_runner
from affectlab.stimuli.curation._columns import Columns
from affectlab.stimuli.curation._curate import curate
from affectlab.stimuli.curation._masking import mask_texts
from affectlab.stimuli.curation._near_duplicates import near_duplicates
from affectlab.stimuli.curation._plan import STEPS, CurationPlan, load_curation_plan
from affectlab.stimuli.curation._pool import Pool
from affectlab.stimuli.curation._result import Curation
from affectlab.stimuli.curation._staging import StagedPool, stage
from affectlab.stimuli.curation._step import Step
from affectlab.stimuli.curation._texts import TextSettings, text_features
from affectlab.stimuli.curation._words import WordLists

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
