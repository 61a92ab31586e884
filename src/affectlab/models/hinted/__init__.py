"""Hinted annotation: pictures are made for labels that a model names too rarely (emonet-face, B.1).

:func:`annotate_until` drives an image generator and an annotator, any function of image files and
hints, until a :class:`HintedPlan` is met, and says how often hints, right and wrong, were followed.
"""

from affectlab.models.hinted.loop import (
    Annotator as Annotator,
    annotate_until,
    list_image_annotators,
    load_image_annotator,
)
from affectlab.models.hinted.plan import HintedPlan, load_hinted_plan
from affectlab.models.hinted.result import HintedRun as HintedRun

__all__ = [
    "HintedPlan",
    "annotate_until",
    "list_image_annotators",
    "load_hinted_plan",
    "load_image_annotator",
]
