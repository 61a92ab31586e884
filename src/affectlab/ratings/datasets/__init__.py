"""Readers of published data sets, one module each.

:func:`affectlab.ratings.read_ratings` recognises these formats by itself. The functions here read
one family of files and say in their documentation what becomes of each field.
:func:`load_dataset` loads a set by its name on the Hugging Face hub, with the same readers behind.
"""

from affectlab.ratings._formats import Format
from affectlab.ratings.datasets import (
    _affective_text,
    _crowdflower,
    _dailydialog,
    _electoral_tweets,
    _emoint,
    _emonet_face_binary,
    _emonet_face_hq,
    _emonet_face_scores,
    _emonet_face_vlm,
    _emotion_stimulus,
    _face_expressions,
    _goemotions_raw,
    _goemotions_simplified,
    _isear,
    _mturk,
    _score_matrix,
    _socratis,
    _ssec,
    _sureal,
    _tec,
    _unified_emotion,
)
from affectlab.ratings.datasets._affective_text import affective_text
from affectlab.ratings.datasets._crowdflower import crowdflower
from affectlab.ratings.datasets._dailydialog import dailydialog
from affectlab.ratings.datasets._electoral_tweets import electoral_tweets
from affectlab.ratings.datasets._emoint import emoint
from affectlab.ratings.datasets._emonet_face import emonet_face
from affectlab.ratings.datasets._emotion_stimulus import emotion_stimulus
from affectlab.ratings.datasets._face_expressions import face_expressions
from affectlab.ratings.datasets._goemotions import goemotions
from affectlab.ratings.datasets._hub import load_dataset
from affectlab.ratings.datasets._hub_sets import PublishedSet, find_dataset, list_datasets
from affectlab.ratings.datasets._isear import isear
from affectlab.ratings.datasets._mturk import mturk
from affectlab.ratings.datasets._score_matrix import score_matrix
from affectlab.ratings.datasets._socratis import socratis
from affectlab.ratings.datasets._ssec import ssec
from affectlab.ratings.datasets._sureal import sureal
from affectlab.ratings.datasets._tec import tec
from affectlab.ratings.datasets._unified_emotion import unified_emotion

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
    _affective_text.FORMAT,
    _crowdflower.FORMAT,
    _electoral_tweets.FORMAT,
    _unified_emotion.FORMAT,
    _dailydialog.FORMAT,
    _emotion_stimulus.FORMAT,
    _emoint.FORMAT,
    _ssec.FORMAT,
    _tec.FORMAT,
    _goemotions_simplified.FORMAT,
    _score_matrix.FORMAT,
)
"""Formats in the order in which they are tried; those with a header of their own come first."""
