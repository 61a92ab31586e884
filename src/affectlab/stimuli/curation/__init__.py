"""Curation of comments: from a dump to a corpus that is fit to be annotated.

:func:`curate` takes the twelve steps of GoEmotions (section 3.1), each with a count and a reason
for every comment that goes. :class:`CurationPlan` holds the thresholds, :class:`Step` is the base
of steps of your own, and :func:`text_features`, :func:`mask_texts` and :func:`near_duplicates` are
parts that can be used alone.
"""

from affectlab.stimuli.curation.curate import curate
from affectlab.stimuli.curation.input import Columns
from affectlab.stimuli.curation.plan import CurationPlan, load_curation_plan
from affectlab.stimuli.curation.result import Curation as Curation
from affectlab.stimuli.curation.steps import Step
from affectlab.stimuli.curation.texts import mask_texts, near_duplicates, text_features

__all__ = [
    "Columns",
    "CurationPlan",
    "Step",
    "curate",
    "load_curation_plan",
    "mask_texts",
    "near_duplicates",
    "text_features",
]
