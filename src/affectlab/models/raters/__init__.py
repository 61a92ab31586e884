"""Any model as a rater: published checkpoints, packages, services, files and functions.

:func:`rate` gives the ratings of a :class:`Rater`, which :func:`load_rater` makes of a checkpoint
of transformers, one of py-feat, hsemotion-onnx or deepface, the expression measurement of a service
such as Hume, what another package adds, a file of skops, or any function from stimuli to scores. An
adapter for another service is a subclass of :class:`ExpressionApi`, of which :func:`api_rater`
makes a rater.
"""

from affectlab.models.raters.label_table import refuse_mapping as refuse_mapping
from affectlab.models.raters.own import own_model as own_model
from affectlab.models.raters.rate import rate
from affectlab.models.raters.rater import Answer, Face, Rater
from affectlab.models.raters.registry import list_raters, load_rater
from affectlab.models.raters.services import ApiRequest, ExpressionApi, api_rater
from affectlab.models.raters.sounds import Sound, load_sound as load_sound
from affectlab.models.raters.stimuli import (
    find_stimuli as find_stimuli,
    kind_of_stimuli as kind_of_stimuli,
)

__all__ = [
    "Answer",
    "ApiRequest",
    "ExpressionApi",
    "Face",
    "Rater",
    "Sound",
    "api_rater",
    "list_raters",
    "load_rater",
    "rate",
]
