"""Readers of published data sets, one module each.

:func:`affectlab.ratings.read_ratings` recognises these formats by itself. The functions here read
one family of files and say in their documentation what becomes of each field.
:func:`load_dataset` loads a set by its name on the Hugging Face hub, with the same readers behind.
"""

from affectlab.ratings.datasets import face_expressions as _face_expressions
from affectlab.ratings.datasets import goemotions_raw as _goemotions_raw
from affectlab.ratings.datasets import goemotions_simplified as _goemotions_simplified
from affectlab.ratings.datasets import isear as _isear
from affectlab.ratings.datasets import mturk as _mturk
from affectlab.ratings.datasets import score_matrix as _score_matrix
from affectlab.ratings.datasets import socratis as _socratis
from affectlab.ratings.datasets import sureal as _sureal
from affectlab.ratings.datasets.emonet import binary as _emonet_face_binary
from affectlab.ratings.datasets.emonet import emonet_face
from affectlab.ratings.datasets.emonet import hq as _emonet_face_hq
from affectlab.ratings.datasets.emonet import scores as _emonet_face_scores
from affectlab.ratings.datasets.emonet import vlm as _emonet_face_vlm
from affectlab.ratings.datasets.face_expressions import face_expressions
from affectlab.ratings.datasets.goemotions import goemotions
from affectlab.ratings.datasets.hub import (
    PublishedSet,
    find_dataset,
    list_datasets,
    load_dataset,
    published_sets,
)
from affectlab.ratings.datasets.isear import isear
from affectlab.ratings.datasets.mturk import mturk
from affectlab.ratings.datasets.score_matrix import score_matrix
from affectlab.ratings.datasets.socratis import socratis
from affectlab.ratings.datasets.sureal import sureal
from affectlab.ratings.datasets.texts import (
    TEXT_FORMATS,
    affective_text,
    crowdflower,
    dailydialog,
    electoral_tweets,
    emoint,
    emotion_stimulus,
    ssec,
    tec,
    unified_emotion,
)
from affectlab.ratings.reading import Format

__all__ = [
    "FORMATS",
    "PublishedSet",
    "affective_text",
    "crowdflower",
    "dailydialog",
    "electoral_tweets",
    "emoint",
    "emonet_face",
    "emotion_stimulus",
    "face_expressions",
    "find_dataset",
    "goemotions",
    "isear",
    "list_datasets",
    "load_dataset",
    "mturk",
    "published_sets",
    "score_matrix",
    "socratis",
    "ssec",
    "sureal",
    "tec",
    "unified_emotion",
]

FORMATS: tuple[Format, ...] = (
    _goemotions_raw.FORMAT,
    _emonet_face_hq.FORMAT,
    _emonet_face_binary.FORMAT,
    _face_expressions.FORMAT,
    _isear.FORMAT,
    _mturk.FORMAT,
    _emonet_face_scores.FORMAT,
    _emonet_face_vlm.FORMAT,
    _sureal.FORMAT,
    _socratis.FORMAT,
    *TEXT_FORMATS,
    _goemotions_simplified.FORMAT,
    _score_matrix.FORMAT,
)
"""Formats in the order in which they are tried; those with a header of their own come first."""
